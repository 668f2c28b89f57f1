#include <algorithms/threshold_table/src/code_planes.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace zenith::detail {

#if defined(__x86_64__)

namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

#define ZENITH_WIDE \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt"), always_inline)) inline
#define ZENITH_WIDE_ENTRY __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")))

constexpr std::size_t run = 64;      ///< codes of a register
constexpr std::size_t most_few = 4;  ///< runs that are held in registers
constexpr std::size_t most_runs = most_plane_rows / run;
constexpr __mmask8 all_pairs = 0xff;  // the words without a mask have warnings of their own

ZENITH_WIDE u64 first_bits(std::size_t count) { return count >= 64 ? ~u64{0} : (u64{1} << count) - 1; }
ZENITH_WIDE std::size_t ones(u64 mask) { return static_cast<std::size_t>(_mm_popcnt_u64(mask)); }
ZENITH_WIDE __m512i load(const u8* from, std::size_t left) {
  return left >= run ? _mm512_loadu_si512(from) : _mm512_maskz_loadu_epi8(first_bits(left), from);
}

/// A register of codes or of keys, and half a mask of a run where that are keys.
template <class X>
struct lanes;
template <>
struct lanes<u8> {
  static constexpr std::size_t count = 64;
  ZENITH_WIDE static u64 of_mask(u64 mask, std::size_t /*part*/) { return mask; }
  ZENITH_WIDE static __m512i load_some(u64 mask, const u8* from) { return _mm512_maskz_loadu_epi8(mask, from); }
  ZENITH_WIDE static void store_some(u8* to, u64 mask, __m512i all) { _mm512_mask_storeu_epi8(to, mask, all); }
  ZENITH_WIDE static __m512i compress(u64 mask, __m512i all) { return _mm512_maskz_compress_epi8(mask, all); }
};
template <>
struct lanes<u16> {
  static constexpr std::size_t count = 32;
  ZENITH_WIDE static u64 of_mask(u64 mask, std::size_t part) { return part == 0 ? mask & 0xffffffffU : mask >> 32; }
  ZENITH_WIDE static __m512i load_some(u64 mask, const u16* from) {
    return _mm512_maskz_loadu_epi16(static_cast<__mmask32>(mask), from);
  }
  ZENITH_WIDE static void store_some(u16* to, u64 mask, __m512i all) {
    _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(mask), all);
  }
  ZENITH_WIDE static __m512i compress(u64 mask, __m512i all) {
    return _mm512_maskz_compress_epi16(static_cast<__mmask32>(mask), all);
  }
};

