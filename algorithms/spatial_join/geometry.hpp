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

/// How far samples, of either side, are from the nearest right one, squared.
template <class T>
struct nearest_squares {
  T eighth;  ///< at least as far as an eighth of the samples
  T middle;
};
/// Of points spread evenly, of whose pairs such a share is within the distance: the inverse of share_if_dense.
template <class T>
[[nodiscard]] nearest_squares<T> nearest_if_even(double share, double others, double squared, unsigned dimensions) {
  const auto of = [&](double in_ball) {
    const double ratio = in_ball / (others * share);
    return static_cast<T>(squared * (dimensions == 2 ? ratio : std::cbrt(ratio * ratio)));
  };
  constexpr double ln2 = 0.6931471806;
  constexpr double ln8_over_7 = 0.1335313926;
  return {of(ln8_over_7), of(ln2)};
}
/// What these say of the share of pairs: of all points, or of an eighth that lie more densely than the others. Of a
/// quarter in one place this is the half, and of points spread evenly no more than of all.
template <class T>
[[nodiscard]] ZENITH_FN double dense_share(const nearest_squares<T>& nearest, double others, double squared,
                                           unsigned dimensions) {
  const double all = share_if_dense(static_cast<double>(nearest.middle), others, squared, dimensions);
  const double few = share_if_dense(static_cast<double>(nearest.eighth), others, squared, dimensions) / 8;
  return few > all ? few : all;
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
[[nodiscard]] ZENITH_FN bool are_more_needed(const side_extents<T, D>& all, T reach, double most) {
  double needed = 1;
  for (unsigned a = 0; a < D; ++a) {
    const double cells =
        (static_cast<double>(all.high[a]) - static_cast<double>(all.low[a])) / static_cast<double>(reach);
    needed *= cells > 1 ? cells : 1;
  }
  return !(needed <= most);
}

/// What samples of the right side say of a grid.
template <class T, unsigned D>
struct sampled_places {
  side_extents<T, D> usual;  ///< of most of the points
  nearest_squares<T> nearest;
  u32 count;  ///< of right samples
};

/// As wide as cells are to be for so many points: of the width of `reach`, or where points are sparser, half a point is
/// to be in a cell where they lie as densely as an eighth of them does: a probe of the others asks more cells, but it
/// would have many candidates if the eighth lay in few.
template <class T, unsigned D>
[[nodiscard]] ZENITH_FN double cell_width(const sampled_places<T, D>& where, double points, T reach) {
  // half of pi, or of 4/3 pi, over ln(8 / 7): how many others make the nearest one so near (share_if_dense)
  constexpr double half_in_ball = D == 2 ? 11.763 : 15.685;
  const double others = half_in_ball * where.count / points;
  const double width =
      std::sqrt(static_cast<double>(where.nearest.eighth)) * (D == 2 ? std::sqrt(others) : std::cbrt(others));
  return width > static_cast<double>(reach) ? width : static_cast<double>(reach);
}

inline constexpr double most_cells_of_axis = 1 << 24;  ///< float holds all numbers up to there

/// Where cells of such a width are: around most of the points, and no less than where these lie. So a few far points do
/// not widen all cells.
template <class T, unsigned D>
[[nodiscard]] ZENITH_FN side_extents<T, D> spread_of(double width, const side_extents<T, D>& usual,
                                                     const side_extents<T, D>& all) {
  // a little less than there may be, for rounding
  const double half = (most_cells_of_axis / 2 - 64) * width;
  side_extents<T, D> spread;
  for (unsigned a = 0; a < D; ++a) {
    const double middle = static_cast<double>(usual.low[a]) / 2 + static_cast<double>(usual.high[a]) / 2;
    const T low = static_cast<T>(middle - half);
    const T high = static_cast<T>(middle + half);
    const T lower = low < usual.low[a] ? low : usual.low[a];
    const T higher = high > usual.high[a] ? high : usual.high[a];
    spread.low[a] = lower > all.low[a] ? lower : all.low[a];
    spread.high[a] = higher < all.high[a] ? higher : all.high[a];
  }
  return spread;
}

/// A grid of at most so many cells uses them again instead, with a period without the factors 2, 3, 5 and 7: points of
/// a lattice are to have many numbers.
template <class T, unsigned D>
ZENITH_FN void repeat_cells(cell_grid<T, D>& grid, double most) {
  const auto has_small_factor = [](u32 n) ZENITH_BODY { return n % 2 == 0 || n % 3 == 0 || n % 5 == 0 || n % 7 == 0; };
  grid.period = static_cast<u32>(most);
  while (has_small_factor(grid.period)) --grid.period;
  grid.periods_of_cell = 1.0 / grid.period;
  const u32 side = static_cast<u32>(D == 2 ? std::sqrt(double{1} * grid.period) : std::cbrt(double{1} * grid.period));
  u32 product = 1;
  for (unsigned a = 0; a + 1 < D; ++a) {
    grid.cells[a] = side;
    product *= side;
  }
  grid.cells[D - 1] = grid.period / product;
}

/// Cells of at least the width of `reach`, so that a probe meets three on an axis. `most` cells are enough: where
/// somewhat more are needed they are wider, and where many more are, they are used again. That of low + i / inverse is
/// cell i. `spread`: where cells are, which may leave out some of the `right` points.
template <class T, unsigned D>
[[nodiscard]] ZENITH_FN cell_grid<T, D> make_grid(const side_extents<T, D>& right, const side_extents<T, D>& spread,
                                                  T squared, T reach, double width, double most) {
  constexpr double most_times = 4;
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
  if (widest / most_cells_of_axis > width) width = widest / most_cells_of_axis;
  double cells[D];
  bool is_periodic = false;
  for (;;) {
    double product = 1;
    unsigned axes = 0;
    for (unsigned a = 0; a < D; ++a) {
      cells[a] = width > 0 ? std::floor(extent[a] / width) : 1.0;
      if (!(cells[a] >= 1)) cells[a] = 1;
      if (cells[a] > most_cells_of_axis) cells[a] = most_cells_of_axis;
      product *= cells[a];
      axes += cells[a] > 1 ? 1 : 0;
    }
    is_periodic = product > most_times * most;
    if (product <= most || is_periodic || axes == 0) break;
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
  grid.period = cell_grid<T, D>::no_period;
  if (is_periodic) repeat_cells(grid, most);
  return grid;
}
/// A grid for so many of the right side's points. where(): what samples of them say, which is asked where `most` cells
/// are too few.
template <class T, unsigned D, class Where>
[[nodiscard]] ZENITH_FN cell_grid<T, D> make_grid_for(double points, const side_extents<T, D>& all, T squared, T reach,
                                                      double most, const Where& where) {
  if (!are_more_needed(all, reach, most)) return make_grid(all, all, squared, reach, static_cast<double>(reach), most);
  const sampled_places<T, D> known = where();
  const double width = cell_width(known, points, reach);
  return make_grid(all, spread_of(width, known.usual, all), squared, reach, width, most);
}
template <class T, unsigned D>
[[nodiscard]] u64 cells_of(const cell_grid<T, D>& grid) {
  if (grid.is_periodic()) return grid.period;
  u64 all = 1;
  for (unsigned a = 0; a < D; ++a) all *= grid.cells[a];
  return all;
}

}  // namespace zenith::spatial_join_family
