#pragma once

/// \file
/// What the kernels of strategy "filter" tell each other, in device memory: every decision is made there, so that a
/// call is enqueued without a round trip to the host.

#include <backends/cuda/kernels/top_k/problem.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// What is left to do once a scan has ended.
enum class filter_verdict : std::uint32_t {
  open,    ///< no scan has ended
  done,    ///< the survivors hold the k best
  ties,    ///< so many items equal the threshold that only those with the lowest indices are to be collected
  refine,  ///< the sample misled: the exact threshold is to be found, and the scan to be repeated
};

/// Where the blocks of a launch that waits within meet. It lasts from launch to launch: `arrived` is 0 between them,
/// and `steps` may be any number.
struct grid_barrier {
  std::uint32_t arrived;  ///< blocks of the running kernel, or of its step, that are done
  std::uint32_t steps;    ///< that all blocks have taken
};

/// Zeroed by a call's first kernel, or all but the barrier by the blocks of its only one.
template <class Image>
struct filter_state {
  grid_barrier barrier;   ///< first, so that images of any width have it in one place
  Image threshold;        ///< items with a larger image survive, those equal to it while they fit
  std::uint32_t above;    ///< survivors above the threshold
  std::uint32_t equal;    ///< survivors equal to it
  std::uint32_t verdict;  ///< a filter_verdict
  std::uint32_t cut;      ///< the last slot whose equal items are collected: by the first scan, and for `ties`
  std::uint32_t wanted;  ///< for `refine`: how many of the images that begin as the threshold does are among the k best
  std::uint32_t refined;  ///< for `refine`: not 0 when the threshold is good enough
  std::uint32_t reads;    ///< of the whole data
  std::uint32_t kept;     ///< survivors that were not narrowed away
};

/// A problem, and what the kernels of the filter share beside it.
template <class T>
struct filter_problem : device_problem<T> {
  using typename device_problem<T>::image_t;
  using typename device_problem<T>::entry;

  filter_state<image_t>* state = nullptr;
  entry* survivors = nullptr;              ///< those above the threshold, then those equal to it
  std::uint32_t above_capacity = 0;        ///< at least k
  std::uint32_t equal_capacity = 0;        ///< at least k and a block's tile
  std::uint32_t* equal_in_slot = nullptr;  ///< items equal to the threshold: in the head, in each block's tile, in the
                                           ///< tail
  std::uint32_t slots = 0;

  [[nodiscard]] ZENITH_DEVICE filter_verdict verdict() const {
    return static_cast<filter_verdict>(simt::atomic_load(&state->verdict));
  }
};

/// True for all threads of the block that is the last of the launch to arrive; what the others wrote is seen then. To
/// be called once, by every thread of every block.
ZENITH_DEVICE bool is_last_block(std::uint32_t* arrived) {
  simt::block_barrier();
  bool last = false;
  if (simt::thread_index() == 0) {
    // behind the barrier: it hands on what all threads of the block wrote
    simt::fence();
    last = simt::atomic_add(arrived, 1U) == simt::grid_size() - 1;
    // ready for the next kernel
    if (last) simt::atomic_store(arrived, 0U);
    // before the next barrier: the block sees what the others handed on
    simt::fence();
  }
  return simt::block_barrier_or(last);
}

/// Waits for all blocks of a launch that waits within. `step` is what the barrier's count of steps becomes: one more
/// than before. What a block wrote before is seen by all behind it.
ZENITH_DEVICE void all_blocks(grid_barrier* barrier, std::uint32_t step) {
  simt::block_barrier();
  if (simt::thread_index() == 0) {
    simt::fence();
    if (simt::atomic_add(&barrier->arrived, 1U) == simt::grid_size() - 1) {
      simt::atomic_store(&barrier->arrived, 0U);
      simt::fence();
      simt::atomic_store(&barrier->steps, step);
    } else {
      while (simt::atomic_load(&barrier->steps) != step) {
      }
    }
    simt::fence();
  }
  simt::block_barrier();
}

/// The same, and the last block to arrive does `last_of_all` before any goes on.
template <class Last>
ZENITH_DEVICE void all_blocks(grid_barrier* barrier, std::uint32_t step, const Last& last_of_all) {
  const bool is_last = is_last_block(&barrier->arrived);
  if (is_last) last_of_all();
  simt::block_barrier();
  if (simt::thread_index() == 0) {
    simt::fence();
    if (is_last) simt::atomic_store(&barrier->steps, step);
    while (simt::atomic_load(&barrier->steps) != step) {
    }
    simt::fence();
  }
  simt::block_barrier();
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
