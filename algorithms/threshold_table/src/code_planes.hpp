#pragma once

/// \file
/// Codes of rows column by column, cut in wide registers.

#include <cstddef>
#include <cstdint>

namespace zenith::detail {

inline constexpr std::size_t most_planes = 8;
/// Rows with 16-bit keys.
inline constexpr std::size_t most_plane_rows = std::size_t{1} << 16;

/// The codes of some rows and their keys, all in one order. Column j has its codes at codes + j * stride.
struct code_planes {
  std::uint8_t* codes;
  std::size_t stride;
  std::size_t columns;  ///< at most most_planes
  std::uint16_t* keys;
};

/// The extremes of the codes of some rows.
struct code_extremes {
  std::uint8_t least[most_planes];
  std::uint8_t most[most_planes];
};

/// The columns of a row of floats that are coded together.
inline constexpr std::size_t wide_row = 8;

/// How the columns of such rows are coded: by equal steps from a value on.
struct row_coding {
  float from[wide_row];
  float factor[wide_row];
};

/// What blocks of such rows have in each column: the smallest and the largest value, and whether one is NaN.
struct row_extremes {
  float least[wide_row];
  float most[wide_row];
  bool has_nan[wide_row];
};

struct plane_functions {
  /// Writes rows begin … begin + count - 1: words[8 * i + j] is column j's code of the i-th of them. Reads whole
  /// registers: `words` has room for 64 rows more.
  void (*write)(const code_planes& to, std::size_t begin, std::size_t count, const std::uint8_t* words);
  /// Adds rows begin … begin + count - 1.
  void (*add_extremes)(const code_planes& of, std::size_t begin, std::size_t count, code_extremes& to);
  /// Of rows begin … begin + count - 1, at most most_plane_rows, brings `first` with the smallest codes in a column to
  /// the front and the others behind them, each in their order; of those with one code the first ones. `first` is
  /// below `count`. With `only_keys` codes stay where they are.
  void (*part)(const code_planes& of, std::size_t begin, std::size_t count, std::size_t first, std::size_t column,
               bool only_keys);
  /// Adds rows keys[i], i < count, of those at `values`, one behind the other, to the extremes; NaN are none.
  void (*add_row_extremes)(const float* values, const std::uint16_t* keys, std::size_t count, float* least,
                           float* most);
  /// Codes rows begin … begin + count - 1 from their values, as `write` does with words.
  void (*code_rows)(const code_planes& to, std::size_t begin, std::size_t count, const float* values,
                    const row_coding& by);
  /// Writes rows order[i], i < count, of those at `values` column by column: `columns` of them, `stride` apart. `count`
  /// is a multiple of 16.
  void (*write_columns)(const float* values, const std::uint32_t* order, std::size_t count, float* to,
                        std::size_t stride, std::size_t columns, row_extremes& extremes);
  /// rows[i][j] = columns[j][i], i < count, j < wide_row. `count` is a multiple of 16.
  void (*write_rows)(const float* const* columns, std::size_t count, float* const* rows);
};

/// nullptr where this CPU has no instructions for it.
[[nodiscard]] const plane_functions* wide_planes();

}  // namespace zenith::detail
