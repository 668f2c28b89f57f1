#pragma once

/// \file
/// The table of a device, read row by row: which rows a pivot dominates. No image of the table is kept.

#include <cstdint>
#include <type_traits>

#include <algorithms/skyline/row_order.hpp>
#include <algorithms/skyline/row_pivots.hpp>
#include <algorithms/skyline/tile_filter.hpp>

namespace zenith::skyline_family {

/// What the host is told, of the prefilter and at the end.
struct table_findings {
  u64 nan_at;    ///< the lowest row * 32 + column with a NaN
  u32 left;      ///< rows
  u32 has_ties;  ///< 1: rows are in no order, because too many short keys are equal
  u32 members;   ///< of the skyline, where few rows are left (few_rows.hpp)
  u32 unused;
};

struct begin_table {
  table_findings* found;
  u64* pivots;

  ZENITH_FN void operator()(u64 i) const {
    pivots[i] = ~u64{0};
    if (i == 0) *found = {no_nan, 0, 0, 0, 0};
  }
};

/// Values of the pivots in columns of `pivot_count`, the best first. Where there is none, the worst point, which
/// dominates nothing.
template <class T>
struct place_pivots {
  row_source<T> from;
  const u64* pivots;  ///< `find_pivots`
  bool drops_nan;
  bool drops_equal;  ///< of equal ones all but the first are none
  typename row_source<T>::image* to;

  ZENITH_FN void operator()(u64 i) const {
    using image = typename row_source<T>::image;
    const u64 own = i % pivot_count;
    const u32 c = static_cast<u32>(i / pivot_count);
    const u64 pivot = pivots[own];
    u32 rank = 0;
    constexpr u32 at_once = 16;
    for (u32 other = 0; other < pivot_count; other += at_once) {
      ZENITH_UNROLLED
      for (u32 k = 0; k < at_once; ++k) {
        const u64 one = pivots[other + k];
        rank += one < pivot || (one == pivot && other + k < own) ? 1U : 0U;
      }
    }
    const u64 row = static_cast<u32>(pivot);
    bool is_used = pivot != ~u64{0};
    for (u32 k = 0; k < from.given_columns && is_used && drops_nan; ++k) {
      const T value = from.column[k][row * from.row_stride];
      is_used = value == value;
    }
    for (u32 other = 0; other < pivot_count && is_used && drops_equal; ++other) {
      const u64 one = pivots[other];
      const bool is_first = one < pivot || (one == pivot && other < own);
      is_used = !is_first || one == ~u64{0} || !are_equal(row, static_cast<u32>(one));
    }
    to[c * pivot_count + rank] = is_used ? from.at(row, c) : static_cast<image>(~image{0});
  }

