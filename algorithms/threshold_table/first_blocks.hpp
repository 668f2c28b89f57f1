#pragma once

/// \file
/// How strategy "blocks" begins: what its strategies and its cost model both decide by.

#include <algorithm>
#include <cstdint>

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

}  // namespace zenith::threshold_table_family
