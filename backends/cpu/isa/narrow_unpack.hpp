// Words of one width unpacked to the tops of narrow lanes. Where all widths of a group are one, its words are one
// sequence of bits, and miniblocks need not be told apart. Included by a unit that is compiled for one instruction set,
// inside its namespace; SSE2 has none, as of unpackers.

#if !defined(ZENITH_ISA_SSE2)

#if defined(ZENITH_ISA_AVX512VBMI)

ZENITH_FN constexpr bool has_narrow_lanes(unsigned width) { return width <= narrow_width; }

// Eight bytes of a register hold eight words, or four, which end with a byte, or half of one. They are brought
// together, and each byte of a lane is picked from the 64 bits wherever it begins.
struct alignas(128) narrow_code {
  std::uint8_t bytes[64];
  std::uint8_t bits[64];
};

constexpr narrow_code make_narrow_code(unsigned width) {
  narrow_code made{};
  const unsigned lane_bytes = width <= byte_width ? 1 : width <= 16 ? 2 : 4;
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned first = i / 8 * (8 / lane_bytes) * width;
    const unsigned byte = first / 8 + i % 8;
    made.bytes[i] = static_cast<std::uint8_t>(byte < 64 ? byte : 63);
    // behind the lane's word, less the lane's bits, modulo the 64
    const unsigned end = first % 8 + (i % 8 / lane_bytes + 1) * width;
    made.bits[i] = static_cast<std::uint8_t>((64 + end - 8 * (lane_bytes - i % lane_bytes)) % 64);
  }
  return made;
}

#else

// AVX-512 brings each 128 bits the 32-bit words where their own begin. AVX2 loads at once 128 bits that end with their
// words and 128 that begin with theirs, as the words of each end with a byte; the column has bytes in front of them.
ZENITH_FN constexpr bool has_narrow_lanes(unsigned width) { return width <= (narrow_items == 64 ? 14 : narrow_width); }

/// Wherever in a byte such a word begins, it may lie in three.
ZENITH_FN constexpr bool straddles(unsigned width) { return width > 10 && width != 12; }

// 128 bits of a register hold eight words, or sixteen of which the odd ones are unpacked like the even ones. A
// permutation brings to each lane of 16 bits the two bytes with the end of its word, and a multiplication by a power of
// two shifts that end to the lane's. Of three bytes, another permutation brings the last: from its product come the low
// halves, and the high ones from the product of the other two.
struct alignas(128) narrow_code {
  std::uint32_t words[narrow_items / 4];  ///< AVX-512: the source of each 32 bits, in which bytes are found
  std::uint8_t bytes[narrow_items];
  std::uint8_t more_bytes[narrow_items];  ///< of the odd words, or the last of three
  std::uint16_t factor[narrow_items / 2];
  std::uint16_t odd_factor[narrow_items / 2];
};

/// Of `step` words for each lane of 16 bits.
constexpr narrow_code make_narrow_code(unsigned width, unsigned step) {
  narrow_code made{};
  for (unsigned i = 0; i < narrow_items / 2; ++i) {
    const unsigned begin = narrow_items == 64 ? i / 8 * step * width : 0;
    const unsigned in_front = narrow_items == 64 || i >= 8 ? 0 : 16 - step * width;
    if (i % 2 == 0) made.words[i / 2] = begin / 4 + i % 8 / 2;
    const auto set = [&](std::uint8_t* bytes, unsigned last, unsigned back) {
      // a byte that is not there is zero
      bytes[2 * i] = static_cast<std::uint8_t>(last >= back ? in_front + last - back : 0x80);
      bytes[2 * i + 1] = static_cast<std::uint8_t>(back == 0 ? 0x80 : in_front + last + 1 - back);
    };
    for (unsigned odd = 0; odd < step && width > 0; ++odd) {
      const unsigned end = begin % 4 * 8 + (i % 8 * step + odd + 1) * width;
      const unsigned last = (end - 1) / 8;
      if (straddles(width)) {
        set(made.bytes, last, 2);
        set(made.more_bytes, last, 0);
        made.factor[i] = static_cast<std::uint16_t>(1U << (16 - (end - 8 * last)));
      } else {
        set(odd == 0 ? made.bytes : made.more_bytes, last, 1);
        (odd == 0 ? made.factor : made.odd_factor)[i] = static_cast<std::uint16_t>(1U << (8 - (end - 8 * last)));
      }
    }
  }
  return made;
}

