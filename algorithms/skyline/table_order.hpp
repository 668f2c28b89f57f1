#pragma once

/// \file
/// The table of a device, read row by row: which rows a pivot dominates, and what the others become in their order. No
/// image of the table is kept.

#include <cstdint>
#include <type_traits>

#include <algorithms/skyline/row_order.hpp>
#include <algorithms/skyline/row_pivots.hpp>
#include <algorithms/skyline/tile_filter.hpp>

namespace zenith::skyline_family {

/// What the host is told, of the prefilter and at the end.
struct table_findings {
  u64 nan_at;    ///< as that of `write_images`
  u32 left;      ///< rows
  u32 has_ties;  ///< 1: rows are in no order, because too many short keys are equal
};

struct begin_table {
  table_findings* found;
  u64* pivots;

  ZENITH_FN void operator()(u64 i) const {
    pivots[i] = ~u64{0};
    if (i == 0) *found = {no_nan, 0, 0};
  }
};

/// Values of the pivots in columns of `pivot_count`, the best first. Where there is none, the worst point, which
/// dominates nothing.
template <class T>
struct place_pivots {
  row_source<T> from;
  const u64* pivots;  ///< `find_pivots`
  bool drops_nan;
  typename row_source<T>::image* to;

  ZENITH_FN void operator()(u64 i) const {
    using image = typename row_source<T>::image;
    const u64 own = i % pivot_count;
    const u32 c = static_cast<u32>(i / pivot_count);
    const u64 pivot = pivots[own];
    u32 rank = 0;
    for (u64 other = 0; other < pivot_count; ++other) {
      rank += pivots[other] < pivot || (pivots[other] == pivot && other < own) ? 1U : 0U;
    }
    const u64 row = static_cast<u32>(pivot);
    bool is_used = pivot != ~u64{0};
    for (u32 k = 0; k < from.given_columns && is_used && drops_nan; ++k) {
      const T value = from.column[k][row * from.row_stride];
      is_used = value == value;
    }
    to[c * pivot_count + rank] = is_used ? from.at(row, c) : static_cast<image>(~image{0});
  }
};

/// Marks rows that a pivot dominates, and those with a NaN that are dropped. A row is one lane's, in registers: of up
/// to `Columns` columns, of which the unused ones are as good for all. Most rows are dominated by one of the first
/// pivots; those that are not are handed out again, so that no lane waits for a neighbour.
template <class T, u32 Columns>
struct test_table {
  using image = typename row_source<T>::image;
  static constexpr u32 team_rows = 256;
  static constexpr u32 pivots_at = team_rows * Columns * sizeof(image);
  static constexpr u32 queue_at = pivots_at + pivot_count * Columns * sizeof(image);
  static constexpr u32 scratch_bytes = queue_at + 16 + team_rows * 2;
  static constexpr u32 wanted_teams = Columns * sizeof(image) <= 48 ? 4 : 2;
  static constexpr u64 item_cost = u64{1} << 16;

  row_source<T> from;
  const image* pivots;  ///< nullptr: none
  bool drops_nan;
  bool is_by_fours;  ///< rows begin at multiples of four values, and a row's lie side by side
  u64* nan_at;       ///< lowered
  u8* removed;

