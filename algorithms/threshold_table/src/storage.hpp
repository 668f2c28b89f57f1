#pragma once

/// \file
/// A threshold table in the host's memory, and the steps in which it is built.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <zenith/structure.hpp>
#include <zenith/threshold_table.hpp>

namespace zenith::detail {

/// What the cost model looks at, of rows and blocks that are spread over the table: column by column.
template <class T>
struct table_sample {
  std::size_t rows = 0;
  std::vector<T> values;
  std::vector<std::uint32_t> ids;        ///< of the rows; none of a table without bytes on the host
  std::vector<std::uint32_t> blocks;     ///< which
  std::vector<std::uint32_t> first_ids;  ///< the lowest id of each of these blocks; none as above
  std::vector<T> maxima;
  std::vector<T> minima;
  /// Of a table without bytes on the host, the first rows of each of the blocks, column by column: `block_rows` places
  /// each.
  std::size_t block_rows = 0;
  std::vector<T> block_values;
  std::vector<std::uint32_t> block_counts;
};

struct table_storage : owned_structure<threshold_layout> {
  /// Of the table's type; the others are empty.
  table_sample<float> floats;
  table_sample<double> doubles;
  table_sample<std::int32_t> ints;
  table_sample<std::uint32_t> unsigneds;
  std::vector<std::uint32_t> lists;  ///< as in `threshold_table_call`; may be empty

  /// A table that was built on a device: its bytes there, while `data` is nullptr. They are copied when the host first
  /// asks for them.
  std::shared_ptr<const array<std::byte>> there;
  mutable std::mutex copying;
  mutable std::shared_ptr<const table_storage> copy;
};

/// The table with its bytes on the host. Throws out_of_memory.
[[nodiscard]] const table_storage& on_host(const table_storage& table);

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
  /// Asks for the lines of rows that are read soon: a few of each of many columns are not foreseen by a processor.
  void ask_for(std::size_t first, std::size_t count) const {
    if (stride != 1 || first + count > rows) return;
    constexpr std::size_t line = 64 / sizeof(T);
    for (const T* one : column) {
      for (std::size_t i = first; i < first + count; i += line) __builtin_prefetch(one + i);
    }
  }
};

/// A column's values as coordinates in 0 … 1: what splits and angles are made of. Infinities count as the largest
/// numbers, NaN as the least value.
struct column_scale {
  double least = 0;
  double most = 0;

  [[nodiscard]] double operator()(double value) const;
};

/// The scale of a column from its values, or from some of them.
template <class T>
[[nodiscard]] column_scale scale_of(const T* values, std::size_t count, std::size_t stride);

/// The order of the rows in a table, and where blocks and partitions begin; each list of beginnings ends with its end.
struct arrangement {
  std::vector<std::uint32_t> ids;
  std::vector<std::uint32_t> begins;
  std::vector<std::uint32_t> partition_begins;  ///< in blocks
};

/// The paper's partitions.
template <class T>
[[nodiscard]] arrangement partition(const input_columns<T>& input, const table_options& options);

/// Where the parts of a table stand. Ids are below `id_limit`.
struct table_counts {
  std::uint64_t columns;
  std::uint64_t rows;
  std::uint64_t id_limit;
  std::uint64_t blocks;
  std::uint64_t partitions;
  std::uint32_t block_rows;
};
[[nodiscard]] threshold_layout place_table(key_type type, const table_counts& of);

/// A table that is being made: memory with nothing but zeros between the parts, and the beginnings of blocks and
/// partitions.
struct unfinished_table {
  std::shared_ptr<table_storage> storage;
  std::byte* table;

  unfinished_table(key_type type, const table_counts& of, std::span<const std::uint32_t> begins,
                   std::span<const std::uint32_t> partition_begins);

  template <class X>
  [[nodiscard]] X* part(std::uint64_t offset) const {
    return reinterpret_cast<X*>(table + offset);
  }
};

/// Tables with fewer rows are made on the host, whatever the executor: the copies take as long.
inline constexpr std::size_t least_rows_made_there = std::size_t{1} << 20;

/// Throws for columns and options that no table can be built from.
void check_table(const table_input& input, const table_options& options);

/// Blocks of rows that are near one another.
template <class T>
[[nodiscard]] std::shared_ptr<table_storage> build_clusters(const input_columns<T>& input, std::uint32_t block_rows,
                                                            int workers);
/// The table of an arrangement.
template <class T>
[[nodiscard]] std::shared_ptr<table_storage> arrange(const input_columns<T>& input, const arrangement& order,
                                                     std::uint32_t block_rows, int workers);

/// The extremes of block b, whose values and ids are in place, as item b of `to` in `to_table`.
template <class T>
void write_block_extremes(const std::byte* table, const threshold_layout& of, std::uint64_t b, std::byte* to_table,
                          const extremes_layout& to);
/// All other extremes, from those of the blocks.
template <class T>
void write_directory(std::byte* table, const threshold_layout& of, int workers = 1);
/// What the cost model needs of a whole table.
template <class T>
void draw_sample(table_storage& of);

/// Adds the sorted lists.
template <class T>
void sort_lists(table_storage& of, int workers);

/// Throws invalid_argument for what is wrong with the sizes of a query.
void check_query(const table_query& query, const table_query_options& options, std::size_t columns, std::uint64_t rows,
                 std::uint64_t id_limit);

/// The share of the rows that strategy "blocks" is expected to evaluate, above 0 and at most 1. Weights as the caller
/// gave them, negated for the smallest scores.
[[nodiscard]] double expected_share(const table_storage& table, std::span<const std::uint32_t> columns,
                                    std::span<const double> weights, std::uint64_t k);

}  // namespace zenith::detail
