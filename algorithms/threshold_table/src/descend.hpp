#pragma once

/// \file
/// The first levels of a tree of cuts, for many rows at a time.

#include <cstddef>
#include <cstdint>

namespace zenith::detail {

/// How a value's bits become its rank, an unsigned integer.
enum class rank_form : std::uint8_t {
  bits,     ///< they are it
  integer,  ///< of a signed integer
  real,     ///< of a floating-point number: all bits are flipped where it is negative, and the sign where it is not
};

/// Node n has the children 2 n and 2 n + 1, and the root is 1. A row whose rank in the node's column is not below the
/// limit goes right. Both lists have `wide_nodes` elements or more.
struct cut_tree {
  const std::uint32_t* limits;
  const std::uint8_t* columns;
  unsigned levels;
  rank_form form;
};

inline constexpr unsigned most_wide_levels = 8;
inline constexpr std::size_t wide_nodes = std::size_t{1} << most_wide_levels;
inline constexpr std::size_t most_wide_columns = 8;

/// nodes[i] = where row first + i is, for i < count, after the first min(tree.levels, most_wide_levels) levels;
/// values[j] has the 32-bit values of column j < columns <= most_wide_columns.
using descent = void (*)(const cut_tree& tree, const void* const* values, std::size_t columns, std::size_t first,
                         std::size_t count, std::uint32_t* nodes);

/// nullptr where this CPU has no instructions for it.
[[nodiscard]] descent wide_descent();

}  // namespace zenith::detail
