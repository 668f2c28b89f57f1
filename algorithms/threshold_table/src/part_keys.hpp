#pragma once

/// \file
/// One pass that parts keys at a limit.

#include <cstddef>
#include <cstdint>
#include <span>

namespace zenith::detail {

/// Elements that `part_keys` may write beyond the keys it counts.
inline constexpr std::size_t part_spare = 16;

/// Brings the keys below `limit` to the front and the others behind them, each in their order, and returns how many are
/// below. `others` has room for count + part_spare keys.
using part_function = std::size_t (*)(std::uint32_t* keys, std::size_t count, std::uint32_t limit,
                                      std::uint32_t* others);

/// One for each instruction set that this CPU has, the widest first. They do the same.
[[nodiscard]] std::span<const part_function> part_functions();

}  // namespace zenith::detail
