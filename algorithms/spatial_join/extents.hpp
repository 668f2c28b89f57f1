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

}  // namespace zenith::spatial_join_family
