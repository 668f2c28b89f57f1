#pragma once

/// \file
/// What the builds of a tree on the host and on a device share, so that both make the same bytes.

#include <algorithm>
#include <cmath>

#include <core/device/kernel.hpp>

namespace zenith::spatial_index_family {

using device::u32;
using device::u64;

/// The least, or the greatest, of n >= 1 values. Four at a time, which do not wait for each other; of 0 and -0, which
/// are equal, this order says which is taken.
template <class T>
ZENITH_FN T folded(const T* values, u64 n, bool greatest) {
  const auto take = [greatest](T a, T b) ZENITH_BODY { return (greatest ? a < b : b < a) ? b : a; };
  T lanes[4] = {values[0], values[0], values[0], values[0]};
  u64 i = 0;
  for (; i + 4 <= n; i += 4) {
    for (u64 j = 0; j < 4; ++j) lanes[j] = take(lanes[j], values[i + j]);
  }
  for (; i < n; ++i) lanes[0] = take(lanes[0], values[i]);
  return take(take(lanes[0], lanes[1]), take(lanes[2], lanes[3]));
}

/// Entries of a slab when `count` of them are cut into tiles along `axes` axes: whole nodes, and as many slabs as nodes
/// lie along the first axis if they are cubes. On the host.
[[nodiscard]] inline u64 slab_entries(u64 count, u32 fanout, unsigned axes) {
  if (axes == 1) return fanout;
  const u64 nodes = (count + fanout - 1) / fanout;
  const double along = std::pow(static_cast<double>(nodes), 1.0 / static_cast<double>(axes));
  const auto slabs = std::max<u64>(1, static_cast<u64>(std::ceil(along - 1e-9)));
  return (nodes + slabs - 1) / slabs * fanout;
}

}  // namespace zenith::spatial_index_family
