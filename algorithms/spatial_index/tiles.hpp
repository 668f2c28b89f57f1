#pragma once

/// \file
/// A build where the points lie: the tree that src/tile.cpp and src/build.cpp make on the host, to the bit. By
/// Sort-Tile-Recursive a level is sorted along the first axis, its slabs along the next one, and so on, by stable sorts
/// of the context.

#include <algorithm>
#include <vector>

#include <algorithms/spatial_index/curves.hpp>
#include <algorithms/spatial_index/fold.hpp>
#include <algorithms/spatial_index/tree.hpp>
#include <algorithms/spatial_join/best_pairs.hpp>
#include <algorithms/spatial_join/extents.hpp>
#include <algorithms/spatial_join/input.hpp>
#include <core/device/context.hpp>
#include <core/device/list.hpp>

namespace zenith::spatial_index_family {

/// How `count` entries, sorted along axis after axis, are cut.
template <unsigned D>
struct tile_cuts {
  u64 count;
  u64 slab;         ///< entries of one
  u64 pillar;       ///< 3-D: of a slab's parts
  u64 last_pillar;  ///< of those of the last slab
  u32 fanout;

  struct range {
    u64 begin;
    u64 end;
  };
  /// The slab, pillar or node that holds entry `at`.
  ZENITH_FN range part_of(u64 at, unsigned axis) const {
    if (axis + 1 == D) return part(0, count, at, fanout);
    const range whole = part(0, count, at, slab);
    if (axis == 0) return whole;
    return part(whole.begin, whole.end, at, whole.end - whole.begin == slab ? pillar : last_pillar);
  }
  /// How many slabs or pillars there are.
  ZENITH_FN u64 parts(unsigned axis) const {
    const u64 slabs = (count + slab - 1) / slab;
    if (axis == 0) return slabs;
    const u64 last = count - (slabs - 1) * slab;
    const u64 each = last == slab ? pillar : last_pillar;
    return (slabs - 1) * in_slab() + (last + each - 1) / each;
  }
  /// Where slab or pillar p begins; p = parts: the end.
  ZENITH_FN u64 begin_of(u64 p, unsigned axis) const {
    if (p >= parts(axis)) return count;
    if (axis == 0) return p * slab;
    const u64 s = p / in_slab();
    const u64 slabs = (count + slab - 1) / slab;
    const u64 full = s < slabs - 1 ? s : slabs - 1;
    const bool is_full = full < slabs - 1 || count - full * slab == slab;
    return full * slab + (p - full * in_slab()) * (is_full ? pillar : last_pillar);
  }

 private:
  ZENITH_FN u64 in_slab() const { return (slab + pillar - 1) / pillar; }
  ZENITH_FN static range part(u64 begin, u64 end, u64 at, u64 size) {
    const u64 first = begin + (at - begin) / size * size;
    return {first, first + size < end ? first + size : end};
  }
};

template <unsigned D>
[[nodiscard]] tile_cuts<D> make_cuts(u64 count, u32 fanout) {
  tile_cuts<D> cuts{count, slab_entries(count, fanout, D), fanout, fanout, fanout};
  if (D == 3 && count > 0) {
    cuts.pillar = slab_entries(cuts.slab, fanout, 2);
    const u64 rest = count % cuts.slab;
    cuts.last_pillar = rest == 0 ? cuts.pillar : slab_entries(rest, fanout, 2);
  }
  return cuts;
}

template <unsigned D>
struct write_part_begins {
  tile_cuts<D> cuts;
  unsigned axis;
  u32* to;

  ZENITH_FN void operator()(u64 p) const { to[p] = static_cast<u32>(cuts.begin_of(p, axis)); }
};

template <class T>
struct rank_entries {
  const T* from;
  const u32* order;
  ordered::bits_t<T>* to;

  /// -0 and 0 are equal.
  ZENITH_FN void operator()(u64 i) const { to[i] = spatial_join_family::total_order(from[order[i]] + T{0}); }
};

/// The middle of node t's part along an axis. A node of an entry that was not sorted has its own.
template <class T, unsigned D>
struct find_middles {
  const T* from;
  const u32* order;
  tile_cuts<D> cuts;
  unsigned axis;
  u64 last;  ///< entry
  T* to;

