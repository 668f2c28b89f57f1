#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// A map of two sets of points and of the best pairs between them.

namespace zenith_study {

/// One side of a join.
struct map_side {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
};

/// Rows of both sides.
struct map_pair {
  std::size_t left;
  std::size_t right;
};

/// So many pairs are drawn, and so many have their rank beside them.
inline constexpr std::size_t most_drawn_pairs = 1000;
inline constexpr std::size_t most_ranked_pairs = 10;

/// Both axes have one scale. Some thousand points of each side as small dots, and for each of the pairs, the best
/// first, its points as larger ones, the line between them and a ring around its middle. Coordinates are finite, but
/// for points that are then left out.
[[nodiscard]] std::string spatial_picture(std::string_view heading, const map_side& left, const map_side& right,
                                          const std::vector<map_pair>& pairs);

}  // namespace zenith_study
