#pragma once

/// \file
/// The tile of strategy "filter": a warp's worth of keys in registers, for the skeleton of
/// algorithms/top_k/filter_tile.hpp.

#include <algorithms/top_k/filter_tile.hpp>
#include <backends/cuda/kernels/top_k/filter_state.hpp>
#include <core/tile.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// How many items are above the threshold, and how many equal to it.
struct survivor_counts {
  std::uint32_t above;
  std::uint32_t equal;
};

/// The predicate. Integers are compared by their images, which cost an instruction each. The image of a floating key
/// costs ten, so those are compared as what they are, but for a threshold that only NaN or nothing has.
template <class T>
class reaches_threshold {
 public:
  using image_t = typename filter_problem<T>::image_t;
  using order_t = top_k_detail::key_order<T>;

  ZENITH_DEVICE reaches_threshold(const order_t& order, image_t threshold) : order_(order), threshold_(threshold) {
    if constexpr (std::is_floating_point_v<T>) {
      bound_ = turned(order.key(threshold));
      compares_keys_ = !order.is_nan(threshold) && bound_ == bound_;
    }
  }

  /// The same predicate, of which the compiler knows nothing.
  [[nodiscard]] ZENITH_DEVICE reaches_threshold forgotten() const {
    reaches_threshold same = *this;
    same.threshold_ = simt::opaque(threshold_);
    same.bound_ = simt::opaque(bound_);
    return same;
  }

  /// Calls `use(reaches, exceeds)` with two predicates over keys.
  template <class Use>
  ZENITH_DEVICE void with_tests(const Use& use) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (compares_keys_) {
        // the negated comparisons hold for NaN
        if (order_.nan_first) {
          use([&](T key) { return !(turned(key) < bound_); }, [&](T key) { return !(turned(key) <= bound_); });
        } else {
          use([&](T key) { return turned(key) >= bound_; }, [&](T key) { return turned(key) > bound_; });
        }
        return;
      }
    }
    use([&](T key) { return order_.image(key) >= threshold_; }, [&](T key) { return order_.image(key) > threshold_; });
  }

 private:
  // Larger is better: for `smallest` the sign is turned round.
  [[nodiscard]] ZENITH_DEVICE T turned(T key) const {
    return order_t::from_bits(order_t::bits(key) ^ (order_.smallest ? order_t::sign_bit : image_t{0}));
  }

  order_t order_;
  image_t threshold_;
  T bound_{};
  bool compares_keys_ = false;
};

template <class T>
class filter_tile {
 public:
  static constexpr unsigned per_vector = 16 / sizeof(T);
  static constexpr unsigned vectors = 7;  // 16-byte loads of each lane in flight
  static constexpr unsigned lane_items = per_vector * vectors;
  static constexpr unsigned size = lane_items * simt::warp_size;

  using image_t = typename filter_problem<T>::image_t;
  using entry = typename filter_problem<T>::entry;

  struct items {
    T key[lane_items];
    std::uint32_t held;  ///< one bit an item
    const T* from;
  };
  struct flags {
    std::uint32_t above;  ///< one bit an item
    std::uint32_t equal;
  };
  struct ranks {
    survivor_counts count;  ///< in the tile
    std::uint32_t own;      ///< of the lane: those above, and those equal in the upper half
  };

  ZENITH_DEVICE explicit filter_tile(const top_k_detail::key_order<T>& order) : order_(order) {}

  /// The index of the key that the next load begins with.
  ZENITH_DEVICE void move_to(std::uint32_t first) { first_ = first; }

  /// `count` keys from a 16-byte boundary on, a multiple of a vector; or fewer than a vector from anywhere.
  ZENITH_DEVICE items load(const T* from, tile_index count) {
    items result;
    result.from = from;
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
    // nearly always no item of the lane does
    bool some = false;
    keep.with_tests([&](const auto& reaches, const auto& /*exceeds*/) {
      ZENITH_UNROLL
      for (unsigned i = 0; i < lane_items; ++i) some |= reaches(of.key[i]);
    });
    if (!some) return {0, 0};
    // not the same comparisons to the compiler, which would keep the results of all in registers
    flags result{0, 0};
    keep.forgotten().with_tests([&](const auto& reaches, const auto& exceeds) {
      std::uint32_t reached = 0;
      ZENITH_UNROLL
      for (unsigned i = 0; i < lane_items; ++i) {
        reached |= reaches(of.key[i]) ? 1U << i : 0U;
        result.above |= exceeds(of.key[i]) ? 1U << i : 0U;
      }
      result.above &= of.held;
      result.equal = reached & of.held & ~result.above;
    });
    return result;
  }

  ZENITH_DEVICE bool any(const flags& of) const { return simt::any(simt::full_warp, (of.above | of.equal) != 0); }

  // The ranks within the tile wait until an item is stored: of items that are only counted nobody asks for them.
  ZENITH_DEVICE ranks scan(const flags& of) const {
    // both numbers in one word: a tile has fewer than 2^16 items
    const std::uint32_t own = simt::popcount(of.above) | simt::popcount(of.equal) << 16;
    const std::uint32_t total = simt::reduce_add(simt::full_warp, own);
    return {{total & 0xffff, total >> 16}, own};
  }

  // Few items are stored, of few tiles. They are fetched again, so that the registers of the many that are not serve
  // to keep more warps on the multiprocessor.
  template <class Slot>
  ZENITH_DEVICE void store_compacted(const items& of, const flags& kept, const ranks& to, const Slot& slot) const {
    const bool takes_equal = to.count.equal > 0 && slot.takes_equal();
    if (to.count.above == 0 && !takes_equal) return;
    const std::uint32_t before = sum_of_lower_lanes(to.own);
    std::uint32_t rank = before & 0xffff;
    for (std::uint32_t left = kept.above; left != 0; left &= left - 1) {
      slot.write_above(rank++, entry_of(of, simt::find_first_set(left) - 1));
    }
    if (!takes_equal) return;
    rank = before >> 16;
    for (std::uint32_t left = kept.equal; left != 0; left &= left - 1) {
      slot.write_equal(rank++, entry_of(of, simt::find_first_set(left) - 1));
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

  ZENITH_DEVICE static std::uint32_t sum_of_lower_lanes(std::uint32_t own) {
    std::uint32_t sum = own;
    ZENITH_UNROLL
    for (unsigned distance = 1; distance < simt::warp_size; distance *= 2) {
      const std::uint32_t below = simt::shuffle_up(simt::full_warp, sum, distance);
      if (simt::lane_index() >= distance) sum += below;
    }
    return sum - own;
  }

  [[nodiscard]] ZENITH_DEVICE entry entry_of(const items& of, unsigned item) const {
    const unsigned at =
        item / per_vector * (simt::warp_size * per_vector) + simt::lane_index() * lane_stride_ + item % per_vector;
    return entry::make(order_.image(simt::load_streaming(of.from + at)), first_ + at);
  }

  top_k_detail::key_order<T> order_;
  std::uint32_t first_ = 0;
  unsigned lane_stride_ = per_vector;
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
