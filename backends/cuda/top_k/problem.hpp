#pragma once

/// \file
/// A top-k call once all of its data lies on the device.

#include <algorithm>
#include <cstdint>

#include <algorithms/top_k/entry.hpp>
#include <algorithms/top_k/order.hpp>
#include <backends/cuda/kernels/top_k/results.hpp>
#include <backends/cuda/scratch.hpp>
#include <backends/cuda/top_k/report.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class T>
struct device_problem {
  using entry = top_k_detail::entry_t<typename top_k_detail::key_order<T>::image_t>;

  const T* keys;
  std::uint32_t count;
  std::uint32_t k;
  top_k_detail::key_order<T> order;
  T* out_keys;
  void* out_indices;
  int index_bytes;
  index_naming naming;
  run_report* report = nullptr;  ///< on the device; nullptr: not asked for

  /// Calls `use` with the indices to write, as what they are.
  template <class Use>
  void with_indices(const Use& use) const {
    if (index_bytes == 4) {
      use(static_cast<std::uint32_t*>(out_indices));
    } else {
      use(static_cast<std::uint64_t*>(out_indices));
    }
  }
};

/// Blocks for a kernel that strides over `items` with blocks of `block` threads.
inline unsigned blocks_for(std::uint64_t items, unsigned block) {
  constexpr std::uint64_t most = 1U << 16;
  return static_cast<unsigned>(std::clamp<std::uint64_t>((items + block - 1) / block, 1, most));
}

/// Enqueues the writing of the k best entries, which are sorted.
template <class T>
void enqueue_results(const device_problem<T>& problem, const typename device_problem<T>::entry* best,
                     CUstream_st* stream) {
  using entry = typename device_problem<T>::entry;
  const simt::launch_shape shape{.grid = blocks_for(problem.k, 256), .stream = stream};
  problem.with_indices([&]<class Index>(Index* indices) {
    simt::launch(
        write_results<T, Index, entry>{best, problem.keys, problem.k, problem.out_keys, indices, problem.naming},
        shape);
  });
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
