#pragma once

/// \file
/// A block of values in the lanes of a warp, and the shapes of its miniblocks.

#include <algorithms/packed_column/encode.hpp>
#include <backends/cuda/kernels/packed_column/tile.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// A block of 128 values on its way into bits, in the lanes of a warp: lane i has word i of each miniblock.
template <class U>
struct warp_block {
  U word[packed_miniblocks];
  U reference;
  U base;  ///< of delta

  /// Values from `first` on, `items` of them, and zeros.
  ZENITH_DEVICE void load(const packed::encoder<U>& with, std::uint64_t first, unsigned items) {
    ZENITH_UNROLL
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      word[m] = place(m) < items ? simt::load_streaming(with.values + first + place(m)) : U{0};
    }
  }

  /// The values become differences, as packed::take_frame and packed::take_deltas take them.
  ZENITH_DEVICE void take(bool is_delta, bool with_sign, unsigned items) {
    if (is_delta) {
      take_deltas(items);
    } else {
      take_frame(items, with_sign);
    }
  }

  /// Where in the block the calling lane's word of a miniblock stands.
  [[nodiscard]] ZENITH_DEVICE static unsigned place(unsigned miniblock) {
    return miniblock * packed_miniblock_items + simt::lane_index();
  }

  static constexpr U sign = U{1} << (sizeof(U) * 8 - 1);

  ZENITH_DEVICE static U least_of(U value) {
    if constexpr (sizeof(U) == 4) {
      return simt::reduce_min(simt::full_warp, value);
    } else {
      return warp_reduce(value, [](U a, U b) { return a < b ? a : b; });
    }
  }

 private:
  ZENITH_DEVICE void take_frame(unsigned items, bool with_sign) {
    // signed values are ordered by their bits with the sign turned
    const U turn = with_sign ? sign : U{0};
    U least = static_cast<U>(~U{0});
    ZENITH_UNROLL
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      const U one = word[m] ^ turn;
      least = place(m) < items && one < least ? one : least;
    }
    reference = least_of(least) ^ turn;
    base = 0;
    ZENITH_UNROLL
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      word[m] = place(m) < items ? static_cast<U>(word[m] - reference) : U{0};
    }
  }

  ZENITH_DEVICE void take_deltas(unsigned items) {
    const U first = simt::shuffle(simt::full_warp, word[0], 0);
    U last = 0;  // of the miniblock before
    U least = static_cast<U>(~U{0});
    ZENITH_UNROLL
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      const U before = simt::shuffle_up(simt::full_warp, word[m], 1);
      const U next_last = simt::shuffle(simt::full_warp, word[m], simt::warp_size - 1);
      word[m] -= simt::lane_index() == 0 ? last : before;
      last = next_last;
      const U one = word[m] ^ sign;
      least = is_step(m, items) && one < least ? one : least;
    }
    reference = items > 1 ? least_of(least) ^ sign : U{0};
    base = static_cast<U>(first - reference);
    ZENITH_UNROLL
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      word[m] = is_step(m, items) ? static_cast<U>(word[m] - reference) : U{0};
    }
  }

  ZENITH_DEVICE static bool is_step(unsigned miniblock, unsigned items) {
    return place(miniblock) > 0 && place(miniblock) < items;
  }
};

/// Calls use(block of the group, its first value, its items, its values) for blocks `begin` … of a group, `count` of
/// them. The values of the next are under way meanwhile.
template <class U, class Use>
ZENITH_DEVICE void each_block(const packed::encoder<U>& with, std::uint64_t group, unsigned begin, unsigned count,
                              const Use& use) {
  std::uint64_t first = group * packed_group_items + begin * packed_block_items;
  unsigned items = with.items_from(first, packed_block_items);
  warp_block<U> ahead;
  ahead.load(with, first, items);
  for (unsigned b = 0; b < count; ++b) {
    const warp_block<U> values = ahead;
    const std::uint64_t next = first + packed_block_items;
    const unsigned next_items = b + 1 < count ? with.items_from(next, packed_block_items) : 0;
    ahead.load(with, next, next_items);
    use(begin + b, first, items, values);
    first = next;
    items = next_items;
  }
}

/// Bits of a word.
template <class U>
ZENITH_DEVICE unsigned length_of(U word) {
  return static_cast<unsigned>(sizeof(U)) * 8 - simt::count_leading_zeros(word);
}

/// packed::shape_of a miniblock whose words have these lengths, one a lane.
template <class U>
ZENITH_DEVICE packed::miniblock_shape shape_of_lengths(unsigned length, bool with_patches) {
  const unsigned width = simt::reduce_max(simt::full_warp, length);
  packed::miniblock_shape best{width, width, 0};
  if (!with_patches) return best;
  unsigned least = packed_miniblock_items * width;
  for (unsigned w = width; w-- > 0;) {
    const unsigned outside = simt::popcount(simt::ballot(simt::full_warp, length > w));
    // narrower ones have at least as many patches
    if (outside * packed::patch_bits<U> >= least) break;
    const unsigned bits = packed_miniblock_items * w + outside * packed::patch_bits<U>;
    if (bits < least) {
      least = bits;
      best.patched_width = w;
      best.patches = outside;
    }
  }
  return best;
}

/// Where runs begin in the blocks of a group, one after the other.
template <class U>
class run_begins {
 public:
  ZENITH_DEVICE void begin_block(const packed::encoder<U>& with, std::uint64_t first) {
    if (first % packed_group_items == 0 && first > 0) last_ = simt::load_streaming(with.values + first - 1);
  }
  /// Whether the calling lane's word of a miniblock begins one; for each miniblock in turn.
  ZENITH_DEVICE bool begins(const warp_block<U>& block, unsigned miniblock, std::uint64_t first, unsigned items) {
    const U value = block.word[miniblock];
    const unsigned at = warp_block<U>::place(miniblock);
    const U neighbour = simt::shuffle_up(simt::full_warp, value, 1);
    const U before = simt::lane_index() == 0 ? last_ : neighbour;
    last_ = simt::shuffle(simt::full_warp, value, simt::warp_size - 1);
    return at < items && (first + at == 0 || value != before);
  }

 private:
  U last_ = 0;  // the value before
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
