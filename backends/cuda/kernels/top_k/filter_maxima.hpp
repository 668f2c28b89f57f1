#pragma once

/// \file
/// Strategy "filter" in one launch, where all keys are read for the threshold: that read keeps the best image of each
/// warp's tile, so that afterwards none but the tiles with survivors are read again.

#include <type_traits>

#include <algorithms/top_k/filter_plan.hpp>
#include <backends/cuda/kernels/top_k/filter_scan.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class T>
struct key_maxima {
  using image_t = typename filter_problem<T>::image_t;
  using entry = typename filter_problem<T>::entry;
  using tile_type = filter_tile<T>;
  using plan_type = top_k_detail::group_plan;
  static constexpr unsigned block_size = filter_extent<T>::block_size;
  static constexpr unsigned warps = block_size / simt::warp_size;
  static constexpr unsigned per_vector = tile_type::per_vector;
  /// A lane's vectors of a tile go to so many groups in turn, so that the best keys of sorted data do as well.
  static constexpr unsigned parts = plan_type::tile_groups / simt::warp_size;
  static constexpr unsigned set_groups = parts * block_size;  ///< that a block's keys go to
  static constexpr unsigned most_sets = plan_type::most_groups / set_groups;
  static constexpr unsigned most_rounds = 256;  ///< tiles of a block
  static constexpr unsigned most_tiles = most_rounds * warps;
  static_assert(tile_type::vectors == plan_type::tile_chunks && most_rounds <= block_size);

  std::uint32_t sets;  ///< of groups: blocks take turns with them. At most most_sets, and as many as there are blocks
  image_t* best;       ///< of each group; zeros before the launch, and when `clear` is done

  [[nodiscard]] ZENITH_DEVICE std::uint32_t groups() const { return sets * set_groups; }

  /// Reads the calling block's keys. `highs` are most_tiles: the best image of each of its tiles, warp by warp.
  ZENITH_DEVICE void take(const filter_problem<T>& problem, const filter_extent<T>& extent,
                          const simt::shared_span<image_t>& highs) const {
    image_t own[parts] = {};
    unsigned at = simt::warp_index();
    for (std::uint64_t i = simt::block_index(); i < extent.tiles; i += simt::grid_size(), at += warps) {
      const auto part = extent.part(i, simt::warp_index());
      image_t of_tile[parts] = {};
      if (part.count == tile_type::size) {
        take_whole(problem.order, problem.keys + part.first, of_tile);
      } else if (part.count > 0) {
        take_some(problem.order, problem.keys + part.first, part.count, of_tile);
      }
      image_t high = 0;
      ZENITH_UNROLL
      for (unsigned p = 0; p < parts; ++p) {
        own[p] = of_tile[p] > own[p] ? of_tile[p] : own[p];
        high = of_tile[p] > high ? of_tile[p] : high;
      }
      high = highest_of_warp(high);
      if (simt::lane_index() == 0) highs.write(at, high);
    }
    // Another lane for each block of a set: what comes back at a stride of the data is not one group's alone.
    const std::uint32_t turn = simt::block_index() / sets;
    const std::uint32_t place = simt::block_index() % sets * set_groups + simt::warp_index() * simt::warp_size +
                                (simt::lane_index() + turn) % simt::warp_size;
    ZENITH_UNROLL
    for (unsigned p = 0; p < parts; ++p) {
      if (own[p] != 0) simt::atomic_max(best + place + p * block_size, own[p]);
    }
  }

  /// All blocks, once nobody reads the groups' best any more.
  ZENITH_DEVICE void clear() const {
    const std::uint32_t stride = simt::grid_size() * block_size;
    for (std::uint32_t i = simt::block_index() * block_size + simt::thread_index(); i < groups(); i += stride) {
      simt::store(best + i, image_t{0});
    }
  }

  /// Of each slot the number of tiles that reach the threshold, each of which has a key that does. Their sum is added
  /// to the state's number of equal items.
  ZENITH_DEVICE void count_tiles(const filter_problem<T>& problem, const filter_extent<T>& extent,
                                 const simt::shared_span<image_t>& highs, image_t threshold) const {
    const std::uint64_t i = own_tile();
    std::uint32_t reaching = 0;
    for (unsigned warp = 0; i < extent.tiles && warp < warps; ++warp) {
      const bool reaches = highs.read(simt::thread_index() * warps + warp) >= threshold;
      reaching += reaches && extent.part(i, warp).count > 0 ? 1U : 0U;
    }
    if (reaching > 0) simt::store(problem.equal_in_slot + i + 1, reaching);
    const std::uint32_t sum = simt::reduce_add(simt::full_warp, reaching);
    if (simt::lane_index() == 0 && sum > 0) simt::atomic_add(&problem.state->equal, sum);
  }

  /// Undoes `count_tiles` for the calling block's slots.
  ZENITH_DEVICE void clear_slots(const filter_problem<T>& problem, const filter_extent<T>& extent) const {
    const std::uint64_t i = own_tile();
    if (i < extent.tiles) simt::store(problem.equal_in_slot + i + 1, 0U);
    simt::block_barrier();
  }

