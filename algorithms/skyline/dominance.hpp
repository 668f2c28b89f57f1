#pragma once

/// \file
/// Dominance tests. A point q reaches p when no value of it is larger: then it dominates p or equals it.

#include <algorithms/skyline/points.hpp>
#include <core/device/atomics.hpp>

namespace zenith::skyline_family {

enum class relation : u8 { none, equals, dominates };

/// Whether one of `Count` points of a window reaches `point`. Without branches inside: compilers make registers of the
/// lanes, and tests that stop early cost more in mispredicted branches than they save.
template <u32 Count, class Image, unsigned Columns>
ZENITH_FN bool any_of_reaches(const Image* window, u64 stride, const Image (&point)[Columns]) {
  Image found = 0;
  for (u64 i = 0; i < Count; ++i) {
    Image all = 1;
    ZENITH_UNROLLED
    for (u32 c = 0; c < Columns; ++c) all &= static_cast<Image>(window[c * stride + i] <= point[c] ? 1 : 0);
    found |= all;
  }
  return found != 0;
}

/// The same of n <= 64 points.
template <class Image, unsigned Columns>
ZENITH_FN bool any_reaches(const Image* window, u64 stride, u64 n, const Image (&point)[Columns]) {
  if (n == 64) return any_of_reaches<64>(window, stride, point);
  Image found = 0;
  for (u64 i = 0; i < n; ++i) {
    Image all = 1;
    ZENITH_UNROLLED
    for (u32 c = 0; c < Columns; ++c) all &= static_cast<Image>(window[c * stride + i] <= point[c] ? 1 : 0);
    found |= all;
  }
  return found != 0;
}

/// Whether one of `Count` points of a window dominates `point`.
template <u32 Count, class Image, unsigned Columns>
ZENITH_FN bool any_dominates(const Image* window, u64 stride, const Image (&point)[Columns]) {
  Image found = 0;
  for (u64 i = 0; i < Count; ++i) {
    Image all = 1;
    Image some = 0;
    ZENITH_UNROLLED
    for (u32 c = 0; c < Columns; ++c) {
      all &= static_cast<Image>(window[c * stride + i] <= point[c] ? 1 : 0);
      some |= static_cast<Image>(window[c * stride + i] != point[c] ? 1 : 0);
    }
    found |= all & some;
  }
  return found != 0;
}

/// What the window's point at `other` is to `point`.
template <class Image, unsigned Columns>
ZENITH_FN relation compare_point(const Image* other, u64 stride, const Image (&point)[Columns]) {
  bool is_equal = true;
  for (u32 c = 0; c < Columns; ++c) {
    const Image value = other[c * stride];
    if (value > point[c]) return relation::none;
    is_equal = is_equal && value == point[c];
  }
  return is_equal ? relation::equals : relation::dominates;
}

/// The same of two points in columns.
template <class Image>
ZENITH_FN relation compare_points(const Image* other, u64 other_stride, const Image* point, u64 stride, u32 columns) {
  bool is_equal = true;
  for (u32 c = 0; c < columns; ++c) {
    const Image value = other[c * other_stride];
    if (value > point[c * stride]) return relation::none;
    is_equal = is_equal && value == point[c * stride];
  }
  return is_equal ? relation::equals : relation::dominates;
}

/// Four values that move in one access, or in two.
template <class Image>
struct alignas(16) four_values {
  Image value[4];
};

/// The same of two points whose values lie side by side, where a load takes long, and many of them no longer than one:
/// those of four columns are under way at once.
template <class Image>
ZENITH_FN relation compare_rows_by_fours(const Image* other, const Image* point, u32 columns) {
  bool is_equal = true;
  const bool is_aligned = columns % 4 == 0;
  for (u32 first = 0; first < columns; first += 4) {
    four_values<Image> theirs;
    four_values<Image> own;
    if (is_aligned) {
      theirs = *reinterpret_cast<const four_values<Image>*>(other + first);
      own = *reinterpret_cast<const four_values<Image>*>(point + first);
    } else {
      ZENITH_UNROLLED
      for (u32 k = 0; k < 4; ++k) {
        const u32 c = first + k < columns ? first + k : columns - 1;  // the last again
        theirs.value[k] = other[c];
        own.value[k] = point[c];
      }
    }
    bool is_larger = false;
    ZENITH_UNROLLED
    for (u32 k = 0; k < 4; ++k) {
      is_larger = is_larger || theirs.value[k] > own.value[k];
      is_equal = is_equal && theirs.value[k] == own.value[k];
    }
    if (is_larger) return relation::none;
  }
  return is_equal ? relation::equals : relation::dominates;
}

/// Candidates against a window of points. Both are in an order in which no point is dominated by, or equal to, one
/// behind it.
///
/// Of a window of confirmed points, no two are equal and none dominates another. So the first that reaches a candidate
/// decides: if it equals it, no other one can dominate it. When the window is the first of the candidates themselves,
/// or all of them, each is compared with those of it that stand before it, and a twin may be dominated together with
/// its like. But what dominates both stands before that one, so that here, too, the first that reaches a candidate
/// decides if the window is read in its order, as hosts do.
template <class Image>
struct filter_request {
  using state = u8;
  static constexpr u32 tile = 128;  // candidates of a team

