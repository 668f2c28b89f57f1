#pragma once

/// \file
/// A threshold table in the host's memory, and the steps in which it is built: an arrangement of the rows, and from it
/// the table's parts.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include <zenith/threshold_table.hpp>

namespace zenith::detail {

struct freed {
  void operator()(std::byte* at) const noexcept { std::free(at); }
};

/// What the cost model looks at, of rows and blocks that are spread over the table: column by column.
template <class T>
struct table_sample {
  std::size_t rows = 0;
  std::vector<T> values;
  std::vector<std::uint32_t> blocks;  ///< which
  std::vector<T> maxima;
  std::vector<T> minima;
};

struct table_storage {
  threshold_layout layout;
  std::unique_ptr<std::byte[], freed> bytes;
  /// Of the table's type; the others are empty.
  table_sample<float> floats;
  table_sample<double> doubles;
  table_sample<std::int32_t> ints;
  table_sample<std::uint32_t> unsigneds;
};

template <class T>
[[nodiscard]] auto& sample_of(auto& table) {
  if constexpr (std::is_same_v<T, float>) {
    return table.floats;
  } else if constexpr (std::is_same_v<T, double>) {
    return table.doubles;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return table.ints;
  } else {
    return table.unsigneds;
  }
}

/// The columns that a table is built from.
template <class T>
struct input_columns {
  std::vector<const T*> column;
  std::size_t rows;
  std::size_t stride;

  explicit input_columns(const table_input& input) : rows(input.rows), stride(input.row_stride) {
    for (const void* one : input.columns) column.push_back(static_cast<const T*>(one));
  }
  [[nodiscard]] T at(std::size_t j, std::size_t row) const { return column[j][row * stride]; }
};

/// A column's values as coordinates in 0 … 1: what splits and angles are made of. Infinities count as the largest
/// numbers, NaN as the least value.
struct column_scale {
  double least = 0;
  double most = 0;

  [[nodiscard]] double operator()(double value) const;
};

template <class T>
[[nodiscard]] std::vector<column_scale> scales_of(const input_columns<T>& input);

/// The order of the rows in a table, and where blocks and partitions begin; each list of beginnings ends with its end.
struct arrangement {
  std::vector<std::uint32_t> ids;
  std::vector<std::uint32_t> begins;
  std::vector<std::uint32_t> partition_begins;  ///< in blocks
};

/// Blocks of rows that are near one another.
template <class T>
[[nodiscard]] arrangement cluster(const input_columns<T>& input, std::uint32_t block_rows);
/// The paper's partitions.
template <class T>
[[nodiscard]] arrangement partition(const input_columns<T>& input, const table_options& options);

/// The table of an arrangement.
template <class T>
[[nodiscard]] std::shared_ptr<const table_storage> arrange(const input_columns<T>& input, const arrangement& order,
                                                           std::uint32_t block_rows);

/// The share of the rows that strategy "blocks" is expected to evaluate, above 0 and at most 1. Weights as the caller
/// gave them, negated for the smallest scores.
[[nodiscard]] double expected_share(const table_storage& table, std::span<const std::uint32_t> columns,
                                    std::span<const double> weights, std::uint64_t k);

}  // namespace zenith::detail
