#pragma once

/// \file
/// Phase 3 of strategy "filter" in one launch: a survivor's place in the result is the number of better survivors. All
/// blocks count at once, which takes less time than one block's sort.

#include <algorithms/top_k/filter_plan.hpp>
#include <backends/cuda/kernels/top_k/block_select.hpp>
#include <backends/cuda/kernels/top_k/filter_extent.hpp>
#include <backends/cuda/kernels/top_k/filter_sinks.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Two lists of entries, as if they stood in one row.
template <class Entry>
struct survivor_row {
  using entry = Entry;

  const Entry* above;
  std::uint32_t above_count;
  const Entry* equal;
  std::uint32_t equal_count;

  /// What survived a scan.
  template <class T>
  [[nodiscard]] ZENITH_DEVICE static survivor_row of(const filter_problem<T>& problem, std::uint32_t above,
                                                     std::uint32_t equal) {
    return {problem.survivors, above, problem.survivors + problem.above_capacity, equal};
  }

  [[nodiscard]] ZENITH_DEVICE std::uint32_t size() const { return above_count + equal_count; }
  [[nodiscard]] ZENITH_DEVICE entry at(std::uint32_t i) const {
    return simt::load(i < above_count ? above + i : equal + (i - above_count));
  }
};

/// Keys as they come.
template <class T>
struct key_row {
  using entry = typename filter_problem<T>::entry;

  const filter_problem<T>& problem;

  [[nodiscard]] ZENITH_DEVICE std::uint32_t size() const { return problem.count; }
  [[nodiscard]] ZENITH_DEVICE entry at(std::uint32_t i) const {
    return entry::make(problem.order.image(simt::load(problem.keys + i)), i);
  }
};

/// Of many survivors those that reach the k-th best of the best entries of groups of them, as at least k do.
template <class T>
struct narrow_survivors {
  using entry = typename filter_problem<T>::entry;
  using image_t = typename filter_problem<T>::image_t;

  std::uint32_t groups;  ///< at most most_groups, and more than k
  entry* best;           ///< of each group, and behind them the k-th best
  entry* kept;           ///< as many as may survive

  /// All blocks: the groups' best.
  ZENITH_DEVICE void take(const survivor_row<entry>& row) const {
    const std::uint32_t stride = simt::grid_size() * simt::block_size();
    for (std::uint32_t g = simt::block_index() * simt::block_size() + simt::thread_index(); g < groups; g += stride) {
      constexpr unsigned batch = 32 / sizeof(entry);  // loads of a thread in flight
      entry high = entry::worst();
      for (std::uint64_t first = g; first < row.size(); first += batch * std::uint64_t{groups}) {
        entry held[batch];
        ZENITH_UNROLL
        for (unsigned j = 0; j < batch; ++j) {
          const std::uint64_t i = first + j * std::uint64_t{groups};
          held[j] = i < row.size() ? row.at(static_cast<std::uint32_t>(i)) : entry::worst();
        }
        ZENITH_UNROLL
        for (unsigned j = 0; j < batch; ++j) high = better(held[j], high) ? held[j] : high;
      }
      simt::store(best + g, high);
    }
  }

  /// One block: the k-th best of them; `k` is at most the number of survivors and of groups.
  template <unsigned Threads>
  ZENITH_DEVICE void choose(const block_select<image_t, Threads>& by_image,
                            const block_select<std::uint32_t, Threads>& by_index, std::uint32_t k) const {
    constexpr unsigned most = top_k_detail::group_plan::most_groups / Threads;
    held_values<most, image_t> images;
    each_place<most, Threads>(
        [&](unsigned j, std::uint32_t i) { images.held[j] = i < groups ? simt::load(best + i).image() : image_t{0}; });
    const auto image = by_image.find(images, groups, image_t{0}, by_image.highest(images), k, k + k / 8);
    entry least = entry::make(image.least, ~std::uint32_t{0});
    if (image.reached > k + k / 8) {
      // so many have this image, the k-th best, that those with the lowest indices are to be selected
      const std::uint32_t above =
          image.least == static_cast<image_t>(~image_t{0}) ? 0 : by_image.count(images, image.least + 1);
      held_values<most, std::uint32_t> indices;
      each_place<most, Threads>([&](unsigned j, std::uint32_t i) {
        indices.held[j] = i < groups && images.held[j] == image.least ? ~simt::load(best + i).index() : 0;
      });
      const auto index =
          by_index.find(indices, image.reached - above, 0, by_index.highest(indices), k - above, k + k / 8 - above);
      least = entry::make(image.least, ~index.least);
    }
    if (simt::thread_index() == 0) simt::store(best + groups, least);
  }

