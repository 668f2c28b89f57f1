#pragma once

/// \file
/// Kernels that go through the pairs within the distance: they count them, write all of them, or append those that
/// reach a bound.

#include <algorithms/spatial_join/grid.hpp>
#include <algorithms/spatial_join/pair_score.hpp>

namespace zenith::spatial_join_family {

/// How many partners a point of the left side has, by its row.
template <class T, unsigned D>
struct count_partners {
  static constexpr u64 item_cost = 512;

  placed_sides<T, D> sides;
  u64* counts;

  ZENITH_FN void operator()(u64 i) const {
    T point[D];
    sides.left.get(i, point);
    u64 found = 0;
    sides.each_near(point, [&](u32 /*r*/) ZENITH_BODY { ++found; });
    counts[sides.left.rows[i]] = found;
  }
};

/// Rising order in place, in O(n log n) and without recursion: insertion for few, a heap for many.
template <class Index>
ZENITH_FN void sort_ids(Index* ids, u64 n) {
  if (n <= 32) {
    for (u64 i = 1; i < n; ++i) {
      const Index id = ids[i];
      u64 at = i;
      for (; at > 0 && ids[at - 1] > id; --at) ids[at] = ids[at - 1];
      ids[at] = id;
    }
    return;
  }
  u64 root = n / 2;
  u64 end = n;
  while (end > 1) {
    Index id = 0;
    if (root > 0) {
      id = ids[--root];
    } else {
      id = ids[--end];
      ids[end] = ids[0];
    }
    u64 at = root;
    for (u64 child = 2 * at + 1; child < end; child = 2 * at + 1) {
      if (child + 1 < end && ids[child + 1] > ids[child]) ++child;
      if (ids[child] <= id) break;
      ids[at] = ids[child];
      at = child;
    }
    ids[at] = id;
  }
}

/// The partners of a point of the left side, in order.
template <class T, unsigned D, class Index>
struct write_partners {
  static constexpr u64 item_cost = 512;

  placed_sides<T, D> sides;
  const u64* offsets;  ///< of every row of the left side
  Index* left;
  Index* right;

  ZENITH_FN void operator()(u64 i) const {
    const u32 row = sides.left.rows[i];
    const u64 begin = offsets[row];
    if (offsets[row + u64{1}] == begin) return;
    T point[D];
    sides.left.get(i, point);
    u64 end = begin;
    sides.each_near(point, [&](u32 r) ZENITH_BODY {
      left[end] = static_cast<Index>(row);
      right[end++] = static_cast<Index>(sides.right.rows[r]);
    });
    sort_ids(right + begin, end - begin);
  }
};

/// Pairs with their scores, in no order.
template <class T>
struct pair_pool {
  ordered::bits_t<T>* images;
  u64* pairs;
  u64* count;    ///< counts on above the capacity
  u64 capacity;  ///< below 2^32
};

/// How many pairs of a point of the left side the bound takes.
template <class T, unsigned D>
struct count_takers {
  static constexpr u64 item_cost = 512;

  placed_sides<T, D> sides;
  pair_scorer<T> scorer;
  const pair_bound<T>* bound;
  u64* counts;

  ZENITH_FN void operator()(u64 i) const {
    T point[D];
    sides.left.get(i, point);
    const T value = sides.left.values[i];
    const u32 row = sides.left.rows[i];
    const auto least = *bound;
    u64 found = 0;
    sides.each_near(point, [&](u32 r) ZENITH_BODY {
      const auto image = scorer.image_of(value, sides.right.values[r]);
      found += least.takes(image, pair_of(row, sides.right.rows[r])) ? 1 : 0;
    });
    counts[i] = found;
  }
};

/// Those pairs of a point of the left side that the bound takes.
template <class T, unsigned D>
struct append_pairs {
  static constexpr u64 item_cost = 512;

  placed_sides<T, D> sides;
  pair_scorer<T> scorer;
  const pair_bound<T>* bound;
  u64 first;  ///< of the left side
  pair_pool<T> pool;

  ZENITH_FN void operator()(u64 item) const {
    const u64 i = first + item;
    T point[D];
    sides.left.get(i, point);
    const T value = sides.left.values[i];
    const u32 row = sides.left.rows[i];
    const auto least = *bound;
    sides.each_near(point, [&](u32 r) ZENITH_BODY {
      const auto image = scorer.image_of(value, sides.right.values[r]);
      if (image < least.image) return;
      const u64 pair = pair_of(row, sides.right.rows[r]);
      if (!least.takes(image, pair)) return;
      const u64 at = device::atomic_add(pool.count, 1);
      if (at >= pool.capacity) return;
      pool.images[at] = image;
      pool.pairs[at] = pair;
    });
  }
};

template <class T>
struct set_bound {
  pair_bound<T> value;
  pair_bound<T>* to;

  ZENITH_FN void operator()(u64 /*i*/) const { *to = value; }
};

struct set_count {
  u64 value;
  u64* to;

  ZENITH_FN void operator()(u64 /*i*/) const { *to = value; }
};

/// The first item whose offset is at least b times `each`: where batch b begins.
struct find_batch {
  const u64* offsets;
  u64 count;
  u64 each;
  u64* begins;

  ZENITH_FN void operator()(u64 b) const {
    u64 low = 0;
    u64 high = count;
    while (low < high) {
      const u64 middle = low + (high - low) / 2;
      if (offsets[middle] < b * each) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    begins[b] = low;
  }
};

}  // namespace zenith::spatial_join_family
