#pragma once

/// \file
/// `bskytree`: recursive partitions by balanced pivots (Lee, Hwang: Scalable skyline computation using a balanced pivot
/// selection technique, Information Systems 2014). A pivot gives every other point of its partition a mask: the columns
/// in which it is not before the pivot. A point can be dominated only by points whose masks are subsets of its own. So
/// the points of a mask, a region, are compared with the regions of its subsets, and what is left is a partition again.
///
/// The skyline is a tree: a node is a pivot, its children are the pivots of its regions. Nodes are made in preorder, in
/// the memory of the points: those found lie in front of those that are not yet looked at. No function calls itself,
/// and the depth is bounded: regions of the deepest level are not partitioned further.

#include <algorithms/skyline/dominance.hpp>
#include <algorithms/skyline/grid.hpp>
#include <algorithms/skyline/image_lanes.hpp>
#include <algorithms/skyline/points.hpp>

namespace zenith::skyline_family {

/// Columns in which point q is not before point p, a bit each. Both may be read up to `row_padding` bytes behind their
/// ends.
inline constexpr u32 row_padding = 64;
template <class Image>
ZENITH_FN u64 columns_not_before(const Image* q, const Image* p, u32 columns) {
  u64 mask = 0;
#if defined(ZENITH_SKYLINE_PLAIN_LANES) || !defined(__AVX2__)
  for (u32 c = 0; c < columns; ++c) mask |= u64{q[c] >= p[c] ? 1U : 0U} << c;
#else
  if constexpr (sizeof(Image) == 4) {
    u32 c = 0;
#if defined(__AVX512F__)
    for (; c + 8 < columns; c += 16) {
      mask |= u64{_mm512_cmpge_epu32_mask(_mm512_loadu_si512(q + c), _mm512_loadu_si512(p + c))} << c;
    }
#endif
    for (; c < columns; c += 8) {
      const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q + c));
      const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + c));
      const __m256i is = _mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a);
      mask |= u64{static_cast<u32>(_mm256_movemask_ps(_mm256_castsi256_ps(is)))} << c;
    }
  } else {
    for (u32 c = 0; c < columns; c += 4) {
      const __m256i sign = _mm256_set1_epi64x(static_cast<long long>(u64{1} << 63));
      const __m256i a = _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(q + c)), sign);
      const __m256i b = _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + c)), sign);
      const auto before = static_cast<u32>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(b, a))));
      mask |= u64{before ^ 15U} << c;
    }
  }
#endif
  return columns < 64 ? mask & ((u64{1} << columns) - 1) : mask;
}

/// Which of some masks have nothing in common with `lacks`, a bit each. There may be fewer than are read.
inline constexpr u32 masks_at_once = 16;
ZENITH_FN u32 masks_without(const u32* masks, u32 count, u32 lacks) {
  u32 found = 0;
#if !defined(ZENITH_SKYLINE_PLAIN_LANES) && defined(__AVX512F__)
  found = _mm512_testn_epi32_mask(_mm512_loadu_si512(masks), _mm512_set1_epi32(static_cast<int>(lacks)));
#elif !defined(ZENITH_SKYLINE_PLAIN_LANES) && defined(__AVX2__)
  const __m256i by = _mm256_set1_epi32(static_cast<int>(lacks));
  for (u32 at = 0; at < masks_at_once; at += 8) {
    const __m256i some = _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(masks + at)), by);
    const __m256i is = _mm256_cmpeq_epi32(some, _mm256_setzero_si256());
    found |= static_cast<u32>(_mm256_movemask_ps(_mm256_castsi256_ps(is))) << at;
  }
#else
  for (u32 i = 0; i < masks_at_once && i < count; ++i) found |= ((masks[i] & lacks) == 0 ? 1U : 0U) << i;
#endif
  return count < masks_at_once ? found & ((1U << count) - 1) : found;
}

/// Finds the skyline of points that lie row by row, by one worker.
///
/// Positions of points are those in `values`. Every array has `count` elements, and `row_padding` bytes behind them.
template <class Image, u32 Levels = 48>
struct find_by_region_tree {
  static constexpr u64 item_cost = u64{1} << 32;
  static constexpr u32 most_levels = Levels;
  static_assert(most_levels >= 2);
  static constexpr u32 pivot_samples = 512;
  static constexpr u32 most_images = 64;
  static constexpr u64 few = 32;  ///< points that are sorted by insertion

