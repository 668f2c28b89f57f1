#pragma once

/// \file
/// The order of launches of strategy "filter": sample, scan, and finish with the survivors; between them one that
/// returns at once unless the device decided that it is needed. Small inputs take one launch. Nothing here waits for
/// the device.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <algorithms/top_k/filter_tile.hpp>
#include <backends/cuda/kernels/top_k/filter_blocks.hpp>
#include <backends/cuda/kernels/top_k/filter_finish.hpp>
#include <backends/cuda/kernels/top_k/filter_repeat.hpp>
#include <backends/cuda/kernels/top_k/filter_report.hpp>
#include <backends/cuda/kernels/top_k/filter_scan.hpp>
#include <backends/cuda/kernels/top_k/sample.hpp>
#include <backends/cuda/top_k/bitonic.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// How the sample is taken: by one block, or by many that hand their best to one.
struct sample_shape {
  static constexpr unsigned most_blocks = 128;
  static constexpr unsigned most_items = 8;  ///< of a thread, where there are many blocks

  unsigned blocks = 0;  ///< 0: one block takes the sample and chooses
  unsigned items = 0;   ///< a power of two

  static sample_shape of(std::uint32_t samples) {
    if (samples <= find_threshold<float>::most_images) return {};
    unsigned items = 1;
    while (samples > most_blocks * items * select_threads) items *= 2;
    const unsigned each = items * select_threads;
    return {(samples + each - 1) / each, items};
  }
};

/// How a problem is sampled. What the blocks of a large sample hand on must fit the one that chooses.
inline top_k_detail::filter_plan plan_of(std::uint64_t count, std::uint64_t k) {
  constexpr auto most_images = find_threshold<float>::most_images;
  static_assert(sample_shape::most_blocks * sample_shape::most_items * select_threads >=
                top_k_detail::most_broad_samples);
  for (auto samples = top_k_detail::most_broad_samples;; samples /= 2) {
    const auto plan = top_k_detail::plan_broad_filter(count, k, samples);
    const auto shape = sample_shape::of(plan.samples);
    if (shape.blocks == 0 || (plan.rank <= select_threads && plan.rank * shape.blocks <= most_images)) return plan;
  }
}

/// One call's filter: its buffers join the scratch when it is made.
template <class T>
class filter_reduction {
  using image_t = typename filter_problem<T>::image_t;
  using entry = typename filter_problem<T>::entry;
  using source = survivor_source<entry>;
  using refine = narrow_threshold<T>;

 public:
  filter_reduction(scratch& workspace, const device_problem<T>& problem, const top_k_detail::filter_plan& plan)
      : plan_(plan),
        extent_(filter_extent<T>::of(problem.keys, problem.count)),
        problem_{.keys = problem.keys,
                 .count = problem.count,
                 .k = problem.k,
                 .order = problem.order,
                 .state = nullptr,
                 .survivors = nullptr,
                 .above_capacity = survivor_capacity(problem, plan),
                 .equal_capacity = problem.k + filter_extent<T>::block_items,
                 .equal_in_slot = nullptr,
                 .slots = extent_.slots()} {
    if (problem.k > finish_survivors<T, std::uint32_t>::most_k) finish_.emplace(workspace, capacity(), problem.k);
    workspace.request(problem_.survivors, capacity());
    workspace.request(control_, control_vectors() * 16);
    workspace.request(candidates_, std::size_t{sample_shape::of(plan.samples).blocks} * plan.rank);
  }
  filter_reduction(const filter_reduction&) = delete;
  filter_reduction& operator=(const filter_reduction&) = delete;

  /// Enqueues all phases.
  void enqueue(const device_problem<T>& problem, CUstream_st* stream) {
    auto* const bins = reinterpret_cast<std::uint32_t*>(control_ + sizeof(filter_state<image_t>));
    problem_.state = reinterpret_cast<filter_state<image_t>*>(control_);
    problem_.equal_in_slot = bins + refine::passes * digit_bins;

    sample(stream);
    simt::launch(scan_keys<T>{problem_, extent_},
                 {.grid = resident_grid<scan_keys<T>>(extent_.tiles), .stream = stream});
    simt::launch(repeat_filter<T>{problem_, extent_, bins},
                 {.grid = resident_grid<repeat_filter<T>>(extent_.tiles), .stream = stream, .waits_within = true});
    finish(problem, stream);
  }

 private:
  // The number of survivors is a sum of `rank` intervals between samples: its standard deviation is 1 / sqrt(rank) of
  // its mean. Eight of them above the mean are as good as never reached, and if they are, the call refines.
  static std::uint32_t survivor_capacity(const device_problem<T>& problem, const top_k_detail::filter_plan& plan) {
    const double most = plan.expected_survivors * (1 + 8 / std::sqrt(static_cast<double>(plan.rank)));
    return static_cast<std::uint32_t>(
        std::clamp(std::ceil(most), static_cast<double>(problem.k), static_cast<double>(problem.count)));
  }

  [[nodiscard]] std::uint64_t capacity() const {
    return std::uint64_t{problem_.above_capacity} + problem_.equal_capacity;
  }

