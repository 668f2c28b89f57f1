#pragma once

/// \file
/// The static grid (SkyAlign, section 4.2): cuts at quantiles of every column, the same for all points. A point's code
/// in a column says how many cuts it is not before; its masks say so of the median and the quartiles.

#include <algorithms/skyline/points.hpp>
#include <core/device/bits.hpp>

namespace zenith::skyline_family {

using device::lowest_bit;

/// Buckets of a column, a power of two: a tile of bitmaps takes 48 KiB at most, with copies (tile_filter.hpp). With few
/// columns codes say little, and there is memory for finer ones.
[[nodiscard]] ZENITH_FN constexpr u32 buckets_of(u32 columns) { return columns <= 4 ? 64 : columns <= 48 ? 32 : 16; }

inline constexpr u32 most_cut_samples = 1024;

struct write_offsets {
  u32* to;
  u32 each;

  ZENITH_FN void operator()(u64 i) const { to[i] = static_cast<u32>(i) * each; }
};

/// Cut k of a column, 1 <= k < buckets.
template <class Image>
struct pick_cuts {
  const Image* sorted;
  u32 samples;
  u32 buckets;
  Image* cuts;

  ZENITH_FN void operator()(u64 i) const {
    const u64 c = i / buckets;
    cuts[i] = sorted[c * samples + i % buckets * samples / buckets];
  }
};

/// How many of a column's cuts are not above the value.
template <class Image>
ZENITH_FN u32 code_of(const Image* cuts, u32 buckets, Image value) {
  u32 code = 0;
  for (u32 step = buckets / 2; step > 0; step /= 2) {
    // no branch: which way it goes is as good as random
    code += step * static_cast<u32>(cuts[code + step] <= value);
  }
  return code;
}

/// Where a word stands in the Gray code. Masks in this order differ little from their neighbours, so tiles of points
/// have more bits in common than in numeric order.
ZENITH_FN u32 gray_rank(u32 word) {
  ZENITH_UNROLLED
  for (u32 shift = 1; shift < 32; shift *= 2) word ^= word >> shift;
  return word;
}

ZENITH_FN u32 bits_in(u32 word) {
  word = word - ((word >> 1) & 0x55555555U);
  word = (word & 0x33333333U) + ((word >> 2) & 0x33333333U);
  return (((word + (word >> 4)) & 0x0f0f0f0fU) * 0x01010101U) >> 24;
}

/// Sums of a point's values: high and low parts, of which the second matters where the first are equal. If q dominates
/// p, q's pair is smaller: equal high sums mean equal high parts, and then the low parts dominate.
template <class Image>
struct exact_sum {
  static constexpr unsigned low_bits = sizeof(Image) == 8 ? 6 : 0;  // 64 columns do not overflow

  u64 high = 0;
  u64 low = 0;

  ZENITH_FN void add(Image value) {
    high += value >> low_bits;
    low += value & ((Image{1} << low_bits) - 1);
  }
  ZENITH_FN bool operator<(const exact_sum& other) const {
    return high != other.high ? high < other.high : low < other.low;
  }
};

/// Whether mask and sum fit into one key.
template <class Image>
[[nodiscard]] constexpr bool fits_one_key(u32 columns) {
  return sizeof(Image) == 4 && columns <= 20;
}
inline constexpr unsigned sum_bits = 38;
inline constexpr u32 most_ordering_columns = 32;  ///< whose bits of the median's mask order the points

/// Those of a mask that order the points.
[[nodiscard]] constexpr u64 median_bits(u32 columns) {
  return (u64{1} << (columns < most_ordering_columns ? columns : most_ordering_columns)) - 1;
}

/// Rows and masks of points in their order.
template <class Image>
struct place_points {
  static constexpr u64 item_cost = 64;

  const u32* left;
  const u32* positions;
  const u64* masks;  ///< nullptr: none
  point_set<Image> to;

  ZENITH_FN void operator()(u64 i) const {
    const u64 position = positions[i];
    to.rows[i] = left[position];
    if (masks != nullptr) to.masks[i] = masks[position];
  }
};

/// Whether the partition of point i begins with it.
struct begins_partition {
  const u64* masks;
  u64 median;  ///< the bits of it

  ZENITH_FN bool operator()(u64 i) const { return i == 0 || ((masks[i] ^ masks[i - 1]) & median) != 0; }
};

/// The bits that all points of a tile have.
struct write_tile_masks {
  static constexpr u64 item_cost = 512;

  const u64* masks;
  u64 count;
  u64 first_tile;
  u32 tile;
  u64* to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 begin = (first_tile + t) * tile;
    const u64 n = count - begin < tile ? count - begin : tile;
    const u64 common = team.reduce(
        n, ~u64{0}, [&](u64 i) ZENITH_BODY { return masks[begin + i]; },
        [](u64 a, u64 b) ZENITH_BODY { return a & b; });
    team.once([&]() ZENITH_BODY { to[first_tile + t] = common; });
  }
};

}  // namespace zenith::skyline_family
