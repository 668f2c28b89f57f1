#pragma once

/// \file
/// Phase 3 of strategy "filter" for small k: one block selects among the survivors, sorts and writes the results.

#include <backends/cuda/kernels/top_k/block_finish.hpp>
#include <backends/cuda/kernels/top_k/filter_state.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Those above the threshold, then those equal to it, as if they stood in one row.
template <class T>
struct survivor_row {
  using entry = typename filter_problem<T>::entry;
  // Survivors that a thread holds in registers; when there are more, which is rare, they are fetched for each step.
  static constexpr unsigned few = sizeof(entry) == 8 ? 16 : 8;
  static constexpr unsigned many = 2 * few;

  const filter_problem<T>& problem;
  std::uint32_t above;
  std::uint32_t equal;

  [[nodiscard]] ZENITH_DEVICE std::uint32_t size() const { return above + equal; }
  [[nodiscard]] ZENITH_DEVICE entry at(std::uint32_t i) const {
    return simt::load(problem.survivors + (i < above ? i : problem.above_capacity + (i - above)));
  }
};

template <class T, class Index>
struct finish_survivors {
  using entry = typename filter_problem<T>::entry;
  static constexpr unsigned block_size = select_threads;
  static constexpr unsigned most_k = block_finish<entry>::capacity;

  filter_problem<T> problem;
  T* out_keys;
  Index* out_indices;
  index_naming naming;
  run_report* report;  ///< or nullptr

  ZENITH_DEVICE void operator()() const {
    ZENITH_BLOCK_FINISH(entry, block);
    const survivor_row<T> row{problem, simt::load(&problem.state->above), simt::load(&problem.state->equal)};
    block.sort_best(row, simt::load(&problem.state->threshold), problem.k);
    block.write(problem.k, problem.keys, out_keys, out_indices, naming);
    if (report != nullptr && simt::thread_index() == 0) {
      simt::atomic_max(&report->reads, simt::load(&problem.state->reads));
      simt::atomic_add(&report->survivors, row.size());
    }
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
