// The words of a miniblock in as many bits each as its width says, many at a time. Included by a unit that is compiled
// for one instruction set, inside its namespace.

#if defined(ZENITH_ISA_AVX512VBMI)

// Where the bytes of four words together stand that lie in one 128-bit lane. An odd width leaves the second and fourth
// four to begin at half a byte, in the last byte of those before.
struct alignas(128) place_code {
  std::uint8_t even[64];
  std::uint8_t odd[64];
};
struct place_table {
  place_code of[33];
  std::uint64_t even_bytes[33];  ///< a bit for each byte that there is
  std::uint64_t odd_bytes[33];
};
constexpr place_table make_places() {
  place_table made{};
  for (unsigned width = 0; width <= 32; ++width) {
    for (unsigned four = 0; four < 4; ++four) {
      const unsigned first = four * 4 * width / 8;
      const unsigned bytes = (four * 4 * width % 8 + 4 * width + 7) / 8;
      for (unsigned byte = 0; byte < bytes; ++byte) {
        auto& code = four % 2 == 0 ? made.of[width].even : made.of[width].odd;
        auto& mask = four % 2 == 0 ? made.even_bytes[width] : made.odd_bytes[width];
        code[first + byte] = static_cast<std::uint8_t>(four * 16 + byte);
        mask |= std::uint64_t{1} << (first + byte);
      }
    }
  }
  return made;
}
constexpr place_table places = make_places();

/// Sixteen words in 2 * width bytes, zeros behind them.
ZENITH_FN __m512i in_bits(__m512i words, unsigned width) {
  // two words in 64 bits
  const __m512i low = _mm512_set1_epi64(static_cast<long long>(masks<std::uint32_t>.of[width]));
  const __m512i shifted = _mm512_srl_epi64(words, _mm_cvtsi32_si128(static_cast<int>(32 - width)));
  const __m512i twos = _mm512_ternarylogic_epi64(low, words, shifted, 0xca);
  // four in 128: the upper two, rotated, are what follows the lower two and, above it, what is left
  const auto mask = static_cast<long long>(masks<std::uint64_t>.of[2 * width]);
  const __m512i from_rotated = _mm512_mask_set1_epi64(_mm512_set1_epi64(~mask), 0xaa, mask);
  const __m512i rotated = _mm512_rolv_epi64(_mm512_unpackhi_epi64(twos, twos), _mm512_set1_epi64(2LL * width));
  __m512i fours = _mm512_ternarylogic_epi64(from_rotated, rotated, twos, 0xca);
  if (width % 2 == 0) {
    const auto all = places.even_bytes[width] | places.odd_bytes[width];
    const __m512i index =
        _mm512_or_si512(_mm512_load_si512(places.of[width].even), _mm512_load_si512(places.of[width].odd));
    return _mm512_maskz_permutexvar_epi8(all, index, fours);
  }
  // the second and fourth four begin at half a byte
  const __m512i carried = _mm512_maskz_srli_epi64(0xcc & 0xaa, _mm512_unpacklo_epi64(fours, fours), 60);
  fours = _mm512_or_si512(_mm512_mask_slli_epi64(fours, 0xcc, fours, 4), carried);
  return _mm512_or_si512(
      _mm512_maskz_permutexvar_epi8(places.even_bytes[width], _mm512_load_si512(places.of[width].even), fours),
      _mm512_maskz_permutexvar_epi8(places.odd_bytes[width], _mm512_load_si512(places.of[width].odd), fours));
}

// Widths of which two words, shifted to where they begin in a byte, stay in 64 bits, and of which no byte has bits of
// three such pairs: every other pair is placed by one permutation, the pairs between by another, and the bytes that two
// share come together in the end.
constexpr unsigned first_paired = 4;
constexpr unsigned last_paired = 29;
struct alignas(64) pair_code {
  std::uint8_t even[64];
  std::uint8_t odd[64];
  std::uint64_t shift[8];
  std::uint64_t even_bytes;  ///< a bit for each byte that there is
  std::uint64_t odd_bytes;
};
constexpr pair_code make_pair_code(unsigned width) {
  pair_code made{};
  for (unsigned pair = 0; pair < 8; ++pair) {
    const unsigned bit = pair * 2 * width;
    made.shift[pair] = bit % 8;
    for (unsigned byte = 0; byte < (bit % 8 + 2 * width + 7) / 8; ++byte) {
      (pair % 2 == 0 ? made.even : made.odd)[bit / 8 + byte] = static_cast<std::uint8_t>(pair * 8 + byte);
      (pair % 2 == 0 ? made.even_bytes : made.odd_bytes) |= std::uint64_t{1} << (bit / 8 + byte);
    }
  }
  return made;
}
constexpr auto pair_codes = make_width_table<first_paired, last_paired>(make_pair_code);

