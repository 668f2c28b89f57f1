#pragma once

/// \file
/// Selecting keys: one pass that parts them around two pivots, and the last few.

#include <cstddef>
#include <cstdint>
#include <span>

namespace zenith::detail {

struct part_sizes {
  std::size_t below;
  std::size_t between;

  [[nodiscard]] bool operator==(const part_sizes&) const = default;
};

/// Elements that `part_keys` may write beyond the keys it counts.
inline constexpr std::size_t part_spare = 8;

/// Brings the keys below `low` to the front, in their order; behind them come those below `high`, which is not below
/// `low`, and then the others, each in their order too. `between` and `above` have room for count + part_spare keys.
using part_function = part_sizes (*)(std::uint64_t* keys, std::size_t count, std::uint64_t low, std::uint64_t high,
                                     std::uint64_t* between, std::uint64_t* above);

/// One for each instruction set that this CPU has, the widest first. They do the same.
[[nodiscard]] std::span<const part_function> part_functions();

/// The most keys of `key_of_rank`.
inline constexpr std::size_t few_keys = 64;

/// The key that so many of the others are below, of 1 to few_keys distinct ones.
using rank_function = std::uint64_t (*)(const std::uint64_t* keys, std::size_t count, std::size_t rank);
[[nodiscard]] std::span<const rank_function> rank_functions();

}  // namespace zenith::detail
