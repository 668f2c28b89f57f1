#pragma once

/// \file
/// Two levels of masks (Chester, Šidlauskas, Assent, Bøgh: Scalable parallelization of skyline computation for
/// multi-core processors, ICDE 2015). Points of a window with the same mask of the median are a partition; its first
/// point is its pivot, and every other one has a mask that says in which columns it is not before the pivot. The tree
/// of partitions, pivots and points is three arrays.

#include <algorithms/skyline/dominance.hpp>
#include <algorithms/skyline/grid.hpp>

namespace zenith::skyline_family {

/// Partitions of a window in the order of the grid.
struct window_partitions {
  u32* begins = nullptr;  ///< where each begins
  u32* count = nullptr;   ///< how many they are
  u64* masks = nullptr;   ///< of every point, by its pivot: the bits from `shift` on
  u32 shift = 0;
  u64 median = 0;  ///< the bits that points of a partition share
};

/// Masks of the points from `first` on by their pivots.
template <class Image>
struct write_pivot_masks {
  static constexpr u64 item_cost = 256;

  point_set<Image> window;
  window_partitions to;
  u64 first;

  ZENITH_FN void operator()(u64 i) const {
    const u64 point = first + i;
    u64 low = 0;  // the last partition that does not begin behind it
    for (u64 rest = *to.count; rest > 1;) {
      const u64 half = rest / 2;
      if (to.begins[low + half] <= point) low += half;
      rest -= half;
    }
    const u64 pivot = to.begins[low];
    u64 mask = 0;
    for (u32 c = 0; c < window.columns; ++c) {
      const Image* const column = window.values + c * window.stride;
      mask |= u64{column[point] >= column[pivot] ? 1U : 0U} << c;
    }
    to.masks[point] = to.shift == 0 ? mask : mask << to.shift | (to.masks[point] & to.median);
  }
};

/// The filter by two levels of masks. The window is read in its order, so the first that reaches a candidate decides.
template <class Image>
struct filter_by_partitions {
  using request = filter_request<Image>;

  request of;
  window_partitions partitions;

  [[nodiscard]] u64 launch_cost(u64 /*n*/) const { return of.count * 64 + of.pairs() * of.window.columns; }
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * request::tile;
    const u64 n = of.count - first < request::tile ? of.count - first : request::tile;
    team.for_each(n, [&](u64 i) ZENITH_BODY { of.write(first + i, test(first + i)); });
  }

  ZENITH_FN u8 test(u64 i) const {
    const u64 all = of.window_of(i);
    const u64 lacks = ~of.candidates.masks[i] & partitions.median;
    const u64 count = *partitions.count;
    u64 tests = 0;
    u64 mask_tests = 0;
    relation found = relation::none;
    for (u64 p = 0; p < count && found == relation::none; ++p) {
      const u64 begin = partitions.begins[p];
      if (begin >= all) break;
      ++mask_tests;
      if ((of.window.masks[begin] & lacks) != 0) continue;
      const u64 next = p + 1 < count ? partitions.begins[p + 1] : all;
      found = compare(i, begin, next < all ? next : all, tests, mask_tests);
    }
    of.counters.dominance.add(tests);
    of.counters.masks.add(mask_tests);
    return of.after(found, open);
  }

  /// Candidate i against points [begin, end) of a partition, the first of which is its pivot.
  ZENITH_FN relation compare(u64 i, u64 begin, u64 end, u64& tests, u64& mask_tests) const {
    const auto& point = of.candidates;
    u64 before = 0;  // columns in which the candidate is before the pivot
    bool is_equal = true;
    for (u32 c = 0; c < point.columns; ++c) {
      const Image value = point.values[c * point.stride + i];
      const Image pivot = of.window.values[c * of.window.stride + begin];
      before |= u64{value < pivot ? 1U : 0U} << c;
      is_equal = is_equal && value == pivot;
    }
    ++tests;
    if (before == 0) return is_equal ? relation::equals : relation::dominates;
    mask_tests += end - begin - 1;
    for (u64 other = begin + 1; other < end; ++other) {
      if ((partitions.masks[other] >> partitions.shift & before) != 0) continue;
      ++tests;
      const relation found =
          compare_points(of.window.values + other, of.window.stride, point.values + i, point.stride, point.columns);
      if (found != relation::none) return found;
    }
    return relation::none;
  }
};

}  // namespace zenith::skyline_family