  ZENITH_FN void operator()(u64 t) const {
    const u64 at = t * cuts.fanout;
    if (at >= cuts.count) {
      to[t] = from[last];
      return;
    }
    const auto part = cuts.part_of(at, axis);
    to[t] = from[order[part.begin]] / 2 + from[order[part.end - 1]] / 2;
  }
};

/// Entry i of the nodes below, when the nodes are in their order.
struct order_entries {
  const u32* nodes;
  const u32* entries;
  u32 fanout;
  u32* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = entries[u64{nodes[i / fanout]} * fanout + i % fanout]; }
};

template <class T, unsigned D>
struct find_centres {
  const T* low[D];
  const T* high[D];
  T* to[D];

  ZENITH_FN void operator()(u64 i) const {
    // halves, so that no sum overflows
    for (unsigned a = 0; a < D; ++a) to[a][i] = low[a][i] / 2 + high[a][i] / 2;
  }
};

template <class T>
struct find_turned {
  const T* low;
  const T* high;
  u64* row;

  ZENITH_FN void operator()(u64 i) const {
    if (high[i] < low[i]) (void)device::atomic_min(row, i);
  }
};

/// What lies between the parts, in front of each: word i % 8 of the 64 bytes before part i / 8.
struct clear_gaps {
  static constexpr u32 most = 24;

  unsigned char* bytes;
  u64 parts[most];

  ZENITH_FN void operator()(u64 i) const { *reinterpret_cast<u64*>(bytes + parts[i / 8] - 64 + i % 8 * 8) = 0; }
};

template <class T, unsigned D>
struct write_tree_items {
  static constexpr u64 item_cost = 64;

  spatial_join_family::point_columns<T, D> from;
  const T* from_high[D];
  bool has_boxes;
  const u32* rows;
  T* low[D];
  T* high[D];
  T* scores;
  T* scores_by_id;
  u32* ids;

  ZENITH_FN void operator()(u64 i) const {
    const u32 row = rows[i];
    ids[i] = row;
    scores_by_id[i] = from.scores[i];
    scores[i] = from.scores[row];
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) {
      low[a][i] = from.at[a][row];
      if (has_boxes) high[a][i] = from_high[a][row];
    }
  }
};

/// Extremes of a node's entries, a column each: lows, highs, scores.
template <class T, unsigned D>
struct write_tree_nodes {
  static constexpr u64 item_cost = 512;
  static constexpr u32 columns = 2 * D + 2;

  const T* from[columns];
  T* to[columns];
  u64 entries;
  u32 fanout;

  ZENITH_FN void operator()(u64 p) const {
    const u64 begin = p * fanout;
    const u64 n = entries - begin < fanout ? entries - begin : fanout;
    ZENITH_UNROLLED
    for (u32 c = 0; c < columns; ++c) to[c][p] = folded(from[c] + begin, n, c >= D && c <= 2 * D);
  }
};

/// The order of a level's entries, all but the last if it is not full, and the middles of its nodes.
template <class T, unsigned D, class Context>
[[nodiscard]] const u32* tile_level(Context& on, const T* const (&entries)[D], u64 count, bool is_last_full, u32 fanout,
                                    ordered::bits_t<T>* keys, T* const (&middles)[D]) {
  u32* const order = on.template buffer<u32>(count);
  const u64 sorted = is_last_full ? count : count - 1;
  const u64 nodes = (count + fanout - 1) / fanout;
  const auto cuts = make_cuts<D>(sorted, fanout);
  on.for_each(count, spatial_join_family::number_places{order});
  for (unsigned axis = 0; axis < D; ++axis) {
    if (sorted > 0) {
      on.for_each(sorted, rank_entries<T>{entries[axis], order, keys});
      if (axis == 0) {
        on.sort_pairs(keys, order, sorted);
      } else {
        const u64 parts = cuts.parts(axis - 1);
        u32* const begins = on.template buffer<u32>(parts + 1);
        on.for_each(parts + 1, write_part_begins<D>{cuts, axis - 1, begins});
        on.sort_segments(keys, order, sorted, static_cast<const u32*>(begins), parts,
                         axis == 1 ? cuts.slab : std::max(cuts.pillar, cuts.last_pillar));
      }
    }
    on.for_each(nodes, find_middles<T, D>{entries[axis], order, cuts, axis, count - 1, middles[axis]});
  }
  return order;
}

