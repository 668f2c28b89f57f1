// The values of a group of one width, to memory. Included by a unit that is compiled for one instruction set, inside
// its namespace.

#if !defined(ZENITH_ISA_SSE2)

// What brings words of one width to the bottoms of lanes of 32 bits, nothing above them, is made from the width and has
//   registers        how many it fills at a time
//   (at, to)         fills them
//   step()           from there to the next
// With VBMI it may be made for words that begin with bit 4 of their first byte as well, and has
//   has_phases       whether it can

/// Words of up to 25 bits.
class low_words {
 public:
  static constexpr unsigned registers = 1;
  static constexpr bool has_phases = true;

  ZENITH_FN explicit low_words(unsigned width, unsigned phase = 0) : width_(width) {
    const auto& code = codes<std::uint32_t>.of[width][0];
    bytes_ = load_bits(code.bytes);
    words_ = load_bits(code.words);
    shift_ = load_bits(code.narrow_shift);
    mask_ = every_lane(code.mask);
#if defined(ZENITH_ISA_AVX512VBMI)
    if (phase != 0) {
      // as though they began earlier, and those that then begin in another byte a byte later
      const __m512i later = _mm512_add_epi32(shift_, _mm512_set1_epi32(4));
      shift_ = _mm512_and_si512(later, _mm512_set1_epi32(7));
      bytes_ = _mm512_mask_add_epi32(bytes_, _mm512_cmpgt_epi32_mask(later, _mm512_set1_epi32(7)), bytes_,
                                     _mm512_set1_epi32(0x01010101));
    }
#else
    (void)phase;
#endif
  }

  ZENITH_FN std::uint64_t step() const { return width_ * (narrow_items / 32); }
  ZENITH_FN void operator()(const std::byte* at, narrow_register* to) const {
    *to = all_of(shift_right<std::uint32_t>(placed(load_bits(at), bytes_, words_), shift_), mask_);
  }

 private:
  std::uint64_t width_;
  narrow_register bytes_;
  narrow_register words_;
  narrow_register shift_;
  narrow_register mask_;
};

/// Words of whole bytes: the permutation leaves zeros above them.
class byte_words {
 public:
  static constexpr unsigned registers = 1;
  static constexpr bool has_phases = true;

  ZENITH_FN explicit byte_words(unsigned width, unsigned = 0)
      : width_(width), words_(load_bits(codes<std::uint32_t>.of[width][0].words)) {
    const narrow_register above = every_lane(0x80808080U << width);
    bytes_ = any_of(load_bits(codes<std::uint32_t>.of[width][0].bytes), above);
#if defined(ZENITH_ISA_AVX512VBMI)
    there_ = ~_mm512_movepi8_mask(above);
#endif
  }

  ZENITH_FN std::uint64_t step() const { return width_ * (narrow_items / 32); }
  ZENITH_FN void operator()(const std::byte* at, narrow_register* to) const {
#if defined(ZENITH_ISA_AVX512VBMI)
    *to = _mm512_maskz_permutexvar_epi8(there_, bytes_, load_bits(at));
#else
    *to = placed(load_bits(at), bytes_, words_);
#endif
  }

 private:
  std::uint64_t width_;
  narrow_register words_;
  narrow_register bytes_;
#if defined(ZENITH_ISA_AVX512VBMI)
  __mmask64 there_;
#endif
};

/// Words as long as their lanes.
class whole_words {
 public:
  static constexpr unsigned registers = 1;
  static constexpr bool has_phases = true;

  ZENITH_FN explicit whole_words(unsigned, unsigned = 0) {}

  ZENITH_FN std::uint64_t step() const { return narrow_items; }
  ZENITH_FN void operator()(const std::byte* at, narrow_register* to) const { *to = load_bits(at); }
};

#if !defined(ZENITH_ISA_AVX512)

/// Words that AVX2 gets whole from the halves of one load.
class low_leading_words {
 public:
  static constexpr unsigned registers = 1;

  ZENITH_FN explicit low_leading_words(unsigned width)
      : width_(width),
        bytes_(width),
        down_(less_words(every_lane(32 - width), load_bits(leading_codes[width].shift))),
        mask_(every_lane(masks<std::uint32_t>.of[width])) {}

  ZENITH_FN std::uint64_t step() const { return width_; }
  ZENITH_FN void operator()(const std::byte* at, narrow_register* to) const {
    *to = all_of(shift_right<std::uint32_t>(bytes_(at), down_), mask_);
  }

 private:
  std::uint64_t width_;
  leading_bytes bytes_;
  narrow_register down_;
  narrow_register mask_;
};

/// Words of 26 to 31 bits.
class low_paired_words {
 public:
  static constexpr unsigned registers = 1;

  ZENITH_FN explicit low_paired_words(unsigned width)
      : width_(width), words_(width, false), mask_(every_lane(masks<std::uint32_t>.of[width])) {}