constexpr narrow_code make_narrow_code(unsigned width) { return make_narrow_code(width, width <= byte_width ? 2 : 1); }

#endif

/// The widths that have a code: eight bytes hold two words of up to 30 bits, wherever the first may begin.
#if defined(ZENITH_ISA_AVX512VBMI)
inline constexpr unsigned coded_width = 30;
#else
inline constexpr unsigned coded_width = narrow_width;
#endif

constexpr auto narrow_codes = make_width_table<0, coded_width>(make_narrow_code);

// An unpacker of words of one width has
//   lane            what they are unpacked to
//   stride()        the bytes of `narrow_items` words
//   (at)            the words that begin there, in their order

#if defined(ZENITH_ISA_AVX512VBMI)

template <class Lane>
class narrow_unpacker {
 public:
  using lane = Lane;

  ZENITH_FN explicit narrow_unpacker(unsigned width)
      : width_(width), bytes_(load_bits(narrow_codes[width].bytes)), bits_(load_bits(narrow_codes[width].bits)) {}

  ZENITH_FN std::uint64_t stride() const { return width_ * (narrow_items / 8); }

  ZENITH_FN narrow_words<Lane> operator()(const std::byte* at) const {
    narrow_words<Lane> words;
    for (unsigned i = 0; i < sizeof(Lane); ++i) {
      const std::byte* from = at + i * stride() / sizeof(Lane);
      prefetch_ahead(from);
      const __m512i together = _mm512_permutexvar_epi8(bytes_, load_bits(from));
      words.v[i] = _mm512_multishift_epi64_epi8(bits_, together);
    }
    return words;
  }

 private:
  std::uint64_t width_;
  narrow_register bytes_;
  narrow_register bits_;
};

using byte_unpacker = narrow_unpacker<std::uint8_t>;

/// Words so long that sixteen of them end in the sixteen 32-bit words that begin with the first, one in each: 30 bits
/// or more. A lane takes its own from that word and the one before it.
class spanning_unpacker {
 public:
  using lane = std::uint32_t;

  ZENITH_FN explicit spanning_unpacker(unsigned width) : width_(width) {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i short_of = _mm512_set1_epi32(static_cast<int>(32 - width));
    shift_ = _mm512_sub_epi32(_mm512_set1_epi32(static_cast<int>(width)), _mm512_mullo_epi32(lanes, short_of));
  }

  ZENITH_FN std::uint64_t stride() const { return width_ * (narrow_items / 8); }

  ZENITH_FN narrow_words<lane> operator()(const std::byte* at) const {
    narrow_words<lane> words;
    for (unsigned i = 0; i < sizeof(lane); ++i, at += 2 * width_) {
      prefetch_ahead(at);
      words.v[i] = _mm512_shrdv_epi32(load_bits(at - 4), load_bits(at), shift_);
    }
    return words;
  }

 private:
  std::uint64_t width_;
  narrow_register shift_;
};

/// Returns use(an unpacker of words of this width).
template <class Use>
ZENITH_FN auto with_narrow_unpacker(unsigned width, Use&& use) {
  if (width <= byte_width) return use(byte_unpacker(width));
  return use(narrow_unpacker<std::uint16_t>(width));
}

#else

template <class Lane, bool Straddles>
class narrow_unpacker {
 public:
  using lane = Lane;

