#pragma once

/// \file
/// Padded partitions (SkyAlign, section 6.2.3): points in the order of the grid, in which those of every partition of
/// the median's mask begin at a multiple of a warp's lanes. What fills a partition up are copies of its last point:
/// they have its row, and are found to be its twins.

#include <algorithms/skyline/points.hpp>

namespace zenith::skyline_family {

inline constexpr u32 most_padding = 32;  ///< lanes of a warp

/// Sizes of the partitions that begin at begins[0], begins[1], …, rounded up.
struct round_partitions {
  const u32* begins;
  u64 partitions;
  u64 count;  ///< of points
  u32 multiple;
  u32* to;

  ZENITH_FN void operator()(u64 i) const {
    const u64 end = i + 1 < partitions ? begins[i + 1] : count;
    to[i] = static_cast<u32>((end - begins[i] + multiple - 1) / multiple * multiple);
  }
};

/// Which point stands at place i when partitions begin at padded[0], padded[1], ….
struct pick_padded {
  static constexpr u64 item_cost = 128;

  const u32* begins;
  const u32* padded;
  u64 partitions;
  u64 count;
  u32* to;

  ZENITH_FN void operator()(u64 i) const {
    u64 low = 0;  // the last partition that does not begin behind i
    for (u64 rest = partitions; rest > 1;) {
      const u64 half = rest / 2;
      if (padded[low + half] <= i) low += half;
      rest -= half;
    }
    const u64 end = low + 1 < partitions ? begins[low + 1] : count;
    const u64 source = begins[low] + (i - padded[low]);
    to[i] = static_cast<u32>(source < end ? source : end - 1);
  }
};

}  // namespace zenith::skyline_family
