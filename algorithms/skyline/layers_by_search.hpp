#pragma once

/// \file
/// Layers of a host's rows where most have few rows: a row is compared with the layers of the rows before it, not with
/// all rows that are left, once for each layer. A row that a layer dominates is dominated by each layer before that one
/// as well, so that the first layer that does not dominate it is found by bisection. One worker does it.
///
/// Source: ENS-BS, Zhang, Tian, Cheng, Jin: An efficient approach to nondominated sorting for evolutionary
/// multiobjective optimization, IEEE TEVC 2015.

#include <algorithms/skyline/points.hpp>
#include <core/device/bisect.hpp>
#include <core/device/list.hpp>

namespace zenith::skyline_family {

/// Finds the layers of points: one item. None is dominated by one behind it.
template <class Image>
struct assign_by_search {
  static constexpr u32 none = ~u32{0};

  point_set<Image> points;
  u64 count;
  u32 most;     ///< layers
  u64 enough;   ///< points in layers
  u32* last;    ///< of a layer, its last point so far; then its size. `most` or `count`, whichever is less
  u32* before;  ///< of a point, the one before it in its layer; may be the points' rows, which are not asked
  u32* layers;  ///< of points
  u32* found;   ///< how many layers there are; a point of a later one has none

  ZENITH_FN void operator()(u64 /*i*/) const {
    u32 known = 0;
    for (u32 i = 0; i < count; ++i) {
      const u32 layer = layer_of(i, known);
      layers[i] = layer;
      if (layer >= most) continue;
      if (layer == known) last[known++] = none;
      before[i] = last[layer];
      last[layer] = i;
    }
    *found = enough < count ? layers_with_enough(known) : known;
  }

 private:
  ZENITH_FN u32 layers_with_enough(u32 known) const {
    u32* const sizes = last;
    for (u32 layer = 0; layer < known; ++layer) sizes[layer] = 0;
    for (u32 i = 0; i < count; ++i) {
      if (layers[i] < known) ++sizes[layers[i]];
    }
    u32 wanted = 0;
    for (u64 taken = 0; wanted < known && taken < enough; ++wanted) taken += sizes[wanted];
    return wanted;
  }
  ZENITH_FN u32 layer_of(u32 i, u32 known) const {
    return device::first_failing(known, [&](u32 layer) ZENITH_BODY { return is_dominated(i, last[layer]); });
  }
  /// By a point of the layer that ends with `other`.
  ZENITH_FN bool is_dominated(u32 i, u32 other) const {
    for (; other != none; other = before[other]) {
      if (dominates(other, i)) return true;
    }
    return false;
  }
  ZENITH_FN bool dominates(u32 other, u32 i) const {
    bool differs = false;
    for (u32 c = 0; c < points.columns; ++c) {
      const Image a = points.values[c * points.stride + other * points.step];
      const Image b = points.values[c * points.stride + i * points.step];
      if (a > b) return false;
      differs = differs || a != b;
    }
    return differs;
  }
};

/// Layers of rows of a search, from `first` on.
struct write_searched_layers {
  const u32* rows;
  const u32* layers;
  u32 count;  ///< of layers
  u32 first;
  u32* to;

  ZENITH_FN void operator()(u64 i) const {
    if (layers[i] < count) to[rows[i]] = first + layers[i];
  }
};

/// Whether a layer of so many points says that a search takes less than a round for each layer, when so many are left.
/// A round takes some 100 microseconds and 5 ns a point; a test of a point in a search takes some ns, for a layer's
/// points and the number of bisections.
[[nodiscard]] inline bool are_worth_a_search(u64 layer, u64 left) { return layer * layer < 2500 + left / 8; }
/// So many layers in a row are to say so: the first are smaller than those behind them.
inline constexpr u32 layers_before_search = 16;

}  // namespace zenith::skyline_family
