#pragma once

/// \file
/// How densely points lie, as samples say: the share of pairs within a distance, and how wide cells are to be.

#include <cmath>

#include <algorithms/spatial_join/extents.hpp>

namespace zenith::spatial_join_family {

/// Points of a Poisson process in the ball as far as the nearest one, if that is the median's or the eighth's: ln 2 and
/// ln(8 / 7).
inline constexpr double nearest_in_half = 0.6931471806;
inline constexpr double nearest_in_eighth = 0.1335313926;

/// For points spread evenly over the extents of their sides: the expected share of pairs within `reach`. Along an axis
/// where the right side is no longer than 2 `reach`, every left point in its reach counts; where there is none such,
/// the share is that of a ball.
template <class T, unsigned D>
[[nodiscard]] ZENITH_FN double share_if_even(const side_extents<T, D>& left, const side_extents<T, D>& right, T reach) {
  constexpr double ball = D == 2 ? 0.7853981634 : 0.5235987756;  // of the square or cube around it
  const double most = static_cast<double>(reach);
  double share = 1;
  bool is_inside = true;
  for (unsigned a = 0; a < D; ++a) {
    const double low = static_cast<double>(left.low[a]);
    const double high = static_cast<double>(left.high[a]);
    // of the left side's extent, what is in reach of the right side's
    const double first = static_cast<double>(right.low[a]) - most;
    const double last = static_cast<double>(right.high[a]) + most;
    const double begin = low < first ? first : low;
    const double end = high < last ? high : last;
    if (!(begin <= end)) return 0;
    if (low < high) share *= (end - begin) / (high - low);
    const double length = static_cast<double>(right.high[a]) - static_cast<double>(right.low[a]);
    if (2 * most < length) {
      share *= 2 * most / length;
    } else {
      is_inside = false;
    }
  }
  return is_inside ? ball * share : share;
}

/// The share of pairs within the distance, if points lie everywhere as densely as around the middle one of a sample.
/// `nearest`: how far that is from the nearest of so many others, squared as the distance is. In the ball as far as
/// that there are `nearest_in_half` of them.
[[nodiscard]] ZENITH_FN double share_if_dense(double nearest, double others, double squared, unsigned dimensions) {
  if (!(nearest > 0)) return 0;
  const double ratio = squared / nearest;
  const double share = nearest_in_half / others * (dimensions == 2 ? ratio : ratio * std::sqrt(ratio));
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
  return {of(nearest_in_eighth), of(nearest_in_half)};
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
  constexpr double ball = D == 2 ? 3.1415926536 : 4.1887902048;  // of radius 1
  const double others = ball / 2 / nearest_in_eighth * where.count / points;
  const double width =
      std::sqrt(static_cast<double>(where.nearest.eighth)) * (D == 2 ? std::sqrt(others) : std::cbrt(others));
  return width > static_cast<double>(reach) ? width : static_cast<double>(reach);
}

}  // namespace zenith::spatial_join_family