  ZENITH_FN std::uint64_t step() const { return width_; }
  ZENITH_FN void operator()(const std::byte* at, narrow_register* to) const { *to = all_of(words_(at), mask_); }

 private:
  std::uint64_t width_;
  paired_words words_;
  narrow_register mask_;
};

#endif

#if defined(ZENITH_ISA_AVX512VBMI)

/// Words of 31 bits.
class low_spanning_words {
 public:
  static constexpr unsigned registers = 4;
  static constexpr bool has_phases = false;

  ZENITH_FN explicit low_spanning_words(unsigned width, unsigned = 0)
      : unpacked_(width), down_(every_lane(32 - width)) {}

  ZENITH_FN std::uint64_t step() const { return unpacked_.stride(); }
  ZENITH_FN void operator()(const std::byte* at, narrow_register* to) const {
    const auto words = unpacked_(at);
    for (unsigned i = 0; i < registers; ++i) to[i] = shift_right<std::uint32_t>(words.v[i], down_);
  }

 private:
  spanning_unpacker unpacked_;
  narrow_register down_;
};

// Where bytes are picked from 64 bits. `pairs`: two words share a lane of 32 bits, one at its bottom, at its top the
// one of sixteen words later, so that one mask and one shift part them; 64 bits hold two pairs that follow each other,
// each brought there as four bytes. `tops`: a word at the top of each lane.
struct alignas(128) picked_code {
  std::uint8_t bytes[64];
  std::uint8_t bits[64];
};
constexpr picked_code make_pairs_code(unsigned width, unsigned phase) {
  picked_code made{};
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned first = phase + i / 8 * 2 * width;
    const unsigned byte = first / 8 + i % 4 + (i % 8 < 4 ? 0 : 2 * width);
    made.bytes[i] = static_cast<std::uint8_t>(byte < 64 ? byte : 63);
    const unsigned low = first % 8 + (i % 8 < 4 ? 0 : width);
    const unsigned in_lane = i % 4 * 8;
    made.bits[i] = static_cast<std::uint8_t>((low + in_lane + (in_lane < 16 ? 0 : width)) % 64);
  }
  return made;
}
constexpr picked_code make_tops_code(unsigned width, unsigned phase) {
  picked_code made{};
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned first = phase + i / 8 * 2 * width;
    const unsigned byte = first / 8 + i % 8;
    made.bytes[i] = static_cast<std::uint8_t>(byte < 64 ? byte : 63);
    const unsigned end = first % 8 + (i % 8 < 4 ? 1 : 2) * width;
    made.bits[i] = static_cast<std::uint8_t>((64 + end - 32 + i % 4 * 8) % 64);
  }
  return made;
}

/// Wherever such a pair of words begins, at an even bit, it ends in the fourth byte at the latest.
ZENITH_FN constexpr bool has_pairs(unsigned width) { return width <= 14 || width == 16; }

struct picked_code_table {
  picked_code of[coded_width + 1][2];
};
constexpr picked_code_table make_picked_codes() {
  picked_code_table made{};
  for (unsigned width = 0; width <= coded_width; ++width) {
    for (unsigned phase = 0; phase < 2; ++phase) {
      made.of[width][phase] = has_pairs(width) ? make_pairs_code(width, 4 * phase) : make_tops_code(width, 4 * phase);
    }
  }
  return made;
}
constexpr picked_code_table picked_codes = make_picked_codes();

/// Words of up to 30 bits.
template <bool Pairs>
class picked_words {
 public:
  static constexpr unsigned registers = Pairs ? 2 : 1;
  static constexpr bool has_phases = true;

  ZENITH_FN explicit picked_words(unsigned width, unsigned phase = 0)
      : width_(width),
        bytes_(load_bits(picked_codes.of[width][phase / 4].bytes)),
        bits_(load_bits(picked_codes.of[width][phase / 4].bits)),
        mask_(every_lane(masks<std::uint32_t>.of[width])),
        down_(every_lane(32 - width)) {}

  ZENITH_FN std::uint64_t step() const { return width_ * (2 * registers); }
  ZENITH_FN void operator()(const std::byte* at, narrow_register* to) const {
    const __m512i picked = _mm512_multishift_epi64_epi8(bits_, _mm512_permutexvar_epi8(bytes_, load_bits(at)));
    if constexpr (Pairs) to[0] = all_of(picked, mask_);
    to[registers - 1] = shift_right<std::uint32_t>(picked, down_);
  }

 private:
  std::uint64_t width_;
  narrow_register bytes_;
  narrow_register bits_;
  narrow_register mask_;
  narrow_register down_;
};

#endif

ZENITH_FN constexpr bool has_low_words(unsigned width) {
#if defined(ZENITH_ISA_AVX512VBMI) || !defined(ZENITH_ISA_AVX512)
  return width <= 32;
#else
  return width <= narrow_bits<std::uint32_t> || width == 32;
#endif
}

