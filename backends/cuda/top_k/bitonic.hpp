#pragma once

/// \file
/// The order of launches of strategy "bitonic": local sort, then merge and rebuild until one run of k is left.

#include <bit>
#include <cstdint>
#include <utility>

#include <backends/cuda/kernels/top_k/bitonic.hpp>
#include <backends/cuda/kernels/top_k/bitonic_global.hpp>
#include <backends/cuda/kernels/top_k/sources.hpp>
#include <backends/cuda/top_k/problem.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Reduces `count` entries of a source to the k best, sorted. Made first, so that its buffers join the call's scratch.
template <class Source>
class bitonic_reduction {
  using entry = typename Source::entry;
  using tile = tile_tuning<entry>;

 public:
  bitonic_reduction(scratch& workspace, std::uint64_t count, std::uint32_t k)
      : count_(count), k_(std::max<std::uint64_t>(std::bit_ceil(std::uint64_t{k}), tile::items)) {
    tiles_ = (count + tile::size - 1) / tile::size;
    fits_tile_ = k_ * 2 <= tile::size || tiles_ == 1;
    if (fits_tile_) {
      workspace.request(first_, tiles_ * k_);
      workspace.request(second_, tiles_ == 1 ? 0 : reduced(tiles_ * k_));
    } else {
      // whole runs, each a whole number of tiles
      padded_ = (count + k_ - 1) / k_ * k_;
      workspace.request(first_, padded_);
      workspace.request(second_, merged(padded_));
    }
  }

  bitonic_reduction(const bitonic_reduction&) = delete;
  bitonic_reduction& operator=(const bitonic_reduction&) = delete;

  /// Enqueues the reduction; the result holds at least k entries, best first, and lives as long as the scratch.
  [[nodiscard]] const entry* enqueue(const Source& from, CUstream_st* stream) {
    return fits_tile_ ? in_tiles(from, stream) : in_global_memory(from, stream);
  }

 private:
  // Entries that a launch of the bitonic reducer leaves.
  [[nodiscard]] std::uint64_t reduced(std::uint64_t entries) const {
    return (entries + tile::size - 1) / tile::size * k_;
  }
  // Entries that a merge of whole runs leaves.
  [[nodiscard]] std::uint64_t merged(std::uint64_t entries) const { return (entries / k_ + 1) / 2 * k_; }

  const entry* in_tiles(const Source& from, CUstream_st* stream) {
    const auto k = static_cast<std::uint32_t>(k_);
    simt::launch(sort_reducer<Source>{from, first_, k}, {.grid = static_cast<unsigned>(tiles_), .stream = stream});
    entry* runs = first_;
    entry* other = second_;
    for (std::uint64_t left = tiles_ * k_; left > k_; left = reduced(left)) {
      simt::launch(bitonic_reducer<entry>{runs, left, other, k},
                   {.grid = static_cast<unsigned>(reduced(left) / k_), .stream = stream});
      std::swap(runs, other);
    }
    return runs;
  }

  const entry* in_global_memory(const Source& from, CUstream_st* stream) {
    simt::launch(sort_tiles<Source>{from, first_},
                 {.grid = static_cast<unsigned>(padded_ / tile::size), .stream = stream});
    for (std::uint64_t run = 2 * std::uint64_t{tile::size}; run <= k_; run *= 2) descend(first_, padded_, run, stream);
    entry* runs = first_;
    entry* other = second_;
    for (std::uint64_t left = padded_; left > k_; left = merged(left)) {
      simt::launch(global_merge<entry>{runs, left, other, merged(left), k_},
                   {.grid = blocks_for(merged(left), global_merge<entry>::block_size), .stream = stream});
      descend(other, merged(left), k_, stream);
      std::swap(runs, other);
    }
    return runs;
  }

  // The network's steps for `run` over entries whose runs are bitonic.
  void descend(entry* entries, std::uint64_t count, std::uint64_t run, CUstream_st* stream) {
    for (std::uint64_t distance = run / 2; distance >= tile::size; distance /= 2) {
      simt::launch(global_step<entry>{entries, count / 2, distance, run},
                   {.grid = blocks_for(count / 2, global_step<entry>::block_size), .stream = stream});
    }
    simt::launch(finish_level<entry>{entries, run},
                 {.grid = static_cast<unsigned>(count / tile::size), .stream = stream});
  }

  std::uint64_t count_;
  std::uint64_t k_;  ///< a power of two that the tile can hold the runs of
  std::uint64_t tiles_ = 0;
  std::uint64_t padded_ = 0;
  bool fits_tile_ = true;
  entry* first_ = nullptr;
  entry* second_ = nullptr;
};

/// Strategy "bitonic".
struct bitonic_strategy {
  template <class T>
  static void enqueue(const execution& on, const device_problem<T>& problem, CUstream_st* stream) {
    using source = key_source<T>;
    scratch workspace(on, stream);
    bitonic_reduction<source> reduction(workspace, problem.count, problem.k);
    workspace.allocate();
    enqueue_results(problem, reduction.enqueue({problem.keys, problem.count, problem.order}, stream), stream);
  }

  static top_k_statistics statistics(const run_report& /*counted*/) { return {"block tiles", 0, 1, 0}; }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
