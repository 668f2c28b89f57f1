#pragma once

/// \file
/// Phase 1 of strategy "filter": a sample of the input, and its `rank`-th best image as the threshold. A large sample
/// is taken by many blocks, each of which hands its best to the one that chooses.

#include <algorithms/top_k/filter_tile.hpp>
#include <backends/cuda/kernels/top_k/block_select.hpp>
#include <backends/cuda/kernels/top_k/filter_state.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// The image sampled in stratum i; 0, which reaches no number that has a bit set, when there is none.
template <class T>
ZENITH_DEVICE auto sampled_image(const filter_problem<T>& problem, std::uint32_t i, std::uint32_t samples) {
  using image_t = typename filter_problem<T>::image_t;
  if (i >= samples) return image_t{0};
  return problem.order.image(simt::load(problem.keys + top_k_detail::sample_position(i, problem.count, samples)));
}

/// The call's state, histograms and slots, which begin as zeros: the first kernel clears them.
struct control_words {
  static constexpr unsigned per_vector = 4;

  std::uint32_t* at;
  std::uint64_t vectors;

  ZENITH_DEVICE void clear() const {
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * simt::block_size();
    for (std::uint64_t i = std::uint64_t{simt::block_index()} * simt::block_size() + simt::thread_index(); i < vectors;
         i += stride) {
      simt::store_vector(at + i * per_vector, simt::vector<std::uint32_t, per_vector>{});
    }
  }
};

/// Each block samples `Items` items a thread and hands on its `rank` best images: the `rank` best of the whole sample
/// are among them.
template <class T, unsigned Items>
struct sample_best {
  using image_t = typename filter_problem<T>::image_t;
  static constexpr unsigned block_size = select_threads;

  filter_problem<T> problem;
  control_words control;
  std::uint32_t samples;
  std::uint32_t rank;   ///< at most block_size
  image_t* candidates;  ///< `rank` of each block

  ZENITH_DEVICE void operator()() const {
    using select = block_select<image_t>;
    ZENITH_STATIC_SHARED(std::uint32_t, sums, select::words);
    ZENITH_STATIC_SHARED(image_t, ends, select_warps);
    ZENITH_STATIC_SHARED(std::uint32_t, taken, 1);
    if (simt::thread_index() == 0) taken.write(0, 0);
    held_values<Items, image_t> images;
    ZENITH_UNROLL
    for (unsigned j = 0; j < Items; ++j) {
      images.held[j] =
          sampled_image(problem, (simt::block_index() * Items + j) * block_size + simt::thread_index(), samples);
    }
    control.clear();
    simt::block_barrier();
    const image_t least =
        select(sums, ends).find(images, Items * block_size, image_t{0}, ~image_t{0}, rank, rank).least;
    image_t* const to = candidates + std::uint64_t{simt::block_index()} * rank;
    images.each([&](image_t image) {
      if (image > least) simt::store(to + simt::atomic_add<simt::scope::block>(taken.pointer(0), 1U), image);
    });
    simt::block_barrier();
    // those equal to it, as many as fit; it may be a number that no image has, and then there is none
    for (unsigned i = taken.read(0) + simt::thread_index(); i < rank; i += block_size) simt::store(to + i, least);
  }
};

/// One block: the threshold, of a sample that it takes itself or of the candidates of many blocks.
template <class T>
struct find_threshold {
  using image_t = typename filter_problem<T>::image_t;
  static constexpr unsigned block_size = select_threads;
  static constexpr unsigned most_items = 16;
  static constexpr unsigned most_images = block_size * most_items;

  filter_problem<T> problem;
  control_words control;      ///< cleared here when there are no candidates
  const image_t* candidates;  ///< nullptr: take the sample
  std::uint32_t images;       ///< candidates, or samples to take; at most most_images
  std::uint32_t rank;

  ZENITH_DEVICE void operator()() const {
    using select = block_select<image_t>;
    ZENITH_STATIC_SHARED(std::uint32_t, sums, select::words);
    ZENITH_STATIC_SHARED(image_t, ends, select_warps);
    if (candidates == nullptr) control.clear();
    const select in_block(sums, ends);
    const image_t threshold = images <= 2 * block_size ? choose<2>(in_block) : choose<most_items>(in_block);
    // the barriers of the choice stand between the clearing and this
    if (simt::thread_index() == 0) simt::store(&problem.state->threshold, threshold);
  }

 private:
  template <unsigned Items>
  ZENITH_DEVICE image_t choose(const block_select<image_t>& in_block) const {
    held_values<Items, image_t> held;
    ZENITH_UNROLL
    for (unsigned j = 0; j < Items; ++j) {
      const std::uint32_t i = j * block_size + simt::thread_index();
      held.held[j] = candidates == nullptr ? sampled_image(problem, i, images)
                     : i < images          ? simt::load(candidates + i)
                                           : image_t{0};
    }
    const image_t high = in_block.highest(held);
    const auto found = in_block.find(held, block_size * Items, image_t{0}, high, rank, rank);
    // An image of the sample, not a number below it: behind it there may be nothing for a long way.
    return in_block.lowest_from(held, found.least);
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
