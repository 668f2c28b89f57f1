#pragma once

/// \file
/// The order of launches of strategy "filter": sample, scan, and finish with the survivors; between them the launches
/// that return at once unless the device decided that they are needed. Nothing here waits for the device.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <algorithms/top_k/filter.hpp>
#include <backends/cuda/kernels/top_k/filter_refine.hpp>
#include <backends/cuda/kernels/top_k/filter_report.hpp>
#include <backends/cuda/kernels/top_k/filter_scan.hpp>
#include <backends/cuda/kernels/top_k/sample.hpp>
#include <backends/cuda/top_k/bitonic.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// One call's filter: its buffers join the scratch when it is made.
template <class T>
class filter_reduction {
  using image_t = typename filter_problem<T>::image_t;
  using entry = typename filter_problem<T>::entry;
  using source = survivor_source<entry>;
  using refine = narrow_threshold<T>;

 public:
  filter_reduction(scratch& room, const device_problem<T>& problem, const top_k_detail::filter_plan& plan)
      : plan_(plan),
        extent_(filter_extent<T>::of(problem.keys, problem.count)),
        problem_{.keys = problem.keys,
                 .count = problem.count,
                 .k = problem.k,
                 .order = problem.order,
                 .state = nullptr,
                 .survivors = nullptr,
                 .above_capacity = room_for_survivors(problem, plan),
                 .equal_capacity = problem.k + filter_extent<T>::block_items,
                 .equal_in_slot = nullptr,
                 .slots = extent_.slots()},
        finish_(room, capacity(), problem.k) {
    room.request(problem_.survivors, capacity());
    room.request(control_, control_bytes());
  }
  filter_reduction(const filter_reduction&) = delete;
  filter_reduction& operator=(const filter_reduction&) = delete;

  /// Enqueues all phases; the result holds at least k entries, best first.
  [[nodiscard]] const entry* enqueue(CUstream_st* stream) {
    auto* const bins = reinterpret_cast<std::uint32_t*>(control_ + sizeof(filter_state<image_t>));
    problem_.state = reinterpret_cast<filter_state<image_t>*>(control_);
    problem_.equal_in_slot = bins + refine::passes * digit_bins;
    simt::fill_zero(control_, control_bytes(), stream);

    simt::launch(find_threshold<T>{problem_, plan_.samples, plan_.rank}, {.stream = stream});
    scan(filter_verdict::open, stream);
    for (unsigned pass = 0; pass < refine::passes; ++pass) {
      simt::launch(refine{problem_, extent_, bins + pass * digit_bins, pass},
                   {.grid = resident_grid<refine>(extent_.tiles), .stream = stream});
    }
    scan(filter_verdict::refine, stream);
    simt::launch(collect_ties<T>{problem_, extent_},
                 {.grid = resident_grid<collect_ties<T>>(extent_.tiles), .stream = stream});
    return finish_.enqueue(
        {problem_.survivors, &problem_.state->above, &problem_.state->equal, problem_.above_capacity}, stream);
  }

  /// Enqueues the report of a run that is enqueued.
  void report(run_report* to, CUstream_st* stream) const {
    simt::launch(report_filter<image_t>{problem_.state, to}, {.stream = stream});
  }

 private:
  // The number of survivors is a sum of `rank` intervals between samples: its standard deviation is 1 / sqrt(rank) of
  // its mean. Eight of them above the mean are as good as never reached, and if they are, the call refines.
  static std::uint32_t room_for_survivors(const device_problem<T>& problem, const top_k_detail::filter_plan& plan) {
    const double most = plan.expected_survivors * (1 + 8 / std::sqrt(static_cast<double>(plan.rank)));
    return static_cast<std::uint32_t>(
        std::clamp(std::ceil(most), static_cast<double>(problem.k), static_cast<double>(problem.count)));
  }

  [[nodiscard]] std::uint64_t capacity() const {
    return std::uint64_t{problem_.above_capacity} + problem_.equal_capacity;
  }

  [[nodiscard]] std::size_t control_bytes() const {
    return sizeof(filter_state<image_t>) + (refine::passes * digit_bins + extent_.slots()) * sizeof(std::uint32_t);
  }

  // As many blocks as the device holds at once, if there are tiles for them.
  template <class Kernel>
  static unsigned resident_grid(std::uint32_t tiles) {
    const int resident = simt::limits().multiprocessors * simt::resident_blocks<Kernel>();
    return std::clamp(tiles, 1U, static_cast<unsigned>(resident));
  }

  void scan(filter_verdict when, CUstream_st* stream) {
    simt::launch(scan_keys<T>{problem_, extent_, when},
                 {.grid = resident_grid<scan_keys<T>>(extent_.tiles), .stream = stream});
  }

  top_k_detail::filter_plan plan_;
  filter_extent<T> extent_;
  filter_problem<T> problem_;
  bitonic_reduction<source> finish_;
  std::byte* control_ = nullptr;
};

/// Strategy "filter".
struct filter_strategy {
  template <class T>
  static void enqueue(const execution& on, const device_problem<T>& problem, CUstream_st* stream) {
    const auto plan = top_k_detail::plan_filter(problem.count, problem.k, find_threshold<T>::most_samples);
    scratch room(on, stream);
    if (plan.samples == 0) {
      // too few items to sample, or too many wanted: everything survives
      bitonic_reduction<key_source<T>> reduction(room, problem.count, problem.k);
      room.allocate();
      enqueue_results(problem, reduction.enqueue({problem.keys, problem.count, problem.order}, stream), stream);
      if (problem.report != nullptr) {
        simt::launch(report_numbers{problem.report, 1, problem.count}, {.stream = stream});
      }
      return;
    }
    filter_reduction<T> reduction(room, problem, plan);
    room.allocate();
    enqueue_results(problem, reduction.enqueue(stream), stream);
    if (problem.report != nullptr) reduction.report(problem.report, stream);
  }

  static top_k_statistics statistics(const run_report& counted) {
    return {"warp tiles", 0, counted.reads, counted.survivors};
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
