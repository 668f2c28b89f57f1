// compress_store(keys, first, mask, out_keys, out_indices): the lanes of `keys` that `mask` names, and their indices
// first + lane, packed to the front of the outputs; returns how many. May write up to a register beyond them. xsimd has
// no compress. Included by a unit that is compiled for one instruction set, inside its namespace.

#if defined(ZENITH_ISA_AVX512)

// To a register first: a compress to memory is microcoded on Zen 4.
template <class T>
ZENITH_FN unsigned compress_store(const xsimd::batch<T, arch>& keys, std::uint32_t first, std::uint32_t mask,
                                  T* out_keys, std::uint32_t* out_indices) {
  __m512i bits;
  __builtin_memcpy(&bits, &keys, sizeof bits);
  if constexpr (sizeof(T) == 4) {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i indices = _mm512_add_epi32(lane, _mm512_set1_epi32(static_cast<int>(first)));
    const auto wanted = static_cast<__mmask16>(mask);
    _mm512_storeu_si512(out_keys, _mm512_maskz_compress_epi32(wanted, bits));
    _mm512_storeu_si512(out_indices, _mm512_maskz_compress_epi32(wanted, indices));
  } else {
    const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const auto wanted = static_cast<__mmask8>(mask);
    _mm512_storeu_si512(out_keys, _mm512_maskz_compress_epi64(wanted, bits));
    const __m512i packed = _mm512_maskz_compress_epi64(wanted, lane);
    const __m256i indices = _mm256_add_epi32(_mm512_cvtepi64_epi32(packed), _mm256_set1_epi32(static_cast<int>(first)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out_indices), indices);
  }
  return static_cast<unsigned>(__builtin_popcount(mask));
}

#else

// Survivors are few: one at a time costs less than the tables of a vector method.
template <class T>
ZENITH_FN unsigned compress_store(const xsimd::batch<T, arch>& keys, std::uint32_t first, std::uint32_t mask,
                                  T* out_keys, std::uint32_t* out_indices) {
  T lane[xsimd::batch<T, arch>::size];
  keys.store_unaligned(lane);
  unsigned stored = 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto at = static_cast<unsigned>(__builtin_ctz(mask));
    out_keys[stored] = lane[at];
    out_indices[stored] = first + at;
    ++stored;
  }
  return stored;
}

#endif
