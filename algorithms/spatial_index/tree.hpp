#pragma once

/// \file
/// A MAX aR-tree as kernels see it, and when two boxes are near each other.
///
/// No subtree is passed over through rounding. A node's box holds those of its items, so each difference in a gap to
/// the node is at most that to the item; rounding, the maximum, squares of numbers that are not negative and their sum
/// never turn an order round. So what takes an item takes every node above it.

#include <core/device/kernel.hpp>
#include <core/key_order.hpp>
#include <zenith/spatial_index_call.hpp>

namespace zenith::spatial_index_family {

using device::u32;
using device::u64;

template <class T, unsigned D>
struct box {
  T low[D];
  T high[D];
};

/// Where boxes are taken: those no farther than a distance, or those that intersect.
template <class T>
struct nearness {
  T squared;  ///< distance * distance; infinite: any
  T widest;   ///< the widest gap on an axis; infinite: any

  /// Gaps are those between [a_low, a_high] and [b_low, b_high]; of points and boxes alike.
  template <unsigned D>
  ZENITH_FN bool takes(const T (&a_low)[D], const T (&a_high)[D], const T (&b_low)[D], const T (&b_high)[D]) const {
    T sum = 0;
    T wide = 0;
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) {
      const T before = b_low[a] - a_high[a];
      const T behind = a_low[a] - b_high[a];
      const T one = before < behind ? behind : before;
      const T gap = one < T{0} ? T{0} : one;
      wide = wide < gap ? gap : wide;
      sum = a == 0 ? gap * gap : sum + gap * gap;
    }
    return sum <= squared && wide <= widest;
  }
};

/// Columns of boxes, one of them a node or an item.
template <class T, unsigned D>
struct box_columns {
  const T* low[D];
  const T* high[D];
  const T* best;  ///< the best score in a node, or the item's

  ZENITH_FN box<T, D> get(u64 i) const {
    box<T, D> one;
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) {
      one.low[a] = low[a][i];
      one.high[a] = high[a][i];
    }
    return one;
  }
};

/// Which of `count` entries from `begin` on, at most 64, are near a box: bit j is that of entry begin + j. Sixteen at a
/// time in a loop without branches, which compilers vectorise.
template <class T, unsigned D>
ZENITH_FN u64 near_entries(const nearness<T>& near, const box<T, D>& one, const box_columns<T, D>& columns, u64 begin,
                           u32 count) {
  using word = ordered::bits_t<T>;
  constexpr u32 some = 16;
  u64 all = 0;
  u32 done = 0;
  for (; done + some <= count; done += some) {
    word found = 0;
    for (u32 j = 0; j < some; ++j) {
      const u64 i = begin + done + j;
      T sum = 0;
      T wide = 0;
      ZENITH_UNROLLED
      for (unsigned a = 0; a < D; ++a) {
        const T before = columns.low[a][i] - one.high[a];
        const T behind = one.low[a] - columns.high[a][i];
        const T larger = before < behind ? behind : before;
        const T gap = larger < T{0} ? T{0} : larger;
        wide = wide < gap ? gap : wide;
        sum = a == 0 ? gap * gap : sum + gap * gap;
      }
      const word is_close = sum <= near.squared ? word{1} : word{0};
      const word is_narrow = wide <= near.widest ? word{1} : word{0};
      found |= (is_close & is_narrow) << j;
    }
    all |= static_cast<u64>(found) << done;
  }
  for (; done < count; ++done) {
    const auto other = columns.get(begin + done);
    if (near.takes(one.low, one.high, other.low, other.high)) all |= u64{1} << done;
  }
  return all;
}

template <class T, unsigned D>
struct tree_view {
  box_columns<T, D> nodes;
  box_columns<T, D> items;
  const u32* ids;
  u64 count;  ///< of items
  u32 fanout;
  u32 levels;
  u64 begins[most_index_levels + 1];
  u64 sizes[most_index_levels + 1];

  /// Entries of a level; of level 0 they are the items.
  ZENITH_FN u64 entries(u32 level) const { return sizes[level]; }
  /// The root's place in the columns of nodes.
  ZENITH_FN u64 root() const { return begins[levels]; }
  ZENITH_FN const box_columns<T, D>& columns(u32 level) const { return level == 0 ? items : nodes; }
  /// Where a level's entries begin in its columns.
  ZENITH_FN u64 begin(u32 level) const { return level == 0 ? 0 : begins[level]; }
};

/// How many nodes each level has and where it begins.
template <class Tree>
ZENITH_FN void number_levels(Tree& tree, u64 items, bool leaves_first) {
  u32 levels = 0;
  tree.sizes[0] = items;
  while (items > 0 && (levels == 0 || tree.sizes[levels] > 1)) {
    tree.sizes[levels + 1] = (tree.sizes[levels] + tree.fanout - 1) / tree.fanout;
    ++levels;
  }
  tree.levels = levels;
  u64 nodes = 0;
  for (u32 i = 0; i < levels; ++i) {
    const u32 level = leaves_first ? i + 1 : levels - i;
    tree.begins[level] = nodes;
    nodes += tree.sizes[level];
  }
  tree.begins[0] = nodes;
}

}  // namespace zenith::spatial_index_family