  [[nodiscard]] std::size_t control_vectors() const {
    const auto words = refine::passes * digit_bins + extent_.slots();
    return (sizeof(filter_state<image_t>) + words * sizeof(std::uint32_t) + 15) / 16;
  }

  // As many blocks as the device holds at once, if there are tiles for them.
  template <class Kernel>
  static unsigned resident_grid(std::uint32_t tiles) {
    const int resident = simt::limits().multiprocessors * simt::resident_blocks<Kernel>();
    return std::clamp(tiles, 1U, static_cast<unsigned>(resident));
  }

  void sample(CUstream_st* stream) {
    const control_words control{reinterpret_cast<std::uint32_t*>(control_), control_vectors()};
    const auto shape = sample_shape::of(plan_.samples);
    const auto take = [&]<unsigned Items>(std::integral_constant<unsigned, Items>) {
      simt::launch(sample_best<T, Items>{problem_, control, plan_.samples, plan_.rank, candidates_},
                   {.grid = shape.blocks, .stream = stream});
    };
    switch (shape.items) {
      case 0: break;
      case 1: take(std::integral_constant<unsigned, 1>{}); break;
      case 2: take(std::integral_constant<unsigned, 2>{}); break;
      case 4: take(std::integral_constant<unsigned, 4>{}); break;
      default: take(std::integral_constant<unsigned, 8>{}); break;
    }
    const bool has_candidates = shape.blocks > 0;
    simt::launch(find_threshold<T>{problem_, control, has_candidates ? candidates_ : nullptr,
                                   has_candidates ? shape.blocks * plan_.rank : plan_.samples, plan_.rank},
                 {.stream = stream});
  }

  void finish(const device_problem<T>& problem, CUstream_st* stream) {
    if (finish_) {
      enqueue_results(
          problem,
          finish_->enqueue(
              {problem_.survivors, &problem_.state->above, &problem_.state->equal, problem_.above_capacity}, stream),
          stream);
      if (problem.report != nullptr) {
        simt::launch(report_filter<image_t>{problem_.state, problem.report}, {.stream = stream});
      }
      return;
    }
    problem.with_indices([&](auto* indices) {
      using index = std::remove_pointer_t<decltype(indices)>;
      simt::launch(finish_survivors<T, index>{problem_, problem.out_keys, indices, problem.naming, problem.report},
                   {.stream = stream});
    });
  }

  top_k_detail::filter_plan plan_;
  filter_extent<T> extent_;
  filter_problem<T> problem_;
  std::optional<bitonic_reduction<source>> finish_;  ///< for a k that one block cannot finish
  std::byte* control_ = nullptr;
  image_t* candidates_ = nullptr;  ///< of a large sample
};

/// The filter in one launch.
template <class T>
class block_filter {
  using entry = typename device_problem<T>::entry;
  template <class Index>
  using kernel = filter_blocks<T, Index>;

 public:
  explicit block_filter(const device_problem<T>& problem)
      : problem_(problem),
        grid_(top_k_detail::block_filter_plan::of(problem.count, problem.k, sizeof(T),
                                                  static_cast<std::uint64_t>(simt::limits().multiprocessors))
                  .blocks) {}

  [[nodiscard]] bool is_suitable() const { return grid_ > 0 && problem_.count <= simt::one_launch_bytes / sizeof(T); }

  void enqueue(const execution& on, CUstream_st* stream) const {
    scratch workspace(on, stream);
    block_filter_state* state = nullptr;
    entry* entries = nullptr;
    workspace.request(state, 1);
    const std::uint32_t most_kept = 2 * problem_.k + 64;
    workspace.request(entries, std::size_t{grid_} * most_kept);
    workspace.allocate();
    simt::fill_zero(state, sizeof(block_filter_state), stream);
    problem_.with_indices([&]<class Index>(Index* indices) {
      simt::launch(kernel<Index>{problem_.keys, problem_.count, problem_.k, problem_.order, state, entries, most_kept,
                                 problem_.out_keys, indices, problem_.naming, problem_.report},
                   {.grid = grid_, .stream = stream});
    });
  }

 private:
  const device_problem<T>& problem_;
  unsigned grid_;
};

/// Strategy "filter".
struct filter_strategy {
  template <class T>
  static void enqueue(const execution& on, const device_problem<T>& problem, CUstream_st* stream) {
    if (const block_filter<T> in_one_launch(problem); in_one_launch.is_suitable()) {
      return in_one_launch.enqueue(on, stream);
    }
    const auto plan = plan_of(problem.count, problem.k);
    scratch workspace(on, stream);
    if (plan.samples == 0) {
      // too few items to sample, or too many wanted: everything survives
      bitonic_reduction<key_source<T>> reduction(workspace, problem.count, problem.k);
      workspace.allocate();
      enqueue_results(problem, reduction.enqueue({problem.keys, problem.count, problem.order}, stream), stream);
      if (problem.report != nullptr) {
        simt::launch(report_numbers{problem.report, 1, problem.count}, {.stream = stream});
      }
      return;
    }
    filter_reduction<T> reduction(workspace, problem, plan);
    workspace.allocate();
    reduction.enqueue(problem, stream);
  }

  static top_k_statistics statistics(const run_report& counted) {
    return {"warp tiles", 0, counted.reads, counted.survivors};
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
