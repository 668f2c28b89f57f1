#pragma once

/// \file
/// The kernels of strategy "bitonic" for runs that fit a tile: the paper's SortReducer and BitonicReducer.

#include <algorithms/top_k/bitonic.hpp>
#include <backends/cuda/kernels/top_k/entry_tile.hpp>
#include <backends/cuda/simt/vocabulary.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Each block sorts a tile of the source into runs of k and reduces them to one.
template <class Source>
struct sort_reducer {
  using entry = typename Source::entry;
  using tile_type = entry_tile<entry>;
  static constexpr unsigned block_size = tile_type::threads;

  Source from;
  entry* to;  ///< a run of k for each block, alternately descending and ascending
  std::uint32_t k;

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(entry, memory, tile_type::slots);
    tile_type tile(memory);
    tile.load(from, std::uint64_t{simt::block_index()} * tile_type::full_size);
    top_k_detail::sort_reduce_tile(tile, k, tile_type::full_size / k);
    tile.store_runs(to + std::uint64_t{simt::block_index()} * k);
  }
};

/// Each block reduces a tile of runs of k to one run.
template <class Entry>
struct bitonic_reducer {
  using tile_type = entry_tile<Entry>;
  static constexpr unsigned block_size = tile_type::threads;

  const Entry* from;  ///< runs of k, alternately descending and ascending
  std::uint64_t count;
  Entry* to;
  std::uint32_t k;

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(Entry, memory, tile_type::slots);
    tile_type tile(memory);
    const std::uint64_t first = std::uint64_t{simt::block_index()} * tile_type::full_size;
    const std::uint64_t left = count - first;
    tile.load_runs(from + first, left < tile_type::full_size ? static_cast<std::uint32_t>(left) : tile_type::full_size);
    top_k_detail::bitonic_reduce_tile(tile, k, tile_type::full_size / k);
    tile.store_runs(to + std::uint64_t{simt::block_index()} * k);
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