  ZENITH_FN explicit narrow_unpacker(unsigned width)
      : width_(width),
#if defined(ZENITH_ISA_AVX512)
        words_(load_bits(narrow_codes[width].words)),
#endif
        bytes_(load_bits(narrow_codes[width].bytes)),
        more_bytes_(load_bits(narrow_codes[width].more_bytes)),
        factor_(load_bits(narrow_codes[width].factor)),
        odd_factor_(load_bits(narrow_codes[width].odd_factor)) {
  }

  ZENITH_FN std::uint64_t stride() const { return width_ * (narrow_items / 8); }

  ZENITH_FN narrow_words<Lane> operator()(const std::byte* at) const {
    prefetch_ahead(at);
    if constexpr (narrow_items == 64 && sizeof(Lane) == 2) prefetch_ahead(at + stride() / 2);
    narrow_words<Lane> words;
    if constexpr (sizeof(Lane) == 1) {
      const narrow_register bits = loaded(at);
      words.v[0] = top_bytes(low_products(bytes_of(bits, bytes_), factor_),
                             low_products(bytes_of(bits, more_bytes_), odd_factor_));
    } else {
      words.v[0] = eights(loaded(at));
      words.v[1] = eights(loaded(at + stride() / 2));
    }
    return words;
  }

 private:
  ZENITH_FN narrow_register loaded(const std::byte* at) const {
#if defined(ZENITH_ISA_AVX512)
    return words_of(load_bits(at), words_);
#else
    return load_bits(at - (16 - stride() / sizeof(Lane) / 2));
#endif
  }
  ZENITH_FN narrow_register eights(narrow_register bits) const {
    const narrow_register pairs = bytes_of(bits, bytes_);
    if constexpr (Straddles) {
      return any_of(high_products(pairs, factor_), low_products(bytes_of(bits, more_bytes_), factor_));
    } else {
      return low_products(pairs, factor_);
    }
  }

  std::uint64_t width_;
#if defined(ZENITH_ISA_AVX512)
  narrow_register words_;
#endif
  narrow_register bytes_;
  narrow_register more_bytes_;
  narrow_register factor_;
  narrow_register odd_factor_;
};

using byte_unpacker = narrow_unpacker<std::uint8_t, false>;

/// Returns use(an unpacker of words of this width).
template <class Use>
ZENITH_FN auto with_narrow_unpacker(unsigned width, Use&& use) {
  if (width <= byte_width) return use(byte_unpacker(width));
  if (straddles(width)) return use(narrow_unpacker<std::uint16_t, true>(width));
  return use(narrow_unpacker<std::uint16_t, false>(width));
}

#endif

/// The words at `at`, and moves on behind them.
template <class Unpacker>
ZENITH_FN auto taken(const Unpacker& unpacked, const std::byte*& at) {
  const auto words = unpacked(at);
  at += unpacked.stride();
  keep_stepping(at);
  return words;
}

/// Words of four bits, two of which come apart by one shift.
class nibble_unpacker {
 public:
  using lane = nibble;

  ZENITH_FN std::uint64_t stride() const { return narrow_items / 2; }

  ZENITH_FN narrow_words<lane> operator()(const std::byte* at) const {
    prefetch_ahead(at);
    return {{apart(at)}};
  }
};

/// Words that are as long as their lanes.
template <class Lane>
class plain_unpacker {
 public:
  using lane = Lane;

  ZENITH_FN std::uint64_t stride() const { return narrow_items * sizeof(Lane); }

  ZENITH_FN narrow_words<Lane> operator()(const std::byte* at) const {
    narrow_words<Lane> words;
    for (unsigned i = 0; i < sizeof(Lane); ++i) {
      const std::byte* from = at + i * sizeof(narrow_register);
      if (i * sizeof(narrow_register) % 64 == 0) prefetch_ahead(from);
      words.v[i] = load_bits(from);
    }
    return words;
  }
};

#endif
