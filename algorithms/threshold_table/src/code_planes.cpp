#include <algorithms/threshold_table/src/code_planes.hpp>

#if defined(__x86_64__)
#include <immintrin.h>

#include <memory>
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

/// Which elements of a run go to the front and which behind them, each in their order: sources of a permutation.
struct run_turn {
  __m512i front;
  __m512i back;
};
ZENITH_WIDE run_turn turn_of(u64 front, u64 back) {
  alignas(64) static constexpr struct counted {
    u8 value[64]{};
    constexpr counted() {
      for (u32 i = 0; i < 64; ++i) value[i] = static_cast<u8>(i);
    }
  } numbers;
  const __m512i all = _mm512_load_si512(&numbers);
  return {lanes<u8>::compress(front, all), lanes<u8>::compress(back, all)};
}
ZENITH_WIDE __m512i turned(__m512i by, __m512i all) { return _mm512_maskz_permutexvar_epi8(~u64{0}, by, all); }

/// Parts keys and codes by the masks of their runs: what is in a mask goes to the front. They fit `Runs` runs, are all
/// read before the first is written, and `first` of them are in masks.
template <std::size_t Runs>
ZENITH_WIDE void part_few(const code_planes& of, std::size_t begin, std::size_t count, std::size_t first,
                          std::size_t columns, const u64* masks) {
  run_turn turns[Runs];
  u64 there[Runs];
  std::size_t below[Runs];
  std::size_t other[Runs];
  std::size_t before = 0;
  for (std::size_t r = 0; r < Runs; ++r) {
    there[r] = first_bits(count > r * run ? count - r * run : 0);
    turns[r] = turn_of(masks[r], there[r] & ~masks[r]);
    below[r] = before;
    other[r] = first + r * run - before;
    before += ones(masks[r]);
  }
  for (std::size_t j = 0; j < columns; ++j) {
    u8* const all = of.codes + j * of.stride + begin;
    __m512i held[Runs];
    for (std::size_t r = 0; r < Runs; ++r) held[r] = lanes<u8>::load_some(there[r], all + r * run);
    for (std::size_t r = 0; r < Runs; ++r) {
      lanes<u8>::store_some(all + below[r], first_bits(ones(masks[r])), turned(turns[r].front, held[r]));
      lanes<u8>::store_some(all + other[r], first_bits(ones(there[r] & ~masks[r])), turned(turns[r].back, held[r]));
    }
  }
  constexpr std::size_t width = lanes<u16>::count;
  u16* const all = of.keys + begin;
  __m512i held[2 * Runs];
  for (std::size_t h = 0; h < 2 * Runs; ++h) {
    held[h] = lanes<u16>::load_some(lanes<u16>::of_mask(there[h / 2], h % 2), all + h * width);
  }
  for (std::size_t h = 0; h < 2 * Runs; ++h) {
    const u64 front = lanes<u16>::of_mask(masks[h / 2], h % 2);
    const u64 back = lanes<u16>::of_mask(there[h / 2] & ~masks[h / 2], h % 2);
    const std::size_t found = h % 2 == 0 ? 0 : ones(lanes<u16>::of_mask(masks[h / 2], 0));
    const std::size_t left = h % 2 == 0 ? 0 : width - found;
    lanes<u16>::store_some(all + below[h / 2] + found, first_bits(ones(front)), lanes<u16>::compress(front, held[h]));
    lanes<u16>::store_some(all + other[h / 2] + left, first_bits(ones(back)), lanes<u16>::compress(back, held[h]));
  }
}

/// What is parted to the back, until it is copied there, and the masks.
struct parted_rows {
  u64 masks[most_runs];
  u16 keys[most_plane_rows + run];
  u8 codes[most_planes][most_plane_rows + 3 * run];
};