/// Parts some elements by the masks of their runs: what is in a mask goes to the front. They fit `Runs` runs, are all
/// read before the first is written, and `first` of them are in masks.
template <std::size_t Runs, class X>
ZENITH_WIDE void part_few(X* all, std::size_t count, std::size_t first, const u64* masks) {
  constexpr std::size_t width = lanes<X>::count;
  constexpr std::size_t parts = run / width;
  __m512i held[Runs * parts];
  for (std::size_t r = 0; r < Runs * parts; ++r) {
    held[r] = lanes<X>::load_some(first_bits(count > r * width ? count - r * width : 0), all + r * width);
  }
  X* below = all;
  X* other = all + first;
  for (std::size_t r = 0; r < Runs * parts; ++r) {
    const u64 there = lanes<X>::of_mask(first_bits(count > r / parts * run ? count - r / parts * run : 0), r % parts);
    const u64 mask = lanes<X>::of_mask(masks[r / parts], r % parts);
    const std::size_t found = ones(mask);
    const std::size_t left = ones(there & ~mask);
    lanes<X>::store_some(below, first_bits(found), lanes<X>::compress(mask, held[r]));
    lanes<X>::store_some(other, first_bits(left), lanes<X>::compress(there & ~mask, held[r]));
    below += found;
    other += left;
  }
}
/// The same of many, through `others`, which have room for a register more. What a store to the front overwrites has
/// been read.
template <class X>
ZENITH_WIDE void part_many(X* all, std::size_t count, std::size_t first, const u64* masks, X* others) {
  constexpr std::size_t width = lanes<X>::count;
  constexpr std::size_t parts = run / width;
  X* below = all;
  X* other = others;
  std::size_t i = 0;
  for (std::size_t r = 0; i + run <= count; i += run, ++r) {
    for (std::size_t p = 0; p < parts; ++p) {
      const u64 mask = lanes<X>::of_mask(masks[r], p);
      const u64 there = lanes<X>::of_mask(~u64{0}, p);
      const __m512i some = _mm512_loadu_si512(all + i + p * width);
      _mm512_storeu_si512(below, lanes<X>::compress(mask, some));
      _mm512_storeu_si512(other, lanes<X>::compress(there & ~mask, some));
      const std::size_t found = ones(mask);
      below += found;
      other += width - found;
    }
  }
  for (std::size_t p = 0; p < parts && i + p * width < count; ++p) {
    const u64 there = lanes<X>::of_mask(first_bits(count - i), p);
    const u64 mask = lanes<X>::of_mask(masks[i / run], p);
    const __m512i some = lanes<X>::load_some(there, all + i + p * width);
    lanes<X>::store_some(below, first_bits(ones(mask)), lanes<X>::compress(mask, some));
    _mm512_storeu_si512(other, lanes<X>::compress(there & ~mask, some));
    below += ones(mask);
    other += ones(there & ~mask);
  }
  const std::size_t left = count - first;
  for (i = 0; i + width <= left; i += width) {
    _mm512_storeu_si512(all + first + i, _mm512_loadu_si512(others + i));
  }
  const u64 last = first_bits(left - i);
  lanes<X>::store_some(all + first + i, last, lanes<X>::load_some(last, others + i));
}
template <class X>
ZENITH_WIDE void part_all(X* all, std::size_t count, std::size_t first, const u64* masks, X* others) {
  switch ((count + run - 1) / run) {
    case 1: return part_few<1>(all, count, first, masks);
    case 2: return part_few<2>(all, count, first, masks);
    case 3: return part_few<3>(all, count, first, masks);
    case most_few: return part_few<most_few>(all, count, first, masks);
    default: return part_many(all, count, first, masks, others);
  }
}

ZENITH_WIDE std::size_t count_below(const u8* codes, std::size_t count, u32 limit) {
  const __m512i limits = _mm512_set1_epi8(static_cast<char>(limit));
  std::size_t found = 0;
  std::size_t i = 0;
  for (; i + run <= count; i += run) found += ones(_mm512_cmplt_epu8_mask(_mm512_loadu_si512(codes + i), limits));
  if (i == count) return found;
  return found + ones(_mm512_mask_cmplt_epu8_mask(first_bits(count - i), load(codes + i, count - i), limits));
}

/// Which `first` rows have the smallest codes, a bit a row.
ZENITH_WIDE void choose(const u8* codes, std::size_t count, std::size_t first, u64* masks) {
  u32 code = 0;  // of the first row that is not chosen
  std::size_t below = 0;
  for (u32 bit = 128; bit > 0; bit /= 2) {
    const std::size_t found = count_below(codes, count, code | bit);
    if (found > first) continue;
    code |= bit;
    below = found;
  }
  std::size_t equal = first - below;  // how many with that code are chosen
  const __m512i cut = _mm512_set1_epi8(static_cast<char>(code));
  for (std::size_t i = 0; i < count; i += run) {
    const u64 there = first_bits(count - i);
    const __m512i some = load(codes + i, count - i);
    u64 chosen = _mm512_mask_cmplt_epu8_mask(there, some, cut);
    if (equal > 0) {
      u64 here = _mm512_mask_cmpeq_epi8_mask(there, some, cut);
      // the lowest of the ones
      if (ones(here) > equal) here = _pdep_u64(first_bits(equal), here);
      equal -= ones(here);
      chosen |= here;
    }
    masks[i / run] = chosen;
  }
}

ZENITH_WIDE_ENTRY void part(const code_planes& of, std::size_t begin, std::size_t count, std::size_t first,
                            std::size_t column, bool only_keys) {
  thread_local u64 masks[most_runs];
  thread_local u16 others[most_plane_rows + run];
  choose(of.codes + column * of.stride + begin, count, first, masks);
  part_all(of.keys + begin, count, first, masks, others);
  if (only_keys) return;
  for (std::size_t j = 0; j < of.columns; ++j) {
    part_all(of.codes + j * of.stride + begin, count, first, masks, reinterpret_cast<u8*>(others));
  }
}

