#pragma once

/// \file
/// Phase 2 of strategy "filter" again, where its verdict asks for more: one launch whose blocks wait for each other
/// between its steps, and which returns at once otherwise.

#include <backends/cuda/kernels/top_k/filter_refine.hpp>
#include <backends/cuda/kernels/top_k/filter_scan.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class T>
struct repeat_filter {
  using narrow = narrow_threshold<T>;
  using entry = typename filter_problem<T>::entry;
  static constexpr unsigned block_size = filter_extent<T>::block_size;
  static constexpr unsigned wanted_blocks = 4;

  filter_problem<T> problem;
  filter_extent<T> extent;
  std::uint32_t* bins;  ///< digit_bins for each pass, zeroed

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(std::uint32_t, counts, digit_bins);
    ZENITH_STATIC_SHARED(std::uint32_t, sums, block_size);
    ZENITH_STATIC_SHARED(entry, stages, scan_keys<T>::stage_entries);
    std::uint32_t steps = 0;
    if (problem.verdict() == filter_verdict::refine) {
      for (unsigned pass = 0; pass < narrow::passes && simt::atomic_load(&problem.state->refined) == 0; ++pass) {
        const narrow digit{problem, extent, bins + pass * digit_bins, pass};
        digit.count(counts);
        all_blocks(++steps, [&] { digit.choose(sums); });
      }
      const scan_keys<T> again{problem, extent};
      again.scan(stages);
      all_blocks(++steps, [&] { again.decide(sums); });
    }
    if (problem.verdict() == filter_verdict::ties) collect_ties();
  }

 private:
  // Waits for all blocks, the last of which does `last_of_all` before any goes on.
  template <class Last>
  ZENITH_DEVICE void all_blocks(std::uint32_t step, const Last& last_of_all) const {
    const bool is_last = is_last_block(&problem.state->arrived);
    if (is_last) last_of_all();
    simt::block_barrier();
    if (simt::thread_index() == 0) {
      simt::fence();
      if (is_last) simt::atomic_store(&problem.state->steps, step);
      while (simt::atomic_load(&problem.state->steps) < step) {
      }
      simt::fence();
    }
    simt::block_barrier();
  }

  // The equal items of the slots up to the cut: at least as many as are wanted, those with the lowest indices.
  ZENITH_DEVICE void collect_ties() const {
    tie_sink<T> sink(problem);
    filter_slots(problem, extent, simt::load(&problem.state->cut), sink);
    if (simt::block_index() == 0 && simt::thread_index() == 0) simt::atomic_add(&problem.state->reads, 1U);
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