template <class X>
ZENITH_WIDE void copy_back(const X* from, std::size_t count, X* to) {
  constexpr std::size_t width = lanes<X>::count;
  std::size_t i = 0;
  for (; i + width <= count; i += width) _mm512_storeu_si512(to + i, _mm512_loadu_si512(from + i));
  const u64 last = first_bits(count - i);
  lanes<X>::store_some(to + i, last, lanes<X>::load_some(last, from + i));
}
/// The same of many. What a store to the front overwrites has been read.
ZENITH_WIDE void part_many(const code_planes& of, std::size_t begin, std::size_t count, std::size_t first,
                           std::size_t columns, parted_rows& others) {
  constexpr std::size_t width = lanes<u16>::count;
  u16* const keys = of.keys + begin;
  u8* const codes = of.codes + begin;
  std::size_t below = 0;
  std::size_t other = 0;
  std::size_t i = 0;
  for (; i + run <= count; i += run) {
    const u64 mask = others.masks[i / run];
    const auto turn = turn_of(mask, ~mask);
    for (std::size_t j = 0; j < columns; ++j) {
      const __m512i some = _mm512_loadu_si512(codes + j * of.stride + i);
      _mm512_storeu_si512(codes + j * of.stride + below, turned(turn.front, some));
      _mm512_storeu_si512(others.codes[j] + other, turned(turn.back, some));
    }
    for (std::size_t p = 0; p < 2; ++p) {
      const u64 front = lanes<u16>::of_mask(mask, p);
      const u64 back = lanes<u16>::of_mask(~mask, p);
      const __m512i some = _mm512_loadu_si512(keys + i + p * width);
      _mm512_storeu_si512(keys + below, lanes<u16>::compress(front, some));
      _mm512_storeu_si512(others.keys + other, lanes<u16>::compress(back, some));
      below += ones(front);
      other += width - ones(front);
    }
  }
  if (i < count) {
    const u64 there = first_bits(count - i);
    const u64 mask = others.masks[i / run];
    const auto turn = turn_of(mask, there & ~mask);
    for (std::size_t j = 0; j < columns; ++j) {
      const __m512i some = lanes<u8>::load_some(there, codes + j * of.stride + i);
      lanes<u8>::store_some(codes + j * of.stride + below, first_bits(ones(mask)), turned(turn.front, some));
      _mm512_storeu_si512(others.codes[j] + other, turned(turn.back, some));
    }
    for (std::size_t p = 0; p < 2 && i + p * width < count; ++p) {
      const u64 front = lanes<u16>::of_mask(mask, p);
      const u64 back = lanes<u16>::of_mask(there & ~mask, p);
      const __m512i some = lanes<u16>::load_some(front | back, keys + i + p * width);
      lanes<u16>::store_some(keys + below, first_bits(ones(front)), lanes<u16>::compress(front, some));
      _mm512_storeu_si512(others.keys + other, lanes<u16>::compress(back, some));
      below += ones(front);
      other += ones(back);
    }
  }
  copy_back(others.keys, count - first, keys + first);
  for (std::size_t j = 0; j < columns; ++j) {
    copy_back<u8>(others.codes[j], count - first, codes + j * of.stride + first);
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
  const u8* const codes = of.codes + column * of.stride + begin;
  const std::size_t columns = only_keys ? 0 : of.columns;
  if (count > most_few * run) {
    static thread_local const auto others = std::make_unique<parted_rows>();
    choose(codes, count, first, others->masks);
    return part_many(of, begin, count, first, columns, *others);
  }
  u64 masks[most_few]{};
  choose(codes, count, first, masks);
  switch ((count + run - 1) / run) {
    case 1: return part_few<1>(of, begin, count, first, columns, masks);
    case 2: return part_few<2>(of, begin, count, first, columns, masks);
    case 3: return part_few<3>(of, begin, count, first, columns, masks);
    default: return part_few<most_few>(of, begin, count, first, columns, masks);
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

/// Transposes the 4 by 4 values that four registers have in each quarter: to[c] has value c of each.
ZENITH_WIDE void turn_quarters(const __m512* from, __m512* to) {
  const __m512 low_a = _mm512_maskz_unpacklo_ps(all_lanes, from[0], from[1]);
  const __m512 high_a = _mm512_maskz_unpackhi_ps(all_lanes, from[0], from[1]);
  const __m512 low_b = _mm512_maskz_unpacklo_ps(all_lanes, from[2], from[3]);
  const __m512 high_b = _mm512_maskz_unpackhi_ps(all_lanes, from[2], from[3]);
  to[0] = _mm512_maskz_shuffle_ps(all_lanes, low_a, low_b, 0x44);
  to[1] = _mm512_maskz_shuffle_ps(all_lanes, low_a, low_b, 0xee);
  to[2] = _mm512_maskz_shuffle_ps(all_lanes, high_a, high_b, 0x44);
  to[3] = _mm512_maskz_shuffle_ps(all_lanes, high_a, high_b, 0xee);
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
      turn_quarters(pairs + h * 4, quarters[h]);
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

ZENITH_WIDE_ENTRY void write_rows(const float* const* columns, std::size_t count, float* const* rows) {
  constexpr std::size_t together = 16;
  const __m512i low_two = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i high_two = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  for (std::size_t i = 0; i < count; i += together) {
    __m512 quarters[2][4];  // rows r, 4 + r, 8 + r and 12 + r of 4 columns
    for (std::size_t h = 0; h < 2; ++h) {
      __m512 from[4];
      for (std::size_t j = 0; j < 4; ++j) from[j] = _mm512_loadu_ps(columns[4 * h + j] + i);
      turn_quarters(from, quarters[h]);
    }
    for (std::size_t r = 0; r < 4; ++r) {
      const __m512d left = _mm512_castps_pd(quarters[0][r]);
      const __m512d right = _mm512_castps_pd(quarters[1][r]);
      const __m512 low = _mm512_castpd_ps(_mm512_permutex2var_pd(left, low_two, right));
      const __m512 high = _mm512_castpd_ps(_mm512_permutex2var_pd(left, high_two, right));
      _mm256_storeu_ps(rows[i + r], half_of<0>(low));
      _mm256_storeu_ps(rows[i + r + 4], half_of<1>(low));
      _mm256_storeu_ps(rows[i + r + 8], half_of<0>(high));
      _mm256_storeu_ps(rows[i + r + 12], half_of<1>(high));
    }
  }
}

#undef ZENITH_WIDE
#undef ZENITH_WIDE_ENTRY

}  // namespace

const plane_functions* wide_planes() {
  static constexpr plane_functions wide{write,     add_extremes,  part,      add_row_extremes,
                                        code_rows, write_columns, write_rows};
  static const bool known = __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                            __builtin_cpu_supports("avx512vbmi") != 0 && __builtin_cpu_supports("avx512vbmi2") != 0 &&
                            __builtin_cpu_supports("bmi2") != 0;
  return known ? &wide : nullptr;
}

#else

const plane_functions* wide_planes() { return nullptr; }

#endif

}  // namespace zenith::detail