ZENITH_WIDE u8 least_of(__m512i all) {
  alignas(64) __m256i halves[2];
  _mm512_store_si512(halves, all);
  const __m256i half = _mm256_min_epu8(halves[0], halves[1]);
  __m128i quarter = _mm_min_epu8(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  quarter = _mm_min_epu8(quarter, _mm_srli_epi16(quarter, 8));
  return static_cast<u8>(_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_and_si128(quarter, _mm_set1_epi16(0xff)))));
}

ZENITH_WIDE_ENTRY void add_extremes(const code_planes& of, std::size_t begin, std::size_t count, code_extremes& to) {
  for (std::size_t j = 0; j < of.columns; ++j) {
    const u8* const codes = of.codes + j * of.stride + begin;
    __m512i least = _mm512_set1_epi8(static_cast<char>(to.least[j]));
    __m512i most = _mm512_set1_epi8(static_cast<char>(to.most[j]));
    for (std::size_t i = 0; i < count; i += run) {
      const u64 there = first_bits(count - i);
      const __m512i some = load(codes + i, count - i);
      least = _mm512_mask_min_epu8(least, there, least, some);
      most = _mm512_mask_max_epu8(most, there, most, some);
    }
    // the largest is the least of the complements
    to.least[j] = least_of(least);
    to.most[j] = static_cast<u8>(~least_of(_mm512_xor_si512(most, _mm512_set1_epi8(-1))));
  }
}

ZENITH_WIDE void write_planes(const code_planes& to, std::size_t begin, std::size_t count, const u8* words) {
  alignas(64) static constexpr struct turned {
    u8 from[64]{};
    constexpr turned() {
      for (u32 i = 0; i < 64; ++i) from[i] = static_cast<u8>(i % 8 * 8 + i / 8);
    }
  } order;
  const __m512i turn = _mm512_load_si512(&order);
  for (std::size_t i = 0; i < count; i += run) {
    __m512i rows[8];  // 8 rows; then their codes of one column after another
    for (std::size_t r = 0; r < 8; ++r) {
      rows[r] = _mm512_maskz_permutexvar_epi8(~u64{0}, turn, _mm512_loadu_si512(words + (i + 8 * r) * 8));
    }
    __m512i pairs[2][4];  // rows 16 p …: even columns, odd ones
    for (std::size_t p = 0; p < 4; ++p) {
      pairs[0][p] = _mm512_maskz_unpacklo_epi64(all_pairs, rows[2 * p], rows[2 * p + 1]);
      pairs[1][p] = _mm512_maskz_unpackhi_epi64(all_pairs, rows[2 * p], rows[2 * p + 1]);
    }
    __m512i columns[8];
    for (std::size_t odd = 0; odd < 2; ++odd) {
      const auto& from = pairs[odd];
      const __m512i low_even = _mm512_maskz_shuffle_i64x2(all_pairs, from[0], from[1], 0x88);
      const __m512i low_odd = _mm512_maskz_shuffle_i64x2(all_pairs, from[0], from[1], 0xdd);
      const __m512i high_even = _mm512_maskz_shuffle_i64x2(all_pairs, from[2], from[3], 0x88);
      const __m512i high_odd = _mm512_maskz_shuffle_i64x2(all_pairs, from[2], from[3], 0xdd);
      columns[odd] = _mm512_maskz_shuffle_i64x2(all_pairs, low_even, high_even, 0x88);
      columns[odd + 2] = _mm512_maskz_shuffle_i64x2(all_pairs, low_odd, high_odd, 0x88);
      columns[odd + 4] = _mm512_maskz_shuffle_i64x2(all_pairs, low_even, high_even, 0xdd);
      columns[odd + 6] = _mm512_maskz_shuffle_i64x2(all_pairs, low_odd, high_odd, 0xdd);
    }
    for (std::size_t j = 0; j < to.columns; ++j) {
      _mm512_mask_storeu_epi8(to.codes + j * to.stride + begin + i, first_bits(count - i), columns[j]);
    }
  }
}

