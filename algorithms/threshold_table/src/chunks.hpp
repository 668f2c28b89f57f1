#pragma once

/// \file
/// The blocks of an updatable table: chunks of blocks, which snapshots share and writers copy before they change them.

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <algorithms/threshold_table/src/extremes.hpp>
#include <algorithms/threshold_table/src/leaf_rows.hpp>
#include <zenith/updatable_threshold_table.hpp>

namespace zenith::detail {

/// Blocks of a chunk at most.
inline constexpr std::uint32_t chunk_blocks = 128;
/// A chunk with fewer is merged into another one.
inline constexpr std::uint32_t least_chunk_blocks = 16;

/// Blocks with their extremes, and the extremes of them all.
template <class T>
struct block_chunk {
  std::uint64_t epoch;
  std::uint32_t count = 0;
  std::uint32_t first_id = ~std::uint32_t{0};
  std::uint64_t nan = 0;
  std::vector<T> most;  ///< of the chunk, one a column
  std::vector<T> least;
  std::vector<T> maxima;  ///< of block b in column j at [b * columns + j]: an update touches few lines
  std::vector<T> minima;
  std::array<std::uint64_t, chunk_blocks> nans{};
  std::array<std::uint32_t, chunk_blocks> first_ids{};
  std::array<std::uint32_t, chunk_blocks> leaves{};  ///< the writer's numbers of the blocks
  std::array<std::shared_ptr<leaf_rows<T>>, chunk_blocks> blocks;

  block_chunk(std::uint64_t made_in, std::size_t columns)
      : epoch(made_in),
        most(columns, range_of_values<T>::none_most),
        least(columns, range_of_values<T>::none_least),
        maxima(columns * chunk_blocks),
        minima(columns * chunk_blocks) {}

  [[nodiscard]] std::size_t at(std::uint32_t block, std::size_t column) const { return block * most.size() + column; }
  void set(std::uint32_t block, std::size_t column, const range_of_values<T>& to) {
    maxima[at(block, column)] = to.most;
    minima[at(block, column)] = to.least;
    const std::uint64_t bit = std::uint64_t{1} << column;
    nans[block] = to.has_nan ? nans[block] | bit : nans[block] & ~bit;
  }
  /// The chunk's extremes of a column, from its blocks'.
  void sum_up(std::size_t column) {
    range_of_values<T> all;
    for (std::uint32_t b = 0; b < count; ++b) {
      const T more = maxima[at(b, column)];
      const T less = minima[at(b, column)];
      all.most = more > all.most ? more : all.most;
      all.least = less < all.least ? less : all.least;
    }
    most[column] = all.most;
    least[column] = all.least;
  }
  void sum_up_ids() {
    first_id = ~std::uint32_t{0};
    nan = 0;
    for (std::uint32_t b = 0; b < count; ++b) {
      first_id = first_ids[b] < first_id ? first_ids[b] : first_id;
      nan |= nans[b];
    }
  }
};

template <class T>
struct snapshot_storage {
  std::vector<std::shared_ptr<const block_chunk<T>>> chunks;
  std::size_t columns = 0;
  std::uint64_t rows = 0;
  std::uint64_t id_limit = 0;
  std::uint32_t block_rows = 0;

  mutable std::mutex guard;  ///< of `table`
  mutable std::shared_ptr<const table_storage> table;
};

}  // namespace zenith::detail