ZENITH_FN void write_words(const vector_of<std::uint32_t>* words, unsigned width, std::byte* to) {
  if (width < first_paired || width > last_paired) [[unlikely]] {
    _mm512_storeu_si512(to, in_bits(words[0], width));
    _mm512_storeu_si512(to + 2 * width, in_bits(words[1], width));
    return;
  }
  const auto& code = pair_codes[width];
  const __m512i low = _mm512_set1_epi64(static_cast<long long>(masks<std::uint32_t>.of[width]));
  const __m128i down = _mm_cvtsi32_si128(static_cast<int>(32 - width));
  const __m512i shift = _mm512_load_si512(code.shift);
  const __m512i even = _mm512_load_si512(code.even);
  const __m512i odd = _mm512_load_si512(code.odd);
  for (unsigned i = 0; i < 2; ++i) {
    const __m512i twos = _mm512_ternarylogic_epi64(low, words[i], _mm512_srl_epi64(words[i], down), 0xca);
    const __m512i placed = _mm512_sllv_epi64(twos, shift);
    _mm512_storeu_si512(to + i * 2 * width,
                        _mm512_or_si512(_mm512_maskz_permutexvar_epi8(code.even_bytes, even, placed),
                                        _mm512_maskz_permutexvar_epi8(code.odd_bytes, odd, placed)));
  }
}
#elif !defined(ZENITH_ISA_SSE2)

// Four words come together in the 128 bits that they lie in: two in each 64 bits, then the upper two behind the lower
// two. Of an odd width the second four of eight begin at half a byte, and take the first four's last half.
struct alignas(32) four_code {
  std::uint64_t low[4];     ///< shifts of the lower two
  std::uint64_t up[4];      ///< of the upper two, to where they follow the lower two
  std::uint64_t beyond[4];  ///< and down, to the 64 bits above these
  std::uint8_t shared[32];  ///< the byte of the first four that the second four begin in
};
/// An odd width of 31 moves the first of four out of its 64 bits.
constexpr bool has_fours(unsigned width) { return width != 31; }
constexpr four_code make_four_code(unsigned width) {
  four_code made{};
  constexpr unsigned out = 64;  // nothing is left of what is shifted so far
  for (unsigned four = 0; four < 2; ++four) {
    const unsigned half = four == 1 && width % 2 == 1 ? 4 : 0;
    made.low[2 * four] = half;
    made.low[2 * four + 1] = out;
    made.up[2 * four] = 2 * width + half;
    made.up[2 * four + 1] = out;
    made.beyond[2 * four] = out;
    made.beyond[2 * four + 1] = out - 2 * width - (has_fours(width) ? half : 0);
  }
  for (auto& byte : made.shared) byte = 0x80;  // zero
  if (width % 2 == 1) made.shared[16] = static_cast<std::uint8_t>(width / 2);
  return made;
}
constexpr auto four_codes = make_width_table<0, 32>(make_four_code);

ZENITH_FN __m256i eight_words(const vector_of<std::uint32_t>* words, unsigned i) {
#if defined(ZENITH_ISA_AVX512)
  return i % 2 == 0 ? _mm512_castsi512_si256(words[i / 2]) : _mm512_extracti64x4_epi64(words[i / 2], 1);
#else
  return words[i];
#endif
}

/// May write 16 bytes more.
ZENITH_FN void write_words(const vector_of<std::uint32_t>* words, unsigned width, std::byte* to) {
  if (!has_fours(width)) [[unlikely]]
    return write_bits<std::uint32_t>(words, width, to);
  const auto& code = four_codes[width];
  const auto load = [](const auto& from)
                        ZENITH_INLINE_LAMBDA { return _mm256_load_si256(reinterpret_cast<const __m256i*>(from)); };
  const __m256i low = load(code.low);
  const __m256i up = load(code.up);
  const __m256i beyond = load(code.beyond);
  const __m256i shared = load(code.shared);
  const __m256i even = _mm256_set1_epi64x(static_cast<long long>(masks<std::uint32_t>.of[width]));
  const __m128i down = _mm_cvtsi32_si128(static_cast<int>(32 - width));
#pragma GCC unroll 4
  for (unsigned i = 0; i < packed_miniblock_items / 8; ++i, to += width) {
    const __m256i eight = eight_words(words, i);
    const __m256i twos =
        _mm256_or_si256(_mm256_and_si256(eight, even), _mm256_andnot_si256(even, _mm256_srl_epi64(eight, down)));
    const __m256i upper = _mm256_unpackhi_epi64(twos, twos);
    __m256i four = _mm256_or_si256(_mm256_or_si256(_mm256_sllv_epi64(twos, low), _mm256_sllv_epi64(upper, up)),
                                   _mm256_srlv_epi64(upper, beyond));
    if (width % 2 == 1) {
      const __m256i first = _mm256_permute2x128_si256(four, four, 0x08);
      four = _mm256_or_si256(four, _mm256_shuffle_epi8(first, shared));
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(four));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + width / 2), _mm256_extracti128_si256(four, 1));
  }
}

#else

ZENITH_FN void write_words(const vector_of<std::uint32_t>* words, unsigned width, std::byte* to) {
  write_bits<std::uint32_t>(words, width, to);
}

#endif

ZENITH_FN void write_words(const vector_of<std::uint64_t>* words, unsigned width, std::byte* to) {
  write_bits<std::uint64_t>(words, width, to);
}
