#pragma once

/// \file
/// Strategy "filter": one launch, or for a large k several: sample, scan, one that returns at once unless the device
/// decided that it is needed, and the bitonic reduction of the survivors. Nothing here waits for the device.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <algorithms/top_k/filter_tile.hpp>
#include <backends/cuda/kernels/top_k/filter_launch.hpp>
#include <backends/cuda/kernels/top_k/filter_report.hpp>
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

// As many blocks as the device holds at once, if there is work for them.
template <class Kernel>
unsigned resident_grid(std::uint32_t wanted) {
  const int resident = simt::limits().multiprocessors * simt::resident_blocks<Kernel>();
  return std::clamp(wanted, 1U, static_cast<unsigned>(resident));
}

/// What the filter makes of a problem; the memory is still to come.
template <class T>
filter_problem<T> filter_problem_of(const device_problem<T>& problem, const filter_extent<T>& extent,
                                    std::uint32_t above_capacity) {
  filter_problem<T> made{problem};
  made.above_capacity = above_capacity;
  made.equal_capacity = problem.k + filter_extent<T>::block_items;
  made.slots = extent.slots();
  return made;
}

/// One call's filter in several launches: its buffers join the scratch when it is made.
template <class T>
class filter_reduction {
  using image_t = typename filter_problem<T>::image_t;
  using entry = typename filter_problem<T>::entry;
  using source = survivor_source<entry>;
  using refine = typename filter_repeat<T>::narrow;

 public:
  filter_reduction(scratch& workspace, const device_problem<T>& problem, const top_k_detail::filter_plan& plan)
      : plan_(plan),
        extent_(filter_extent<T>::of(problem.keys, problem.count)),
        problem_(filter_problem_of(problem, extent_, survivor_capacity(problem, plan))),
        finish_(workspace, capacity(), problem.k) {
    workspace.request(problem_.survivors, capacity());
    workspace.request(control_, control_vectors() * 16);
    workspace.request(candidates_, std::size_t{sample_shape::of(plan.samples).blocks} * plan.rank);
  }
  filter_reduction(const filter_reduction&) = delete;
  filter_reduction& operator=(const filter_reduction&) = delete;

  /// Enqueues all phases.
  void enqueue(CUstream_st* stream) {
    auto* const bins = reinterpret_cast<std::uint32_t*>(control_ + sizeof(filter_state<image_t>));
    problem_.state = reinterpret_cast<filter_state<image_t>*>(control_);
    problem_.equal_in_slot = bins + refine::passes * digit_bins;

    sample(stream);
    simt::launch(scan_keys<T>{problem_, extent_},
                 {.grid = resident_grid<scan_keys<T>>(extent_.tiles), .stream = stream});
    simt::launch(repeat_filter<T>{{problem_, extent_, bins}},
                 {.grid = resident_grid<repeat_filter<T>>(extent_.tiles), .stream = stream, .waits_within = true});
    finish(stream);
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

  void finish(CUstream_st* stream) {
    enqueue_results<T>(
        problem_,
        finish_.enqueue({problem_.survivors, &problem_.state->above, &problem_.state->equal, problem_.above_capacity},
                        stream),
        stream);
    if (problem_.report == nullptr) return;
    simt::launch(report_filter<image_t>{problem_.state, problem_.report}, {.stream = stream});
  }

  top_k_detail::filter_plan plan_;
  filter_extent<T> extent_;
  filter_problem<T> problem_;
  bitonic_reduction<source> finish_;
  std::byte* control_ = nullptr;
  image_t* candidates_ = nullptr;  ///< of a large sample
};

/// One call's filter in one launch.
template <class T>
class launched_filter {
  using image_t = typename filter_problem<T>::image_t;
  using entry = typename filter_problem<T>::entry;
  using plan_type = top_k_detail::group_plan;

 public:
  static void enqueue(const execution& on, const device_problem<T>& problem, const plan_type& plan,
                      CUstream_st* stream) {
    const auto extent = filter_extent<T>::of(problem.keys, problem.count);
    scratch workspace(on, stream);
    auto filtered = filter_problem_of(problem, extent, capacity(problem, plan));
    group_sample<T> sample{plan, nullptr};
    narrow_survivors<T> narrow{plan_type::groups_for(problem.k), nullptr, nullptr};
    std::uint32_t* bins = nullptr;
    constexpr std::uint32_t all_bins = filter_repeat<T>::narrow::passes * digit_bins;
    if (plan.groups > 0) {
      const std::size_t survivors = std::size_t{filtered.above_capacity} + filtered.equal_capacity;
      workspace.request(filtered.state, 1);
      workspace.request(filtered.survivors, survivors);
      workspace.request(sample.best, plan.groups);
      workspace.request(narrow.best, narrow.groups + 1);
      workspace.request(narrow.kept, survivors);
      workspace.request(bins, all_bins + filtered.slots);
      workspace.allocate();
      filtered.equal_in_slot = bins + all_bins;
      simt::fill_zero(filtered.state, sizeof(*filtered.state), stream);
    }
    using kernel = filter_launch<T>;
    simt::launch(kernel{filtered, extent, sample, bins, narrow},
                 {.grid = grid<kernel>(extent, plan), .stream = stream, .waits_within = true});
  }

 private:
  // Few survivors more than expected are likely, and many hardly ever: then the call refines.
  static std::uint32_t capacity(const device_problem<T>& problem, const plan_type& plan) {
    const double k = problem.k;
    const double most = plan.expected_survivors * (1 + 8 / std::sqrt(k) + 16 / k);
    return static_cast<std::uint32_t>(std::clamp(std::ceil(most), k, static_cast<double>(problem.count)));
  }

  // Blocks for the scan's tiles, or where they are few, a warp for each survivor to rank.
  template <class Kernel>
  static unsigned grid(const filter_extent<T>& extent, const plan_type& plan) {
    constexpr unsigned warps = Kernel::block_size / simt::warp_size;
    const auto ranked = static_cast<std::uint32_t>(std::min<double>(plan.expected_survivors, 1U << 20)) / warps + 1;
    return resident_grid<Kernel>(plan.groups > 0 ? std::max(extent.tiles, ranked) : ranked);
  }
};

/// Strategy "filter".
struct filter_strategy {
  template <class T>
  static void enqueue(const execution& on, const device_problem<T>& problem, CUstream_st* stream) {
    const auto launched = top_k_detail::group_plan::of(problem.count, problem.k, sizeof(T));
    if (launched.is_suitable(problem.count)) {
      return launched_filter<T>::enqueue(on, problem, launched, stream);
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
    reduction.enqueue(stream);
  }

  static top_k_statistics statistics(const run_report& counted) {
    return {"warp tiles", 0, counted.reads, counted.survivors};
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
