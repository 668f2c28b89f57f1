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

/// Every so many-th point's values, column by column.
template <class Image>
struct draw_cut_samples {
  const Image* images;
  u64 row_stride;  ///< from a column of images to the next
  const u32* left;
  u64 count;  ///< of `left`
  u32 samples;
  Image* to;
  u32* unused;

  ZENITH_FN void operator()(u64 i) const {
    const u64 c = i / samples;
    const u64 sample = i % samples;
    to[i] = images[c * row_stride + left[sample * count / samples]];
    unused[i] = 0;
  }
};

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

/// Keys to order the points by their sums. Positions are where they stand in `left`.
template <class Image>
struct write_sums {
  static constexpr u64 item_cost = 64;

  const Image* images;
  u64 row_stride;
  u32 columns;
  const u32* left;
  u64* high;
  u64* low;  ///< nullptr: not wanted
  u32* positions;

  ZENITH_FN void operator()(u64 i) const {
    exact_sum<Image> sum;
    for (u32 c = 0; c < columns; ++c) sum.add(images[c * row_stride + left[i]]);
    high[i] = sum.high;
    if (low != nullptr) low[i] = sum.low;
    positions[i] = static_cast<u32>(i);
  }
};

/// Masks, and keys to order the points by <number of bits of the median's mask, that mask's place in the Gray
/// code> and, if it fits, the sum.
///
/// A point's full mask has the median's bits and, as far as there are bits, those of the quartiles: if q reaches p, all
/// of q's bits are p's as well. That is equations 1 to 5 of the paper in one test.
template <class Image>
struct assign_cells {
  static constexpr u64 item_cost = 256;

  const Image* images;
  u64 row_stride;
  u32 columns;
  const u32* left;
  const Image* cuts;
  u64* masks;
  u64* keys;
  u32* positions;  ///< nullptr: not wanted
  bool has_quartiles;

  ZENITH_FN void operator()(u64 i) const {
    const u32 buckets = buckets_of(columns);
    exact_sum<Image> sum;
    const bool has_lower = has_quartiles && 2 * columns <= 64;
    const bool has_upper = has_quartiles && 3 * columns <= 64;
    u64 mask = 0;
    u32 median = 0;
    for (u32 c = 0; c < columns; ++c) {
      const Image value = images[c * row_stride + left[i]];
      const u32 code = code_of(cuts + c * buckets, buckets, value);
      const u64 behind_median = code >= buckets / 2 ? 1 : 0;
      mask |= behind_median << c;
      if (has_lower) mask |= u64{code >= buckets / 4 ? 1U : 0U} << (columns + c);
      if (has_upper) mask |= u64{code >= buckets / 4 * 3 ? 1U : 0U} << (2 * columns + c);
      if (c < most_ordering_columns) median |= static_cast<u32>(behind_median) << c;
      sum.add(value);
    }
    masks[i] = mask;
    if (positions != nullptr) {
      // `fits_one_key`: 6 bits, the mask, the sum
      keys[i] = (u64{bits_in(median)} << 58) | (u64{gray_rank(median)} << sum_bits) | sum.high;
      positions[i] = static_cast<u32>(i);
    } else {
      keys[i] = (u64{bits_in(median)} << 32) | gray_rank(median);
    }
  }
};

struct gather_keys {
  const u64* from;
  const u32* positions;
  u64* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = from[positions[i]]; }
};

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

/// Values of points whose rows are known. A team takes a piece of a column; the pieces of a column follow each other,
/// so that what is read at random is one column at a time.
template <class Image>
struct place_values {
  static constexpr u32 piece = 4096;

  const Image* images;
  u64 row_stride;
  u64 count;
  point_set<Image> to;

  ZENITH_FN u64 pieces() const { return (count + piece - 1) / piece; }
  [[nodiscard]] u64 launch_cost(u64 /*n*/) const { return count * to.columns * 32; }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 c = t / pieces();
    const u64 first = t % pieces() * piece;
    const u64 n = count - first < piece ? count - first : piece;
    const Image* const from = images + c * row_stride;
    Image* const values = to.values + c * to.stride + first;
    const u32* const rows = to.rows + first;
    team.for_each(n, [&](u64 i) ZENITH_BODY { values[i] = from[rows[i]]; });
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
