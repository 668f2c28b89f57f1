#pragma once

/// \file
/// Strategy "filter" in one launch, whose blocks wait for each other between its phases: for k up to 2048. Its
/// threshold is no guess, so that the scan is repeated for floods of equal keys and adversarial orders alone.

#include <backends/cuda/kernels/top_k/filter_groups.hpp>
#include <backends/cuda/kernels/top_k/filter_maxima.hpp>
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

  filter_problem<T> problem;
  filter_extent<T> extent;
  group_sample<T> sample;
  key_maxima<T> maxima;  ///< instead of a sample, where the plan reads all keys
  std::uint32_t* bins;   ///< digit_bins for each pass
  narrow_survivors<T> narrow;

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(std::uint32_t, counts, digit_bins);
    ZENITH_STATIC_SHARED(std::uint32_t, sums, block_size);
    ZENITH_STATIC_SHARED(image_t, ends, block_size / simt::warp_size);
    ZENITH_STATIC_SHARED(std::uint32_t, index_ends, block_size / simt::warp_size);
    ZENITH_STATIC_SHARED(entry, stages, scan_keys<T>::stage_entries);
    const memory shared{counts, sums, ends, index_ends, stages};
    if (sample.plan.groups == 0) return rank_keys(shared);

    // every block reads it before any can take a step
    std::uint32_t steps = simt::atomic_load(&problem.state->barrier.steps);
    clear();
    if (sample.plan.reads_all) {
      read_once(shared, steps);
    } else {
      read_sampled(shared, steps);
    }
    all_blocks(&problem.state->barrier, ++steps);
    rank(shared, steps);
  }

 private:
  struct memory {
    simt::shared_span<std::uint32_t> counts;
    simt::shared_span<std::uint32_t> sums;
    simt::shared_span<image_t> ends;
    simt::shared_span<std::uint32_t> index_ends;
    simt::shared_span<entry> stages;
  };
  using select = block_select<image_t, block_size>;

  ZENITH_DEVICE static bool is_first_thread() { return simt::block_index() == 0 && simt::thread_index() == 0; }

  // A sample, the threshold, and a scan of all keys.
  ZENITH_DEVICE void read_sampled(const memory& shared, std::uint32_t& steps) const {
    sample.take(problem, extent);
    all_blocks(&problem.state->barrier, ++steps, [&] {
      const auto chosen =
          choose_threshold(select(shared.sums, shared.ends), sample.best, sample.plan.groups, problem.k);
      if (simt::thread_index() == 0) simt::store(&problem.state->threshold, chosen.threshold);
    });
    scan_keys<T>{problem, extent}.scan(shared.stages, simt::load(&problem.state->threshold));
  }

  // All keys' maxima, the threshold, and those of the keys that may reach it.
  ZENITH_DEVICE void read_once(const memory& shared, std::uint32_t& steps) const {
    // nothing is counted before the tiles' best are done with
    static_assert(key_maxima<T>::high_words <= digit_bins);
    const typename key_maxima<T>::tile_highs highs{shared.counts};
    maxima.take(problem, extent, highs);
    all_blocks(&problem.state->barrier, ++steps, [&] {
      const auto chosen = choose_threshold(select(shared.sums, shared.ends), maxima.best, maxima.groups(), problem.k);
      // many groups' best are equal: so may be more keys than fit
      const std::uint32_t cut = chosen.reached > top_k_detail::group_plan::most_reached(problem.k)
                                    ? maxima.find_cut(problem, extent, chosen.threshold, shared.sums)
                                    : problem.slots;
      if (simt::thread_index() != 0) return;
      simt::store(&problem.state->threshold, chosen.threshold);
      simt::store(&problem.state->cut, cut);
    });
    maxima.clear();
    maxima.scan(problem, extent, highs, shared.stages, simt::load(&problem.state->threshold),
                simt::load(&problem.state->cut));
  }

  // What the scan left, by the verdict on it.
  ZENITH_DEVICE void rank(const memory& shared, std::uint32_t& steps) const {
    const scan_keys<T> scan{problem, extent};
    std::uint32_t above = simt::atomic_load(&problem.state->above);
    std::uint32_t equal = simt::atomic_load(&problem.state->equal);
    std::uint32_t reads = 1;
    if (scan.verdict_on(above, equal) == filter_verdict::done) {
      equal = scan.kept_equal(above, equal);
    } else {
      all_blocks(&problem.state->barrier, ++steps, [&] { scan.decide(shared.sums); });
      repeat{problem, extent, bins}.run({shared.counts, shared.sums, shared.stages}, steps);
      all_blocks(&problem.state->barrier, ++steps);
      above = simt::atomic_load(&problem.state->above);
      equal = simt::atomic_load(&problem.state->equal);
      reads = simt::load(&problem.state->reads);
    }
    auto row = survivor_row<entry>::of(problem, above, equal);
    report(reads, row.size());
    if (row.size() > top_k_detail::group_plan::most_ranked(sizeof(T))) {
      narrow.take(row);
      all_blocks(&problem.state->barrier, ++steps, [&] {
        const block_select<std::uint32_t, block_size> by_index(shared.sums, shared.index_ends);
        narrow.choose(select(shared.sums, shared.ends), by_index, problem.k);
      });
      narrow.keep(row, &problem.state->kept);
      all_blocks(&problem.state->barrier, ++steps);
      row = {narrow.kept, simt::atomic_load(&problem.state->kept), nullptr, 0};
    }
    rank_survivors<T>{problem, shared.sums}.run(row);
  }

  // Few keys: no step waits.
  ZENITH_DEVICE void rank_keys(const memory& shared) const {
    rank_survivors<T>{problem, shared.sums}.run(key_row<T>{problem});
    report(1, problem.count);
  }

  ZENITH_DEVICE void report(std::uint32_t reads, std::uint32_t survivors) const {
    if (problem.report == nullptr || !is_first_thread()) return;
    simt::atomic_max(&problem.report->reads, reads);
    simt::atomic_add(&problem.report->survivors, survivors);
  }

  // The bins and, behind them, the slots; and what the state had from the launch before.
  ZENITH_DEVICE void clear() const {
    if (is_first_thread()) {
      auto& state = *problem.state;
      simt::atomic_store(&state.above, 0U);
      simt::atomic_store(&state.equal, 0U);
      simt::atomic_store(&state.verdict, static_cast<std::uint32_t>(filter_verdict::open));
      simt::atomic_store(&state.refined, 0U);
      simt::atomic_store(&state.kept, 0U);
      simt::store(&state.reads, 0U);
    }
    const std::uint32_t words = repeat::narrow::passes * digit_bins + problem.slots;
    for (std::uint32_t i = simt::block_index() * block_size + simt::thread_index(); i < words;
         i += simt::grid_size() * block_size) {
      simt::store(bins + i, 0U);
    }
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
