#pragma once

/// \file
/// The tile of strategy "filter": a warp's worth of keys in registers, for the skeleton of algorithms/top_k/filter.hpp.

#include <algorithms/top_k/filter.hpp>
#include <backends/cuda/kernels/top_k/filter_state.hpp>
#include <core/tile.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// How many items are above the threshold, and how many equal to it.
struct survivor_counts {
  std::uint32_t above;
  std::uint32_t equal;
};

/// The predicate.
template <class T>
struct reaches_threshold {
  using image_t = typename filter_problem<T>::image_t;
  top_k_detail::key_order<T> order;
  image_t threshold;

  [[nodiscard]] ZENITH_DEVICE image_t image(T key) const { return order.image(key); }
};

template <class T>
class filter_tile {
 public:
  static constexpr unsigned per_vector = 16 / sizeof(T);
  static constexpr unsigned vectors = 4;  // 16-byte loads of each lane in flight
  static constexpr unsigned lane_items = per_vector * vectors;
  static constexpr unsigned size = lane_items * simt::warp_size;

  using image_t = typename filter_problem<T>::image_t;
  using entry = typename filter_problem<T>::entry;

  struct items {
    T key[lane_items];
    std::uint32_t held;  ///< one bit an item
  };
  struct flags {
    image_t image[lane_items];
    std::uint32_t above;
    std::uint32_t equal;
  };
  struct ranks {
    survivor_counts before;  ///< in lower lanes
    survivor_counts count;   ///< in the tile
  };

  /// The index of the key that the next load begins with.
  ZENITH_DEVICE void move_to(std::uint32_t first) { first_ = first; }

  /// `count` keys from a 16-byte boundary on, a multiple of a vector; or fewer than a vector from anywhere.
  ZENITH_DEVICE items load(const T* from, tile_index count) {
    items result;
    const unsigned lane = simt::lane_index();
    lane_stride_ = count < per_vector ? 1 : per_vector;
    if (count == size) {
      result.held = (std::uint32_t{1} << lane_items) - 1;
      ZENITH_UNROLL
      for (unsigned v = 0; v < vectors; ++v) take(result, v, from);
      return result;
    }
    result.held = 0;
    ZENITH_UNROLL
    for (unsigned i = 0; i < lane_items; ++i) result.key[i] = T{};
    if (count < per_vector) {
      if (lane < count) {
        result.key[0] = simt::load_streaming(from + lane);
        result.held = 1;
      }
      return result;
    }
    constexpr std::uint32_t whole = (1U << per_vector) - 1;
    ZENITH_UNROLL
    for (unsigned v = 0; v < vectors; ++v) {
      if ((v * simt::warp_size + lane) * per_vector < count) {
        take(result, v, from);
        result.held |= whole << (v * per_vector);
      }
    }
    return result;
  }

  ZENITH_DEVICE flags flag(const items& of, const reaches_threshold<T>& keep) const {
    flags result;
    std::uint32_t reached = 0;
    ZENITH_UNROLL
    for (unsigned i = 0; i < lane_items; ++i) {
      result.image[i] = keep.image(of.key[i]);
      reached |= result.image[i] >= keep.threshold ? 1U << i : 0U;
    }
    reached &= of.held;
    result.above = 0;
    if (reached != 0) {
      ZENITH_UNROLL
      for (unsigned i = 0; i < lane_items; ++i) {
        if ((reached >> i & 1) != 0 && result.image[i] != keep.threshold) result.above |= 1U << i;
      }
    }
    result.equal = reached & ~result.above;
    return result;
  }

  ZENITH_DEVICE bool any(const flags& of) const { return simt::any(simt::full_warp, (of.above | of.equal) != 0); }

  ZENITH_DEVICE ranks scan(const flags& of) const {
    // both numbers in one word: a tile has fewer than 2^16 items
    const std::uint32_t own = simt::popcount(of.above) | simt::popcount(of.equal) << 16;
    std::uint32_t sum = own;
    ZENITH_UNROLL
    for (unsigned distance = 1; distance < simt::warp_size; distance *= 2) {
      const std::uint32_t below = simt::shuffle_up(simt::full_warp, sum, distance);
      if (simt::lane_index() >= distance) sum += below;
    }
    const std::uint32_t total = simt::shuffle(simt::full_warp, sum, simt::warp_size - 1);
    const std::uint32_t before = sum - own;
    return {{before & 0xffff, before >> 16}, {total & 0xffff, total >> 16}};
  }

  template <class Slot>
  ZENITH_DEVICE void store_compacted(const items& /*of*/, const flags& kept, const ranks& to, const Slot& slot) const {
    std::uint32_t above = to.before.above;
    std::uint32_t equal = to.before.equal;
    ZENITH_UNROLL
    for (unsigned i = 0; i < lane_items; ++i) {
      if ((kept.above >> i & 1) != 0) slot.write_above(above++, entry::make(kept.image[i], index_of(i)));
      if ((kept.equal >> i & 1) != 0) slot.write_equal(equal++, entry::make(kept.image[i], index_of(i)));
    }
  }

 private:
  static_assert(lane_items < 32);

  ZENITH_DEVICE static void take(items& to, unsigned v, const T* from) {
    const auto loaded =
        simt::load_vector_streaming<per_vector>(from + (v * simt::warp_size + simt::lane_index()) * per_vector);
    ZENITH_UNROLL
    for (unsigned i = 0; i < per_vector; ++i) to.key[v * per_vector + i] = loaded.value[i];
  }

  [[nodiscard]] ZENITH_DEVICE std::uint32_t index_of(unsigned item) const {
    return first_ + item / per_vector * (simt::warp_size * per_vector) + simt::lane_index() * lane_stride_ +
           item % per_vector;
  }

  std::uint32_t first_ = 0;
  unsigned lane_stride_ = per_vector;
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
