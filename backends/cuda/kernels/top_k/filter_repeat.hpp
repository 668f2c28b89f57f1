#pragma once

/// \file
/// Phase 2 of strategy "filter" again, where its verdict asks for more: steps that all blocks of a launch take
/// together.

#include <backends/cuda/kernels/top_k/filter_refine.hpp>
#include <backends/cuda/kernels/top_k/filter_scan.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class T>
struct filter_repeat {
  using narrow = narrow_threshold<T>;
  using entry = typename filter_problem<T>::entry;
  static constexpr unsigned block_size = filter_extent<T>::block_size;

  /// A block's shared memory.
  struct memory {
    simt::shared_span<std::uint32_t> counts;  ///< of digit_bins
    simt::shared_span<std::uint32_t> sums;    ///< of block_size
    simt::shared_span<entry> stages;          ///< of scan_keys<T>::stage_entries
  };

  filter_problem<T> problem;
  filter_extent<T> extent;
  std::uint32_t* bins;  ///< digit_bins for each pass, zeroed

  /// Does what the verdict asks for; `steps` counts the waits. Returns whether there was something to do.
  ZENITH_DEVICE bool run(const memory& shared, std::uint32_t& steps) const {
    const auto verdict = problem.verdict();
    if (verdict == filter_verdict::done) return false;
    if (verdict == filter_verdict::refine) {
      for (unsigned pass = 0; pass < narrow::passes && simt::atomic_load(&problem.state->refined) == 0; ++pass) {
        const narrow digit{problem, extent, bins + pass * digit_bins, pass};
        digit.count(shared.counts);
        all_blocks(&problem.state->barrier, ++steps, [&] { digit.choose(shared.sums); });
      }
      const scan_keys<T> again{problem, extent};
      again.scan(shared.stages, simt::load(&problem.state->threshold));
      all_blocks(&problem.state->barrier, ++steps, [&] { again.decide(shared.sums); });
    }
    if (problem.verdict() == filter_verdict::ties) collect_ties();
    return true;
  }

 private:
  // The equal items of the slots up to the cut: at least as many as are wanted, those with the lowest indices.
  ZENITH_DEVICE void collect_ties() const {
    tie_sink<T> sink(problem);
    filter_slots(problem, extent, simt::load(&problem.state->threshold), simt::load(&problem.state->cut), sink);
    if (simt::block_index() == 0 && simt::thread_index() == 0) simt::atomic_add(&problem.state->reads, 1U);
  }
};

/// It as a launch of its own, which returns at once where nothing is to be done.
template <class T>
struct repeat_filter {
  using repeat = filter_repeat<T>;
  static constexpr unsigned block_size = repeat::block_size;
  static constexpr unsigned wanted_blocks = 4;

  repeat what;

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(std::uint32_t, counts, digit_bins);
    ZENITH_STATIC_SHARED(std::uint32_t, sums, block_size);
    ZENITH_STATIC_SHARED(typename repeat::entry, stages, scan_keys<T>::stage_entries);
    std::uint32_t steps = 0;
    what.run({counts, sums, stages}, steps);
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
