#pragma once

/// \file
/// Rows go down a tree of cuts by 8-bit codes of their values, many at a time.

#include <cstddef>
#include <cstdint>

namespace zenith::detail {

/// Codes are at most this, so that a limit of one more sends all rows left.
inline constexpr std::uint32_t last_value_code = 254;

/// How values become codes that rise with them: equal steps of values, or of their bits in order, which are as fine
/// near zero as they are far from it.
template <class Real>
struct value_coding {
  Real from = 0;
  Real factor = 0;
  bool of_bits = false;
};

/// codes[i] = the code of values[i]. Writes whole registers of 64 codes.
using float_coding = void (*)(const float* values, std::size_t count, const value_coding<float>& by,
                              std::uint8_t* codes);
/// nullptr where this CPU has no instructions for it.
[[nodiscard]] float_coding wide_coding();

/// Node n has the children 2 n and 2 n + 1, and the root is 1. A row whose code in the node's column is not below the
/// limit goes right. Both lists may be read up to node `wide_nodes`.
struct cut_tree {
  const std::uint8_t* limits;
  const std::uint8_t* columns;
  unsigned levels;
};

inline constexpr unsigned most_wide_levels = 9;
inline constexpr std::size_t wide_nodes = std::size_t{1} << most_wide_levels;
inline constexpr std::size_t most_wide_columns = 8;

/// paths[i] = which node of its level row i has reached after the first min(tree.levels, most_wide_levels) levels, from
/// 0 on. Column j has its codes at codes + j * stride. Reads and writes whole registers of 64 rows.
using descent = void (*)(const cut_tree& tree, const std::uint8_t* codes, std::size_t stride, std::size_t columns,
                         std::size_t count, std::uint16_t* paths);

/// nullptr where this CPU has no instructions for it.
[[nodiscard]] descent wide_descent();

}  // namespace zenith::detail
