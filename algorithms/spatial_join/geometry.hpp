#pragma once

/// \file
/// How far a point's partners can be, and how many cells a grid has.

#include <algorithm>
#include <cmath>
#include <limits>

#include <algorithms/spatial_join/density.hpp>
#include <algorithms/spatial_join/grid.hpp>

namespace zenith::spatial_join_family {

/// A length that two coordinates which the predicate takes never differ by more than (grid.hpp, step 1).
template <class T>
[[nodiscard]] T reach_of(T squared) {
  if (!(squared < std::numeric_limits<T>::infinity())) return std::numeric_limits<T>::infinity();
  // twice the root of half the least number above 0, which is 2^-150 or 2^-1075
  const T least = std::ldexp(T{1}, sizeof(T) == 4 ? -74 : -536);
  return (std::sqrt(squared) + least) * (T{1} + 8 * std::numeric_limits<T>::epsilon());
}

/// A grid for so many points has no more cells.
[[nodiscard]] inline u64 most_cells(u64 points) { return std::min(2 * points + 64, u64{1} << 31); }

/// Whether so many cells of the width of `reach` do not cover the extents.
template <class T, unsigned D>
[[nodiscard]] ZENITH_FN bool are_more_needed(const side_extents<T, D>& all, T reach, double most) {
  double needed = 1;
  for (unsigned a = 0; a < D; ++a) {
    const double cells =
        (static_cast<double>(all.high[a]) - static_cast<double>(all.low[a])) / static_cast<double>(reach);
    needed *= cells > 1 ? cells : 1;
  }
  return !(needed <= most);
}

inline constexpr double most_cells_of_axis = 1 << 24;  ///< of one without a period: float holds all numbers up to there
inline constexpr double most_cells_of_origin = 1 << 28;  ///< with a period, before an axis' origin and behind it

/// A grid of at most so many cells uses them again instead, with a period without the factors 2, 3, 5 and 7: points of
/// a lattice are to have many numbers.
template <class T, unsigned D>
ZENITH_FN void repeat_cells(cell_grid<T, D>& grid, double most) {
  const auto has_small_factor = [](u32 n) ZENITH_BODY { return n % 2 == 0 || n % 3 == 0 || n % 5 == 0 || n % 7 == 0; };
  grid.period = static_cast<u32>(most);
  while (has_small_factor(grid.period)) --grid.period;
  grid.inverse_period = 1.0 / grid.period;
  const u32 side = static_cast<u32>(D == 2 ? std::sqrt(double{1} * grid.period) : std::cbrt(double{1} * grid.period));
  u32 product = 1;
  for (unsigned a = 0; a + 1 < D; ++a) {
    grid.cells[a] = side;
    product *= side;
  }
  grid.cells[D - 1] = grid.period / product;
}

/// Cells of at least the width of `reach`, so that a probe meets three on an axis. `most` cells are enough: where
/// somewhat more are needed they are wider, and where many more are, they are used again. `usual`: where most of the
/// `right` points lie. The others do not widen cells that are used again, and have their own, up to 2^28 away.
template <class T, unsigned D>
[[nodiscard]] ZENITH_FN cell_grid<T, D> make_grid(const side_extents<T, D>& right, const side_extents<T, D>& usual,
                                                  T squared, T reach, double width, double most) {
  constexpr double most_times = 4;
  constexpr T longest = greatest_number<T>;
  constexpr T step = std::numeric_limits<T>::epsilon();
  cell_grid<T, D> grid{};
  grid.squared = squared;
  grid.reach = reach;
  grid.period = cell_grid<T, D>::no_period;
  double extent[D];
  double farthest = 0;  // usual point from the origin
  for (unsigned a = 0; a < D; ++a) {
    grid.least[a] = right.low[a];
    grid.greatest[a] = right.high[a];
    // numbers of T are the most accurate near 0
    const T low = usual.low[a];
    const T high = usual.high[a];
    grid.origin[a] = low > T{0} ? low : high < T{0} ? high : T{0};
    const double all = static_cast<double>(right.high[a]) - static_cast<double>(right.low[a]);
    extent[a] = all <= greatest_number<double> ? all : greatest_number<double>;
    const T before = grid.origin[a] - low;
    const T behind = high - grid.origin[a];
    const auto far = static_cast<double>(before < behind ? behind : before);
    farthest = far > farthest ? far : farthest;
  }
  double cells[D];
  const auto count_cells = [&](double most_of_axis) ZENITH_BODY {
    double product = 1;
    for (unsigned a = 0; a < D; ++a) {
      cells[a] = width > 0 ? std::floor(extent[a] / width) : 1.0;
      if (!(cells[a] >= 1)) cells[a] = 1;
      if (cells[a] > most_of_axis) cells[a] = most_of_axis;
      product *= cells[a];
    }
    return product;
  };
  if (count_cells(greatest_number<double>) > most_times * most) {
    if (farthest / most_cells_of_origin > width) width = farthest / most_cells_of_origin;
    const auto inverse = static_cast<T>(1 / width);
    for (unsigned a = 0; a < D; ++a) {
      if (cells[a] < 2 || !(inverse <= longest)) continue;
      grid.inverse[a] = static_cast<double>(inverse) * width > 1 ? inverse * (1 - step) : inverse;
      grid.first_cell[a] = -static_cast<T>(most_cells_of_origin);
      grid.last_cell[a] = static_cast<T>(most_cells_of_origin);
    }
    repeat_cells(grid, most);
    return grid;
  }
  for (unsigned a = 0; a < D; ++a) {
    if (!(right.high[a] - right.low[a] <= longest)) extent[a] = 0;  // one cell where T cannot say how long it is
  }
  for (;;) {
    const double product = count_cells(most_cells_of_axis);
    unsigned axes = 0;
    for (unsigned a = 0; a < D; ++a) axes += cells[a] > 1 ? 1 : 0;
    if (product <= most || axes == 0) break;
    const double wider = std::pow(product / most, 1.0 / axes);
    width *= wider > 1.02 ? wider : 1.02;
  }
  for (unsigned a = 0; a < D; ++a) {
    const T inverse = static_cast<T>(cells[a] / extent[a]);
    const bool is_one = cells[a] < 2 || !(inverse <= longest);
    grid.origin[a] = right.low[a];
    grid.cells[a] = is_one ? 1 : static_cast<u32>(cells[a]);
    grid.inverse[a] = is_one ? T{0} : inverse;
    grid.last_cell[a] = static_cast<T>(grid.cells[a] - 1);
  }
  return grid;
}
/// A grid for so many of the right side's points. where(): what samples of them say, which is asked where `most` cells
/// are too few.
template <class T, unsigned D, class Where>
[[nodiscard]] ZENITH_FN cell_grid<T, D> make_grid_for(double points, const side_extents<T, D>& all, T squared, T reach,
                                                      double most, const Where& where) {
  if (!are_more_needed(all, reach, most)) return make_grid(all, all, squared, reach, static_cast<double>(reach), most);
  const sampled_places<T, D> known = where();
  return make_grid(all, known.usual, squared, reach, cell_width(known, points, reach), most);
}
template <class T, unsigned D>
[[nodiscard]] u64 cells_of(const cell_grid<T, D>& grid) {
  if (grid.is_periodic()) return grid.period;
  u64 all = 1;
  for (unsigned a = 0; a < D; ++a) all *= grid.cells[a];
  return all;
}

}  // namespace zenith::spatial_join_family
