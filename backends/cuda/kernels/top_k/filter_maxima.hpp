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
  static constexpr unsigned most_rounds = 1024 / sizeof(image_t);  ///< tiles of a block
  static constexpr unsigned high_words = most_rounds * warps * sizeof(image_t) / 4;
  /// Slots whose tiles the other blocks hear of: one for each thread of the block that chooses.
  static constexpr unsigned first_slots = block_size;
  static constexpr unsigned first_tiles = first_slots * warps;
  static_assert(tile_type::vectors == plan_type::tile_chunks);

  /// The best image of each of a block's tiles, warp by warp, in shared memory.
  struct tile_highs {
    simt::shared_span<std::uint32_t> words;  ///< high_words

    ZENITH_DEVICE void write(unsigned at, image_t high) const {
      words.write(at, static_cast<std::uint32_t>(high));
      if constexpr (sizeof(image_t) == 8) {
        words.write(high_words / 2 + at, static_cast<std::uint32_t>(high >> 32));
      }
    }
    [[nodiscard]] ZENITH_DEVICE image_t read(unsigned at) const {
      if constexpr (sizeof(image_t) == 8) {
        return image_t{words.read(high_words / 2 + at)} << 32 | words.read(at);
      } else {
        return words.read(at);
      }
    }
  };

  std::uint32_t sets;    ///< of groups: blocks take turns with them. At most most_sets, and as many as there are blocks
  image_t* best;         ///< of each group; zeros before the launch, and when `clear` is done
  image_t* first_highs;  ///< the best image of each tile of the first slots
  std::uint32_t* first_counts;  ///< how many keys of the tile have it, or fewer

  [[nodiscard]] ZENITH_DEVICE std::uint32_t groups() const { return sets * set_groups; }

  /// Reads the calling block's keys.
  ZENITH_DEVICE void take(const filter_problem<T>& problem, const filter_extent<T>& extent,
                          const tile_highs& highs) const {
    part_images own{};
    unsigned at = simt::warp_index();
    for (std::uint64_t i = simt::block_index(); i < extent.tiles; i += simt::grid_size(), at += warps) {
      const auto part = extent.part(i, simt::warp_index());
      const part_images of_tile = part.count == tile_type::size
                                      ? of_whole(problem.order, problem.keys + part.first)
                                      : of_some(problem.order, problem.keys + part.first, part.count);
      image_t high = 0;
      ZENITH_UNROLL
      for (unsigned p = 0; p < parts; ++p) {
        own.of[p] = of_tile.of[p] > own.of[p] ? of_tile.of[p] : own.of[p];
        high = of_tile.of[p] > high ? of_tile.of[p] : high;
      }
      high = highest_of_warp(high);
      if (simt::lane_index() == 0) highs.write(at, high);
      if (i < first_slots) tell(static_cast<std::uint32_t>(i) * warps + simt::warp_index(), high, of_tile);
    }
    // Another lane for each block of a set: what comes back at a stride of the data is not one group's alone.
    const std::uint32_t turn = simt::block_index() / sets;
    const std::uint32_t place = simt::block_index() % sets * set_groups + simt::warp_index() * simt::warp_size +
                                (simt::lane_index() + turn) % simt::warp_size;
    ZENITH_UNROLL
    for (unsigned p = 0; p < parts; ++p) {
      if (own.of[p] != 0) simt::atomic_max(best + place + p * block_size, own.of[p]);
    }
  }

  /// All blocks, once nobody reads the groups' best any more.
  ZENITH_DEVICE void clear() const {
    const std::uint32_t stride = simt::grid_size() * block_size;
    for (std::uint32_t i = simt::block_index() * block_size + simt::thread_index(); i < groups(); i += stride) {
      simt::store(best + i, image_t{0});
    }
  }

  /// A slot up to which at least k keys reach the threshold, for the one block that chooses; problem.slots when it
  /// knows of none. `sums` are `warps`.
  [[nodiscard]] ZENITH_DEVICE std::uint32_t find_cut(const filter_problem<T>& problem, const filter_extent<T>& extent,
                                                     image_t threshold,
                                                     const simt::shared_span<std::uint32_t>& sums) const {
    const std::uint32_t first = simt::thread_index() * warps;
    std::uint32_t own = 0;
    ZENITH_UNROLL
    for (unsigned warp = 0; warp < warps; ++warp) {
      const bool reaches = simt::thread_index() < extent.tiles && simt::load(first_highs + first + warp) >= threshold;
      own += reaches ? simt::load(first_counts + first + warp) : 0;
    }
    std::uint32_t before = own;
    ZENITH_UNROLL
    for (unsigned distance = 1; distance < simt::warp_size; distance *= 2) {
      const std::uint32_t below = simt::shuffle_up(simt::full_warp, before, distance);
      if (simt::lane_index() >= distance) before += below;
    }
    // whoever still reads the sums from before is done
    simt::block_barrier();
    if (simt::lane_index() == simt::warp_size - 1) sums.write(simt::warp_index(), before);
    simt::block_barrier();
    for (unsigned warp = 0; warp < simt::warp_index(); ++warp) before += sums.read(warp);
    // of the slots before which fewer than k keys do, the last; the head is slot 0
    const std::uint32_t needed = simt::block_barrier_count(before - own < problem.k);
    return simt::block_barrier_or(before >= problem.k) ? needed : problem.slots;
  }

  /// Filters those of the calling block's tiles that reach the threshold. Behind the slot `cut` no equal items are
  /// kept.
  ZENITH_DEVICE void scan(const filter_problem<T>& problem, const filter_extent<T>& extent, const tile_highs& highs,
                          const simt::shared_span<entry>& stages, image_t threshold, std::uint32_t cut) const {
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
  struct part_images {
    image_t of[parts];
  };

  // A lane's best image of 0 may be that of no key.
  ZENITH_DEVICE void tell(std::uint32_t tile, image_t high, const part_images& of_tile) const {
    std::uint32_t count = 0;
    ZENITH_UNROLL
    for (unsigned p = 0; p < parts; ++p) {
      count += simt::popcount(simt::ballot(simt::full_warp, of_tile.of[p] == high && high != 0));
    }
    if (simt::lane_index() != 0) return;
    simt::store(first_highs + tile, high);
    simt::store(first_counts + tile, count);
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
  ZENITH_DEVICE static part_images of_whole(const top_k_detail::key_order<T>& order, const T* from) {
    simt::vector<T, per_vector> loaded[tile_type::vectors];
    ZENITH_UNROLL
    for (unsigned v = 0; v < tile_type::vectors; ++v) {
      loaded[v] =
          simt::load_vector_streaming<per_vector>(from + (v * simt::warp_size + simt::lane_index()) * per_vector);
    }
    part_images high;
    ZENITH_UNROLL
    for (unsigned p = 0; p < parts; ++p) {
      high.of[p] = best_image(order, [&](const auto& use) {
        ZENITH_UNROLL
        for (unsigned v = p; v < tile_type::vectors; v += parts) {
          ZENITH_UNROLL
          for (unsigned i = 0; i < per_vector; ++i) use(loaded[v].value[i]);
        }
      });
    }
    return high;
  }

  ZENITH_DEVICE static part_images of_some(const top_k_detail::key_order<T>& order, const T* from,
                                           std::uint32_t count) {
    part_images high{};
    for (unsigned first = 0; first < tile_type::vectors; first += parts) {
      ZENITH_UNROLL
      for (unsigned p = 0; p < parts; ++p) {
        const std::uint32_t at = ((first + p) * simt::warp_size + simt::lane_index()) * per_vector;
        if (at >= count) continue;
        const auto loaded = simt::load_vector_streaming<per_vector>(from + at);
        ZENITH_UNROLL
        for (unsigned i = 0; i < per_vector; ++i) {
          const image_t image = order.image(loaded.value[i]);
          high.of[p] = image > high.of[p] ? image : high.of[p];
        }
      }
    }
    return high;
  }

  // The best image of the keys that `each(use)` calls `use` with. Floating keys are compared as what they are, for
  // their images cost ten instructions each.
  template <class Each>
  ZENITH_DEVICE static image_t best_image(const top_k_detail::key_order<T>& order, const Each& each) {
    if constexpr (std::is_floating_point_v<T>) {
      if (order.nan_first) {
        bool has_nan = false;
        each([&](T key) { has_nan |= key != key; });
        if (has_nan) return static_cast<image_t>(~image_t{0});
      }
      constexpr T infinity = __builtin_huge_val();
      T high = order.smallest ? infinity : -infinity;
      if (order.smallest) {
        each([&](T key) { high = simt::smaller(high, key); });
      } else {
        each([&](T key) { high = simt::larger(high, key); });
      }
      if (high == (order.smallest ? infinity : -infinity)) {
        // the worst number, or NaN alone
        bool has_number = false;
        each([&](T key) { has_number |= key == high; });
        if (!has_number) return 0;
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