  point_set<Image> candidates;
  u64 count = 0;
  point_set<Image> window;
  u64 window_count = 0;
  bool is_itself = false;
  bool goes_on = false;  ///< states are known by other points of the window's order (`filter_rows` alone asks)
  const u64* window_masks = nullptr;  ///< of its tiles; nullptr: no mask tests
  u8* states = nullptr;               ///< of the candidates: written
  u8* members = nullptr;              ///< of the rows, for twins of confirmed points; nullptr: twins are left out
  test_counters counters;

  /// How many pairs of a candidate and a point of the window there are. Most candidates are decided by its first
  /// points.
  [[nodiscard]] u64 pairs() const { return count * window_count - (is_itself ? window_count * window_count / 2 : 0); }
  /// How much of the window candidate i is compared with.
  ZENITH_FN u64 window_of(u64 i) const { return is_itself && i < window_count ? i : window_count; }
  ZENITH_FN bool is_decided(u8 known) const { return known != open; }
  /// Candidates that no point of the window has reached.
  [[nodiscard]] is_open survivors() const { return {states}; }
  /// The window begins with so many fewer points.
  void skip_window(u64 /*points*/) const {}
  /// The state after a point was found that equals or dominates the candidate.
  ZENITH_FN u8 after(relation found, u8 before) const {
    return found == relation::dominates ? u8{dominated} : found == relation::equals ? u8{twin} : before;
  }
  ZENITH_FN void write(u64 i, u8 known) const {
    states[i] = known;
    // copies that fill a partition up have its last point's row, and may be another team's
    if (known == twin && members != nullptr) device::atomic_store(members + candidates.rows[i], u8{marked});
  }
};

/// Points of the window that are compared at once by values.
inline constexpr u32 value_tile = 64;

/// The filter by values, where masks cannot tell. The window is read in its order, so the first that reaches a
/// candidate decides there, too: what dominates a twin dominates its like, and stands before that.
template <class Image, unsigned Columns>
struct filter_by_points {
  using request = filter_request<Image>;
  static constexpr u32 scratch_bytes = request::tile;
  static constexpr u64 step = value_tile;
  static constexpr u64 chunk = 512;  // of the window, read for all candidates of the team while it is in fast memory

  request of;

  [[nodiscard]] u64 launch_cost(u64 /*n*/) const { return of.count * 64 + of.pairs() * Columns; }
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * request::tile;
    const u64 n = of.count - first < request::tile ? of.count - first : request::tile;
    u8* const states = team.template scratch<u8>();
    team.for_each(n, [&](u64 i) ZENITH_BODY { states[i] = open; });
    team.barrier();
    const u64 end = of.window_of(first + n);
    for (u64 at = 0; at < end; at += chunk) {
      team.for_each(n, [&](u64 i) ZENITH_BODY {
        if (states[i] != open) return;
        const u64 all = of.window_of(first + i);
        if (all > at) states[i] = test(first + i, at, all - at < chunk ? all : at + chunk, states[i]);
      });
      team.barrier();
      if (!team.any(n, [&](u64 i) ZENITH_BODY { return states[i] == open; })) break;
    }
    team.for_each(n, [&](u64 i) ZENITH_BODY { of.write(first + i, states[i]); });
  }

  /// Candidate i against points [at, end) of the window.
  ZENITH_FN u8 test(u64 i, u64 at, u64 end, u8 state) const {
    Image point[Columns];
    ZENITH_UNROLLED
    for (u32 c = 0; c < Columns; ++c) point[c] = of.candidates.values[c * of.candidates.stride + i];
    u64 tests = 0;
    u64 mask_tests = 0;
    for (; at < end; at += step) {
      if (of.window_masks != nullptr) {
        ++mask_tests;
        // all of the tile are behind a cut that the candidate is before
        if ((of.window_masks[at / step] & ~of.candidates.masks[i]) != 0) continue;
      }
      const u64 n = end - at < step ? end - at : step;
      tests += n;
      const Image* const window = of.window.values + at;
      if (!any_reaches(window, of.window.stride, n, point)) continue;
      for (u64 j = 0; j < n && state == open; ++j) {
        state = of.after(compare_point(window + j, of.window.stride, point), state);
      }
      if (state != open) break;
    }
    of.counters.dominance.add(tests);
    of.counters.masks.add(mask_tests);
    return state;
  }
};

}  // namespace zenith::skyline_family