  /// All blocks: those that reach it to `kept`; `count` is 0 before.
  ZENITH_DEVICE void keep(const survivor_row<entry>& row, std::uint32_t* count) const {
    const entry least = simt::load(best + groups);
    const std::uint32_t stride = simt::grid_size() * simt::block_size();
    const std::uint32_t own = simt::block_index() * simt::block_size() + simt::thread_index();
    // whole warps go round
    for (std::uint64_t first = own - simt::lane_index(); first < row.size(); first += stride) {
      const std::uint64_t i = first + simt::lane_index();
      const entry one = i < row.size() ? row.at(static_cast<std::uint32_t>(i)) : entry::worst();
      const std::uint32_t reaching = simt::ballot(simt::full_warp, i < row.size() && !better(least, one));
      if (reaching == 0) continue;
      const std::uint32_t to = warp_reserve(count, simt::popcount(reaching));
      const std::uint32_t lower = reaching & ((1U << simt::lane_index()) - 1);
      if ((reaching >> simt::lane_index() & 1) != 0) simt::store(kept + to + simt::popcount(lower), one);
    }
  }

 private:
  template <unsigned Items, unsigned Threads, class Use>
  ZENITH_DEVICE static void each_place(const Use& use) {
    ZENITH_UNROLL
    for (unsigned j = 0; j < Items; ++j) use(j, j * Threads + simt::thread_index());
  }
};

/// Writes the k best of a row to their places.
template <class T>
struct rank_survivors {
  using entry = typename filter_problem<T>::entry;
  static constexpr unsigned block_size = filter_extent<T>::block_size;
  static constexpr unsigned warps = block_size / simt::warp_size;
  static constexpr unsigned few = 32 / sizeof(entry);   ///< that a block ranks at a time
  static constexpr unsigned many = 64 / sizeof(entry);  ///< the same where it has more: each time costs a read of all
  static_assert(many <= warps);

  const filter_problem<T>& problem;
  simt::shared_span<std::uint32_t> sums;  ///< of many * warps

  /// The row has at least k entries.
  template <class Row>
  ZENITH_DEVICE void run(const Row& row) const {
    const std::uint64_t stride = simt::grid_size();
    for (std::uint64_t at = simt::block_index(); at < row.size();) {
      const auto first = static_cast<std::uint32_t>(at);
      if (at + few * stride < row.size()) {
        rank<many>(row, first);
        at += many * stride;
      } else {
        rank<few>(row, first);
        at += few * stride;
      }
    }
  }

 private:
  // Ranks `Count` entries of the row, or as many as there are, from `first` on at a stride of the grid.
  template <unsigned Count, class Row>
  ZENITH_DEVICE void rank(const Row& row, std::uint32_t first) const {
    entry ranked[Count];
    std::uint32_t places[Count] = {};
    ZENITH_UNROLL
    for (unsigned r = 0; r < Count; ++r) {
      const std::uint64_t i = first + r * std::uint64_t{simt::grid_size()};
      ranked[r] = i < row.size() ? row.at(static_cast<std::uint32_t>(i)) : entry::worst();
    }
    constexpr unsigned batch = 64 / sizeof(entry);  // loads of a thread in flight
    for (std::uint32_t from = 0; from < row.size(); from += batch * block_size) {
      entry others[batch];
      ZENITH_UNROLL
      for (unsigned j = 0; j < batch; ++j) {
        const std::uint32_t i = from + j * block_size + simt::thread_index();
        others[j] = i < row.size() ? row.at(i) : entry::worst();
      }
      ZENITH_UNROLL
      for (unsigned j = 0; j < batch; ++j) {
        ZENITH_UNROLL
        for (unsigned r = 0; r < Count; ++r) places[r] += better(others[j], ranked[r]) ? 1U : 0U;
      }
    }
    ZENITH_UNROLL
    for (unsigned r = 0; r < Count; ++r) {
      const std::uint32_t of_warp = simt::reduce_add(simt::full_warp, places[r]);
      if (simt::lane_index() == 0) sums.write(r * warps + simt::warp_index(), of_warp);
    }
    simt::block_barrier();
    // warp r writes the r-th
    ZENITH_UNROLL
    for (unsigned r = 0; r < Count; ++r) {
      if (simt::warp_index() != r || first + r * std::uint64_t{simt::grid_size()} >= row.size()) continue;
      const std::uint32_t place =
          simt::reduce_add(simt::full_warp, simt::lane_index() < warps ? sums.read(r * warps + simt::lane_index()) : 0);
      if (simt::lane_index() == 0 && place < problem.k) problem.write(place, ranked[r].index());
    }
    // the sums are read before the next are written
    simt::block_barrier();
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
