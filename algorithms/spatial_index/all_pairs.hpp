#pragma once

/// \file
/// All pairs of two indexes, an index nested-loop join: each item of the left tree, in the tree's order, so that
/// neighbours follow each other, descends the right tree. Pairs are counted first, and the first few partners of an
/// item kept; a scan of the counts by id says where its pairs are written.

#include <algorithms/spatial_index/tree.hpp>
#include <algorithms/spatial_join/pairs.hpp>
#include <core/device/context.hpp>
#include <core/device/list.hpp>

namespace zenith::spatial_index_family {

using spatial_join_family::kept_partners;

/// use(i) for every item i of the tree that is near a box.
template <class T, unsigned D, class Use>
ZENITH_FN void each_near_item(const tree_view<T, D>& tree, const nearness<T>& near, const box<T, D>& one,
                              const Use& use) {
  // of each level, one node's entries that are near and still to be looked at: bit j is entry first_of + j
  u32 first_of[most_index_levels];
  u64 found[most_index_levels];
  u32 level = tree.levels;
  u32 node = 0;
  bool is_new = true;
  for (;;) {
    if (is_new) {
      --level;
      const u64 begin = u64{node} * tree.fanout;
      const u64 left = tree.entries(level) - begin;
      first_of[level] = static_cast<u32>(begin);
      found[level] = near_entries(near, one, tree.columns(level), tree.begin(level) + begin,
                                  left < tree.fanout ? static_cast<u32>(left) : tree.fanout);
    }
    u64 left = found[level];
    u32 entry = first_of[level];
    if (level == 0) {
      for (; left != 0; left >>= 1, ++entry) {
        if ((left & 1) != 0) use(entry);
      }
    } else {
      for (; left != 0 && (left & 1) == 0; left >>= 1) ++entry;
    }
    is_new = left != 0;
    if (is_new) {
      found[level] = left >> 1;
      first_of[level] = entry + 1;
      node = entry;
    } else if (++level >= tree.levels) {
      return;
    }
  }
}

/// Items whose id is one of `rows` from `first` on.
struct is_of_batch {
  const u32* ids;
  u64 first;
  u64 rows;

  ZENITH_FN bool operator()(u64 i) const { return ids[i] >= first && ids[i] - first < rows; }
};

/// How many partners a left item has, by its id and by its place, and the first of them.
template <class T, unsigned D>
struct count_near_items {
  static constexpr u64 item_cost = 1024;

  tree_view<T, D> left;
  tree_view<T, D> right;
  nearness<T> near;
  const u32* picked;  ///< items of the left tree; nullptr: all
  u64 first;          ///< the id from which rows are counted
  u64* counts;        ///< by row
  u32* placed_counts;
  u32* rows;
  u32* kept;  ///< `kept_partners` for each place; ~0: there are no more

  ZENITH_FN void operator()(u64 i) const {
    const u64 item = picked == nullptr ? i : picked[i];
    u32 ids[kept_partners];
    for (u32 j = 0; j < kept_partners; ++j) ids[j] = ~u32{0};
    u32 found = 0;
    each_near_item(right, near, left.items.get(item), [&](u32 other) ZENITH_BODY {
      if (found < kept_partners) ids[found] = right.ids[other];
      ++found;
    });
    u32* const to = kept + i * kept_partners;
    for (u32 j = 0; j < kept_partners; ++j) to[j] = ids[j];
    const u64 row = left.ids[item] - first;
    counts[row] = found;
    rows[i] = static_cast<u32>(row);
    placed_counts[i] = found;
  }
};

/// The partners of a left item, in the order of their ids.
template <class T, unsigned D, class Index>
struct write_near_items {
  static constexpr u64 item_cost = 1024;

  tree_view<T, D> left;
  tree_view<T, D> right;
  nearness<T> near;
  const u32* picked;
  const u64* begins;  ///< by place
  const u32* placed_counts;
  const u32* kept;
  Index* to;
  Index* spare;  ///< memory for as many

  ZENITH_FN void operator()(u64 i) const {
    const u64 n = placed_counts[i];
    if (n == 0) return;
    Index* const at = to + begins[i];
    if (n <= kept_partners) return spatial_join_family::write_kept(kept + i * kept_partners, static_cast<u32>(n), at);
    u64 found = 0;
    each_near_item(right, near, left.items.get(picked == nullptr ? i : picked[i]),
                   [&](u32 other) ZENITH_BODY { at[found++] = static_cast<Index>(right.ids[other]); });
    spatial_join_family::sort_ids(at, n, spare + begins[i]);
  }
};

/// The pairs of `rows` left ids from `first` on to the caller.
template <class T, unsigned D, class Context>
void join_all(Context& on, const spatial_call& call, const tree_view<T, D>& left, const tree_view<T, D>& right,
              const nearness<T>& near, u64 first, u64 rows) {
  u32* picked = nullptr;
  if (rows < left.count) {
    picked = on.template buffer<u32>(left.count);
    on.compact(left.count, is_of_batch{left.ids, first, rows}, picked, on.template buffer<u32>(1));
  }
  u64* const counts = on.template buffer<u64>(rows);
  u64* const offsets = on.template buffer<u64>(rows + 1);
  u32* const placed_counts = on.template buffer<u32>(rows);
  u32* const row_of = on.template buffer<u32>(rows);
  u32* const kept = on.template buffer<u32>(rows * kept_partners);
  on.for_each(rows, count_near_items<T, D>{left, right, near, picked, first, counts, placed_counts, row_of, kept});
  on.exclusive_scan(static_cast<const u64*>(counts), rows, offsets);
  const u64 total = on.read(static_cast<const u64*>(offsets + rows));
  call.outcome->count = total;
  const auto out = call.provide(call.provide_state, total);
  if (total == 0 || out.left == nullptr) return;
  u64* const begins = on.template buffer<u64>(rows);
  spatial_join_family::with_index(call.index_bytes, [&]<class Index>(std::type_identity<Index>) {
    Index* const lefts = on.output(static_cast<Index*>(out.left), total, call.out_space);
    Index* const rights = on.output(static_cast<Index*>(out.right), total, call.out_space);
    on.for_each(rows, spatial_join_family::gather_begins{offsets, row_of, begins});
    // the left ids' memory is free until they are written
    on.for_each(rows,
                write_near_items<T, D, Index>{left, right, near, picked, begins, placed_counts, kept, rights, lefts});
    on.for_each(rows, spatial_join_family::write_left<Index>{offsets, lefts});
  });
}

template <class T, unsigned D>
using all_pairs_kernels =
    device::list<count_near_items<T, D>, write_near_items<T, D, std::uint32_t>, write_near_items<T, D, std::uint64_t>>;

}  // namespace zenith::spatial_index_family
