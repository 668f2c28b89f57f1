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

/// As many blocks as the device holds at once.
template <class Kernel>
unsigned resident_grid() {
  return static_cast<unsigned>(simt::limits().multiprocessors * simt::resident_blocks<Kernel>());
}
/// The same if there is work for them.
template <class Kernel>
unsigned resident_grid(std::uint32_t wanted) {
  return std::clamp(wanted, 1U, resident_grid<Kernel>());
}

/// What the filter makes of a problem; the memory is still to come.
template <class T>
filter_problem<T> filter_problem_of(const device_problem<T>& problem, const filter_extent<T>& extent,
                                    std::uint32_t above_capacity) {
  filter_problem<T> made{problem};
  made.above_capacity = above_capacity;
  made.equal_capacity = problem.k + 2 * filter_extent<T>::block_items;
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
  using kernel = filter_launch<T>;
  using maxima_type = key_maxima<T>;

 public:
  /// Enqueues nothing and returns false where one launch does not do.
  static bool enqueue(const execution& on, const device_problem<T>& problem, CUstream_st* stream) {
    const auto extent = filter_extent<T>::of(problem.keys, problem.count);
    const unsigned resident = resident_grid<kernel>();
    const auto plan = plan_for(problem, extent, resident);
    if (!plan.is_suitable()) return false;
    enqueue(on, problem, extent, plan, grid(extent, plan, resident), stream);
    return true;
  }

 private:
  // Behind them the groups' best, wherever an image is as wide as it may be.
  static constexpr std::size_t state_bytes = 256;
  static_assert(sizeof(filter_state<image_t>) <= state_bytes);

  // Of more than few keys with groups of all where a block's tiles are not too many, else with a sample.
  static plan_type plan_for(const device_problem<T>& problem, const filter_extent<T>& extent, unsigned resident) {
    const auto few = plan_type::of_few(problem.count, sizeof(T), simt::limits().multiprocessors);
    if (few.ranks_all) return few;
    const auto most = std::min(plan_type::most_groups, resident * maxima_type::set_groups);
    const auto plan = plan_type::of_all(problem.count, problem.k, sizeof(T), most);
    if (plan.groups > 0 && extent.tiles <= std::uint64_t{resident} * maxima_type::most_rounds) return plan;
    return plan_type::of_sample(problem.count, problem.k, sizeof(T));
  }

  static void enqueue(const execution& on, const device_problem<T>& problem, const filter_extent<T>& extent,
                      const plan_type& plan, unsigned blocks, CUstream_st* stream) {
    auto filtered = filter_problem_of(problem, extent, capacity(problem, plan));
    kernel made{filtered,        extent,
                {plan, nullptr}, {std::min(maxima_type::most_sets, blocks), nullptr, nullptr, nullptr},
                nullptr,         {plan_type::groups_for(problem.k), nullptr, nullptr}};
    const simt::launch_shape shape{.grid = blocks, .stream = stream, .waits_within = true};
    if (plan.groups == 0) return simt::launch(made, shape);

    scratch workspace(on, stream);
    const kept_words kept(on, stream);
    constexpr std::size_t zeroed_bytes = state_bytes + plan_type::most_groups * sizeof(image_t);
    static_assert(zeroed_bytes <= simt::kept_words_bytes);
    constexpr std::uint32_t all_bins = filter_repeat<T>::narrow::passes * digit_bins;
    const std::size_t survivors = std::size_t{filtered.above_capacity} + filtered.equal_capacity;
    auto* zeroed = static_cast<std::byte*>(kept.get());
    if (zeroed == nullptr) workspace.request(zeroed, zeroed_bytes);
    workspace.request(made.problem.survivors, survivors);
    workspace.request(made.sample.best, plan.reads_all ? 0 : plan.groups);
    workspace.request(made.maxima.first_highs, plan.reads_all ? maxima_type::first_tiles : 0);
    workspace.request(made.maxima.first_counts, plan.reads_all ? maxima_type::first_tiles : 0);
    workspace.request(made.narrow.best, made.narrow.groups + 1);
    workspace.request(made.narrow.kept, survivors);
    workspace.request(made.bins, all_bins + filtered.slots);
    workspace.allocate();
    if (kept.get() == nullptr) simt::fill_zero(zeroed, zeroed_bytes, stream);
    made.problem.state = reinterpret_cast<filter_state<image_t>*>(zeroed);
    made.problem.equal_in_slot = made.bins + all_bins;
    made.maxima.best = reinterpret_cast<image_t*>(zeroed + state_bytes);
    simt::launch(made, shape);
  }

  // Few survivors more than expected are likely, and many hardly ever: then the call refines. Of sorted keys as many
  // survive for each of the k best as there are to each of a tile's, or of a chunk's, groups.
  static std::uint32_t capacity(const device_problem<T>& problem, const plan_type& plan) {
    const double k = problem.k;
    const double sorted =
        plan.reads_all ? (k / plan_type::tile_groups + 2) * filter_tile<T>::size
                       : std::min(plan_type::most_reached(problem.k) * plan.keys_of_group(problem.count), 32768.0);
    const double most = std::max(plan.expected_survivors * (1 + 8 / std::sqrt(k) + 16 / k), sorted);
    return static_cast<std::uint32_t>(std::clamp(std::ceil(most), k, static_cast<double>(problem.count)));
  }

  // Blocks for the scan's tiles, or where they are few, for the survivors to rank: equal keys leave more than expected.
  static unsigned grid(const filter_extent<T>& extent, const plan_type& plan, unsigned resident) {
    const auto ranked =
        static_cast<std::uint32_t>(std::min<double>(plan.expected_survivors, 1U << 20)) / rank_survivors<T>::few + 1;
    return std::min(plan.groups > 0 ? std::max({extent.tiles, ranked, resident / 4}) : ranked, resident);
  }
};

/// Strategy "filter".
struct filter_strategy {
  template <class T>
  static void enqueue(const execution& on, const device_problem<T>& problem, CUstream_st* stream) {
    if (launched_filter<T>::enqueue(on, problem, stream)) return;
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
