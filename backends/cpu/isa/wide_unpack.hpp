// Words of one width that are longer than lanes of 16 bits, unpacked to the tops of lanes of 32 bits; and which of all
// unpackers is whose. Included by a unit that is compiled for one instruction set, inside its namespace; SSE2 has none,
// as of unpackers.

#if !defined(ZENITH_ISA_SSE2)

#if defined(ZENITH_ISA_AVX512VBMI) || !defined(ZENITH_ISA_AVX512)

/// Words that end in the fourth of four bytes at the latest, wherever in the first they begin: of up to 25 bits, of
/// 26 and of 28.
class top_unpacker {
 public:
  using lane = std::uint32_t;

  ZENITH_FN explicit top_unpacker(unsigned width)
      : width_(width),
        bytes_(load_bits(codes<lane>.of[width][0].bytes)),
        words_(load_bits(codes<lane>.of[width][0].words)),
        shift_(less_words(every_lane(32 - width), load_bits(codes<lane>.of[width][0].narrow_shift))) {}

  ZENITH_FN std::uint64_t stride() const { return width_ * (narrow_items / 8); }

  ZENITH_FN narrow_words<lane> operator()(const std::byte* at) const {
    narrow_words<lane> words;
    for (unsigned i = 0; i < sizeof(lane); ++i, at += stride() / sizeof(lane)) {
      if (i * narrow_items % 64 == 0) prefetch_ahead(at);
      words.v[i] = shift_left<lane>(placed(load_bits(at), bytes_, words_), shift_);
    }
    return words;
  }

 private:
  std::uint64_t width_;
  narrow_register bytes_;
  narrow_register words_;
  narrow_register shift_;
};

#endif

#if !defined(ZENITH_ISA_AVX512VBMI)

// All of a word, or all but its last few bits, with four bytes for each: those with its end. They are taken from 128
// bits, which AVX2 gets as the halves of one load: what ends in the lower half and what begins in the upper one lacks
// up to four bits where four words do not end with a byte, that is, of odd widths.
struct alignas(128) leading_code {
  std::uint32_t words[narrow_items / 4];  ///< AVX-512: the source of each 32 bits, in which bytes are found
  std::uint8_t bytes[narrow_items];
  std::uint32_t shift[narrow_items / 4];  ///< up to the lane's top
  unsigned unknown_bits;                  ///< bits of the words that are not known
};

/// AVX2: the first byte of the upper half.
ZENITH_FN constexpr unsigned leading_middle(unsigned width) { return (width + 1) / 2; }

constexpr leading_code make_leading_code(unsigned width) {
  leading_code made{};
  for (unsigned lane = 0; lane < narrow_items / 4; ++lane) {
    // from sixteen bytes before the first word on
    constexpr unsigned more = 16;
    const unsigned fourth = lane / 4 * 4;
    const unsigned behind = more + ((fourth + 4) * width + 7) / 8;
    const unsigned begin = narrow_items == 32 ? leading_middle(width) + fourth * 4
                           : behind < 2 * 16  ? more
                                              : (behind - 16 + 3) / 4 * 4;
    if (narrow_items == 64) made.words[lane] = (begin - more) / 4 + lane % 4;
    const unsigned end = 8 * more + (lane + 1) * width;
    const unsigned first = (end - 1) / 8 - 3;
    made.shift[lane] = 8 * (first + 4) - end;
    for (unsigned i = 0; i < 4; ++i) {
      made.bytes[4 * lane + i] = static_cast<std::uint8_t>(first + i >= begin ? first + i - begin : 0x80);
    }
    const unsigned from = 8 * (first > begin ? first : begin);
    const unsigned known = end > from ? end - from : 0;
    if (known + made.unknown_bits < width) made.unknown_bits = width - known;
  }
  return made;
}

constexpr auto leading_codes = make_width_table<1, 31>(make_leading_code);

/// Whether these are whole words.
ZENITH_FN constexpr bool has_whole_leading(unsigned width) {
  return width > 0 && width < 32 && leading_codes[width].unknown_bits == 0;
}

/// Brings the bytes with a word to each lane of 32 bits.
class leading_bytes {
 public:
  ZENITH_FN explicit leading_bytes(unsigned width)
      :
#if defined(ZENITH_ISA_AVX512)
        words_(load_bits(leading_codes[width].words)),
#else
        ahead_(16 - leading_middle(width)),
#endif
        bytes_(load_bits(leading_codes[width].bytes)) {
  }

  ZENITH_FN narrow_register operator()(const std::byte* at) const {
#if defined(ZENITH_ISA_AVX512)
    return bytes_of(words_of(load_bits(at), words_), bytes_);
#else
    return bytes_of(load_bits(at - ahead_), bytes_);
#endif
  }

