#pragma once

/// \file
/// How many cells are drawn to count their pairs: for the strategy and its cost model.

#include <algorithm>
#include <cstdint>

namespace zenith::spatial_join_family {

/// Points of the larger side that are expected in the cells that are drawn.
inline constexpr std::uint32_t points_in_drawn_cells = 2048;

/// One of so many cells is drawn.
[[nodiscard]] inline double cells_for_one(std::uint64_t left_rows, std::uint64_t right_rows) {
  return static_cast<double>(std::max(left_rows, right_rows)) / points_in_drawn_cells;
}
/// Whether cells are drawn for so many rows: for fewer a join takes about as long.
[[nodiscard]] inline bool are_cells_worth(std::uint64_t left_rows, std::uint64_t right_rows) {
  constexpr std::uint64_t few = 32768;  // whose join takes a millisecond: samples take .1
  constexpr double least = 64;          // points of the smaller side that are to be drawn
  const std::uint64_t less = std::min(left_rows, right_rows);
  return left_rows + right_rows >= few && static_cast<double>(less) >= least * cells_for_one(left_rows, right_rows);
}

}  // namespace zenith::spatial_join_family
