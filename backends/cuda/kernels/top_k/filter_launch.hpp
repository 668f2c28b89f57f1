#pragma once

/// \file
/// Strategy "filter" in one launch, whose blocks wait for each other between its phases: for k up to 2048. Its
/// threshold is no guess, so that the scan is repeated for floods of equal keys and adversarial orders alone.

#include <backends/cuda/kernels/top_k/filter_groups.hpp>
#include <backends/cuda/kernels/top_k/filter_rank.hpp>
#include <backends/cuda/kernels/top_k/filter_repeat.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class T>
struct filter_launch {
  using image_t = typename filter_problem<T>::image_t;
  using entry = typename filter_problem<T>::entry;
  using repeat = filter_repeat<T>;
  static constexpr unsigned block_size = filter_extent<T>::block_size;
  static constexpr unsigned wanted_blocks = 4;

  filter_problem<T> problem;  ///< its state is zeros before the launch
  filter_extent<T> extent;
  group_sample<T> sample;
  std::uint32_t* bins;  ///< digit_bins for each pass
  narrow_survivors<T> narrow;

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(std::uint32_t, counts, digit_bins);
    ZENITH_STATIC_SHARED(std::uint32_t, sums, block_size);
    ZENITH_STATIC_SHARED(image_t, ends, block_size / simt::warp_size);
    ZENITH_STATIC_SHARED(std::uint32_t, index_ends, block_size / simt::warp_size);
    ZENITH_STATIC_SHARED(entry, stages, scan_keys<T>::stage_entries);
    const block_select<image_t, block_size> by_image(sums, ends);
    std::uint32_t steps = 0;

    if (sample.plan.groups == 0) return rank_keys();
    clear();
    sample.take(problem, extent);
    all_blocks(problem.state, ++steps, [&] {
      const image_t threshold = sample.choose(by_image, problem.k);
      if (simt::thread_index() == 0) simt::store(&problem.state->threshold, threshold);
    });

    const scan_keys<T> scan{problem, extent};
    scan.scan(stages, simt::atomic_load(&problem.state->threshold));
    all_blocks(problem.state, ++steps, [&] { scan.decide(sums); });
    const repeat again{problem, extent, bins};
    if (again.run({counts, sums, stages}, steps)) all_blocks(problem.state, ++steps, [] {});

    auto row = survivor_row<entry>::of(problem);
    if (problem.report != nullptr && is_first_thread()) {
      simt::atomic_max(&problem.report->reads, simt::load(&problem.state->reads));
      simt::atomic_add(&problem.report->survivors, row.size());
    }
    if (row.size() > top_k_detail::group_plan::most_ranked) {
      narrow.take(row);
      all_blocks(problem.state, ++steps, [&] {
        const block_select<std::uint32_t, block_size> by_index(sums, index_ends);
        narrow.choose(by_image, by_index, problem.k);
      });
      narrow.keep(row, &problem.state->kept);
      all_blocks(problem.state, ++steps, [] {});
      row = {narrow.kept, simt::atomic_load(&problem.state->kept), nullptr, 0};
    }
    rank_survivors<T>{problem}.run(row);
  }

 private:
  ZENITH_DEVICE static bool is_first_thread() { return simt::block_index() == 0 && simt::thread_index() == 0; }

  // Few keys: no step waits.
  ZENITH_DEVICE void rank_keys() const {
    rank_survivors<T>{problem}.run(key_row<T>{problem});
    if (problem.report == nullptr || !is_first_thread()) return;
    simt::atomic_max(&problem.report->reads, 1U);
    simt::atomic_add(&problem.report->survivors, problem.count);
  }

  // The bins and, behind them, the slots.
  ZENITH_DEVICE void clear() const {
    const std::uint32_t words = repeat::narrow::passes * digit_bins + problem.slots;
    for (std::uint32_t i = simt::block_index() * block_size + simt::thread_index(); i < words;
         i += simt::grid_size() * block_size) {
      simt::store(bins + i, 0U);
    }
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