 private:
#if defined(ZENITH_ISA_AVX512)
  narrow_register words_;
#else
  std::uint64_t ahead_;
#endif
  narrow_register bytes_;
};

/// Words of up to 31 bits, but for the last of their bits.
class leading_unpacker {
 public:
  using lane = std::uint32_t;

  ZENITH_FN explicit leading_unpacker(unsigned width)
      : width_(width), bytes_(width), shift_(load_bits(leading_codes[width].shift)) {}

  ZENITH_FN std::uint64_t stride() const { return width_ * (narrow_items / 8); }
  ZENITH_FN unsigned unknown_bits() const { return leading_codes[width_].unknown_bits; }

  ZENITH_FN narrow_words<lane> operator()(const std::byte* at) const {
    narrow_words<lane> words;
    for (unsigned i = 0; i < sizeof(lane); ++i, at += stride() / sizeof(lane)) {
      if (i * narrow_items % 64 == 0) prefetch_ahead(at);
      words.v[i] = shift_left<lane>(bytes_(at), shift_);
    }
    return words;
  }

 private:
  std::uint64_t width_;
  leading_bytes bytes_;
  narrow_register shift_;
};

#if defined(ZENITH_ISA_AVX512)

/// Words of up to 31 bits. A lane takes its own from the 32-bit word with its end and the one before that.
class long_unpacker {
 public:
  using lane = std::uint32_t;

  ZENITH_FN explicit long_unpacker(unsigned width) : width_(width) {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i wide = _mm512_set1_epi32(static_cast<int>(width));
    const __m512i last =
        _mm512_sub_epi32(_mm512_add_epi32(_mm512_mullo_epi32(lanes, wide), wide), _mm512_set1_epi32(1));
    end_ = _mm512_srli_epi32(last, 5);
    begin_ = _mm512_sub_epi32(end_, _mm512_set1_epi32(1));
    down_ = _mm512_add_epi32(_mm512_and_si512(last, _mm512_set1_epi32(31)), _mm512_set1_epi32(1));
    up_ = _mm512_sub_epi32(_mm512_set1_epi32(32), down_);
  }

  ZENITH_FN std::uint64_t stride() const { return width_ * (narrow_items / 8); }

  ZENITH_FN narrow_words<lane> operator()(const std::byte* at) const {
    narrow_words<lane> words;
    for (unsigned i = 0; i < sizeof(lane); ++i, at += stride() / sizeof(lane)) {
      prefetch_ahead(at);
      const __m512i bits = load_bits(at);
      words.v[i] =
          any_of(shift_left<lane>(words_of(bits, end_), up_), shift_right<lane>(words_of(bits, begin_), down_));
    }
    return words;
  }

 private:
  std::uint64_t width_;
  narrow_register end_;
  narrow_register begin_;
  narrow_register up_;
  narrow_register down_;
};

#else

// Words of 26 to 31 bits, each in 64 bits: the even ones from one load, there from a bit of the second byte on, the odd
// ones from another, from a bit of the first. The loads are such that each half has all of its two words.
inline constexpr unsigned least_paired_width = 26;
inline constexpr unsigned most_paired_width = 31;

struct alignas(128) paired_code {
  std::uint8_t even[32];
  std::uint8_t odd[32];
  std::uint64_t even_begin[4];
  std::uint64_t odd_begin[4];
  int even_at;  ///< where the loads begin
  int odd_at;
};

constexpr paired_code make_paired_code(unsigned width) {
  paired_code made{};
  made.even_at = static_cast<int>(width / 2) - 16;
  made.odd_at = static_cast<int>(5 * width / 8) - 16;
  for (unsigned lane = 0; lane < 4; ++lane) {
    const unsigned even = 2 * lane * width;
    const unsigned odd = even + width;
    const auto set = [&](std::uint8_t& to, unsigned byte, int at) {
      const int from = static_cast<int>(byte) - at - static_cast<int>(lane / 2 * 16);
      to = static_cast<std::uint8_t>(from >= 0 && from < 16 ? from : 0x80);
    };
    for (unsigned i = 0; i < 8; ++i) {
      if (i > 0) set(made.even[8 * lane + i], even / 8 + i - 1, made.even_at);
      set(made.odd[8 * lane + i], odd / 8 + i, made.odd_at);
    }
    made.even_begin[lane] = 8 + even % 8;
    made.odd_begin[lane] = odd % 8;
  }
  return made;
}

constexpr auto paired_codes = make_width_table<least_paired_width, most_paired_width>(make_paired_code);

