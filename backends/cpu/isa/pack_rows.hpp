// Payload on its way to a column, in rows of 64 bytes that are added to the checksum's sums as they are stored.
// Included by a unit that is compiled for one instruction set, inside its namespace.

#if defined(ZENITH_ISA_AVX512)
using row_part = __m512i;
ZENITH_FN row_part load_part(const std::byte* from) { return _mm512_loadu_si512(from); }
ZENITH_FN row_part add_lanes(row_part a, row_part b) { return _mm512_add_epi64(a, b); }
ZENITH_FN void store_past_caches(std::byte* to, row_part part) {
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), part);
}
#elif defined(ZENITH_ISA_AVX2)
using row_part = __m256i;
ZENITH_FN row_part load_part(const std::byte* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
ZENITH_FN row_part add_lanes(row_part a, row_part b) { return _mm256_add_epi64(a, b); }
ZENITH_FN void store_past_caches(std::byte* to, row_part part) {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), part);
}
#else
using row_part = __m128i;
ZENITH_FN row_part load_part(const std::byte* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }
ZENITH_FN row_part add_lanes(row_part a, row_part b) { return _mm_add_epi64(a, b); }
ZENITH_FN void store_past_caches(std::byte* to, row_part part) {
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), part);
}
#endif
inline constexpr unsigned row_bytes = 64;
inline constexpr unsigned row_parts = row_bytes / sizeof(row_part);

/// Stores the whole rows of the buffer.
template <bool PastCaches>
ZENITH_FN void store_rows(packed_rows& of) {
  const unsigned rows = of.held / row_bytes;
  if (rows == 0) return;
  row_part sum[row_parts];
  row_part weighted[row_parts];
  __builtin_memcpy(sum, of.sum, sizeof sum);
  __builtin_memcpy(weighted, of.weighted, sizeof weighted);
  const std::byte* from = of.buffer;
  std::byte* to = of.row;
  const auto take = [&](row_part* part) ZENITH_INLINE_LAMBDA {
    for (unsigned i = 0; i < row_parts; ++i) {
      part[i] = load_part(from + i * sizeof(row_part));
      sum[i] = add_lanes(sum[i], part[i]);
      weighted[i] = add_lanes(weighted[i], sum[i]);
    }
  };
  row_part part[row_parts];
  unsigned row = 0;
  if (of.skipped > 0) {
    take(part);
    __builtin_memcpy(to + of.skipped, from + of.skipped, row_bytes - of.skipped);
    of.skipped = 0;
    row = 1;
    from += row_bytes;
    to += row_bytes;
  }
  for (; row < rows; ++row, from += row_bytes, to += row_bytes) {
    take(part);
    if constexpr (PastCaches) {
      for (unsigned i = 0; i < row_parts; ++i) store_past_caches(to + i * sizeof(row_part), part[i]);
    } else {
      __builtin_memcpy(to, part, sizeof part);
    }
  }
  __builtin_memcpy(of.sum, sum, sizeof sum);
  __builtin_memcpy(of.weighted, weighted, sizeof weighted);
  of.row = to;
  of.rows += rows;
  of.held %= row_bytes;
  __builtin_memcpy(of.buffer, from, row_bytes);
}
ZENITH_FN void store_rows(packed_rows& of) { of.past_caches ? store_rows<true>(of) : store_rows<false>(of); }

void finish_rows(packed_rows& of) {
  if (of.held > of.skipped) {
    // the last row, of which the rest is another's
    std::byte row[row_bytes] = {};
    __builtin_memcpy(row, of.buffer, of.held);
    __builtin_memcpy(of.row + of.skipped, row + of.skipped, of.held - of.skipped);
    for (unsigned lane = 0; lane < 8; ++lane) {
      std::uint64_t word;
      __builtin_memcpy(&word, row + lane * 8, sizeof word);
      of.sum[lane] += word;
      of.weighted[lane] += of.sum[lane];
    }
    ++of.rows;
  }
  of.held = of.skipped = 0;
  if (of.past_caches) _mm_sfence();
}
