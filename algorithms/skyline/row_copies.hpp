#pragma once

/// \file
/// Equal rows of a host's table. They are found once, in the order of the points: equal ones have equal sums, and so
/// only points beside one with the same sum are asked.

#include <algorithms/skyline/grid.hpp>
#include <algorithms/skyline/points.hpp>
#include <algorithms/skyline/row_filter.hpp>
#include <core/device/atomics.hpp>
#include <core/device/bisect.hpp>
#include <core/device/list.hpp>

namespace zenith::skyline_family {

/// Flags of points that are beside one with the same sum: then 0, else 1.
template <class Image>
struct mark_untied {
  static constexpr u64 item_cost = 128;

  const Image* values;  ///< row by row
  u32 columns;
  u64 count;
  u8* flags;

  ZENITH_FN void operator()(u64 i) const {
    const auto own = sum_of(i);
    const bool is_tied = (i > 0 && same(own, sum_of(i - 1))) || (i + 1 < count && same(own, sum_of(i + 1)));
    flags[i] = is_tied ? 0 : 1;
  }

 private:
  ZENITH_FN exact_sum<Image> sum_of(u64 i) const {
    exact_sum<Image> sum;
    for (u32 c = 0; c < columns; ++c) sum.add(values[i * columns + c]);
    return sum;
  }
  ZENITH_FN static bool same(const exact_sum<Image>& a, const exact_sum<Image>& b) {
    return a.high == b.high && a.low == b.low;
  }
};

/// A number that equal points have in common, and others hardly ever.
template <class Image>
struct hash_points {
  static constexpr u64 item_cost = 128;

  const Image* values;
  u32 columns;
  const u32* points;
  u32* hashes;

  ZENITH_FN void operator()(u64 i) const {
    u64 hash = 0;
    for (u32 c = 0; c < columns; ++c) hash = hash_with(hash, values[u64{points[i]} * columns + c]);
    hashes[i] = static_cast<u32>(hash >> 32);
  }
};

struct name_points {
  u32* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = static_cast<u32>(i); }
};

/// The first point that equals each of some. They are sorted by their hashes, and by their places where those are
/// equal.
template <class Image>
struct find_first_equals {
  static constexpr u64 item_cost = 256;

  const Image* values;
  u32 columns;
  const u32* hashes;
  const u32* points;
  u32* firsts;  ///< by point
  u32* found;   ///< becomes 1 when a point is not its own

  ZENITH_FN void operator()(u64 i) const {
    const u32 hash = hashes[i];
    const u64 begin = device::first_failing(i, [&](u64 k) ZENITH_BODY { return hashes[k] < hash; });
    const Image* const own = values + u64{points[i]} * columns;
    for (u64 k = begin; k < i; ++k) {
      if (compare_rows(values + u64{points[k]} * columns, own, columns) != relation::equals) continue;
      firsts[points[i]] = points[k];
      device::atomic_store(found, 1U);
      return;
    }
  }
};

struct begin_weights {
  u32* weights;

  ZENITH_FN void operator()(u64 i) const { weights[i] = 1; }
};
struct weigh_points {
  const u32* firsts;
  u32* weights;

  ZENITH_FN void operator()(u64 i) const {
    if (firsts[i] != i) (void)device::atomic_add(weights + firsts[i], 1U);
  }
};

/// Counts at the beginning: points that equal one before them are left out.
struct leave_copies_out {
  const u32* firsts;
  u64 first;  ///< point
  u32 most;
  u32* counts;

  ZENITH_FN void operator()(u64 i) const { counts[i] = firsts[first + i] == first + i ? 0 : most; }
};

/// Rows that equal one of the band belong to it, too.
struct confirm_copies {
  const u32* rows;
  const u32* firsts;
  u8* members;
  u32* dominated_by;

  ZENITH_FN void operator()(u64 i) const {
    const u32 first = rows[firsts[i]];
    // members of other items are written meanwhile, but none that is a first of its like
    if (firsts[i] == i || members[first] != marked) return;
    members[rows[i]] = marked;
    dominated_by[rows[i]] = dominated_by[first];
  }
};

template <class Image>
using copy_kernels = device::list<mark_untied<Image>, hash_points<Image>, find_first_equals<Image>>;
using copy_kernels_of_all = device::list<name_points, begin_weights, weigh_points, leave_copies_out, confirm_copies>;

namespace detail {

/// Points that equal one before them.
struct point_copies {
  const u32* firsts = nullptr;  ///< the first that equals a point; nullptr: no two are equal
  u32* weights = nullptr;       ///< of the first ones: how many rows they stand for; nullptr: each for one
};

/// By point the first that equals it, itself if there is none before it: `some` of `count` points, ascending, are
/// asked. nullptr: no two are equal. The lists are lost.
template <class Context, class Image>
[[nodiscard]] u32* find_equals(Context& on, const Image* values, u32 columns, u64 count, u32* asked, u64 some,
                               u32* hashes) {
  on.for_each(some, hash_points<Image>{values, columns, asked, hashes});
  on.sort_pairs(hashes, asked, some);
  u32* const firsts = on.template buffer<u32>(count);
  u32* const found = on.template zeroed<u32>(1);
  on.for_each(count, name_points{firsts});
  on.for_each(some, find_first_equals<Image>{values, columns, hashes, asked, firsts, found});
  if (on.read(static_cast<const u32*>(found)) != 0) return firsts;
  on.release(firsts);
  return nullptr;
}

/// Those among points that lie row by row in the order of the grid. `spare` are as many words, which are lost.
template <class Context, class Image>
[[nodiscard]] point_copies find_copies(Context& on, const point_set<Image>& points, u64 count, bool are_weighed,
                                       u64* spare) {
  u8* const flags = on.template buffer<u8>(count);
  u32* const hashes = reinterpret_cast<u32*>(spare);
  u32* const tied = hashes + count;
  u32* const found = on.template buffer<u32>(1);
  on.for_each(count, mark_untied<Image>{points.values, points.columns, count, flags});
  on.compact(count, is_left{flags}, tied, found);
  const u64 some = on.read(static_cast<const u32*>(found));
  on.release(flags);
  point_copies copies;
  if (some > 0) copies.firsts = find_equals(on, points.values, points.columns, count, tied, some, hashes);
  if (copies.firsts != nullptr && are_weighed) {
    copies.weights = on.template buffer<u32>(count);
    on.for_each(count, begin_weights{copies.weights});
    on.for_each(count, weigh_points{copies.firsts, copies.weights});
  }
  return copies;
}

}  // namespace detail

}  // namespace zenith::skyline_family