 private:
  ZENITH_FN bool are_equal(u64 a, u64 b) const {
    bool is_equal = true;
    for (u32 c = 0; c < from.columns && is_equal; ++c) is_equal = from.at(a, c) == from.at(b, c);
    return is_equal;
  }
};

/// Whether one of the points [begin, end) dominates a row, or equals it where counts_equal(point). Value c of a point
/// is some[c * pivot_count + point]; unused columns are the same for all.
template <u32 Columns, class Image, class Test>
ZENITH_FN bool is_out_by(const Image (&own)[Columns], const Image* some, u32 begin, u32 end, const Test& counts_equal) {
  constexpr u32 at_once = 4;
  for (u32 p = begin; p < end; p += at_once) {
    bool is_behind[at_once] = {};
    ZENITH_UNROLLED
    for (u32 c = 0; c < Columns; ++c) {
      const auto point = *reinterpret_cast<const four_values<Image>*>(some + c * pivot_count + p);
      ZENITH_UNROLLED
      for (u32 k = 0; k < at_once; ++k) is_behind[k] = is_behind[k] || point.value[k] > own[c];
    }
    if (is_behind[0] && is_behind[1] && is_behind[2] && is_behind[3]) continue;
    ZENITH_UNROLLED
    for (u32 k = 0; k < at_once; ++k) {
      // hardly any row equals a point
      bool differs = false;
      ZENITH_UNROLLED
      for (u32 c = 0; c < Columns; ++c) differs = differs || some[c * pivot_count + p + k] != own[c];
      if (!is_behind[k] && (differs || counts_equal(p + k))) return true;
    }
  }
  return false;
}

/// How many of the points [begin, end) of `is_out_by` dominate a row. `most` are enough.
template <u32 Columns, class Image>
ZENITH_FN u32 dominators_among(const Image (&own)[Columns], const Image* some, u32 begin, u32 end, u32 most) {
  u32 counted = 0;
  constexpr u32 at_once = 4;
  for (u32 p = begin; p < end && counted < most; p += at_once) {
    bool is_behind[at_once] = {};
    bool differs[at_once] = {};
    ZENITH_UNROLLED
    for (u32 c = 0; c < Columns; ++c) {
      const auto point = *reinterpret_cast<const four_values<Image>*>(some + c * pivot_count + p);
      ZENITH_UNROLLED
      for (u32 k = 0; k < at_once; ++k) {
        is_behind[k] = is_behind[k] || point.value[k] > own[c];
        differs[k] = differs[k] || point.value[k] != own[c];
      }
    }
    ZENITH_UNROLLED
    for (u32 k = 0; k < at_once; ++k) counted += !is_behind[k] && differs[k] ? 1U : 0U;
  }
  return counted;
}

/// Marks rows that a pivot dominates, and those with a NaN that are dropped. A row is one lane's, in registers: of up
/// to `Columns` columns, of which the unused ones are as good for all. Most rows are dominated by one of the first
/// pivots; those that are not are handed out again, so that no lane waits for a neighbour.
///
/// `Counts`: a row is out when `most` pivots dominate it.
template <class T, u32 Columns, bool Counts = false>
struct test_table {
  using image = typename row_source<T>::image;
  static constexpr u32 team_rows = 256;
  static constexpr u32 pivots_at = team_rows * Columns * sizeof(image);
  static constexpr u32 queue_at = pivots_at + pivot_count * Columns * sizeof(image);
  static constexpr u32 scratch_bytes = queue_at + 16 + team_rows * 2;
  static constexpr u32 wanted_teams = Columns * sizeof(image) <= 16 ? 6 : Columns * sizeof(image) <= 48 ? 4 : 2;
  static constexpr u64 item_cost = u64{1} << 16;

  row_source<T> from;
  const image* pivots;  ///< nullptr: none
  bool drops_nan;
  bool is_by_fours;  ///< rows begin at multiples of four values, and a row's lie side by side
  u32 most;          ///< read where it `Counts`
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
      removed[first + queue[i]] = is_dominated(own, some, Counts ? 0 : first_pivots, pivot_count) ? 1 : 0;
    });
  }

 private:
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
  ZENITH_FN bool is_dominated(const image (&own)[Columns], const image* some, u32 begin, u32 end) const {
    if constexpr (Counts) {
      return dominators_among(own, some, begin, end, most) >= most;
    } else {
      return is_out_by(own, some, begin, end, [](u32 /*pivot*/) ZENITH_BODY { return false; });
    }
  }
};

/// The same of tables with more columns: a row lies in scratch. It is out when `most` pivots dominate it.
template <class T>
struct test_wide_table {
  using image = typename row_source<T>::image;
  static constexpr u32 scratch_bytes = 32 * 1024;
  static constexpr u64 item_cost = u64{1} << 16;

  row_source<T> from;
  const image* pivots;  ///< nullptr: none
  bool drops_nan;
  u32 most;
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
      u32 counted = 0;
      for (u32 p = 0; p < pivot_count && pivots != nullptr && !is_out; p += at_once) {
        counted += dominators(own, rows, pivots + p);
        is_out = counted >= most;
      }
      removed[first + i] = is_out ? 1 : 0;
    });
  }

 private:
  static constexpr u32 at_once = 4;

  /// How many of some pivots dominate a row.
  ZENITH_FN u32 dominators(const image* row, u32 stride, const image* some) const {
    bool is_behind[at_once] = {};
    for (u32 c = 0; c < from.columns; ++c) {
      const image value = row[c * stride];
      const auto pivot = *reinterpret_cast<const four_values<image>*>(some + c * pivot_count);
      ZENITH_UNROLLED
      for (u32 k = 0; k < at_once; ++k) is_behind[k] = is_behind[k] || pivot.value[k] > value;
    }
    u32 counted = 0;
    ZENITH_UNROLLED
    for (u32 k = 0; k < at_once; ++k) {
      if (is_behind[k]) continue;
      // hardly any row equals a pivot
      bool differs = false;
      for (u32 c = 0; c < from.columns && !differs; ++c) differs = some[c * pivot_count + k] != row[c * stride];
      counted += differs ? 1U : 0U;
    }
    return counted;
  }
};

}  // namespace zenith::skyline_family
