#pragma once

/// \file
/// The table of a device, read row by row: which rows a pivot dominates, and what the others become in their order. No
/// image of the table is kept.

#include <type_traits>

#include <algorithms/skyline/row_order.hpp>
#include <algorithms/skyline/row_pivots.hpp>
#include <algorithms/skyline/tile_filter.hpp>

namespace zenith::skyline_family {

/// What the host is told of the prefilter.
struct table_findings {
  u64 nan_at;  ///< as that of `write_images`
  u32 left;    ///< rows
  u32 unused;
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

/// Marks rows that a pivot dominates, and those with a NaN that are dropped: a row is one lane's.
template <class T>
struct test_table {
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

/// Cuts of a column, from a sample of every so many-th row that is sorted in the team's scratch (a bitonic network).
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

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 c) const {
    const u32 samples = count < most_cut_samples ? static_cast<u32>(count) : most_cut_samples;
    u32 all = 2;
    while (all < samples) all *= 2;
    image* const sorted = team.template scratch<image>();
    team.for_each(all, [&](u64 i) ZENITH_BODY {
      sorted[i] = i < samples ? from.at(left[i * count / samples], static_cast<u32>(c)) : static_cast<image>(~image{0});
    });
    for (u32 run = 2; run <= all; run *= 2) {
      for (u32 step = run / 2; step > 0; step /= 2) {
        team.barrier();
        team.for_each(all / 2, [&](u64 i) ZENITH_BODY {
          const u32 below = static_cast<u32>(i) & (step - 1);  // `step` is a power of two
          const u32 at = (static_cast<u32>(i) - below) * 2 + below;
          const image a = sorted[at];
          const image b = sorted[at + step];
          if ((b < a) == ((at & run) == 0)) {
            sorted[at] = b;
            sorted[at + step] = a;
          }
        });
      }
    }
    team.barrier();
    team.for_each(buckets, [&](u64 k) ZENITH_BODY { cuts[c * buckets + k] = sorted[k * samples / buckets]; });
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
    const u64 row = left[i];
    exact_sum<image> sum;
    u32 median = 0;
    for (u32 first = 0; first < from.columns; first += 4) {
      image four[4];
      from.four_at(row, first, four);
      ZENITH_UNROLLED
      for (u32 k = 0; k < 4; ++k) {
        const u32 c = first + k;
        if (c >= from.columns) continue;
        sum.add(four[k]);
        if (c < most_ordering_columns) median |= (cuts[c * buckets + buckets / 2] <= four[k] ? 1U : 0U) << c;
      }
    }
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
using table_kernels =
    device::list<place_pivots<T>, test_table<T>, find_cuts_of_column<T>, write_table_keys<T>, place_table_rows<T>>;

}  // namespace zenith::skyline_family