/// The rows of the items in the order of the tree.
template <class T, unsigned D, class Context>
[[nodiscard]] const u32* tile_recursively(Context& on, const T* const (&centres)[D], const spatial_index_layout& of) {
  auto* const keys = on.template buffer<ordered::bits_t<T>>(of.items);
  std::vector<const u32*> orders;
  std::vector<u64> counts;
  const T* entries[D];
  for (unsigned a = 0; a < D; ++a) entries[a] = centres[a];
  bool is_last_full = true;
  for (u64 count = of.items; orders.size() < of.levels;) {
    const u64 nodes = (count + of.fanout - 1) / of.fanout;
    T* middles[D];
    for (unsigned a = 0; a < D; ++a) middles[a] = on.template buffer<T>(nodes);
    orders.push_back(tile_level<T, D>(on, entries, count, is_last_full, of.fanout, keys, middles));
    counts.push_back(count);
    for (unsigned a = 0; a < D; ++a) entries[a] = middles[a];
    is_last_full = is_last_full && count % of.fanout == 0;
    count = nodes;
  }
  const u32* order = orders.back();
  for (std::size_t level = orders.size() - 1; level-- > 0;) {
    u32* const next = on.template buffer<u32>(counts[level]);
    on.for_each(counts[level], order_entries{order, orders[level], of.fanout, next});
    order = next;
  }
  return order;
}

/// The same along a Hilbert curve. `known`: the extremes of the columns; of boxes none are of their middles.
template <class T, unsigned D, class Context>
[[nodiscard]] const u32* order_by_hilbert(Context& on, const T* const (&centres)[D],
                                          const spatial_join_family::point_columns<T, D>& items,
                                          const spatial_join_family::column_extremes<T>* known) {
  using namespace spatial_join_family;
  auto middles = items;
  for (unsigned a = 0; a < D; ++a) middles.at[a] = centres[a];
  const auto extents = extents_of<T, D>(known != nullptr ? *known : read_extremes(on, middles, {}), 0);
  const auto steps = curve_steps<T, D>::between(extents.low, extents.high);
  return order_on_curve<hilbert_order>(on, centres, items.rows, steps).rows;
}

/// The first value that an index does not take, as the host looks for it.
template <class T, unsigned D, class Context>
[[nodiscard]] spatial_outcome first_fault(Context& on, const spatial_join_family::point_columns<T, D>& low,
                                          const spatial_join_family::point_columns<T, D>& high, bool has_boxes,
                                          const spatial_join_family::column_extremes<T>& known) {
  using namespace spatial_join_family;
  constexpr T greatest = std::numeric_limits<T>::max();
  const auto find = [&](const T* column, unsigned at) {
    const bool is_right = known.least[at] >= total_order(-greatest) && known.greatest[at] <= total_order(greatest);
    return is_right ? no_row
                    : first_outside<T>(on, column, T{1}, low.rows, total_order(-greatest), total_order(greatest));
  };
  for (unsigned a = 0; a < D; ++a) {
    u64 row = find(low.at[a], a);
    if (row != no_row) return {0, spatial_fault::coordinate, false, a, row};
    if (!has_boxes) continue;
    row = find(high.at[a], most_side_columns + a);
    if (row != no_row) return {0, spatial_fault::coordinate, true, a, row};
    u64* const first = on.template buffer<u64>(1);
    on.for_each(1, begin_row{first});
    on.for_each(low.rows, find_turned<T>{low.at[a], high.at[a], first});
    row = on.read(static_cast<const u64*>(first));
    if (row != no_row) return {0, spatial_fault::turned_box, false, a, row};
  }
  const u64 row = find(low.scores, most_side_columns - 1);
  if (row != no_row) return {0, spatial_fault::score, false, 0, row};
  return {};
}

