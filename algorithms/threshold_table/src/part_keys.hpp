#pragma once

/// \file
/// Keys parted at a rank of their codes.

#include <cstddef>
#include <cstdint>
#include <span>

namespace zenith::detail {

/// Elements that a part function may write beyond `count` others.
inline constexpr std::size_t part_spare = 16;

/// Brings `first` of the keys, those with the smallest codes, to the front and the others behind them, each in their
/// order; of keys with one code the first ones. codes[i] is the code of keys[i]. `first` is below `count`, and `others`
/// holds count + part_spare keys.
using part_function = void (*)(std::uint32_t* keys, const std::uint8_t* codes, std::size_t count, std::size_t first,
                               std::uint32_t* others);

/// One for each instruction set that this CPU has, the widest first. They do the same.
[[nodiscard]] std::span<const part_function> part_functions();

}  // namespace zenith::detail
