#pragma once

/// \file
/// What some points of both sides say of a join, before a strategy is chosen.

#include <array>
#include <cstddef>

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
  /// Scores of some points of both sides, if they are known.
  std::array<std::array<double, 128>, 2> scores{};
  bool has_scores = false;
  /// Whether samples met hardly any and would not: there may be many more where points are equal or lie along lines.
  bool may_hide = false;
};

/// Of all pairs, the share that ties with the k-th best one, if scores are independent; 0 where a few do, where no more
/// than k pairs are expected, and where the k-th is better than samples can tell. It takes some 5 us where many scores
/// are equal, and up to 150 where k is a small share of the pairs.
[[nodiscard]] double share_tied_at(const pair_guess& guess, std::size_t k, const top_k_spatial_join_options& options);

/// Of points on the host, by samples of both sides. It takes some 20 us, whatever their number.
[[nodiscard]] pair_guess guess_pairs(const spatial_arguments& given, double distance);

}  // namespace zenith::detail
