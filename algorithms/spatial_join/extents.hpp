#pragma once

/// \file
/// The least and the greatest coordinates of a side.

#include <algorithms/spatial_join/points.hpp>

namespace zenith::spatial_join_family {

/// What is known of a side.
template <class T, unsigned D>
struct side_extents {
  T low[D];
  T high[D];
};

/// Those of the columns from `first` on, whose extremes are known.
template <class T, unsigned D>
[[nodiscard]] ZENITH_FN side_extents<T, D> extents_of(const column_extremes<T>& known, unsigned first) {
  side_extents<T, D> all;
  for (unsigned a = 0; a < D; ++a) {
    all.low[a] = from_total_order<T>(known.least[first + a]);
    all.high[a] = from_total_order<T>(known.greatest[first + a]);
  }
  return all;
}
/// Those of the right side.
template <class T, unsigned D>
[[nodiscard]] ZENITH_FN side_extents<T, D> right_extents(const column_extremes<T>& known) {
  return extents_of<T, D>(known, most_side_columns);
}

}  // namespace zenith::spatial_join_family