  Image* values;
  u32* rows;
  u64 count;
  u32 columns;
  u32* masks;        ///< of a point, by the pivot of its partition; then of a node, how many children it has
  u32* order;        ///< where points come from, for a sort; then of a node, where its children begin
  u32* child_masks;  ///< children of closed nodes from the front on, of open ones from the end on
  u32* child_nodes;
  u8* members;
  bool keeps_twins;
  u64* partitions;  ///< how many there were
  test_counters counters;

  ZENITH_FN void operator()(u64 /*i*/) const {
    progress now{0, 0, count, 0, 0, 0};
    open_node levels[most_levels];
    levels[0] = partition(now, 0, count, regions::apart);
    for (u32 level = 0;;) {
      open_node& here = levels[level];
      if (here.at == here.end) {
        close(now, here);
        if (level == 0) break;
        --level;
        continue;
      }
      const u64 begin = here.at;
      const u32 mask = masks[begin];
      u64 end = begin + 1;
      while (end < here.end && masks[end] == mask) ++end;
      here.at = end;
      end = filter(now, here, mask, begin, end);
      if (begin == end) continue;
      const u64 child = here.children + here.count++;
      child_masks[child] = mask;
      child_nodes[child] = static_cast<u32>(now.nodes);
      if (end - begin == 1) {
        (void)confirm(now, begin, rows[begin]);
        continue;
      }
      const bool is_deepest = level + 1 == most_levels;
      const auto below = partition(now, begin, end,
                                   is_deepest                 ? regions::none
                                   : level + 2 == most_levels ? regions::one_a_point
                                                              : regions::apart);
      if (below.at == below.end) continue;
      if (is_deepest) {
        // what the pivot leaves is the region once more
        const u64 rest = below.end - below.at;
        here.at -= rest;
        for (u64 i = rest; i-- > 0;) {
          move(below.at + i, here.at + i);
          masks[here.at + i] = mask;
        }
      } else {
        levels[++level] = below;
      }
    }
    *partitions = now.partitions;
    counters.dominance.add(now.tests);
    counters.masks.add(now.mask_tests);
  }

 private:
  struct progress {
    u64 nodes;  ///< found so far, at the front
    u64 low;    ///< children of closed nodes
    u64 high;   ///< where children of open nodes begin
    u64 tests;
    u64 mask_tests;
    u64 partitions;
  };

  /// What becomes of the points that a pivot leaves: nothing, regions, or regions of which each may have as many
  /// children as points.
  enum class regions : u8 { none, apart, one_a_point };

  /// A node whose regions are being looked at.
  struct open_node {
    u64 node;
    u64 at;  ///< the next region begins here
    u64 end;
    u64 children;  ///< where they begin
    u64 count;     ///< of children
    u64 reserved;
  };

  ZENITH_FN Image* row(u64 i) const { return values + i * columns; }
  ZENITH_FN u64 all_columns() const { return columns < 64 ? (u64{1} << columns) - 1 : ~u64{0}; }

  ZENITH_FN void move(u64 from, u64 to) const {
    if (from == to) return;
    __builtin_memcpy(row(to), row(from), columns * sizeof(Image));
    rows[to] = rows[from];
  }
  ZENITH_FN void exchange(u64 a, u64 b) const {
    if (a == b) return;
    for (u32 c = 0; c < columns; ++c) {
      const Image value = row(a)[c];
      row(a)[c] = row(b)[c];
      row(b)[c] = value;
    }
    const u32 other = rows[a];
    rows[a] = rows[b];
    rows[b] = other;
  }

  /// Point i becomes a node without children, and `member` a member.
  ZENITH_FN u64 confirm(progress& now, u64 i, u32 member) const {
    members[member] = marked;
    move(i, now.nodes);
    masks[now.nodes] = 0;
    return now.nodes++;
  }

  /// The children of a node to their place.
  ZENITH_FN void close(progress& now, const open_node& of) const {
    for (u64 i = 0; i < of.count; ++i) {
      child_masks[now.low + i] = child_masks[of.children + i];
      child_nodes[now.low + i] = child_nodes[of.children + i];
    }
    order[of.node] = static_cast<u32>(now.low);
    masks[of.node] = static_cast<u32>(of.count);
    now.low += of.count;
    now.high += of.reserved;
  }

