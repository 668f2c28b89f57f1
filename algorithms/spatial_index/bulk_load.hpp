#pragma once

/// \file
/// A tree over points that lie where kernels can read them, made on the device for one join: points in an order, which
/// is their place on a Z-order curve by one sort or Sort-Tile-Recursive, and then nodes of consecutive entries, level
/// by level.

#include <algorithms/spatial_index/tiles.hpp>
#include <algorithms/spatial_index/tree.hpp>
#include <algorithms/spatial_join/input.hpp>
#include <core/device/context.hpp>
#include <core/device/list.hpp>

namespace zenith::spatial_index_family {

using spatial_join_family::point_columns;

/// A point's place on the curve, from as many bits of each coordinate as fit.
template <class T, unsigned D>
struct place_on_curve {
  static constexpr u32 bits = 64 / D;

  point_columns<T, D> from;
  T low[D];
  T scale[D];  ///< steps per length
  u64* keys;
  u32* rows;

  ZENITH_FN void operator()(u64 i) const {
    constexpr T most = static_cast<T>((u64{1} << (bits - 8)) - 1) * T{256};  // all of whose digits any T has
    u64 key = 0;
    for (unsigned a = 0; a < D; ++a) {
      // halves: a difference may be infinite
      const T at = (from.at[a][i] / 2 - low[a] / 2) * scale[a];
      key |= spread(static_cast<u64>(at > T{0} ? (at < most ? at : most) : T{0})) << a;
    }
    keys[i] = key;
    rows[i] = static_cast<u32>(i);
  }

 private:
  /// Moves bit b to D * b.
  ZENITH_FN static u64 spread(u64 x) {
    if constexpr (D == 2) {
      x &= 0xffffffffU;
      x = (x | x << 16) & 0x0000ffff0000ffffU;
      x = (x | x << 8) & 0x00ff00ff00ff00ffU;
      x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fU;
      x = (x | x << 2) & 0x3333333333333333U;
      return (x | x << 1) & 0x5555555555555555U;
    } else {
      x &= 0x1fffffU;
      x = (x | x << 32) & 0x001f00000000ffffU;
      x = (x | x << 16) & 0x001f0000ff0000ffU;
      x = (x | x << 8) & 0x100f00f00f00f00fU;
      x = (x | x << 4) & 0x10c30c30c30c30c3U;
      return (x | x << 2) & 0x1249249249249249U;
    }
  }
};

template <class T, unsigned D>
struct place_points {
  static constexpr u64 item_cost = 64;

  point_columns<T, D> from;
  const u32* rows;
  T* at[D];
  T* scores;

  ZENITH_FN void operator()(u64 i) const {
    const u32 row = rows[i];
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) at[a][i] = from.at[a][row];
    scores[i] = from.scores[row];
  }
};

/// Node i of a level from its entries.
template <class T, unsigned D>
struct fold_entries {
  static constexpr u64 item_cost = 256;

  tree_view<T, D> tree;
  u32 level;
  bool lowest;  ///< the least score of a node is kept, else the largest
  T* low[D];
  T* high[D];
  T* best;

  ZENITH_FN void operator()(u64 i) const {
    const auto& columns = tree.columns(level - 1);
    const u64 begin = i * tree.fanout;
    const u64 left = tree.entries(level - 1) - begin;
    const u64 n = left < tree.fanout ? left : tree.fanout;
    const u64 from = tree.begin(level - 1) + begin;
    const u64 to = tree.begin(level) + i;
    auto all = columns.get(from);
    T score = columns.best[from];
    for (u64 j = 1; j < n; ++j) {
      const auto one = columns.get(from + j);
      ZENITH_UNROLLED
      for (unsigned a = 0; a < D; ++a) {
        all.low[a] = one.low[a] < all.low[a] ? one.low[a] : all.low[a];
        all.high[a] = all.high[a] < one.high[a] ? one.high[a] : all.high[a];
      }
      const T other = columns.best[from + j];
      score = (lowest ? other < score : score < other) ? other : score;
    }
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) {
      low[a][to] = all.low[a];
      high[a][to] = all.high[a];
    }
    best[to] = score;
  }
};

/// The rows of points along the curve. `known`: their least and greatest coordinates. Points that lie nearer to each
/// other than 2^-31 of the extent, or 2^-20 in 3-D, may be in any order.
template <class T, unsigned D, class Context>
[[nodiscard]] const u32* order_on_curve(Context& on, const point_columns<T, D>& from,
                                        const spatial_join_family::side_extents<T, D>& known) {
  const u64 n = from.rows;
  u64* const keys = on.template buffer<u64>(n);
  u32* const rows = on.template buffer<u32>(n);
  place_on_curve<T, D> curve{from, {}, {}, keys, rows};
  for (unsigned a = 0; a < D; ++a) {
    const T half = known.high[a] / 2 - known.low[a] / 2;
    const T scale = static_cast<T>(u64{1} << curve.bits) / half;
    curve.low[a] = known.low[a];
    curve.scale[a] = half > T{0} && scale < std::numeric_limits<T>::infinity() ? scale : T{0};
  }
  on.for_each(n, curve);
  on.sort_pairs(keys, rows, n);
  return rows;
}

/// The rows of points as Sort-Tile-Recursive orders them, wherever they lie: coordinates count by their rank.
template <class T, unsigned D, class Context>
[[nodiscard]] const u32* order_by_tiles(Context& on, const point_columns<T, D>& from, u32 fanout) {
  spatial_index_layout shape{};
  shape.items = from.rows;
  shape.fanout = fanout;
  for (u64 count = from.rows; shape.levels == 0 || count > 1; ++shape.levels) count = (count + fanout - 1) / fanout;
  return tile_recursively<T, D>(on, from.at, shape);
}

/// The tree of points whose rows are in its order.
template <class T, unsigned D, class Context>
[[nodiscard]] tree_view<T, D> load_points(Context& on, const point_columns<T, D>& from, const u32* rows, u32 fanout,
                                          bool lowest) {
  const u64 n = from.rows;
  tree_view<T, D> tree{};
  tree.fanout = fanout;
  tree.count = n;
  number_levels(tree, n, /*leaves_first=*/false);
  place_points<T, D> place{from, rows, {}, on.template buffer<T>(n)};
  fold_entries<T, D> fold{{}, 0, lowest, {}, {}, on.template buffer<T>(tree.begins[0])};
  for (unsigned a = 0; a < D; ++a) {
    place.at[a] = on.template buffer<T>(n);
    fold.low[a] = on.template buffer<T>(tree.begins[0]);
    fold.high[a] = on.template buffer<T>(tree.begins[0]);
    tree.items.low[a] = tree.items.high[a] = place.at[a];
    tree.nodes.low[a] = fold.low[a];
    tree.nodes.high[a] = fold.high[a];
  }
  tree.items.best = place.scores;
  tree.nodes.best = fold.best;
  tree.ids = rows;
  on.for_each(n, place);
  fold.tree = tree;
  for (fold.level = 1; fold.level <= tree.levels; ++fold.level) on.for_each(tree.entries(fold.level), fold);
  return tree;
}

}  // namespace zenith::spatial_index_family
