#pragma once

/// \file
/// The rows of a device's table that no pivot dominates: what they become in their order.

#include <algorithms/skyline/table_prefilter.hpp>

namespace zenith::skyline_family {

/// The exact sum of a row's images.
template <class T>
ZENITH_FN exact_sum<typename row_source<T>::image> sum_of_row(const row_source<T>& from, u64 row) {
  exact_sum<typename row_source<T>::image> sum;
  for (u32 first = 0; first < from.columns; first += 4) {
    typename row_source<T>::image four[4];
    from.four_at(row, first, four);
    ZENITH_UNROLLED
    for (u32 k = 0; k < 4; ++k) {
      if (first + k < from.columns) sum.add(four[k]);
    }
  }
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

/// Quantiles of the rows' sums: a sum becomes a few bits, and a smaller sum no larger ones.
inline constexpr u32 sum_cut_bits = 6;
inline constexpr u32 sum_cuts = 1U << sum_cut_bits;

/// Cuts of the columns, from a sample of every so many-th row: cut k of `buckets` stands at k / buckets of the sorted
/// sample, and what is there is known without sorting it, by how many are less. A team does that for a part of a
/// column's sample. Teams behind those of the columns find cuts of the sums' high parts; the first and the one behind
/// the last are beyond the sample.
template <class T>
struct find_cuts_of_columns {
  using image = typename row_source<T>::image;
  static constexpr u32 part = 32;   // samples of a team
  static constexpr u32 shares = 8;  // of all samples: lanes that compare each of the part's with some
  static constexpr u32 ranks_at = most_cut_samples * 8;
  static constexpr u32 scratch_bytes = ranks_at + part * 4;
  static constexpr u64 item_cost = u64{1} << 16;

  row_source<T> from;
  const u32* left;
  u64 count;
  u32 buckets;
  image* cuts;   ///< but for the first of a column, which nobody asks
  u64* of_sums;  ///< sum_cuts + 1; nullptr: not wanted

  [[nodiscard]] ZENITH_FN u32 samples() const {
    return count < most_cut_samples ? static_cast<u32>(count) : most_cut_samples;
  }
  [[nodiscard]] ZENITH_FN u32 parts() const { return (samples() + part - 1) / part; }
  [[nodiscard]] u64 teams() const { return u64{from.columns + (of_sums == nullptr ? 0 : 1)} * parts(); }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u32 c = static_cast<u32>(t) / parts();
    const u32 begin = static_cast<u32>(t) % parts() * part;
    if (c < from.columns) {
      return pick(
          team, begin, [&](u64 row) ZENITH_BODY { return from.at(row, c); }, buckets, cuts + u64{c} * buckets);
    }
    pick(
        team, begin, [&](u64 row) ZENITH_BODY { return sum_of_row(from, row).high; }, sum_cuts, of_sums);
    if (begin > 0) return;
    const u64* const sums = team.template scratch<u64>();
    const auto at = [&](u64 i) ZENITH_BODY { return sums[i]; };
    const u64 least = team.reduce(samples(), ~u64{0}, at, [](u64 a, u64 b) ZENITH_BODY { return b < a ? b : a; });
    const u64 most = team.reduce(samples(), u64{0}, at, [](u64 a, u64 b) ZENITH_BODY { return a < b ? b : a; });
    // rows outside of the sample's range are to differ, too
    const u64 beyond = (most - least) / 2;
    team.once([&]() ZENITH_BODY {
      of_sums[0] = least < beyond ? 0 : least - beyond;
      of_sums[sum_cuts] = most + beyond < most ? ~u64{0} : most + beyond;
    });
  }

 private:
  /// Those of `all` cuts that are among `part` samples from `begin` on.
  template <class Team, class Draw, class Number>
  ZENITH_FN void pick(Team& team, u32 begin, const Draw& draw, u32 all, Number* to) const {
    constexpr u32 at_once = 4;
    const u32 n = samples();
    const u32 fours = (n + at_once - 1) / at_once;
    Number* const drawn = team.template scratch<Number>();
    u32* const ranks = team.template scratch<u32>(ranks_at);
    // a lane's loads are under way at once
    team.for_each(fours, [&](u64 i) ZENITH_BODY {
      u64 row[at_once];
      Number value[at_once];
      ZENITH_UNROLLED
      for (u32 k = 0; k < at_once; ++k) {
        const u64 at = i + k * fours;
        row[k] = left[(at < n ? at : n - 1) * count / n];
      }
      ZENITH_UNROLLED
      for (u32 k = 0; k < at_once; ++k) value[k] = draw(row[k]);
      ZENITH_UNROLLED
      for (u32 k = 0; k < at_once; ++k) {
        const u64 at = i + k * fours;
        drawn[at] = at < n ? value[k] : static_cast<Number>(~Number{0});
      }
    });
    team.for_each(part, [&](u64 i) ZENITH_BODY { ranks[i] = 0; });
    team.barrier();
    const u32 own_count = n - begin < part ? n - begin : part;
    team.for_each(part * shares, [&](u64 j) ZENITH_BODY {
      const u32 own = static_cast<u32>(j) % part;
      const u32 share = static_cast<u32>(j) / part;
      if (own >= own_count) return;
      const u32 at = begin + own;
      const Number value = drawn[at];
      u32 rank = 0;
      for (u32 f = fours * share / shares; f < fours * (share + 1) / shares; ++f) {
        const auto four = *reinterpret_cast<const four_values<Number>*>(drawn + f * at_once);
        ZENITH_UNROLLED
        for (u32 k = 0; k < at_once; ++k) {
          rank += four.value[k] < value || (four.value[k] == value && f * at_once + k < at) ? 1U : 0U;
        }
      }
      (void)team.add(ranks + own, rank);
    });
    team.barrier();
    team.for_each(own_count, [&](u64 i) ZENITH_BODY {
      const u32 rank = ranks[i];
      for (u32 k = (rank * all + n - 1) / n; k < all && k * n / all == rank; ++k) {
        if (k > 0) to[k] = drawn[begin + i];
      }
    });
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
  u32* short_masks;  ///< to be written, not those of `to`; nullptr: those of `to`

  ZENITH_FN void operator()(u64 i) const { write(i, to.rows[i]); }

  /// The point that a row is.
  ZENITH_FN void write(u64 i, u32 row) const {
    const u32 columns = from.columns;
    const bool has_lower = 2 * columns <= most_cell_bits;
    const bool has_upper = 3 * columns <= most_cell_bits;
    u64 mask = 0;
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
    if (short_masks == nullptr) {
      to.masks[i] = mask | alive_bit<u64>;
    } else {
      short_masks[i] = static_cast<u32>(mask) | alive_bit<u32>;
    }
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
