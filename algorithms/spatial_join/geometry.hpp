#pragma once

/// \file
/// How far a point's partners can be, and how many cells a grid has.

#include <algorithm>
#include <cmath>
#include <limits>

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

/// What is known of a side.
template <class T, unsigned D>
struct side_extents {
  T low[D];
  T high[D];
};

/// Those of the right side, of which the columns' extremes are known.
template <class T, unsigned D>
[[nodiscard]] ZENITH_FN side_extents<T, D> right_extents(const column_extremes<T>& known) {
  side_extents<T, D> all;
  for (unsigned a = 0; a < D; ++a) {
    all.low[a] = from_total_order<T>(known.least[most_side_columns + a]);
    all.high[a] = from_total_order<T>(known.greatest[most_side_columns + a]);
  }
  return all;
}

/// Of points spread evenly over the extents of both sides: the share of a ball, or of the axes that it does not span.
template <class T, unsigned D>
[[nodiscard]] ZENITH_FN double share_if_even(const side_extents<T, D>& left, const side_extents<T, D>& right, T reach) {
  constexpr double ball = D == 2 ? 0.7853981634 : 0.5235987756;  // of the square or cube around it
  double share = 1;
  bool is_inside = true;
  for (unsigned a = 0; a < D; ++a) {
    const T low = left.low[a] < right.low[a] ? left.low[a] : right.low[a];
    const T high = left.high[a] < right.high[a] ? right.high[a] : left.high[a];
    const double length = static_cast<double>(high) - static_cast<double>(low);
    if (2 * static_cast<double>(reach) < length) {
      share *= 2 * static_cast<double>(reach) / length;
    } else {
      is_inside = false;
    }
  }
  return is_inside ? ball * share : share;
}

/// The share of pairs within the distance, if points lie everywhere as densely as around the middle one of a sample.
/// `nearest`: how far that is from the nearest of so many others, squared as the distance is. In the ball as far as
/// that there are ln 2 of them in half of the cases, where a Poisson process makes them.
[[nodiscard]] ZENITH_FN double share_if_dense(double nearest, double others, double squared, unsigned dimensions) {
  if (!(nearest > 0)) return 0;
  constexpr double ln2 = 0.6931471806;
  const double ratio = squared / nearest;
  const double share = ln2 / others * (dimensions == 2 ? ratio : ratio * std::sqrt(ratio));
  return share < 1 ? share : 1;
}

/// How many of what was met so often are surely expected: the lower bound of a Poisson distribution's mean, so many
/// standard deviations away (Wilson and Hilferty's cube root of a chi-squared variable, 1931).
[[nodiscard]] ZENITH_FN double surely_expected(double met, double deviations) {
  if (!(met > 0)) return 0;
  const double root = 1 - 1 / (9 * met) - deviations / (3 * std::sqrt(met));
  return root > 0 ? met * root * root * root : 0;
}

/// Whether so many cells of the width of `reach` do not cover the extents.
template <class T, unsigned D>
[[nodiscard]] ZENITH_FN bool are_widened(const side_extents<T, D>& all, T reach, double most) {
  double needed = 1;
  for (unsigned a = 0; a < D; ++a) {
    const double cells =
        (static_cast<double>(all.high[a]) - static_cast<double>(all.low[a])) / static_cast<double>(reach);
    needed *= cells > 1 ? cells : 1;
  }
  return !(needed <= most);
}

/// Where so many cells are: where most of the points are, and beyond as far as cells of the width of `reach` cover. So
/// a few far points do not widen all cells. `usual`: of most of the points.
template <class T, unsigned D>
[[nodiscard]] ZENITH_FN side_extents<T, D> spread_of(T reach, const side_extents<T, D>& usual,
                                                     const side_extents<T, D>& all, double cells) {
  double length[D];
  double needed = 1;
  for (unsigned a = 0; a < D; ++a) {
    length[a] = static_cast<double>(usual.high[a]) - static_cast<double>(usual.low[a]);
    if (length[a] < static_cast<double>(reach)) length[a] = static_cast<double>(reach);
    needed *= length[a] / static_cast<double>(reach);
  }
  const double wider = needed < cells ? std::pow(cells / needed, 1.0 / D) : 1.0;
  side_extents<T, D> spread;
  for (unsigned a = 0; a < D; ++a) {
    const auto low = static_cast<double>(usual.low[a]);
    const auto high = static_cast<double>(usual.high[a]);
    const double more = wider > 1 ? (length[a] * wider - (high - low)) / 2 : 0.0;
    const T lower = static_cast<T>(low - more);
    const T higher = static_cast<T>(high + more);
    spread.low[a] = lower > all.low[a] ? lower : all.low[a];
    spread.high[a] = higher < all.high[a] ? higher : all.high[a];
  }
  return spread;
}

/// Cells of at least the width of `reach`, so that a probe meets three on an axis, or wider ones: about `most` cells at
/// most. That of low + i / inverse is cell i. `spread`: where cells are, which may leave out some of the `right`
/// points.
template <class T, unsigned D>
[[nodiscard]] ZENITH_FN cell_grid<T, D> make_grid(const side_extents<T, D>& right, const side_extents<T, D>& spread,
                                                  T squared, T reach, double most) {
  constexpr double most_on_axis = 1 << 24;  // float holds all numbers up to there
  constexpr T longest = greatest_number<T>;
  cell_grid<T, D> grid{};
  grid.squared = squared;
  grid.reach = reach;
  double extent[D];
  double widest = 0;
  for (unsigned a = 0; a < D; ++a) {
    grid.least[a] = right.low[a];
    grid.greatest[a] = right.high[a];
    grid.low[a] = spread.low[a];
    const T here = spread.high[a] - spread.low[a];
    extent[a] = here <= longest ? static_cast<double>(here) : 0;  // one cell where T cannot say how long it is
    if (extent[a] > widest) widest = extent[a];
  }
  double width = static_cast<double>(reach);
  if (widest / most_on_axis > width) width = widest / most_on_axis;
  double cells[D];
  for (;;) {
    double product = 1;
    unsigned axes = 0;
    for (unsigned a = 0; a < D; ++a) {
      cells[a] = width > 0 ? std::floor(extent[a] / width) : 1.0;
      if (!(cells[a] >= 1)) cells[a] = 1;
      if (cells[a] > most_on_axis) cells[a] = most_on_axis;
      product *= cells[a];
      axes += cells[a] > 1 ? 1 : 0;
    }
    if (product <= most || axes == 0) break;
    const double wider = std::pow(product / most, 1.0 / axes);
    width *= wider > 1.02 ? wider : 1.02;
  }
  for (unsigned a = 0; a < D; ++a) {
    const T inverse = static_cast<T>(cells[a] / extent[a]);
    const bool is_one = cells[a] < 2 || !(inverse <= longest);
    grid.cells[a] = is_one ? 1 : static_cast<u32>(cells[a]);
    grid.inverse[a] = is_one ? T{0} : inverse;
    grid.last[a] = static_cast<T>(grid.cells[a] - 1);
  }
  return grid;
}
template <class T, unsigned D>
[[nodiscard]] u64 cells_of(const cell_grid<T, D>& grid) {
  u64 all = 1;
  for (unsigned a = 0; a < D; ++a) all *= grid.cells[a];
  return all;
}

}  // namespace zenith::spatial_join_family
