#pragma once

/// \file
/// What all strategies of top-k enqueue.

#include <algorithm>
#include <cstdint>

#include <backends/cuda/kernels/top_k/results.hpp>
#include <backends/cuda/scratch.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Blocks for a kernel that strides over `items` with blocks of `block` threads.
inline unsigned blocks_for(std::uint64_t items, unsigned block) {
  constexpr std::uint64_t most = 1U << 16;
  return static_cast<unsigned>(std::clamp<std::uint64_t>((items + block - 1) / block, 1, most));
}

/// Enqueues the writing of the k best entries, which are sorted.
template <class T>
void enqueue_results(const device_problem<T>& problem, const typename device_problem<T>::entry* best,
                     CUstream_st* stream) {
  simt::launch(write_results<T>{problem, best},
               {.grid = blocks_for(problem.k, write_results<T>::block_size), .stream = stream});
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
