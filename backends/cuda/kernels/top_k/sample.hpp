#pragma once

/// \file
/// Phase 1 of strategy "filter": a sample of the input, and its `rank`-th best image as the threshold.

#include <algorithms/top_k/filter.hpp>
#include <backends/cuda/kernels/top_k/filter_state.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// One block, the sample in its registers. The threshold is built from its highest bit down: a bit stays set when at
/// least `rank` images reach the number so far. A step costs the same whatever the images are, unlike a histogram of
/// equal ones.
template <class T>
struct find_threshold {
  using image_t = typename filter_problem<T>::image_t;
  static constexpr unsigned block_size = 1024;
  static constexpr unsigned items = 16;
  static constexpr unsigned most_samples = block_size * items;
  static constexpr unsigned warps = block_size / simt::warp_size;

  filter_problem<T> problem;
  std::uint32_t samples;
  std::uint32_t rank;

  ZENITH_DEVICE void operator()() const {
    // two sets of sums in turn: one barrier a bit separates writing one from reading it, and from writing it again
    ZENITH_STATIC_SHARED(std::uint32_t, sums, 2 * warps);
    image_t images[items];
    ZENITH_UNROLL
    for (unsigned j = 0; j < items; ++j) {
      const std::uint32_t i = j * block_size + simt::thread_index();
      // image 0 reaches no number that has a bit set
      images[j] =
          i < samples
              ? problem.order.image(simt::load(problem.keys + top_k_detail::sample_position(i, problem.count, samples)))
              : image_t{0};
    }
    image_t threshold = 0;
    for (unsigned bit = sizeof(image_t) * 8; bit-- > 0;) {
      const image_t tried = threshold | image_t{1} << bit;
      std::uint32_t reached = 0;
      ZENITH_UNROLL
      for (unsigned j = 0; j < items; ++j) reached += images[j] >= tried ? 1U : 0U;
      const unsigned set = bit % 2 * warps;
      const std::uint32_t of_warp = simt::reduce_add(simt::full_warp, reached);
      if (simt::lane_index() == 0) sums.write(set + simt::warp_index(), of_warp);
      simt::block_barrier();
      const std::uint32_t of_block = simt::reduce_add(simt::full_warp, sums.read(set + simt::lane_index()));
      if (of_block >= rank) threshold = tried;
    }
    if (simt::thread_index() == 0) simt::store(&problem.state->threshold, threshold);
  }

  static_assert(warps == simt::warp_size);
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