ZENITH_WIDE_ENTRY void write(const code_planes& to, std::size_t begin, std::size_t count, const u8* words) {
  write_planes(to, begin, count, words);
}

constexpr __mmask16 all_lanes = 0xffff;
constexpr __mmask8 lower_half = 0x0f;
constexpr __mmask8 upper_half = 0xf0;

ZENITH_WIDE __m512 two_rows(const float* low, const float* high) {
  const __m512d first = _mm512_maskz_broadcast_f64x4(lower_half, _mm256_castps_pd(_mm256_loadu_ps(low)));
  return _mm512_castpd_ps(_mm512_mask_broadcast_f64x4(first, upper_half, _mm256_castps_pd(_mm256_loadu_ps(high))));
}
template <int Half>
ZENITH_WIDE __m256 half_of(__m512 all) {
  return _mm256_castpd_ps(_mm512_maskz_extractf64x4_pd(lower_half, _mm512_castps_pd(all), Half));
}
// the second operand where one is NaN, and of two zeros
ZENITH_WIDE __m512 least_of(__m512 value, __m512 least) { return _mm512_maskz_min_ps(all_lanes, value, least); }
ZENITH_WIDE __m512 most_of(__m512 value, __m512 most) { return _mm512_maskz_max_ps(all_lanes, value, most); }

ZENITH_WIDE_ENTRY void add_row_extremes(const float* values, const u16* keys, std::size_t count, float* least,
                                        float* most) {
  constexpr std::size_t chains = 4;  // a step waits for the one before it
  __m512 lower[chains];
  __m512 higher[chains];
  for (std::size_t c = 0; c < chains; ++c) {
    lower[c] = two_rows(least, least);
    higher[c] = two_rows(most, most);
  }
  std::size_t i = 0;
  for (; i + 2 * chains <= count; i += 2 * chains) {
    for (std::size_t c = 0; c < chains; ++c) {
      const __m512 rows = two_rows(values + keys[i + 2 * c] * wide_row, values + keys[i + 2 * c + 1] * wide_row);
      lower[c] = least_of(rows, lower[c]);
      higher[c] = most_of(rows, higher[c]);
    }
  }
  for (; i < count; ++i) {
    const __m512 rows = two_rows(values + keys[i] * wide_row, values + keys[i] * wide_row);
    lower[0] = least_of(rows, lower[0]);
    higher[0] = most_of(rows, higher[0]);
  }
  for (std::size_t c = 1; c < chains; ++c) {
    lower[0] = least_of(lower[c], lower[0]);
    higher[0] = most_of(higher[c], higher[0]);
  }
  _mm256_storeu_ps(least, _mm256_min_ps(half_of<0>(lower[0]), half_of<1>(lower[0])));
  _mm256_storeu_ps(most, _mm256_max_ps(half_of<0>(higher[0]), half_of<1>(higher[0])));
}

