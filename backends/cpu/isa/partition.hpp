// Partition of entries around a pivot: the vector method behind selecting and sorting survivors. Included by a unit
// that is compiled for one instruction set, inside its namespace.

#if defined(ZENITH_ISA_AVX512)

/// Which words of a register belong to entries that are better than the pivot. `Words` is 1 for packed entries; 2 for
/// split ones, whose image and index lie next to each other.
template <unsigned Words>
ZENITH_FN __mmask8 better_words(__m512i entries, __m512i pivot) {
  const auto above = _mm512_cmpgt_epu64_mask(entries, pivot);
  if constexpr (Words == 1) return above;
  const auto equal = static_cast<unsigned>(_mm512_cmpeq_epu64_mask(entries, pivot));
  const unsigned images = (above | (equal & (static_cast<unsigned>(above) >> 1))) & 0x55U;
  return static_cast<__mmask8>(images | (images << 1));
}

template <unsigned Words>
std::uint64_t partition_words(std::uint64_t* words, std::uint64_t count, const std::uint64_t* pivot,
                              std::uint64_t* spare) {
  constexpr std::uint64_t lanes = 8;
  const __m512i pivots = Words == 1 ? _mm512_set1_epi64(static_cast<long long>(pivot[0]))
                                    : _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(pivot)));
  const std::uint64_t total = count * Words;
  std::uint64_t front = 0;
  std::uint64_t back = 0;
  for (std::uint64_t at = 0; at < total; at += lanes) {
    const auto valid = static_cast<__mmask8>(total - at >= lanes ? 0xffU : (1U << (total - at)) - 1U);
    const __m512i entries = _mm512_maskz_loadu_epi64(valid, words + at);
    const auto better = static_cast<__mmask8>(better_words<Words>(entries, pivots) & valid);
    const auto worse = static_cast<__mmask8>(~better & valid);
    const auto moved = static_cast<unsigned>(__builtin_popcount(better));
    // what this overwrites behind the better ones has been read
    _mm512_mask_storeu_epi64(words + front, valid, _mm512_maskz_compress_epi64(better, entries));
    _mm512_storeu_si512(spare + back, _mm512_maskz_compress_epi64(worse, entries));
    front += moved;
    back += static_cast<unsigned>(__builtin_popcount(worse));
  }
  __builtin_memcpy(words + front, spare, back * sizeof(std::uint64_t));
  return front / Words;
}

#else

/// One at a time and to both sides: which one counts is arithmetic, not a branch.
template <unsigned Words>
std::uint64_t partition_words(std::uint64_t* words, std::uint64_t count, const std::uint64_t* pivot,
                              std::uint64_t* spare) {
  const std::uint64_t pivot_high = pivot[0];
  const std::uint64_t pivot_low = pivot[Words - 1];
  std::uint64_t front = 0;
  std::uint64_t back = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t high = words[i * Words];
    const std::uint64_t low = words[i * Words + Words - 1];
    const auto above = static_cast<std::uint64_t>(high > pivot_high);
    const auto beside = static_cast<std::uint64_t>(high == pivot_high) & static_cast<std::uint64_t>(low > pivot_low);
    const std::uint64_t better = Words == 1 ? above : above | beside;
    words[front * Words] = spare[back * Words] = high;
    if constexpr (Words == 2) words[front * Words + 1] = spare[back * Words + 1] = low;
    front += better;
    back += 1 - better;
  }
  __builtin_memcpy(words + front * Words, spare, back * Words * sizeof(std::uint64_t));
  return front;
}

#endif

constexpr partition_function partition_of_packed = partition_words<1>;
constexpr partition_function partition_of_split = partition_words<2>;
