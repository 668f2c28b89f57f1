#pragma once

/// \file
/// How many pairs threshold_first aims at: what its rounds do, and what their cost models expect.

#include <algorithm>
#include <cstdint>

namespace zenith::spatial_join_family {

/// Pairs that a bound is to take where the k best are wanted.
[[nodiscard]] inline double pairs_to_find(std::uint64_t k) { return 1.5 * static_cast<double>(k) + 16; }
/// Pairs that a pool for so many is to hold at most.
[[nodiscard]] inline double most_held(double goal) { return 4 * goal + 65536; }
/// Of so few pairs, a bound that takes so many spares hardly a half of the points: what is spent to know whether they
/// are more is little beside the join.
[[nodiscard]] inline double few_pairs(double goal) { return 8 * goal; }

/// One of so many cells is drawn.
[[nodiscard]] inline double cells_for_one(std::uint64_t left_rows, std::uint64_t right_rows) {
  constexpr double drawn = 2048;  // points
  constexpr double least = 4;
  return std::max(least, static_cast<double>(std::max(left_rows, right_rows)) / drawn);
}
/// Whether cells are drawn for so many rows: for fewer a join takes about as long.
[[nodiscard]] inline bool are_cells_worth(std::uint64_t left_rows, std::uint64_t right_rows) {
  constexpr std::uint64_t few = 32768;  // whose join takes a millisecond: samples take .1
  constexpr double least = 64;          // points of the smaller side that are to be drawn
  const std::uint64_t less = std::min(left_rows, right_rows);
  return left_rows + right_rows >= few && static_cast<double>(less) >= least * cells_for_one(left_rows, right_rows);
}

}  // namespace zenith::spatial_join_family
