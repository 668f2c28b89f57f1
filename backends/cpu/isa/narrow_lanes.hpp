// Registers of 512 or 256 bits whose lanes of 8, 16 or 32 bits hold words of few bits: two or four times as many as in
// lanes as wide as a value, and what both sizes of register call alike. Included by a unit that is compiled for one
// instruction set, inside its namespace; SSE2 has none.

#if !defined(ZENITH_ISA_SSE2)

#if defined(ZENITH_ISA_AVX512)
using narrow_register = __m512i;
#else
using narrow_register = __m256i;
#endif

/// Words that are unpacked at a time: as many as a register has bytes.
inline constexpr unsigned narrow_items = sizeof(narrow_register);

/// A register for each byte of a lane. The words stand at the top of their lanes; below them is anything, which decides
/// no comparison with a bound that has either all or none of these bits.
template <class Lane>
struct narrow_words {
  narrow_register v[sizeof(Lane)];
};

/// A byte with a word of four bits and nothing else: the even words stand at the tops of theirs, the odd ones at the
/// bottoms.
enum class nibble : std::uint8_t {};

/// Words of up to 8 bits are unpacked to bytes, more to lanes of 16 bits.
inline constexpr unsigned byte_width = 8;
inline constexpr unsigned narrow_width = 15;

/// Bits of a lane below its word.
template <class Lane>
ZENITH_FN unsigned bits_below(unsigned width) {
  return 8 * sizeof(Lane) - width;
}

template <>
ZENITH_FN unsigned bits_below<nibble>(unsigned) {
  return 0;
}

/// The same in each lane of 32 bits.
template <class Lane>
ZENITH_FN constexpr std::uint32_t in_lanes(std::uint32_t word) {
  return sizeof(Lane) == 1 ? (word & 0xff) * 0x01010101U : sizeof(Lane) == 2 ? (word & 0xffff) * 0x00010001U : word;
}

ZENITH_FN unsigned greatest_byte(__m256i of) {
  const __m128i half = _mm_max_epu8(_mm256_castsi256_si128(of), _mm256_extracti128_si256(of, 1));
  // what is found at once is the least of 16 bits
  const __m128i least = _mm_andnot_si128(_mm_max_epu8(half, _mm_srli_epi16(half, 8)), _mm_set1_epi16(0xff));
  return 0xff - static_cast<unsigned>(_mm_cvtsi128_si32(_mm_minpos_epu16(least)) & 0xff);
}

// Lane by lane, of unsigned words.
template <class U>
ZENITH_FN narrow_register added_words(narrow_register a, narrow_register b, U) {
  return vector_of<U>(a) + vector_of<U>(b);
}
ZENITH_FN narrow_register less_words(narrow_register a, narrow_register b) {
  return vector_of<std::uint32_t>(a) - vector_of<std::uint32_t>(b);
}
template <class U>
ZENITH_FN narrow_register greater_of(narrow_register a, narrow_register b, U) {
  return xsimd::max(vector_of<U>(a), vector_of<U>(b));
}
template <class U>
ZENITH_FN narrow_register lesser_of(narrow_register a, narrow_register b, U) {
  return xsimd::min(vector_of<U>(a), vector_of<U>(b));
}

// What 512 and 256 bits call alike.
#if defined(ZENITH_ISA_AVX512)
ZENITH_FN __m512i bytes_of(__m512i bits, __m512i index) { return _mm512_shuffle_epi8(bits, index); }
ZENITH_FN __m512i low_products(__m512i a, __m512i b) { return _mm512_mullo_epi16(a, b); }
ZENITH_FN __m512i high_products(__m512i a, __m512i b) { return _mm512_mulhi_epu16(a, b); }
ZENITH_FN __m512i added_bytes(__m512i of) { return _mm512_sad_epu8(of, _mm512_setzero_si512()); }
ZENITH_FN __m512i added_pairs(__m512i of) { return _mm512_madd_epi16(of, _mm512_set1_epi16(1)); }
ZENITH_FN __m512i shifted_down(__m512i of, unsigned by) {
  return _mm512_srl_epi64(of, _mm_cvtsi32_si128(static_cast<int>(by)));
}
ZENITH_FN __m512i shifted_up(__m512i of, unsigned by) {
  return _mm512_sll_epi64(of, _mm_cvtsi32_si128(static_cast<int>(by)));
}
ZENITH_FN __m512i low_halves(__m512i of) { return _mm512_and_si512(of, _mm512_set1_epi64(0xffffffffLL)); }
/// Of each lane of 32 bits.
ZENITH_FN __m512i upper_halves(__m512i of) { return _mm512_srli_epi32(of, 16); }
/// a - b * 2^16, in lanes of 32 bits.
ZENITH_FN __m512i less_halves(__m512i a, __m512i b) { return _mm512_sub_epi32(a, _mm512_slli_epi32(b, 16)); }
/// The bytes at the tops of lanes of 16 bits, an even one and an odd one in turn.
ZENITH_FN __m512i top_bytes(__m512i even, __m512i odd) {
  return _mm512_mask_mov_epi8(odd, 0x5555555555555555ULL, _mm512_srli_epi16(even, 8));
}

