#pragma once

/// \file
/// Phase 1 of strategy "filter" in one launch: the best images of groups of keys, and the k-th best of those as the
/// threshold, which at least k keys reach.

#include <algorithms/top_k/filter_plan.hpp>
#include <backends/cuda/kernels/top_k/block_select.hpp>
#include <backends/cuda/kernels/top_k/filter_extent.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Few keys: groups of a sample, or of all keys. Within the launch each warp reads shares of them.
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
};

/// The threshold, and how many groups' best reach it.
template <class Image>
struct group_threshold {
  Image threshold;
  std::uint32_t reached;
};

/// The threshold, by one block: an image that at least k of the groups' best reach, and hardly more. A best of 0 is
/// that of no key, or of the worst; `count` is at most group_plan::most_groups.
template <class Image, unsigned Threads>
[[nodiscard]] ZENITH_DEVICE group_threshold<Image> choose_threshold(const block_select<Image, Threads>& in_block,
                                                                    const Image* best, std::uint32_t count,
                                                                    std::uint32_t k) {
  constexpr unsigned most = top_k_detail::group_plan::most_groups / Threads;
  constexpr auto highest_image = static_cast<Image>(~Image{0});
  held_values<most, Image> images;
  Image low = highest_image;
  std::uint32_t own = 0;
  ZENITH_UNROLL
  for (unsigned j = 0; j < most; ++j) {
    const std::uint32_t i = j * Threads + simt::thread_index();
    images.held[j] = i < count ? simt::load(best + i) : Image{0};
    low = images.held[j] != 0 && images.held[j] < low ? images.held[j] : low;
    own += images.held[j] != 0 ? 1U : 0U;
  }
  const std::uint32_t groups = in_block.total(own);
  // the k-th best is a worst key
  if (groups < k) return {0, count};
  const auto found = in_block.find(images, groups, in_block.lowest(low), in_block.highest(images), k,
                                   top_k_detail::group_plan::most_reached(k));
  // An image of the sample, not a number below it: behind it there may be nothing for a long way.
  return {in_block.lowest_from(images, found.least), found.reached};
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
