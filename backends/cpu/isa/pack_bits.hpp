// The words of a miniblock in as many bits each as its width says. Included by a unit that is compiled for one
// instruction set, inside its namespace.

/// Appends units of bits to each other. The bits behind the last are 0.
class bit_writer {
 public:
  ZENITH_FN explicit bit_writer(std::byte* to) : to_(to) {}

  /// `bits` <= 64; the unit has no others.
  ZENITH_FN void append(std::uint64_t unit, unsigned bits) {
    word_ |= unit << filled_;
    __builtin_memcpy(to_, &word_, sizeof word_);
    const unsigned end = filled_ + bits;
    const bool full = end >= 64;
    word_ = full ? (unit >> 1) >> (63 - filled_) : word_;
    to_ += full ? 8 : 0;
    filled_ = end % 64;
  }
  ZENITH_FN void finish() const { __builtin_memcpy(to_, &word_, sizeof word_); }

 private:
  std::byte* to_;
  std::uint64_t word_ = 0;
  unsigned filled_ = 0;
};

/// The 32 words of a miniblock in `width` bits each; may write up to 64 bytes more.
template <class U>
ZENITH_FN void write_bits(const vector_of<U>* words, unsigned width, std::byte* to) {
  U unpacked[packed_miniblock_items];
  for (unsigned i = 0; i < mini_vectors<U>; ++i) words[i].store_unaligned(unpacked + i * vector_of<U>::size);
  bit_writer bits(to);
  if constexpr (sizeof(U) == 8) {
    for (const U value : unpacked) bits.append(value, width);
  } else {
    for (unsigned i = 0; i < packed_miniblock_items; i += 2) {
      bits.append(unpacked[i] | std::uint64_t{unpacked[i + 1]} << width, 2 * width);
    }
  }
  bits.finish();
}

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
struct pair_table {
  pair_code of[last_paired + 1];
};
constexpr pair_table make_pairs() {
  pair_table made{};
  for (unsigned width = first_paired; width <= last_paired; ++width) {
    auto& code = made.of[width];
    for (unsigned pair = 0; pair < 8; ++pair) {
      const unsigned bit = pair * 2 * width;
      code.shift[pair] = bit % 8;
      for (unsigned byte = 0; byte < (bit % 8 + 2 * width + 7) / 8; ++byte) {
        (pair % 2 == 0 ? code.even : code.odd)[bit / 8 + byte] = static_cast<std::uint8_t>(pair * 8 + byte);
        (pair % 2 == 0 ? code.even_bytes : code.odd_bytes) |= std::uint64_t{1} << (bit / 8 + byte);
      }
    }
  }
  return made;
}
constexpr pair_table pairs = make_pairs();

ZENITH_FN void write_words(const vector_of<std::uint32_t>* words, unsigned width, std::byte* to) {
  if (width < first_paired || width > last_paired) [[unlikely]] {
    _mm512_storeu_si512(to, in_bits(words[0], width));
    _mm512_storeu_si512(to + 2 * width, in_bits(words[1], width));
    return;
  }
  const auto& code = pairs.of[width];
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
ZENITH_FN void write_words(const vector_of<std::uint64_t>* words, unsigned width, std::byte* to) {
  write_bits<std::uint64_t>(words, width, to);
}

#else

template <class Batch>
ZENITH_FN void write_words(const Batch* words, unsigned width, std::byte* to) {
  write_bits<typename Batch::value_type>(words, width, to);
}

#endif
