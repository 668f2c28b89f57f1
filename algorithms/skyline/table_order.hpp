#pragma once

/// \file
/// The rows of a device's table that no pivot dominates: what they become in their order.

#include <algorithms/skyline/table_prefilter.hpp>

namespace zenith::skyline_family {

/// The exact sum of a row's images.
template <class T>
ZENITH_FN exact_sum<typename row_source<T>::image> sum_of_row(const row_source<T>& from, u64 row) {
  exact_sum<typename row_source<T>::image> sum;
  for (u32 c = 0; c < from.columns; ++c) sum.add(from.at(row, c));
  return sum;
}

/// The same, and bits of the columns in which the row is not before the median.
template <class T>
ZENITH_FN u32 sum_and_median(const row_source<T>& from, u64 row, const typename row_source<T>::image* cuts, u32 buckets,
                             exact_sum<typename row_source<T>::image>& sum) {
  u32 median = 0;
  for (u32 first = 0; first < from.columns; first += 4) {
    typename row_source<T>::image four[4];
    from.four_at(row, first, four);
    ZENITH_UNROLLED
    for (u32 k = 0; k < 4; ++k) {
      const u32 c = first + k;
      if (c >= from.columns) continue;
      sum.add(four[k]);
      if (c < most_ordering_columns) median |= (cuts[c * buckets + buckets / 2] <= four[k] ? 1U : 0U) << c;
    }
  }
  return median;
}

/// Sorts `all` numbers, a power of two, in a team's scratch: a bitonic network.
template <class Team, class Number>
ZENITH_FN void sort_in_scratch(Team& team, Number* sorted, u32 all) {
  for (u32 run = 2; run <= all; run *= 2) {
    for (u32 step = run / 2; step > 0; step /= 2) {
      team.barrier();
      team.for_each(all / 2, [&](u64 i) ZENITH_BODY {
        const u32 below = static_cast<u32>(i) & (step - 1);  // `step` is a power of two
        const u32 at = (static_cast<u32>(i) - below) * 2 + below;
        const Number a = sorted[at];
        const Number b = sorted[at + step];
        if ((b < a) == ((at & run) == 0)) {
          sorted[at] = b;
          sorted[at + step] = a;
        }
      });
    }
  }
  team.barrier();
}

/// Quantiles of the rows' sums: a sum becomes a few bits, and a smaller sum no larger ones.
inline constexpr u32 sum_cut_bits = 6;
inline constexpr u32 sum_cuts = 1U << sum_cut_bits;

/// Cuts of a column, from a sample of every so many-th row that is sorted in the team's scratch. The team behind those
/// of the columns finds cuts of the sums' high parts; the first and the one behind the last are beyond the sample.
template <class T>
struct find_cuts_of_column {
  using image = typename row_source<T>::image;
  static constexpr u32 scratch_bytes = most_cut_samples * 8;
  static constexpr u64 item_cost = u64{1} << 16;

  row_source<T> from;
  const u32* left;
  u64 count;
  u32 buckets;
  image* cuts;
  u64* of_sums;  ///< sum_cuts + 1

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 c) const {
    const u32 samples = count < most_cut_samples ? static_cast<u32>(count) : most_cut_samples;
    u32 all = 2;
    while (all < samples) all *= 2;
    if (c == from.columns) {
      u64* const sums = team.template scratch<u64>();
      team.for_each(all, [&](u64 i) ZENITH_BODY {
        sums[i] = i < samples ? sum_of_row(from, left[i * count / samples]).high : ~u64{0};
      });
      sort_in_scratch(team, sums, all);
      // rows outside of the sample's range are to differ, too
      const u64 least = sums[0];
      const u64 most = sums[samples - 1];
      const u64 beyond = (most - least) / 2;
      team.for_each(sum_cuts + 1, [&](u64 k) ZENITH_BODY {
        of_sums[k] = k == 0         ? (least < beyond ? 0 : least - beyond)
                     : k < sum_cuts ? sums[k * samples / sum_cuts]
                                    : (most + beyond < most ? ~u64{0} : most + beyond);
      });
      return;
    }
    image* const sorted = team.template scratch<image>();
    team.for_each(all, [&](u64 i) ZENITH_BODY {
      sorted[i] = i < samples ? from.at(left[i * count / samples], static_cast<u32>(c)) : static_cast<image>(~image{0});
    });
    sort_in_scratch(team, sorted, all);
    team.for_each(buckets, [&](u64 k) ZENITH_BODY { cuts[c * buckets + k] = sorted[k * samples / buckets]; });
  }
};

/// Bits of a key of 32 that are left for a sum behind <number of bits of the median's mask, that mask's place in the
/// Gray code>; with too few of them rows are ordered by exact keys at once.
[[nodiscard]] ZENITH_FN u32 short_sum_bits(u32 columns) {
  u32 count_bits = 1;
  while ((columns >> count_bits) != 0) ++count_bits;
  return columns + count_bits > 18 ? 0 : 32 - columns - count_bits;
}

/// Keys of 32 bits, whose sums are rounded.
template <class T>
struct write_short_keys {
  using image = typename row_source<T>::image;
  static constexpr u64 item_cost = 256;

  row_source<T> from;
  const u32* left;
  const image* cuts;
  u32 buckets;
  const u64* of_sums;
  u32* keys;

