#pragma once

/// \file
/// What some points of both sides say of a join, before a strategy is chosen.

#include <array>

#include <zenith/spatial_join.hpp>

namespace zenith::detail {

/// About how many pairs there are, how many a grid's neighbouring cells have, and how the scores of points near each
/// other go together: from -1, one falls as the other rises, to 1. Of each side's points, the shares that have its
/// largest and its smallest score.
struct pair_guess {
  double near = 0;
  double tests = 0;
  double correlation = 0;
  std::array<double, 2> largest{};
  std::array<double, 2> smallest{};
};

/// Of points on the host, by samples of both sides. It takes some 20 us, whatever their number.
[[nodiscard]] pair_guess guess_pairs(const spatial_arguments& given, double distance);

}  // namespace zenith::detail