  [[nodiscard]] u64 teams() const { return (from.rows + team_rows - 1) / team_rows; }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * team_rows;
    const u64 n = from.rows - first < team_rows ? from.rows - first : team_rows;
    image* const values = team.template scratch<image>();
    image* const some = team.template scratch<image>(pivots_at);
    u32* const open = team.template scratch<u32>(queue_at);
    auto* const queue = team.template scratch<std::uint16_t>(queue_at + 16);
    const bool has_pivots = pivots != nullptr;
    team.once([&]() ZENITH_BODY { *open = 0; });
    team.for_each(has_pivots ? pivot_count * Columns : 0,
                  [&](u64 j) ZENITH_BODY { some[j] = j < u64{pivot_count} * from.columns ? pivots[j] : image{0}; });
    team.barrier();
    team.for_each(n, [&](u64 i) ZENITH_BODY {
      image own[Columns];
      bool is_out = load(first + i, own) && drops_nan;
      if (!is_out && has_pivots) is_out = is_dominated(own, some, 0, first_pivots);
      if (is_out || !has_pivots) {
        removed[first + i] = is_out ? 1 : 0;
        return;
      }
      const u32 place = team.add(open, 1U);
      queue[place] = static_cast<std::uint16_t>(i);
      ZENITH_UNROLLED
      for (u32 c = 0; c < Columns; ++c) values[c * team_rows + place] = own[c];
    });
    team.barrier();
    team.for_each(*open, [&](u64 i) ZENITH_BODY {
      image own[Columns];
      ZENITH_UNROLLED
      for (u32 c = 0; c < Columns; ++c) own[c] = values[c * team_rows + i];
      removed[first + queue[i]] = is_dominated(own, some, first_pivots, pivot_count) ? 1 : 0;
    });
  }

 private:
  static constexpr u32 at_once = 4;
  static constexpr u32 first_pivots = 8;

  /// A row's images; says whether there is a NaN.
  ZENITH_FN bool load(u64 row, image (&own)[Columns]) const {
    bool is_nan = false;
    ZENITH_UNROLLED
    for (u32 first = 0; first < Columns; first += 4) {
      image four[4] = {};
      if (first < from.columns) {
        if (is_by_fours) {
          from.aligned_four_at(row, first, four);
        } else {
          from.four_at(row, first, four);
        }
      }
      ZENITH_UNROLLED
      for (u32 k = 0; k < 4; ++k) {
        own[first + k] = first + k < from.columns ? four[k] : image{0};
        if constexpr (std::is_floating_point_v<T>) {
          const u32 c = first + k;
          if (own[c] == static_cast<image>(~image{0}) && ((from.complement >> c) & 1) == 0) {
            (void)device::atomic_min(nan_at, row * most_given_columns + from.given[c]);
            is_nan = true;
          }
        }
      }
    }
    return is_nan;
  }
  /// Whether one of the pivots [begin, end) dominates a row.
  ZENITH_FN static bool is_dominated(const image (&own)[Columns], const image* some, u32 begin, u32 end) {
    for (u32 p = begin; p < end; p += at_once) {
      bool is_behind[at_once] = {};
      ZENITH_UNROLLED
      for (u32 c = 0; c < Columns; ++c) {
        const auto pivot = *reinterpret_cast<const four_values<image>*>(some + c * pivot_count + p);
        ZENITH_UNROLLED
        for (u32 k = 0; k < at_once; ++k) is_behind[k] = is_behind[k] || pivot.value[k] > own[c];
      }
      if (is_behind[0] && is_behind[1] && is_behind[2] && is_behind[3]) continue;
      ZENITH_UNROLLED
      for (u32 k = 0; k < at_once; ++k) {
        // hardly any row equals a pivot
        bool differs = false;
        ZENITH_UNROLLED
        for (u32 c = 0; c < Columns; ++c) differs = differs || some[c * pivot_count + p + k] != own[c];
        if (!is_behind[k] && differs) return true;
      }
    }
    return false;
  }
};

/// The same of tables with more columns: a row lies in scratch.
template <class T>
struct test_wide_table {
  using image = typename row_source<T>::image;
  static constexpr u32 scratch_bytes = 32 * 1024;
  static constexpr u64 item_cost = u64{1} << 16;

  row_source<T> from;
  const image* pivots;  ///< nullptr: none
  bool drops_nan;
  u64* nan_at;  ///< lowered
  u8* removed;