  ZENITH_FN void operator()(u64 i) const {
    exact_sum<image> sum;
    const u32 median = sum_and_median(from, left[i], cuts, buckets, sum);
    const u32 bits = short_sum_bits(from.columns);
    keys[i] = ((bits_in(median) << from.columns) | gray_rank(median)) << bits | round(sum.high, bits - sum_cut_bits);
  }

 private:
  /// Between two cuts as a part of their distance.
  ZENITH_FN u32 round(u64 sum, u32 bits) const {
    u32 code = 0;
    for (u32 step = sum_cuts / 2; step > 0; step /= 2) code += step * static_cast<u32>(of_sums[code + step] <= sum);
    const u64 begin = of_sums[code];
    const u64 width = of_sums[code + 1] - begin;
    const u32 most = (1U << bits) - 1;
    if (sum <= begin) return code << bits;
    if (sum - begin >= width) return code << bits | most;
    const auto part =
        static_cast<u32>(static_cast<float>(sum - begin) / static_cast<float>(width) * static_cast<float>(most));
    return code << bits | (part < most ? part : most);
  }
};

/// Puts rows of equal short keys right, by the lane of the first of them. There are hardly two of a key; where there
/// are too many, says whether one of them has a smaller sum than the row before it.
template <class T>
struct order_ties {
  static constexpr u64 item_cost = 32;
  static constexpr u64 most = 16;

  row_source<T> from;
  const u32* keys;
  u64 count;
  u32* rows;
  u32* has_ties;  ///< set to 1

  ZENITH_FN void operator()(u64 i) const {
    const u32 key = keys[i];
    u64 begin = i;
    while (begin > 0 && keys[begin - 1] == key && i - begin < most) --begin;
    u64 end = i + 1;
    while (end < count && keys[end] == key && end - begin <= most) ++end;
    if (end - begin == 1) return;
    if (end - begin > most) {
      // nobody moves them
      if (begin < i && sum_of_row(from, rows[i]) < sum_of_row(from, rows[i - 1])) {
        device::atomic_store(has_ties, u32{1});
      }
      return;
    }
    if (begin < i) return;  // the first one's lane does it
    for (u64 next = begin + 1; next < end; ++next) {
      const u32 row = rows[next];
      const auto sum = sum_of_row(from, row);
      u64 place = next;
      for (; place > begin && sum < sum_of_row(from, rows[place - 1]); --place) rows[place] = rows[place - 1];
      rows[place] = row;
    }
  }
};

/// As `write_row_keys`, a row a lane.
template <class T>
struct write_table_keys {
  using image = typename row_source<T>::image;
  static constexpr u64 item_cost = 256;

  row_source<T> from;
  const u32* left;
  const image* cuts;
  u32 buckets;
  row_key which;
  u64* keys;

  ZENITH_FN void operator()(u64 i) const {
    exact_sum<image> sum;
    const u32 median = sum_and_median(from, left[i], cuts, buckets, sum);
    keys[i] = cell_key(which, median, sum.high, sum.low);
  }
};

/// Values, masks and codes of points whose rows are known.
template <class T>
struct place_table_rows {
  using image = typename row_source<T>::image;
  static constexpr u64 item_cost = 512;

  row_source<T> from;
  const image* cuts;
  u32 buckets;
  point_set<image> to;

  ZENITH_FN void operator()(u64 i) const {
    const u64 row = to.rows[i];
    const u32 columns = from.columns;
    const bool has_lower = 2 * columns <= most_cell_bits;
    const bool has_upper = 3 * columns <= most_cell_bits;
    u64 mask = alive_bit;
    for (u32 first = 0; first < columns; first += 4) {
      four_values<image> values;
      from.four_at(row, first, values.value);
      u32 code[4];
      find_codes(first, values, code);
      u32 word = 0;
      ZENITH_UNROLLED
      for (u32 k = 0; k < 4; ++k) {
        const u32 c = first + k;
        if (c >= columns) continue;
        // of more columns than there are bits, the last have none
        if (c < most_cell_bits) mask |= u64{code[k] >= buckets / 2 ? 1U : 0U} << c;
        if (has_lower) mask |= u64{code[k] >= buckets / 4 ? 1U : 0U} << (columns + c);
        if (has_upper) mask |= u64{code[k] >= buckets / 4 * 3 ? 1U : 0U} << (2 * columns + c);
        word |= code[k] << (8 * k);
        if (columns % 4 != 0) to.values[i * columns + c] = values.value[k];
      }
      if (columns % 4 == 0) *reinterpret_cast<four_values<image>*>(to.values + i * columns + first) = values;
      to.codes[i * code_words(columns) + first / 4] = word;
    }
    to.masks[i] = mask;
  }

 private:
  /// As `code_of`, of four columns side by side.
  ZENITH_FN void find_codes(u32 first, const four_values<image>& values, u32 (&code)[4]) const {
    ZENITH_UNROLLED
    for (u32 k = 0; k < 4; ++k) code[k] = 0;
    for (u32 step = buckets / 2; step > 0; step /= 2) {
      ZENITH_UNROLLED
      for (u32 k = 0; k < 4; ++k) {
        const u32 c = first + k < from.columns ? first + k : from.columns - 1;
        code[k] += step * static_cast<u32>(cuts[c * buckets + code[k] + step] <= values.value[k]);
      }
    }
  }
};

}  // namespace zenith::skyline_family
