#pragma once

/// \file
/// Where a device has the points of a join of all pairs. The right side is put into cells. Left rows are taken in
/// groups, as they lie, unless points have many candidates: then by their cells, that a group's rows read the same
/// candidates.

#include <algorithms/spatial_join/geometry.hpp>
#include <algorithms/spatial_join/nearest_places.hpp>
#include <algorithms/spatial_join/pairs.hpp>
#include <algorithms/spatial_join/usual_extents.hpp>

namespace zenith::spatial_join_family {

/// What the first launch finds out, and the host asks for when all pairs are counted. Zeros at first.
template <class T, unsigned D>
struct join_facts {
  column_extremes<T> known;
  u32 is_finite;   ///< all coordinates are: there is a grid
  u64 candidates;  ///< of some left rows
  cell_grid<T, D> grid;
};

/// The grid, of extremes that are known.
template <class T, unsigned D>
struct choose_grid {
  static constexpr u32 scratch_bytes = find_places<T, D>::scratch_bytes;

  point_columns<T, D> right;
  T squared;
  T reach;
  double most_cells;
  join_facts<T, D>* facts;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 /*i*/) const {
    const auto& known = facts->known;
    if (!are_finite(known)) return;
    const auto grid = make_grid_for<T, D>(static_cast<double>(right.rows), right_extents<T, D>(known), squared, reach,
                                          most_cells, [&]() ZENITH_BODY {
                                            return find_places<T, D>{right, nullptr}.of(team);
                                          });
    team.once([&]() ZENITH_BODY {
      facts->grid = grid;
      facts->is_finite = 1;
    });
  }
};

/// A point of the right side. Aligned, so that one load brings it.
template <class T, unsigned D>
struct alignas(16) cell_point {
  T at[D];
  u32 row;
};

/// How many points of a point's cell came before it.
template <class T, unsigned D>
struct count_in_cells {
  static constexpr u64 item_cost = 64;

  point_columns<T, D> from;
  const join_facts<T, D>* facts;
  u32* ranks;
  u32* counts;  ///< of every cell

  ZENITH_FN void operator()(u64 row) const {
    if (facts->is_finite == 0) return;
    T point[D];
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) point[a] = from.at[a][row];
    ranks[row] = device::atomic_add(counts + facts->grid.cell_at(point), 1);
  }
};

template <class T, unsigned D>
struct put_in_cells {
  static constexpr u64 item_cost = 64;

  point_columns<T, D> right;
  const join_facts<T, D>* facts;
  const u32* ranks;
  const u32* starts;
  cell_point<T, D>* to;

  ZENITH_FN void operator()(u64 row) const {
    if (facts->is_finite == 0) return;
    cell_point<T, D> point;
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) point.at[a] = right.at[a][row];
    point.row = static_cast<u32>(row);
    to[starts[facts->grid.cell_at(point.at)] + ranks[row]] = point;
  }
};

/// Left rows in the order of their cells.
template <class T, unsigned D>
struct order_rows {
  static constexpr u64 item_cost = 64;

  point_columns<T, D> left;
  const join_facts<T, D>* facts;
  const u32* ranks;
  const u32* starts;
  u32* to;

  ZENITH_FN void operator()(u64 row) const {
    T point[D];
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) point[a] = left.at[a][row];
    to[starts[facts->grid.cell_at(point)] + ranks[row]] = static_cast<u32>(row);
  }
};

/// Of n items that 2^shift lanes share, how many are a lane's: lane, lane + 2^shift and so on.
ZENITH_FN u32 lane_share(u32 n, u32 lane, u32 shift) { return n > lane ? ((n - lane - 1) >> shift) + 1 : 0; }
/// Of a power of two.
ZENITH_FN u32 exponent_of(u32 power) {
  u32 exponent = 0;
  while ((power >> exponent) > 1) ++exponent;
  return exponent;
}

/// How groups of rows are made, and what they are given.
struct group_sizes {
  u32 rows;      ///< of a group at most, a power of two
  u32 groups;    ///< that there are at least before a group has more rows
  u32 listed;    ///< partners of a row at most where these are listed
  u32 few;       ///< candidates of a row, on average, that one lane tests
  u32 some;      ///< the same of each of several lanes
  u32 many;      ///< candidates of a row, on average, above which rows share them when they count
  u32 crowded;   ///< points of a cell, on average, above which rows share candidates when they write
  u32 sorted;    ///< partners that are sorted together, a multiple of 32
  u32 chunk;     ///< rows of the right side that are tested together
  u32 together;  ///< bytes of candidates that rows share
  u32 eighths;   ///< of that, which a row's candidates take at most, on average, where rows share them
  u32 near;      ///< words of 32 candidates that rows are tested against together
  u32 worth;     ///< partners for each candidate that is sorted, above which rows share candidates when they write
};
template <class Context>
inline constexpr group_sizes sizes_of_groups{256, 4096, 32, 40, 128, 150, 12, 8192, 2048, 30720, 6, 1536, 2};

/// Left rows in groups, and the right side in cells.
template <class T, unsigned D>
struct group_probe {
  point_columns<T, D> left;
  const join_facts<T, D>* facts;
  const cell_point<T, D>* points;
  const u32* starts;
  u32 rows;          ///< of a group: a power of two
  const u32* order;  ///< rows as they are taken; nullptr: as they lie

  [[nodiscard]] ZENITH_FN u64 groups() const { return (left.rows + rows - 1) / rows; }
  [[nodiscard]] ZENITH_FN u32 rows_of(u64 group) const {
    const u64 begin = group * rows;
    return left.rows - begin < rows ? static_cast<u32>(left.rows - begin) : rows;
  }
  /// The row that is taken as number i.
  [[nodiscard]] ZENITH_FN u64 row_of(u64 i) const { return order == nullptr ? i : order[i]; }
  ZENITH_FN void get(u64 row, T (&at)[D]) const {
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) at[a] = left.at[a][row];
  }
  /// use(begin, end) for every range of places around a point.
  template <class Use>
  ZENITH_FN void each_range(const cell_grid<T, D>& grid, const T (&at)[D], const Use& use) const {
    grid.each_range(at, [&](u32 first, u32 end) ZENITH_BODY { use(starts[first], starts[end]); });
  }
};

/// The candidates of left rows that are drawn evenly.
template <class T, unsigned D>
struct sample_candidates {
  static constexpr u64 item_cost = 256;
  static constexpr u64 rows = 1024;

  group_probe<T, D> probe;
  u64* to;

  ZENITH_FN void operator()(u64 i) const {
    if (probe.facts->is_finite == 0) return;
    T at[D];
    probe.get(sampled_row(i, probe.left.rows), at);
    u64 all = 0;
    probe.each_range(probe.facts->grid, at, [&](u32 from, u32 end) ZENITH_BODY { all += end - from; });
    if (all > 0) (void)device::atomic_add(to, all);
  }
};

}  // namespace zenith::spatial_join_family