  /// Rows of a team.
  [[nodiscard]] ZENITH_FN u32 tile() const {
    u32 rows = 256;
    while (rows * from.columns * sizeof(image) > scratch_bytes) rows /= 2;
    return rows;
  }
  [[nodiscard]] u64 teams() const { return (from.rows + tile() - 1) / tile(); }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u32 rows = tile();
    const u64 first = t * rows;
    const u64 n = from.rows - first < rows ? from.rows - first : rows;
    image* const values = team.template scratch<image>();
    team.for_each(n, [&](u64 i) ZENITH_BODY {
      image* const own = values + i;
      bool is_out = false;
      for (u32 c = 0; c < from.columns; c += 4) {
        image four[4];
        from.four_at(first + i, c, four);
        ZENITH_UNROLLED
        for (u32 k = 0; k < 4; ++k) {
          if (c + k >= from.columns) continue;
          own[(c + k) * rows] = four[k];
          if constexpr (std::is_floating_point_v<T>) {
            if (four[k] == static_cast<image>(~image{0}) && ((from.complement >> (c + k)) & 1) == 0) {
              (void)device::atomic_min(nan_at, (first + i) * most_given_columns + from.given[c + k]);
              is_out = is_out || drops_nan;
            }
          }
        }
      }
      for (u32 p = 0; p < pivot_count && pivots != nullptr && !is_out; p += at_once) {
        is_out = is_dominated(own, rows, pivots + p);
      }
      removed[first + i] = is_out ? 1 : 0;
    });
  }

 private:
  static constexpr u32 at_once = 4;

  /// Whether one of some pivots dominates a row.
  ZENITH_FN bool is_dominated(const image* row, u32 stride, const image* some) const {
    bool is_behind[at_once] = {};
    for (u32 c = 0; c < from.columns; ++c) {
      const image value = row[c * stride];
      const auto pivot = *reinterpret_cast<const four_values<image>*>(some + c * pivot_count);
      ZENITH_UNROLLED
      for (u32 k = 0; k < at_once; ++k) is_behind[k] = is_behind[k] || pivot.value[k] > value;
    }
    bool found = false;
    ZENITH_UNROLLED
    for (u32 k = 0; k < at_once; ++k) {
      if (is_behind[k]) continue;
      // hardly any row equals a pivot
      for (u32 c = 0; c < from.columns && !found; ++c) found = some[c * pivot_count + k] != row[c * stride];
    }
    return found;
  }
};

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

/// Of rows whose short keys are equal: which ones have a smaller sum than the one before.
template <class T>
struct find_inversions {
  static constexpr u64 item_cost = 32;

  row_source<T> from;
  const u32* keys;
  const u32* rows;
  u8* is_inverted;

  ZENITH_FN void operator()(u64 i) const {
    bool is = false;
    if (i > 0 && keys[i - 1] == keys[i]) is = sum_of_row(from, rows[i]) < sum_of_row(from, rows[i - 1]);
    is_inverted[i] = is ? 1 : 0;
  }
};

/// Puts rows of equal short keys right, those of a key by one lane. There are hardly two of them; says where there are
/// too many.
template <class T>
struct order_ties {
  static constexpr u64 item_cost = 32;
  static constexpr u64 most = 16;

  row_source<T> from;
  const u32* keys;
  u64 count;
  const u8* is_inverted;
  u32* rows;
  u32* has_ties;  ///< set to 1

  ZENITH_FN void operator()(u64 i) const {
    if (is_inverted[i] == 0) return;
    u64 begin = i;
    while (begin > 0 && keys[begin - 1] == keys[i] && i - begin < most) {
      --begin;
      if (is_inverted[begin] != 0) return;  // its lane does it
    }
    u64 end = i + 1;
    while (end < count && keys[end] == keys[i] && end - begin <= most) ++end;
    if (end - begin > most) {
      device::atomic_store(has_ties, u32{1});
      return;
    }
    for (u64 next = i; next < end; ++next) {
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

template <class T>
using table_kernels = device::list<place_pivots<T>, test_table<T, 4>, test_table<T, 8>, test_table<T, 12>,
                                   test_table<T, 16>, test_wide_table<T>, find_cuts_of_column<T>, write_table_keys<T>,
                                   write_short_keys<T>, find_inversions<T>, order_ties<T>, place_table_rows<T>>;

}  // namespace zenith::skyline_family