  /// Points [begin, end) of one region of a node against its children; returns the end of those that are left. All
  /// points against one child, whose part of the tree stays in the first caches, and then against the next.
  ZENITH_FN u64 filter(progress& now, const open_node& of, u32 mask, u64 begin, u64 end) const {
    now.mask_tests += of.count;
    for (u64 at = 0; at < of.count && begin < end; at += masks_at_once) {
      const u64 first = of.children + at;
      u32 found = masks_without(child_masks + first, static_cast<u32>(of.count - at), ~mask);
      for (; found != 0; found &= found - 1) {
        const u32 node = child_nodes[first + lowest_bit(found)];
        u64 left = begin;
        for (u64 i = begin; i < end; ++i) {
          if (is_dominated(now, row(i), node)) continue;
          move(i, left);
          ++left;
        }
        end = left;
      }
    }
    return end;
  }

  /// Whether a node or one below it dominates the point. None equals it: equal points are in one region.
  ZENITH_FN bool is_dominated(progress& now, const Image* point, u32 node) const {
    struct {
      u32 at;
      u32 end;
      u32 lacks;
      u32 found;
    } above[most_levels + 1];
    const u64 all = all_columns();
    u32 level = 0;
    u32 at = 0;  // of the children that are looked at
    u32 end = 0;
    u32 lacks = 0;  // columns in which the point is before their parent
    u32 found = 0;  // those of them, in a word, that are to be visited
    for (;;) {
      ++now.tests;
      const u64 reached = columns_not_before(point, row(node), columns);
      if (reached == all) return true;
      const u32 below = masks[node];
      if (below != 0) {
        if (found != 0 || at + masks_at_once < end) above[level++] = {at, end, lacks, found};
        lacks = ~static_cast<u32>(reached);
        at = order[node];
        end = at + below;
        now.mask_tests += below;
        found = masks_without(child_masks + at, below, lacks);
      }
      while (found == 0) {
        if (at + masks_at_once < end) {
          at += masks_at_once;
          found = masks_without(child_masks + at, end - at, lacks);
        } else {
          if (level == 0) return false;
          const auto& back = above[--level];
          at = back.at;
          end = back.end;
          lacks = back.lacks;
          found = back.found;
        }
      }
      node = child_nodes[at + lowest_bit(found)];
      found &= found - 1;
    }
  }

  /// Makes a node of a pivot of points [begin, end), removes what it dominates, and brings the others into the order of
  /// their masks if they are to be regions.
  ZENITH_FN open_node partition(progress& now, u64 begin, u64 end, regions into) const {
    ++now.partitions;
    exchange(begin, choose_pivot(now, begin, end));
    const Image* const pivot = row(begin);
    const u64 all = all_columns();
    u32 member = rows[begin];
    u64 left = begin + 1;
    now.tests += end - left;
    for (u64 i = begin + 1; i < end; ++i) {
      const u64 reached = columns_not_before(row(i), pivot, columns);
      if (reached == all) {
        if (columns_not_before(pivot, row(i), columns) != all) continue;
        if (keeps_twins) {
          members[rows[i]] = marked;
        } else {
          member = rows[i] < member ? rows[i] : member;
        }
        continue;
      }
      masks[left] = static_cast<u32>(reached);
      move(i, left);
      ++left;
    }
    open_node made{0, begin + 1, left, 0, 0, 0};
    if (into != regions::none && made.at < left) {
      sort(now, made.at, left - made.at);
      made.reserved = 1;
      for (u64 i = made.at + 1; i < left; ++i) {
        made.reserved += into == regions::one_a_point || masks[i] != masks[i - 1] ? 1 : 0;
      }
      now.high -= made.reserved;
      made.children = now.high;
    }
    made.node = confirm(now, begin, member);
    return made;
  }