ZENITH_WIDE_ENTRY void code_rows(const code_planes& to, std::size_t begin, std::size_t count, const float* values,
                                 const row_coding& by) {
  // words of 4 codes: of even rows, their first columns and their last ones, then of odd rows
  alignas(64) static constexpr u32 order[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  const __m512i turn = _mm512_load_si512(order);
  const __m512 from = two_rows(by.from, by.from);
  const __m512 factor = two_rows(by.factor, by.factor);
  alignas(64) u8 words[run * 8];
  for (std::size_t i = 0; i < count; i += run) {
    const u16* const keys = to.keys + begin + i;
    const std::size_t left = count - i;
    for (std::size_t r = 0; r < run && r < left; r += 8) {
      __m512i codes[4];
      for (std::size_t p = 0; p < 4; ++p) {
        const std::size_t low = r + 2 * p < left ? r + 2 * p : left - 1;
        const std::size_t high = low + 1 < left ? low + 1 : left - 1;
        const __m512 rows = two_rows(values + keys[low] * wide_row, values + keys[high] * wide_row);
        const __m512 steps = _mm512_mul_ps(_mm512_sub_ps(rows, from), factor);
        const __m512 code = least_of(most_of(steps, _mm512_setzero_ps()), _mm512_set1_ps(255));  // NaN: 0
        codes[p] = _mm512_maskz_cvttps_epi32(all_lanes, code);
      }
      const __m512i all =
          _mm512_packus_epi16(_mm512_packs_epi32(codes[0], codes[1]), _mm512_packs_epi32(codes[2], codes[3]));
      _mm512_store_si512(words + r * 8, _mm512_maskz_permutexvar_epi32(all_lanes, turn, all));
    }
    write_planes(to, begin + i, left < run ? left : run, words);
  }
}

ZENITH_WIDE_ENTRY void write_columns(const float* values, const u32* order, std::size_t count, float* to,
                                     std::size_t stride, std::size_t columns, row_extremes& extremes) {
  constexpr std::size_t together = 16;
  __m512 least = two_rows(extremes.least, extremes.least);
  __m512 most = two_rows(extremes.most, extremes.most);
  unsigned nans = 0;
  for (std::size_t i = 0; i < count; i += together) {
    __m512 pairs[8];  // rows r and r + 4, then r + 8 and r + 12
    for (std::size_t r = 0; r < 8; ++r) {
      const u32* const two = order + i + r / 4 * 8 + r % 4;
      pairs[r] = two_rows(values + std::size_t{two[0]} * wide_row, values + std::size_t{two[4]} * wide_row);
      least = least_of(pairs[r], least);
      most = most_of(pairs[r], most);
      nans |= _mm512_cmp_ps_mask(pairs[r], pairs[r], _CMP_UNORD_Q);
    }
    __m512 quarters[2][4];  // columns c and c + 4 of 4 rows, and of those after the next 4
    for (std::size_t h = 0; h < 2; ++h) {
      const __m512* const from = pairs + h * 4;
      const __m512 low_a = _mm512_maskz_unpacklo_ps(all_lanes, from[0], from[1]);
      const __m512 high_a = _mm512_maskz_unpackhi_ps(all_lanes, from[0], from[1]);
      const __m512 low_b = _mm512_maskz_unpacklo_ps(all_lanes, from[2], from[3]);
      const __m512 high_b = _mm512_maskz_unpackhi_ps(all_lanes, from[2], from[3]);
      quarters[h][0] = _mm512_maskz_shuffle_ps(all_lanes, low_a, low_b, 0x44);
      quarters[h][1] = _mm512_maskz_shuffle_ps(all_lanes, low_a, low_b, 0xee);
      quarters[h][2] = _mm512_maskz_shuffle_ps(all_lanes, high_a, high_b, 0x44);
      quarters[h][3] = _mm512_maskz_shuffle_ps(all_lanes, high_a, high_b, 0xee);
    }
    for (std::size_t j = 0; j < 4 && j < columns; ++j) {
      _mm512_storeu_ps(to + j * stride + i,
                       _mm512_maskz_shuffle_f32x4(all_lanes, quarters[0][j], quarters[1][j], 0x88));
    }
    for (std::size_t j = 4; j < 8 && j < columns; ++j) {
      _mm512_storeu_ps(to + j * stride + i,
                       _mm512_maskz_shuffle_f32x4(all_lanes, quarters[0][j - 4], quarters[1][j - 4], 0xdd));
    }
  }
  _mm256_storeu_ps(extremes.least, _mm256_min_ps(half_of<0>(least), half_of<1>(least)));
  _mm256_storeu_ps(extremes.most, _mm256_max_ps(half_of<0>(most), half_of<1>(most)));
  nans |= nans >> 8;
  for (std::size_t j = 0; j < wide_row; ++j) extremes.has_nan[j] = (nans >> j & 1) != 0;
}

#undef ZENITH_WIDE
#undef ZENITH_WIDE_ENTRY

}  // namespace

const plane_functions* wide_planes() {
  static constexpr plane_functions wide{write, add_extremes, part, add_row_extremes, code_rows, write_columns};
  static const bool known = __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                            __builtin_cpu_supports("avx512vbmi") != 0 && __builtin_cpu_supports("avx512vbmi2") != 0 &&
                            __builtin_cpu_supports("bmi2") != 0;
  return known ? &wide : nullptr;
}

#else

const plane_functions* wide_planes() { return nullptr; }

#endif

}  // namespace zenith::detail
