#pragma once

/// \file
/// Phase 1 of strategy "filter" in one launch: the best images of groups of keys, and the k-th best of those as the
/// threshold, which at least k keys reach.

#include <algorithms/top_k/filter_plan.hpp>
#include <backends/cuda/kernels/top_k/block_select.hpp>
#include <backends/cuda/kernels/top_k/filter_extent.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Within the launch: each warp reads shares of the sample.
template <class T>
struct group_sample {
  using image_t = typename filter_problem<T>::image_t;
  static constexpr unsigned per_vector = filter_extent<T>::per_vector;

  top_k_detail::group_plan plan;
  image_t* best;  ///< of each group

  ZENITH_DEVICE void take(const filter_problem<T>& problem, const filter_extent<T>& extent) const {
    constexpr unsigned warps = filter_extent<T>::block_size / simt::warp_size;
    const std::uint64_t chunks = (extent.body_end - extent.head) / (per_vector * simt::warp_size);
    const T* const from = problem.keys + extent.head + simt::lane_index() * per_vector;
    const std::uint32_t shares = plan.shares();
    for (std::uint32_t share = simt::block_index() * warps + simt::warp_index(); share < shares;
         share += simt::grid_size() * warps) {
      image_t high = 0;
      ZENITH_UNROLL_BY(4)
      for (std::uint32_t round = 0; round < plan.rounds; ++round) {
        // neighbours go to different groups
        const std::uint64_t chunk = top_k_detail::sample_position(round * shares + share, chunks, plan.chunks());
        // not past the caches: the scan reads it again, and a large sample is most of the data
        const auto loaded = simt::load_vector<per_vector>(from + chunk * (per_vector * simt::warp_size));
        ZENITH_UNROLL
        for (unsigned i = 0; i < per_vector; ++i) {
          const image_t image = problem.order.image(loaded.value[i]);
          high = image > high ? image : high;
        }
      }
      for (unsigned lanes = 1; lanes < plan.lanes; lanes *= 2) {
        const image_t other = simt::shuffle_xor(simt::full_warp, high, lanes);
        high = other > high ? other : high;
      }
      if (simt::lane_index() % plan.lanes == 0) {
        simt::store(best + (share * simt::warp_size + simt::lane_index()) / plan.lanes, high);
      }
    }
  }

  /// The threshold, by one block: an image that at least k of the groups' best reach, and hardly more.
  template <unsigned Threads>
  [[nodiscard]] ZENITH_DEVICE image_t choose(const block_select<image_t, Threads>& in_block, std::uint32_t k) const {
    constexpr unsigned most = top_k_detail::group_plan::most_groups / Threads;
    held_values<most, image_t> images;
    image_t low = static_cast<image_t>(~image_t{0});
    ZENITH_UNROLL
    for (unsigned j = 0; j < most; ++j) {
      const std::uint32_t i = j * Threads + simt::thread_index();
      images.held[j] = i < plan.groups ? simt::load(best + i) : image_t{0};
      low = i < plan.groups && images.held[j] < low ? images.held[j] : low;
    }
    const auto found = in_block.find(images, plan.groups, in_block.lowest(low), in_block.highest(images), k,
                                     top_k_detail::group_plan::most_reached(k));
    // An image of the sample, not a number below it: behind it there may be nothing for a long way.
    return in_block.lowest_from(images, found.least);
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
