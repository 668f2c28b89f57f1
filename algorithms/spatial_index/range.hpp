#pragma once

/// \file
/// The ranked range query, level by level. A node that lies in the region as a whole has an item in it with the node's
/// best score. So when k of a level's nodes do, the k-th best of their scores bounds the result, and what is worse is
/// not descended into.

#include <algorithm>

#include <algorithms/spatial_index/tree.hpp>
#include <core/device/context.hpp>
#include <core/device/list.hpp>
#include <core/entry.hpp>

namespace zenith::spatial_index_family {

template <class T, unsigned D>
struct region {
  box<T, D> at;
  nearness<T> near;
  ordered::key_order<T> order;
};

/// Child c of the frontier's nodes: whether it exists, meets the region and reaches the bound.
template <class T, unsigned D>
struct meets_region {
  tree_view<T, D> tree;
  region<T, D> wanted;
  u32 level;            ///< of the children
  const u32* frontier;  ///< nodes of the level above, by their number in it
  ordered::bits_t<T> bound;

  ZENITH_FN bool operator()(u64 c) const {
    const u64 i = u64{frontier[c / tree.fanout]} * tree.fanout + c % tree.fanout;
    if (i >= tree.entries(level)) return false;
    const auto& columns = tree.columns(level);
    const u64 at = tree.begin(level) + i;
    if (wanted.order.image(columns.best[at]) < bound) return false;
    const auto one = columns.get(at);
    return wanted.near.takes(one.low, one.high, wanted.at.low, wanted.at.high);
  }
};

struct number_children {
  const u32* frontier;
  const u32* picked;
  u32 fanout;
  u32* to;

  ZENITH_FN void operator()(u64 i) const {
    const u32 c = picked[i];
    to[i] = frontier[c / fanout] * fanout + c % fanout;
  }
};

/// Entries of nodes that lie in the region as a whole; of the others image 0, which no score has.
template <class T, unsigned D>
struct enter_contained {
  using entry = ordered::entry_t<ordered::bits_t<T>>;

  tree_view<T, D> tree;
  region<T, D> wanted;
  u32 level;
  const u32* frontier;
  entry* to;

  ZENITH_FN void operator()(u64 i) const {
    const u64 at = tree.begin(level) + frontier[i];
    const auto one = tree.nodes.get(at);
    // the gap of an item is at most the one between its node's far ends and the region
    const bool is_inside = wanted.near.takes(one.high, one.low, wanted.at.low, wanted.at.high);
    to[i] = entry::make(is_inside ? wanted.order.image(tree.nodes.best[at]) : 0, static_cast<u32>(i));
  }
};

template <class T>
struct enter_items {
  using entry = ordered::entry_t<ordered::bits_t<T>>;

  const T* scores;
  const u32* ids;
  const u32* items;
  ordered::key_order<T> order;
  entry* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = entry::make(order.image(scores[items[i]]), ids[items[i]]); }
};

template <class Entry>
struct reaches_entry {
  const Entry* entries;
  const Entry* least;

  ZENITH_FN bool operator()(u64 i) const { return !better(*least, entries[i]); }
};

/// Entries as ids and complemented images, to be sorted by the first and then by the second.
template <class T>
struct split_entries {
  using entry = ordered::entry_t<ordered::bits_t<T>>;

  const entry* entries;
  const u32* picked;  ///< nullptr: all
  u32* ids;
  ordered::bits_t<T>* ranks;
  u32* places;

  ZENITH_FN void operator()(u64 i) const {
    const entry one = entries[picked == nullptr ? i : picked[i]];
    ids[i] = one.index();
    ranks[i] = static_cast<ordered::bits_t<T>>(~one.image());
    places[i] = static_cast<u32>(i);
  }
};

template <class Image>
struct gather_images {
  const Image* from;
  const u32* places;
  Image* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = from[places[i]]; }
};

template <class T, class Index>
struct write_items {
  const u32* ids;
  const T* scores_by_id;
  Index* to;
  T* scores;

  ZENITH_FN void operator()(u64 i) const {
    to[i] = static_cast<Index>(ids[i]);
    scores[i] = scores_by_id[ids[i]];
  }
};

/// Some items, or all that meet a region.
struct picked_items {
  const u32* items;
  u64 count;
};

/// Items that meet the region; of those that k others surely beat some are left out.
template <class T, unsigned D, class Context>
[[nodiscard]] picked_items find_items(Context& on, const tree_view<T, D>& tree, const region<T, D>& wanted, u64 k) {
  using image = ordered::bits_t<T>;
  using entry = ordered::entry_t<image>;
  u32* frontier = on.template buffer<u32>(1);
  on.fill_zero(frontier, 1);  // the root
  u32* const found = on.template buffer<u32>(1);
  entry* const kth = on.template buffer<entry>(1);
  u64 count = 1;
  image bound = 0;
  for (u32 level = tree.levels; level-- > 0 && count > 0;) {
    // at most as many are there; more are places behind the level's end
    const u64 children = std::min(count * tree.fanout, u64{~u32{0}});
    u32* const picked = on.template buffer<u32>(children);
    on.compact(children, meets_region<T, D>{tree, wanted, level, frontier, bound}, picked, found);
    count = on.read(static_cast<const u32*>(found));
    u32* const next = on.template buffer<u32>(count);
    on.for_each(count, number_children{frontier, picked, tree.fanout, next});
    frontier = next;
    if (level == 0 || count < k) continue;
    entry* const entries = on.template buffer<entry>(count);
    on.for_each(count, enter_contained<T, D>{tree, wanted, level, frontier, entries});
    on.kth_best(entries, count, k, kth);
    bound = std::max(bound, on.read(static_cast<const entry*>(kth)).image());
  }
  return {frontier, count};
}

/// The min(k, count) best of some items by rank, as ids.
template <class T, unsigned D, class Context>
[[nodiscard]] picked_items rank_items(Context& on, const tree_view<T, D>& tree, const picked_items& some,
                                      const ordered::key_order<T>& order, u64 k) {
  using image = ordered::bits_t<T>;
  using entry = ordered::entry_t<image>;
  const u64 n = std::min(some.count, k);
  entry* const entries = on.template buffer<entry>(some.count);
  const u32* picked = nullptr;
  on.for_each(some.count, enter_items<T>{tree.items.best, tree.ids, some.items, order, entries});
  if (n < some.count) {
    u32* const places = on.template buffer<u32>(some.count);
    u32* const unused = on.template buffer<u32>(1);
    entry* const kth = on.template buffer<entry>(1);
    on.kth_best(entries, some.count, n, kth);
    on.compact(some.count, reaches_entry<entry>{entries, kth}, places, unused);
    picked = places;
  }
  u32* const ids = on.template buffer<u32>(n);
  image* const ranks = on.template buffer<image>(n);
  image* const sorted = on.template buffer<image>(n);
  u32* const order_of_ids = on.template buffer<u32>(n);
  on.for_each(n, split_entries<T>{entries, picked, ids, ranks, order_of_ids});
  on.sort_pairs(ids, order_of_ids, n);
  on.for_each(n, gather_images<image>{ranks, order_of_ids, sorted});
  on.sort_pairs(sorted, ids, n);
  return {ids, n};
}

}  // namespace zenith::spatial_index_family