template <class T, unsigned D, class Context>
void build_tree(Context& on, const index_build_call& call, bool along_curve) {
  using namespace spatial_join_family;
  const auto& of = *call.layout;
  const u64 n = of.items;
  const auto low = columns_of<T, D>(on, call.low, call.space, true, 1);
  const auto high = of.has_boxes ? columns_of<T, D>(on, call.high, call.space, false, 1) : point_columns<T, D>{};
  const auto known = read_extremes(on, low, high);
  *call.outcome = first_fault(on, low, high, of.has_boxes, known);
  if (call.outcome->fault != spatial_fault::none) return;
  *call.least = static_cast<double>(from_total_order<T>(known.least[most_side_columns - 1]));
  *call.most = static_cast<double>(from_total_order<T>(known.greatest[most_side_columns - 1]));

  auto* const bytes = on.output(reinterpret_cast<unsigned char*>(call.bytes), of.bytes, call.out_space);
  clear_gaps gaps{bytes, {}};
  u64 parts = 0;
  const auto column = [&](u64 offset) {
    gaps.parts[parts++] = offset;
    return reinterpret_cast<T*>(bytes + offset);
  };
  write_tree_nodes<T, D> nodes{{}, {}, n, of.fanout};
  T* all_nodes[2 * D + 2];
  write_tree_items<T, D> items{low,    {}, of.has_boxes, nullptr, {}, {}, column(of.scores), column(of.scores_by_id),
                               nullptr};
  gaps.parts[parts++] = of.ids;
  gaps.parts[parts++] = of.bytes;
  items.ids = reinterpret_cast<u32*>(bytes + of.ids);
  for (unsigned a = 0; a < D; ++a) {
    items.from_high[a] = high.at[a];
    items.low[a] = column(of.low[a]);
    items.high[a] = of.has_boxes ? column(of.high[a]) : items.low[a];
    all_nodes[a] = column(of.node_low[a]);
    all_nodes[D + a] = column(of.node_high[a]);
    nodes.from[a] = items.low[a];
    nodes.from[D + a] = items.high[a];
  }
  all_nodes[2 * D] = column(of.node_most);
  all_nodes[2 * D + 1] = column(of.node_least);
  nodes.from[2 * D] = nodes.from[2 * D + 1] = items.scores;
  on.for_each(parts * 8, gaps);

  find_centres<T, D> centres{};
  const T* middles[D];
  for (unsigned a = 0; a < D; ++a) {
    centres.low[a] = low.at[a];
    centres.high[a] = high.at[a];
    if (of.has_boxes) centres.to[a] = on.template buffer<T>(n);
    middles[a] = of.has_boxes ? centres.to[a] : low.at[a];
  }
  if (of.has_boxes) on.for_each(n, centres);
  if (along_curve) {
    items.rows = order_by_hilbert<T, D>(on, middles, low, of.has_boxes ? nullptr : &known);
  } else {
    items.rows = tile_recursively<T, D>(on, middles, of);
  }
  on.for_each(n, items);
  for (u32 level = 1; level <= of.levels; ++level) {
    for (u32 c = 0; c < 2 * D + 2; ++c) nodes.to[c] = all_nodes[c] + of.begins[level];
    const u64 count = (nodes.entries + of.fanout - 1) / of.fanout;
    on.for_each(count, nodes);
    for (u32 c = 0; c < 2 * D + 2; ++c) nodes.from[c] = nodes.to[c];
    nodes.entries = count;
  }
}

template <class T, unsigned D>
using tile_kernels = device::list<find_middles<T, D>, find_centres<T, D>, place_on_curve<hilbert_order, T, D>,
                                  write_tree_items<T, D>, write_tree_nodes<T, D>>;
template <class T>
using tile_column_kernels = device::list<rank_entries<T>, find_turned<T>>;
using tile_common_kernels =
    device::list<write_part_begins<2>, write_part_begins<3>, order_entries, clear_gaps, count_shared_places>;

}  // namespace zenith::spatial_index_family
