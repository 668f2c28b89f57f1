#pragma once

/// \file
/// Kernels that go through the pairs within the distance: they count them, write all of them, or append those that
/// reach a bound.

#include <cstdint>
#include <type_traits>

#include <algorithms/spatial_join/grid.hpp>
#include <algorithms/spatial_join/pair_score.hpp>
#include <algorithms/spatial_join/sort_ids.hpp>
#include <core/device/bisect.hpp>
#include <core/device/bits.hpp>

namespace zenith::spatial_join_family {

using device::bits_of;
using device::lowest_bit;

/// So many partners of a point are kept from the count to the writing.
inline constexpr u32 kept_partners = 8;

/// use(type) with the type of ids of so many bytes.
template <class Use>
void with_index(int bytes, const Use& use) {
  if (bytes == 4) {
    use(std::type_identity<std::uint32_t>{});
  } else {
    use(std::type_identity<std::uint64_t>{});
  }
}

/// Where the partners of the point in a place begin. A launch of its own: these reads are scattered, and overlap only
/// where nothing depends on them.
struct gather_begins {
  const u64* offsets;
  const u32* rows;
  u64* begins;

  ZENITH_FN void operator()(u64 i) const { begins[i] = offsets[rows[i]]; }
};

/// n <= kept_partners ids in rising order. They differ, so the place of one is how many are smaller.
template <class Index>
ZENITH_FN void write_kept(const u32* ids, u32 n, Index* to) {
  for (u32 j = 0; j < n; ++j) {
    u32 smaller = 0;
    for (u32 other = 0; other < kept_partners; ++other) smaller += ids[other] < ids[j] ? 1 : 0;
    to[smaller] = static_cast<Index>(ids[j]);
  }
}

/// A row of the left side beside each of its partners.
template <class Index>
struct write_left {
  static constexpr u64 item_cost = 64;

  const u64* offsets;
  Index* left;

  ZENITH_FN void operator()(u64 row) const {
    const u64 end = offsets[row + 1];
    for (u64 at = offsets[row]; at < end; ++at) left[at] = static_cast<Index>(row);
  }
};

/// Pairs with their scores, in no order.
template <class T>
struct pair_pool {
  ordered::bits_t<T>* images;
  u64* pairs;
  u64* count;     ///< counts on above the capacity
  u64 capacity;   ///< below 2^32
  bool is_alone;  ///< no other thread appends

  /// Takes places for some more; returns the first.
  ZENITH_FN u64 reserve(u32 more) const {
    if (!is_alone) return device::atomic_add(count, more);
    const u64 at = *count;
    *count = at + more;
    return at;
  }
  ZENITH_FN void set(u64 at, ordered::bits_t<T> image, u64 pair) const {
    if (at >= capacity) return;
    images[at] = image;
    pairs[at] = pair;
  }
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
    if (least.image == 0) {  // it takes all
      sides.each_candidate(point, [&](u32 /*r*/, bool is_near) ZENITH_BODY { found += is_near ? 1 : 0; });
    } else {
      sides.each_near(point, [&](u32 r) ZENITH_BODY {
        const auto image = scorer.image_of(value, sides.right.values[r]);
        found += least.takes(image, pair_of(row, sides.right.rows[r])) ? 1 : 0;
      });
    }
    counts[i] = found;
  }
};

/// Those pairs of a point of the left side that the bound takes, in the places that a count has given them, or else in
/// the pool's next ones, whose count threads take from each other. Partners are first listed, a few at a time, without
/// a branch that depends on a single candidate.
template <class T, unsigned D>
struct append_pairs {
  static constexpr u64 item_cost = 512;
  static constexpr u32 few = 8;

  placed_sides<T, D> sides;
  pair_scorer<T> scorer;
  const pair_bound<T>* bound;
  u64 first;          ///< of the left side
  const u64* places;  ///< by point, or nullptr
  pair_pool<T> pool;

  ZENITH_FN void operator()(u64 item) const {
    const u64 i = first + item;
    T point[D];
    sides.left.get(i, point);
    left_point left{sides.left.values[i], sides.left.rows[i], *bound, places == nullptr ? 0 : places[i]};
    u32 near[few];
    u32 listed = 0;
    sides.each_candidate(point, [&](u32 r, bool is_near) ZENITH_BODY {
      near[listed] = r;
      listed += is_near ? 1 : 0;
      if (listed == few) {
        append(left, near, few);
        listed = 0;
      }
    });
    append(left, near, listed);
  }

 private:
  struct left_point {
    T value;
    u32 row;
    pair_bound<T> least;
    u64 place;
  };

  ZENITH_FN void append(left_point& left, const u32* near, u32 listed) const {
    ordered::bits_t<T> images[few];
    u64 pairs[few];
    u32 taken = 0;
    for (u32 j = 0; j < listed; ++j) {
      images[taken] = scorer.image_of(left.value, sides.right.values[near[j]]);
      pairs[taken] = pair_of(left.row, sides.right.rows[near[j]]);
      taken += left.least.takes(images[taken], pairs[taken]) ? 1 : 0;
    }
    if (taken == 0) return;
    const u64 at = places == nullptr ? pool.reserve(taken) : left.place;
    for (u32 j = 0; j < taken; ++j) pool.set(at + j, images[j], pairs[j]);
    left.place += taken;
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
    begins[b] = device::first_failing(count, [&](u64 i) ZENITH_BODY { return offsets[i] < b * each; });
  }
};

}  // namespace zenith::spatial_join_family