/// Eight words.
class paired_bytes {
 public:
  ZENITH_FN explicit paired_bytes(unsigned width)
      : code_(paired_codes[width]),
        even_(load_bits(code_.even)),
        odd_(load_bits(code_.odd)),
        even_at_(code_.even_at),
        odd_at_(code_.odd_at) {}

  ZENITH_FN narrow_register even(const std::byte* at) const { return bytes_of(load_bits(at + even_at_), even_); }
  ZENITH_FN narrow_register odd(const std::byte* at) const { return bytes_of(load_bits(at + odd_at_), odd_); }
  ZENITH_FN narrow_register even_begin() const { return load_bits(code_.even_begin); }
  ZENITH_FN narrow_register odd_begin() const { return load_bits(code_.odd_begin); }

 private:
  const paired_code& code_;
  narrow_register even_;
  narrow_register odd_;
  std::ptrdiff_t even_at_;
  std::ptrdiff_t odd_at_;
};

/// Brings each word to the top of a lane of 32 bits, or to its bottom, with others' bits on the other side.
class paired_words {
 public:
  ZENITH_FN paired_words(unsigned width, bool to_tops)
      : bytes_(width),
        even_down_(less_pairs(bytes_.even_begin(), every_lane(std::uint64_t{to_tops ? 32 - width : 0}))),
        odd_up_(less_pairs(every_lane(std::uint64_t{to_tops ? 64 - width : 32}), bytes_.odd_begin())) {}

  ZENITH_FN narrow_register operator()(const std::byte* at) const {
    return _mm256_blend_epi32(shift_right<std::uint64_t>(bytes_.even(at), even_down_),
                              shift_left<std::uint64_t>(bytes_.odd(at), odd_up_), 0xaa);
  }

 private:
  ZENITH_FN static narrow_register less_pairs(narrow_register a, narrow_register b) { return _mm256_sub_epi64(a, b); }

  paired_bytes bytes_;
  narrow_register even_down_;
  narrow_register odd_up_;
};

/// Words of 26 to 31 bits.
class long_unpacker {
 public:
  using lane = std::uint32_t;

  ZENITH_FN explicit long_unpacker(unsigned width) : width_(width), words_(width, true) {}

  ZENITH_FN std::uint64_t stride() const { return width_ * (narrow_items / 8); }

  ZENITH_FN narrow_words<lane> operator()(const std::byte* at) const {
    narrow_words<lane> words;
    for (unsigned i = 0; i < sizeof(lane); ++i, at += stride() / sizeof(lane)) {
      if (i * narrow_items % 64 == 0) prefetch_ahead(at);
      words.v[i] = words_(at);
    }
    return words;
  }

 private:
  std::uint64_t width_;
  paired_words words_;
};

#endif

#endif

/// Returns use(an unpacker of words of this width, of 16 to 31 bits or 15).
template <class Use>
ZENITH_FN auto with_wide_unpacker(unsigned width, Use&& use) {
#if defined(ZENITH_ISA_AVX512VBMI)
  if (width > coded_width) return use(spanning_unpacker(width));
  // these may need a fifth byte; the others are spared the busier port
  if (width > narrow_bits<std::uint32_t> && width != 26 && width != 28)
    return use(narrow_unpacker<std::uint32_t>(width));
  return use(top_unpacker(width));
#else
  if (has_whole_leading(width)) return use(leading_unpacker(width));
#if !defined(ZENITH_ISA_AVX512)
  if (width <= narrow_bits<std::uint32_t>) return use(top_unpacker(width));
#endif
  return use(long_unpacker(width));
#endif
}

/// Returns use(an unpacker of words of up to 32 bits of this width).
template <class Use>
ZENITH_FN auto with_unpacker(unsigned width, Use&& use) {
  if (width == 4) return use(nibble_unpacker{});
  if (width == 8) return use(plain_unpacker<std::uint8_t>{});
  if (has_narrow_lanes(width)) return with_narrow_unpacker(width, use);
  if (width == 16) return use(plain_unpacker<std::uint16_t>{});
  if (width == 32) return use(plain_unpacker<std::uint32_t>{});
  return with_wide_unpacker(width, use);
}

/// The same, but a few of a word's last bits may be left out: `unknown_bits()` says how many, if it is there.
template <class Use>
ZENITH_FN auto with_leading_unpacker(unsigned width, Use&& use) {
  if (width == 8) return use(plain_unpacker<std::uint8_t>{});
  if (has_narrow_lanes(width)) return with_narrow_unpacker(width, use);
  if (width == 16) return use(plain_unpacker<std::uint16_t>{});
  if (width == 32) return use(plain_unpacker<std::uint32_t>{});
#if defined(ZENITH_ISA_AVX512VBMI)
  return with_wide_unpacker(width, use);
#else
  return use(leading_unpacker(width));
#endif
}

#endif
