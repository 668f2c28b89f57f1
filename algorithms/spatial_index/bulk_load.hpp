#pragma once

/// \file
/// A tree over points that lie where kernels can read them, made on the device for one join: points in an order, which
/// is their place on a curve by one sort or Sort-Tile-Recursive, and then nodes of consecutive entries, level
/// by level.

#include <algorithm>

#include <algorithms/spatial_index/curves.hpp>
#include <algorithms/spatial_index/tiles.hpp>
#include <algorithms/spatial_index/tree.hpp>
#include <algorithms/spatial_join/extents.hpp>
#include <algorithms/spatial_join/input.hpp>
#include <core/device/context.hpp>
#include <core/device/list.hpp>

namespace zenith::spatial_index_family {

using spatial_join_family::point_columns;

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

/// The rows of points as Sort-Tile-Recursive orders them, wherever they lie: coordinates count by their rank.
template <class T, unsigned D, class Context>
[[nodiscard]] const u32* order_by_tiles(Context& on, const point_columns<T, D>& from, u32 fanout) {
  spatial_index_layout shape{};
  shape.items = from.rows;
  shape.fanout = fanout;
  for (u64 count = from.rows; shape.levels == 0 || count > 1; ++shape.levels) count = (count + fanout - 1) / fanout;
  return tile_recursively<T, D>(on, from.at, shape);
}

/// The rows of points in an order for a tree: along a Z-order curve, which is one sort, unless many of them share a
/// place there, as where others lie far away.
template <class T, unsigned D, class Context>
[[nodiscard]] const u32* order_by_place(Context& on, const point_columns<T, D>& from,
                                        const spatial_join_family::side_extents<T, D>& known, u32 fanout) {
  constexpr u64 most_samples = 1024;
  const auto found = order_on_curve<z_order>(on, from.at, from.rows, curve_steps<T, D>::between(known.low, known.high));
  const u64 samples = std::min(from.rows == 0 ? 0 : from.rows - 1, most_samples);
  u32* const shared = on.template zeroed<u32>(1);
  on.for_each(samples, count_shared_places{found.keys, from.rows, samples, shared});
  const bool is_in_order = on.read(static_cast<const u32*>(shared)) <= samples / 8;
  on.release(found.keys);
  if (is_in_order) return found.rows;
  on.release(found.rows);
  return order_by_tiles(on, from, fanout);
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
