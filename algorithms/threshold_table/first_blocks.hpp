#pragma once

/// \file
/// How strategy "blocks" begins: what its strategies and its cost model both decide by.

#include <algorithm>
#include <cstdint>

#include <core/device/function.hpp>

namespace zenith::threshold_table_family {

/// Whether so many rows are in hardly fewer blocks than there are: then all rows are scanned.
[[nodiscard]] constexpr bool needs_nearly_all_blocks(std::uint64_t k, std::uint64_t rows) { return k >= rows / 8; }

/// How many blocks a host opens for a first threshold: half more than have k rows.
[[nodiscard]] constexpr std::uint64_t first_blocks(std::uint64_t k, std::uint64_t block_rows) {
  const std::uint64_t needed = k / block_rows + 1;
  return std::max<std::uint64_t>(4, needed + needed / 2);
}

/// The most of them with which a host goes by falling bound: with more rows to keep, a heap costs more than rounds.
inline constexpr std::uint64_t most_first_blocks = 12;

/// How many workers of a host go on, when so many groups reach the first threshold: one takes up to 100 microseconds to
/// wake.
[[nodiscard]] ZENITH_FN constexpr std::uint32_t teams_of_walk(std::uint32_t groups, std::uint32_t columns,
                                                              std::uint32_t threads) {
  constexpr std::uint64_t bounds_of_team = 1024;  // of groups, by column
  const std::uint64_t wanted = std::uint64_t{groups} * columns / bounds_of_team;
  if (wanted < 2) return 1;
  return wanted < threads ? static_cast<std::uint32_t>(wanted) : threads;
}

}  // namespace zenith::threshold_table_family
