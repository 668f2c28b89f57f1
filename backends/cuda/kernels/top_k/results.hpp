#pragma once

/// \file
/// The last kernel of strategies that sort: entries to the caller's keys and indices.

#include <backends/cuda/kernels/top_k/problem.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class T>
struct write_results {
  static constexpr unsigned block_size = 256;

  device_problem<T> problem;
  const typename device_problem<T>::entry* best;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * block_size;
    for (std::uint64_t i = std::uint64_t{simt::block_index()} * block_size + simt::thread_index(); i < problem.k;
         i += stride) {
      problem.write(i, simt::load(best + i).index());
    }
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