  /// Filters those of the calling block's tiles that reach the threshold. Behind the slot `cut` no equal items are kept.
  ZENITH_DEVICE void scan(const filter_problem<T>& problem, const filter_extent<T>& extent,
                          const simt::shared_span<image_t>& highs, const simt::shared_span<entry>& stages,
                          image_t threshold, std::uint32_t cut) const {
    using sink_type = typename scan_keys<T>::sink_type;
    sink_type sink(problem, stages.subspan(simt::warp_index() * sink_type::stage_size, sink_type::stage_size));
    filter_tile<T> tile(problem.order);
    const reaches_threshold<T> keep(problem.order, threshold);
    const auto take = [&](const typename filter_extent<T>::part_type& part) {
      if (part.count == 0) return;
      sink.move_to(part.slot, part.slot <= cut);
      tile.move_to(part.first);
      top_k_detail::filter_tile(tile, problem.keys + part.first, part.count, keep, sink);
    };
    const std::uint32_t tiles = extent.tiles > simt::block_index()
                                    ? ((extent.tiles - 1 - simt::block_index()) / simt::grid_size() + 1) * warps
                                    : 0;
    // All warps find all of these tiles, and take turns with them: one warp's may be many.
    unsigned turn = 0;
    for (std::uint32_t first = 0; first < tiles && !sink.is_flooded(); first += simt::warp_size) {
      const std::uint32_t own = first + simt::lane_index();
      const image_t high = own < tiles ? highs.read(own) : image_t{0};
      // the slot of tile i is i + 1
      const bool takes_equal = simt::block_index() + std::uint64_t{own / warps} * simt::grid_size() < cut;
      const bool is_taken = own < tiles && (high > threshold || (high == threshold && takes_equal));
      for (std::uint32_t left = simt::ballot(simt::full_warp, is_taken); left != 0; left &= left - 1) {
        if (turn++ % warps != simt::warp_index()) continue;
        const std::uint32_t found = first + simt::find_first_set(left) - 1;
        take(extent.part(simt::block_index() + std::uint64_t{found / warps} * simt::grid_size(), found % warps));
      }
    }
    for (unsigned which = simt::block_index(); which < 2; which += simt::grid_size()) {
      take(extent.edge(which, problem.count));
    }
    sink.close();
  }

 private:
  // Of the calling thread, where a block's threads go over its tiles.
  [[nodiscard]] ZENITH_DEVICE static std::uint64_t own_tile() {
    return simt::block_index() + std::uint64_t{simt::thread_index()} * simt::grid_size();
  }

  ZENITH_DEVICE static image_t highest_of_warp(image_t own) {
    if constexpr (sizeof(image_t) == 4) {
      return simt::reduce_max(simt::full_warp, own);
    } else {
      ZENITH_UNROLL
      for (unsigned lanes = simt::warp_size / 2; lanes > 0; lanes /= 2) {
        const image_t other = simt::shuffle_xor(simt::full_warp, own, lanes);
        own = other > own ? other : own;
      }
      return own;
    }
  }

  // A whole tile's loads are all in flight.
  ZENITH_DEVICE static void take_whole(const top_k_detail::key_order<T>& order, const T* from, image_t (&high)[parts]) {
    simt::vector<T, per_vector> loaded[tile_type::vectors];
    ZENITH_UNROLL
    for (unsigned v = 0; v < tile_type::vectors; ++v) {
      loaded[v] =
          simt::load_vector_streaming<per_vector>(from + (v * simt::warp_size + simt::lane_index()) * per_vector);
    }
    ZENITH_UNROLL
    for (unsigned p = 0; p < parts; ++p) {
      high[p] = best_image(order, [&](const auto& use) {
        ZENITH_UNROLL
        for (unsigned v = p; v < tile_type::vectors; v += parts) {
          ZENITH_UNROLL
          for (unsigned i = 0; i < per_vector; ++i) use(loaded[v].value[i]);
        }
      });
    }
  }

  ZENITH_DEVICE static void take_some(const top_k_detail::key_order<T>& order, const T* from, std::uint32_t count,
                                      image_t (&high)[parts]) {
    for (unsigned v = 0; (v * simt::warp_size + simt::lane_index()) * per_vector < count; ++v) {
      const auto loaded =
          simt::load_vector_streaming<per_vector>(from + (v * simt::warp_size + simt::lane_index()) * per_vector);
      ZENITH_UNROLL
      for (unsigned i = 0; i < per_vector; ++i) {
        const image_t image = order.image(loaded.value[i]);
        ZENITH_UNROLL
        for (unsigned p = 0; p < parts; ++p) high[p] = v % parts == p && image > high[p] ? image : high[p];
      }
    }
  }

  // The best image of the keys that `each(use)` calls `use` with. Floating keys are compared as what they are, for their
  // images cost ten instructions each.
  template <class Each>
  ZENITH_DEVICE static image_t best_image(const top_k_detail::key_order<T>& order, const Each& each) {
    if constexpr (std::is_floating_point_v<T>) {
      if (order.nan_first) {
        bool has_nan = false;
        each([&](T key) { has_nan |= key != key; });
        if (has_nan) return static_cast<image_t>(~image_t{0});
      }
      T high = top_k_detail::key_order<T>::from_bits(static_cast<image_t>(~image_t{0}));  // NaN
      if (order.smallest) {
        each([&](T key) { high = simt::smaller(high, key); });
      } else {
        each([&](T key) { high = simt::larger(high, key); });
      }
      return order.image(high);
    } else {
      image_t high = 0;
      each([&](T key) {
        const image_t image = order.image(key);
        high = image > high ? image : high;
      });
      return high;
    }
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
