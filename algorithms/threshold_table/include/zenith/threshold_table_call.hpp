#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <zenith/top_k_call.hpp>

/// \file
/// How a threshold table lies in memory, and one query of it as a kernel receives it.

namespace zenith {

/// The most columns that a threshold table can have.
inline constexpr std::size_t most_table_columns = 64;
/// The most rows that a block can have.
inline constexpr std::uint32_t most_block_rows = 1024;
/// Blocks of a group: the upper level of the tree of extremes.
inline constexpr std::uint32_t group_blocks = 64;

/// The extremes of the columns over items of some kind: column j of item i stands at `maxima + (j * stride + i) *
/// size`. NaN do not count; where an item has no number in a column, its maximum is below its minimum. All offsets are
/// in bytes from the table's beginning, the stride is in values.
struct extremes_layout {
  std::uint64_t count = 0;
  std::uint64_t stride = 0;
  std::uint64_t maxima = 0;
  std::uint64_t minima = 0;
  std::uint64_t nans = 0;       ///< a 64-bit word an item: bit j is set when column j has a NaN
  std::uint64_t first_ids = 0;  ///< 32 bits an item: the lowest id of its rows
};

/// Where the parts of a threshold table stand: one piece of memory, aligned to 64 bytes. A block is the rows from
/// begins[b] to begins[b + 1]; a partition is consecutive blocks.
struct threshold_layout {
  key_type type{};
  std::uint32_t columns = 0;
  std::uint32_t block_rows = 0;  ///< the most that a block has
  std::uint64_t rows = 0;
  std::uint64_t id_limit = 0;  ///< ids are below it: `rows` as built, more once rows were erased
  std::uint64_t partitions = 0;
  std::uint64_t row_stride = 0;        ///< values from a column to the next
  std::uint64_t values = 0;            ///< column j of position i at values + (j * row_stride + i) * size
  std::uint64_t ids = 0;               ///< 32 bits a position: the row's id, its number in the input
  std::uint64_t positions = 0;         ///< 32 bits an id: the row's position, or ~0 where no row has the id
  std::uint64_t begins = 0;            ///< 32 bits a block, and one more
  std::uint64_t partition_begins = 0;  ///< in blocks, 32 bits a partition, and one more
  extremes_layout of_blocks;
  extremes_layout of_groups;      ///< of `group_blocks` consecutive blocks
  extremes_layout of_partitions;  ///< of all rows of a partition
  extremes_layout behind_blocks;  ///< threshold tuples: of the rows behind a block in its partition
  std::uint64_t bytes = 0;
};

/// What happened during a query of a threshold table.
struct threshold_statistics {
  std::uint64_t rows_evaluated = 0;    ///< whose scores were computed
  std::uint64_t blocks_opened = 0;     ///< whose rows were evaluated
  std::uint64_t bounds_evaluated = 0;  ///< scores of extremes and of threshold tuples
  std::uint64_t rounds = 0;            ///< launches that evaluated rows
};

/// One call of operation "threshold_table". Arguments are checked: 1 <= columns <= 64, no weight is 0, 1 <= k <= rows.
/// The score is that of "scored_top_k" over the listed columns. `result` says what is wanted: `result.space` is where
/// the outputs lie, `result.type` the scores' type, `result.keys` is nullptr, and the order is always sorted.
struct threshold_table_call {
  static constexpr std::string_view operation = "threshold_table";

  const threshold_layout* layout = nullptr;
  const std::byte* table = nullptr;         ///< in `space`
  memory_space space = memory_space::host;  ///< of the table
  /// nullptr, or the whole table in the host's memory: `table` has it from `layout->begins` on, and rows, their ids and
  /// positions are fetched from here. `table` is where its first byte would be.
  const std::byte* rows = nullptr;
  bool maps_rows = false;                  ///< kernels read `rows` where they lie
  const std::uint32_t* columns = nullptr;  ///< that have a weight, rising; the host's
  /// In `space`: for each of the table's columns the positions of its rows by rising value, one list after the other,
  /// NaN first and of equal values the lower position first. nullptr: the table has none.
  const std::uint32_t* lists = nullptr;
  const void* weights = nullptr;  ///< of the scores' type, the host's
  unsigned column_count = 0;
  threshold_statistics* statistics = nullptr;  ///< the host's; nullptr: not wanted
  top_k_call result;
};

/// Memory for a table that is being built, and for the sample of it that cost models look at: column by column, rows
/// s * rows / sample_rows and the extremes of blocks s * blocks / sample_blocks.
struct threshold_build_memory {
  const threshold_layout* layout = nullptr;
  std::byte* table = nullptr;  ///< in `threshold_build_call::out_space`
  std::uint64_t sample_rows = 0;
  std::uint64_t sample_blocks = 0;
  void* sample_values = nullptr;  ///< the host's, of the columns' type
  void* sample_maxima = nullptr;
  void* sample_minima = nullptr;
  /// Of the same blocks the first rows, so many places each, and how many rows there are.
  std::uint64_t sample_block_rows = 0;
  void* sample_block_values = nullptr;
  std::uint32_t* sample_block_counts = nullptr;
};

/// One call of operation "threshold_build": a table of clusters from columns. Arguments are checked: 1 <= columns <=
/// 64, 1 <= rows <= 2^32 - 2, 1 <= block_rows <= 1024.
struct threshold_build_call {
  static constexpr std::string_view operation = "threshold_build";

  key_type type{};
  const void* const* columns = nullptr;     ///< the host's list
  memory_space space = memory_space::host;  ///< of the columns
  unsigned column_count = 0;
  std::uint64_t rows = 0;
  std::uint32_t block_rows = 0;
  memory_space out_space = memory_space::host;
  /// Called once, when it is known how many blocks there are. Partitions are groups of `group_blocks` blocks.
  threshold_build_memory (*provide)(void* state, std::uint64_t blocks) = nullptr;
  void* state = nullptr;
};

}  // namespace zenith
