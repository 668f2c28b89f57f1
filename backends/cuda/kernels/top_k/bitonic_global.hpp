#pragma once

/// \file
/// The kernels of strategy "bitonic" for runs longer than a tile: the steps of long distances one by one in global
/// memory, the rest of each level in the tile.

#include <algorithms/top_k/bitonic.hpp>
#include <backends/cuda/kernels/top_k/entry_tile.hpp>
#include <backends/cuda/simt/vocabulary.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Local sort up to runs of one tile; what the source lacks is filled up with `worst`.
template <class Source>
struct sort_tiles {
  using entry = typename Source::entry;
  using tile_type = entry_tile<entry>;
  static constexpr unsigned block_size = tile_type::threads;

  Source from;
  entry* to;

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(entry, memory, tile_type::slots);
    tile_type tile(memory);
    const std::uint64_t first = std::uint64_t{simt::block_index()} * tile_type::full_size;
    tile.load(from, first);
    tile.sort_runs(tile_type::full_size);
    tile.store_runs(to + first);
  }
};

/// The steps of distances below a tile's size in the network for `run`.
template <class Entry>
struct finish_level {
  using tile_type = entry_tile<Entry>;
  static constexpr unsigned block_size = tile_type::threads;

  Entry* entries;
  std::uint64_t run;

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(Entry, memory, tile_type::slots);
    tile_type tile(memory);
    Entry* at = entries + std::uint64_t{simt::block_index()} * tile_type::full_size;
    tile.load_runs(at, tile_type::full_size);
    tile.descend(run);
    tile.store_runs(at);
  }
};

/// One step: compares entries `distance` apart (Algorithm 2).
template <class Entry>
struct global_step {
  static constexpr unsigned block_size = 256;

  Entry* entries;
  std::uint64_t pairs;
  std::uint64_t distance;
  std::uint64_t run;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * block_size;
    for (std::uint64_t t = std::uint64_t{simt::block_index()} * block_size + simt::thread_index(); t < pairs;
         t += stride) {
      const std::uint64_t at = top_k_detail::pair_position(t, distance);
      const Entry first = simt::load(entries + at);
      const Entry second = simt::load(entries + at + distance);
      if (better(first, second) != top_k_detail::is_descending(at, run)) {
        simt::store(entries + at, second);
        simt::store(entries + at + distance, first);
      }
    }
  }
};

/// Merge: the better of entries k apart (Algorithm 3). The last run has no partner when their number is odd.
template <class Entry>
struct global_merge {
  static constexpr unsigned block_size = 256;

  const Entry* from;
  std::uint64_t count;
  Entry* to;
  std::uint64_t merged;
  std::uint64_t k;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * block_size;
    for (std::uint64_t t = std::uint64_t{simt::block_index()} * block_size + simt::thread_index(); t < merged;
         t += stride) {
      const std::uint64_t at = top_k_detail::merge_position(t, k);
      Entry best = simt::load(from + at);
      if (at + k < count) {
        const Entry other = simt::load(from + at + k);
        if (better(other, best)) best = other;
      }
      simt::store(to + t, best);
    }
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