/// Of half a register's bytes, each in 16 bits and 4 bits up.
ZENITH_FN __m512i apart(const std::byte* bytes) {
  const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
  return _mm512_slli_epi16(_mm512_cvtepu8_epi16(half), 4);
}

ZENITH_FN bool any_equal(__m512i a, __m512i b, std::uint8_t) { return _mm512_cmpeq_epi8_mask(a, b) != 0; }
ZENITH_FN bool any_equal(__m512i a, __m512i b, std::uint16_t) { return _mm512_cmpeq_epi16_mask(a, b) != 0; }
ZENITH_FN bool any_equal(__m512i a, __m512i b, std::uint32_t) { return _mm512_cmpeq_epi32_mask(a, b) != 0; }
ZENITH_FN unsigned greatest_byte(__m512i of) {
  return greatest_byte(_mm256_max_epu8(_mm512_castsi512_si256(of), _mm512_extracti64x4_epi64(of, 1)));
}
/// Of 64 bits.
ZENITH_FN std::uint64_t sum_of_lanes(__m512i of) { return static_cast<std::uint64_t>(_mm512_reduce_add_epi64(of)); }
#else
ZENITH_FN __m256i bytes_of(__m256i bits, __m256i index) { return _mm256_shuffle_epi8(bits, index); }
ZENITH_FN __m256i low_products(__m256i a, __m256i b) { return _mm256_mullo_epi16(a, b); }
ZENITH_FN __m256i high_products(__m256i a, __m256i b) { return _mm256_mulhi_epu16(a, b); }
ZENITH_FN __m256i added_bytes(__m256i of) { return _mm256_sad_epu8(of, _mm256_setzero_si256()); }
ZENITH_FN __m256i added_pairs(__m256i of) { return _mm256_madd_epi16(of, _mm256_set1_epi16(1)); }
ZENITH_FN __m256i shifted_down(__m256i of, unsigned by) {
  return _mm256_srl_epi64(of, _mm_cvtsi32_si128(static_cast<int>(by)));
}
ZENITH_FN __m256i shifted_up(__m256i of, unsigned by) {
  return _mm256_sll_epi64(of, _mm_cvtsi32_si128(static_cast<int>(by)));
}
ZENITH_FN __m256i low_halves(__m256i of) { return _mm256_and_si256(of, _mm256_set1_epi64x(0xffffffffLL)); }
/// Of each lane of 32 bits.
ZENITH_FN __m256i upper_halves(__m256i of) { return _mm256_srli_epi32(of, 16); }
/// a - b * 2^16, in lanes of 32 bits.
ZENITH_FN __m256i less_halves(__m256i a, __m256i b) { return _mm256_sub_epi32(a, _mm256_slli_epi32(b, 16)); }
/// The bytes at the tops of lanes of 16 bits, an even one and an odd one in turn.
ZENITH_FN __m256i top_bytes(__m256i even, __m256i odd) {
  return _mm256_or_si256(_mm256_srli_epi16(even, 8),
                         _mm256_and_si256(odd, _mm256_set1_epi16(static_cast<short>(0xff00))));
}

/// Of half a register's bytes, each in 16 bits and 4 bits up.
ZENITH_FN __m256i apart(const std::byte* bytes) {
  const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  return _mm256_slli_epi16(_mm256_cvtepu8_epi16(half), 4);
}

ZENITH_FN bool any_equal(__m256i a, __m256i b, std::uint8_t) {
  return _mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)) != 0;
}
ZENITH_FN bool any_equal(__m256i a, __m256i b, std::uint16_t) {
  return _mm256_movemask_epi8(_mm256_cmpeq_epi16(a, b)) != 0;
}
ZENITH_FN bool any_equal(__m256i a, __m256i b, std::uint32_t) {
  return _mm256_movemask_epi8(_mm256_cmpeq_epi32(a, b)) != 0;
}
/// Of 64 bits.
ZENITH_FN std::uint64_t sum_of_lanes(__m256i of) {
  const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(of), _mm256_extracti128_si256(of, 1));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1));
}
#endif

#endif