  /// A point that none of [begin, end) dominates: the one whose values differ least in how far they are along their
  /// columns' ranges, or one that dominates it.
  ZENITH_FN u64 choose_pivot(progress& now, u64 begin, u64 end) const {
    const u64 all = all_columns();
    u64 best = end - begin > 3 ? most_balanced(begin, end - begin) : begin;
    now.tests += end - begin;
    for (u64 i = begin; i < end; ++i) {
      // no point before this one dominates it: that would have dominated the earlier choice, and been chosen
      if (columns_not_before(row(best), row(i), columns) != all) continue;
      if (columns_not_before(row(i), row(best), columns) != all) best = i;
    }
    return best;
  }
  ZENITH_FN u64 most_balanced(u64 begin, u64 n) const {
    const u64 samples = n < pivot_samples ? n : pivot_samples;
    Image low[most_images];
    Image high[most_images];
    float factor[most_images];
    for (u32 c = 0; c < columns; ++c) low[c] = high[c] = row(begin)[c];
    for (u64 s = 1; s < samples; ++s) {
      const Image* const point = row(begin + s * n / samples);
      for (u32 c = 0; c < columns; ++c) {
        low[c] = point[c] < low[c] ? point[c] : low[c];
        high[c] = point[c] > high[c] ? point[c] : high[c];
      }
    }
    for (u32 c = 0; c < columns; ++c) factor[c] = high[c] > low[c] ? 1 / static_cast<float>(high[c] - low[c]) : 0;
    u64 best = begin;
    float best_range = 2;
    for (u64 s = 0; s < samples; ++s) {
      const u64 i = begin + s * n / samples;
      float least = 2;
      float most = -1;
      for (u32 c = 0; c < columns; ++c) {
        const float share = static_cast<float>(row(i)[c] - low[c]) * factor[c];
        least = share < least ? share : least;
        most = share > most ? share : most;
      }
      if (most - least < best_range) {
        best_range = most - least;
        best = i;
      }
    }
    return best;
  }

  /// Points [first, first + n) by rising masks.
  ZENITH_FN void sort(const progress& now, u64 first, u64 n) const {
    u32* const keys = masks + first;
    u32* const from = order + first;
    for (u64 i = 0; i < n; ++i) from[i] = static_cast<u32>(i);
    if (n <= few) {
      sort_few(keys, from, n);
    } else {
      sort_by_digits(keys, from, child_masks + now.low, child_nodes + now.low, n);
    }
    Image point[most_images];
    for (u64 i = 0; i < n; ++i) {
      if (from[i] == i) continue;
      // a cycle of points that take each other's places
      __builtin_memcpy(point, row(first + i), columns * sizeof(Image));
      const u32 point_row = rows[first + i];
      u64 to = i;
      while (from[to] != i) {
        const u64 next = from[to];
        from[to] = static_cast<u32>(to);
        move(first + next, first + to);
        to = next;
      }
      from[to] = static_cast<u32>(to);
      __builtin_memcpy(row(first + to), point, columns * sizeof(Image));
      rows[first + to] = point_row;
    }
  }
  ZENITH_FN static void sort_few(u32* keys, u32* from, u64 n) {
    for (u64 i = 1; i < n; ++i) {
      const u32 key = keys[i];
      const u32 one = from[i];
      u64 to = i;
      for (; to > 0 && keys[to - 1] > key; --to) {
        keys[to] = keys[to - 1];
        from[to] = from[to - 1];
      }
      keys[to] = key;
      from[to] = one;
    }
  }
  ZENITH_FN static void sort_by_digits(u32* keys, u32* from, u32* other_keys, u32* other_from, u64 n) {
    constexpr u32 digits = 256;
    u32 differ = 0;
    for (u64 i = 1; i < n; ++i) differ |= keys[i] ^ keys[0];
    bool is_moved = false;
    for (u32 shift = 0; shift < 32; shift += 8) {
      if ((differ >> shift) % digits == 0) continue;
      u32 places[digits] = {};
      for (u64 i = 0; i < n; ++i) ++places[(keys[i] >> shift) % digits];
      u32 sum = 0;
      for (u32 digit = 0; digit < digits; ++digit) {
        const u32 here = places[digit];
        places[digit] = sum;
        sum += here;
      }
      for (u64 i = 0; i < n; ++i) {
        const u32 to = places[(keys[i] >> shift) % digits]++;
        other_keys[to] = keys[i];
        other_from[to] = from[i];
      }
      u32* const old_keys = keys;
      keys = other_keys;
      other_keys = old_keys;
      u32* const old_from = from;
      from = other_from;
      other_from = old_from;
      is_moved = !is_moved;
    }
    for (u64 i = 0; is_moved && i < n; ++i) {
      other_keys[i] = keys[i];
      other_from[i] = from[i];
    }
  }
};

}  // namespace zenith::skyline_family