/// A group's values to memory, `references` a word for each block.
template <class Words>
class group_store {
 public:
  ZENITH_FN group_store(const narrow_group& group, const std::byte* references, std::uint32_t* out)
      : group_(group), references_(references), out_(out) {}

  /// A register is stored wherever its lines begin.
  ZENITH_FN void as_they_lie() const {
    const Words words(group_.width);
    const std::byte* at = group_.words;
    std::uint32_t* to = out_;
    for (unsigned slot = 0; slot < packed_group_blocks; ++slot) {
      const narrow_register reference = every_lane(reference_of(slot));
#pragma GCC unroll 16
      for (unsigned i = 0; i < vectors; i += Words::registers, at += words.step()) {
        keep_stepping(at);
        if (i * lanes % 32 == 0) prefetch_ahead(at);
        narrow_register some[Words::registers];
        words(at, some);
        for (const auto& one : some) {
          store_bits(to, added_words(one, reference, std::uint32_t{}));
          to += lanes;
        }
      }
    }
  }

#if defined(ZENITH_ISA_AVX512VBMI)
  /// Whole lines, of which the first begins with value `head` of the group: a store that crosses lines takes twice as
  /// long, and a decoder that begins elsewhere as long as any.
  ZENITH_FN void as_lines(unsigned head) const {
    const unsigned bit = head * group_.width;
    const Words words(group_.width, bit % 8);
    const std::byte* at = group_.words + bit / 8;
    std::uint32_t* to = out_ + head;
    // the last register of a block ends with the front of the next one
    const auto of_next = static_cast<__mmask16>(0xffffU << (lanes - head));
    edge(0);
    for (unsigned slot = 0; slot < packed_group_blocks; ++slot) {
      const narrow_register reference = every_lane(reference_of(slot));
      const bool is_last = slot + 1 == packed_group_blocks;
      const narrow_register both =
          _mm512_mask_set1_epi32(reference, of_next, static_cast<int>(reference_of(is_last ? slot : slot + 1)));
#pragma GCC unroll 16
      for (unsigned i = 0; i < vectors; i += Words::registers, at += words.step()) {
        keep_stepping(at);
        if (i * lanes % 32 == 0) prefetch_ahead(at);
        narrow_register some[Words::registers];
        words(at, some);
#pragma GCC unroll 4
        for (unsigned j = 0; j < Words::registers; ++j, to += lanes) {
          const bool ends = i + j + 1 == vectors;
          if (ends && is_last) break;
          store_bits(to, added_words(some[j], ends ? both : reference, std::uint32_t{}));
        }
      }
    }
    edge(packed_group_items - lanes * Words::registers);
  }
#endif

 private:
  static constexpr unsigned lanes = narrow_items / 4;
  static constexpr unsigned vectors = packed_block_items / lanes;

  ZENITH_FN std::uint32_t reference_of(unsigned slot) const {
    return packed::load<std::uint32_t>(references_ + slot * 4);
  }

  /// As many registers as `Words` fills, with the values from `first` on, all in one block.
  ZENITH_FN void edge(unsigned first) const {
    const Words words(group_.width);
    narrow_register some[Words::registers];
    words(group_.words + std::uint64_t{first} * group_.width / 8, some);
    const narrow_register reference = every_lane(reference_of(first / packed_block_items));
    for (unsigned i = 0; i < Words::registers; ++i) {
      store_bits(out_ + first + i * lanes, added_words(some[i], reference, std::uint32_t{}));
    }
  }

  narrow_group group_;
  const std::byte* references_;
  std::uint32_t* out_;
};

template <class Words>
[[gnu::noinline]] void store_values_of(narrow_group group, const std::byte* references, std::uint32_t* out) {
  const group_store<Words> to(group, references, out);
#if defined(ZENITH_ISA_AVX512VBMI)
  const auto beyond = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(out) % 64);
  if (Words::has_phases && beyond != 0 && beyond % 16 == 0) return to.as_lines((64 - beyond) / 4);
#endif
  to.as_they_lie();
}

ZENITH_FN void store_values(const narrow_group& group, const std::byte* references, std::uint32_t* out) {
  const unsigned width = group.width;
  if (width == 32) return store_values_of<whole_words>(group, references, out);
#if defined(ZENITH_ISA_AVX512VBMI)
  if (has_pairs(width)) return store_values_of<picked_words<true>>(group, references, out);
#endif
  if (width % 8 == 0 && width > 0) return store_values_of<byte_words>(group, references, out);
#if defined(ZENITH_ISA_AVX512VBMI)
  if (width > coded_width) return store_values_of<low_spanning_words>(group, references, out);
  if (width > narrow_bits<std::uint32_t>) return store_values_of<picked_words<false>>(group, references, out);
#elif !defined(ZENITH_ISA_AVX512)
  if (has_whole_leading(width)) return store_values_of<low_leading_words>(group, references, out);
  if (width > narrow_bits<std::uint32_t>) return store_values_of<low_paired_words>(group, references, out);
#endif
  store_values_of<low_words>(group, references, out);
}

#endif
