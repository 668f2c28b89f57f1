#pragma once

/// \file
/// A list whose least items come first, by one warp (`each_parted` of core/device/plain_team.hpp).

#include <type_traits>

#include <backends/cuda/simt/vocabulary.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

namespace detail {

template <class Key>
ZENITH_DEVICE Key least_of_warp(Key own) {
  if constexpr (sizeof(Key) == sizeof(u32)) {
    return simt::reduce_min(simt::full_warp, own);
  } else {
    ZENITH_UNROLL
    for (unsigned lanes = simt::warp_size / 2; lanes > 0; lanes /= 2) {
      const Key other = simt::shuffle_xor(simt::full_warp, own, lanes);
      own = other < own ? other : own;
    }
    return own;
  }
}

/// Items of a lane whose loads overlap.
inline constexpr u32 keys_at_once = 4;

/// This lane's items: use(i, key(i)), and use(i, any) for some behind the end.
template <class Key, class Use>
ZENITH_DEVICE void each_own_item(u32 count, const Key& key, const Use& use) {
  for (u32 begin = 0; begin < count; begin += keys_at_once * simt::warp_size) {
    const u32 first = begin + simt::lane_index();
    decltype(key(u32{})) some[keys_at_once]{};
    ZENITH_UNROLL
    for (u32 f = 0; f < keys_at_once; ++f) {
      const u32 i = first + f * simt::warp_size;
      if (i < count) some[f] = key(i);
    }
    ZENITH_UNROLL
    for (u32 f = 0; f < keys_at_once; ++f) use(first + f * simt::warp_size, some[f]);
  }
}
template <class Key, class Use>
ZENITH_DEVICE void each_own_key(const Key* keys, u32 count, const Use& use) {
  each_own_item(
      count, [keys](u32 i) { return keys[i]; }, use);
}

/// Counters of ranges of keys: a lane has a word, which is two of them.
inline constexpr u32 range_bits = 6;
static_assert(u32{1} << range_bits == 2 * simt::warp_size);

/// The first range whose items and those of the ranges before it are more than `left`, and how many are before it.
struct parting_range {
  u32 range;
  u32 below;
};

ZENITH_DEVICE parting_range find_parting_range(u32 own, u32 left) {
  constexpr u32 half_bits = 16;
  constexpr u32 half_mask = (u32{1} << half_bits) - 1;
  const u32 lane = simt::lane_index();
  const u32 sum = (own & half_mask) + (own >> half_bits);
  u32 up_to = sum;
  ZENITH_UNROLL
  for (u32 distance = 1; distance < simt::warp_size; distance *= 2) {
    const u32 below = simt::shuffle_up(simt::full_warp, up_to, distance);
    if (lane >= distance) up_to += below;
  }
  const u32 owner = simt::find_first_set(simt::ballot(simt::full_warp, up_to > left)) - 1;
  const u32 below = up_to - sum;
  const u32 below_second = below + (own & half_mask);
  // the range in the upper half of a word
  const u32 found = below_second > left ? below : below_second | u32{1} << half_bits;
  const u32 of_owner = simt::shuffle(simt::full_warp, found, owner);
  return {2 * owner + (of_owner >> half_bits), of_owner & half_mask};
}

/// The search for the key at which a list is parted, between two that it may be. The items of equal ranges of keys are
/// counted, and then those of a range's parts.
template <class Key>
struct key_search {
  Key low;
  Key high;
  u32 left;
  u32 below = 0;  ///< items with a key less than `low`

  [[nodiscard]] ZENITH_DEVICE bool is_open() const { return low < high && below != left; }
  [[nodiscard]] ZENITH_DEVICE u32 shift() const {
    const u32 bits = 8 * sizeof(Key) - simt::count_leading_zeros(static_cast<Key>(high - low));
    return bits > range_bits ? bits - range_bits : 0;
  }
  /// Counts keys of this warp, in words that are 0 at first.
  ZENITH_DEVICE void count(const Key* keys, u32 items, const simt::shared_span<u32>& counts) const {
    const Key extent = high - low;
    const u32 by = shift();
    each_own_key(keys, items, [&](u32 i, Key one) {
      const Key above = one - low;
      const auto range = static_cast<u32>(above >> by);
      if (i < items && above <= extent) {
        (void)simt::atomic_add<simt::scope::block>(counts.pointer(range / 2), u32{1} << (range % 2 * 16));
      }
    });
  }
  /// `counted` is this lane's word.
  ZENITH_DEVICE void narrow(u32 counted) {
    const u32 by = shift();
    const auto found = find_parting_range(counted, left - below);
    low += static_cast<Key>(found.range) << by;
    if ((high - low) >> by != 0) high = low + ((Key{1} << by) - 1);
    below += found.below;
  }
};

/// The least key that is not below a limit.
template <class Key>
ZENITH_DEVICE Key least_key_from(const Key* keys, u32 count, Key limit) {
  Key next = static_cast<Key>(~Key{0});
  each_own_key(keys, count, [&](u32 i, Key one) { next = i < count && one >= limit && one < next ? one : next; });
  return least_of_warp(next);
}

/// Items of a lesser key than the limit go left.
template <class List>
ZENITH_DEVICE void put_by_limit(const List& list, typename List::key_type limit) {
  const u32 count = list.count;
  const u32 lanes_before = (u32{1} << simt::lane_index()) - 1;
  u32 lesser = 0;
  each_own_key(list.keys, count, [&](u32 i, typename List::key_type key) {
    const bool is_less = i < count && key < limit;
    const u32 less_here = simt::ballot(simt::full_warp, is_less);
    const u32 before = lesser + simt::popcount(less_here & lanes_before);
    lesser += simt::popcount(less_here);
    if (i < count) list.put(i, is_less ? before : list.left + i - before);
  });
}

/// Items of a lesser key than `at.low` go left, and of those with its key the first, until `left` do.
template <class List>
ZENITH_DEVICE void put_by_ties(const List& list, const key_search<typename List::key_type>& at) {
  const u32 count = list.count;
  const u32 lanes_before = (u32{1} << simt::lane_index()) - 1;
  const u32 ties_on_the_left = list.left - at.below;
  u32 lesser = 0;
  u32 ties = 0;
  each_own_key(list.keys, count, [&](u32 i, typename List::key_type key) {
    const bool is_less = i < count && key < at.low;
    const bool is_tie = i < count && key == at.low;
    const u32 less_here = simt::ballot(simt::full_warp, is_less);
    const u32 ties_here = simt::ballot(simt::full_warp, is_tie);
    const u32 ties_before = ties + simt::popcount(ties_here & lanes_before);
    const u32 before = lesser + simt::popcount(less_here & lanes_before) +
                       (ties_before < ties_on_the_left ? ties_before : ties_on_the_left);
    lesser += simt::popcount(less_here);
    ties += simt::popcount(ties_here);
    if constexpr (List::asks_pivot) {
      if (is_tie && ties_before == ties_on_the_left) list.pivot(i);
    }
    const bool goes_left = is_less || (is_tie && ties_before < ties_on_the_left);
    if (i < count) list.put(i, goes_left ? before : list.left + i - before);
  });
}

/// The keys of a list, and the least and the greatest.
template <class List>
ZENITH_DEVICE key_search<typename List::key_type> read_keys(const List& list) {
  using key = typename List::key_type;
  key* const keys = list.keys;
  const u32 count = list.count;
  key least = static_cast<key>(~key{0});
  key most_flipped = least;
  each_own_item(
      count, [&](u32 i) { return list.key(i); },
      [&](u32 i, key one) {
        if (i >= count) return;
        keys[i] = one;
        const key flipped = static_cast<key>(~one);
        least = one < least ? one : least;
        most_flipped = flipped < most_flipped ? flipped : most_flipped;
      });
  return {least_of_warp(least), static_cast<key>(~least_of_warp(most_flipped)), list.left};
}

/// A list of an item a lane at most: each compares its key with all others.
template <class List>
ZENITH_DEVICE void part_short_list(const List& list) {
  using key = typename List::key_type;
  const u32 count = list.count;
  const u32 lane = simt::lane_index();
  const bool has_item = lane < count;
  const key own = list.key(has_item ? lane : 0);
  u32 rank = 0;
  for (u32 other = 0; other < count; ++other) {
    const key one = simt::shuffle(simt::full_warp, own, other);
    rank += one < own || (one == own && other < lane) ? 1 : 0;
  }
  const bool goes_left = has_item && rank < list.left;
  const u32 before = simt::popcount(simt::ballot(simt::full_warp, goes_left) & ((u32{1} << lane) - 1));
  if (!has_item) return;
  if constexpr (List::asks_pivot) {
    if (rank == list.left) list.pivot(lane);
  }
  list.put(lane, goes_left ? before : list.left + lane - before);
}

}  // namespace detail

/// A list by one warp. `Warps` of a team do this at a time.
template <unsigned Warps, class List>
ZENITH_DEVICE void part_list(const List& list) {
  ZENITH_STATIC_SHARED(u32, of_warps, Warps * simt::warp_size);
  const auto counts = of_warps.subspan(simt::warp_index() * simt::warp_size, simt::warp_size);
  const u32 lane = simt::lane_index();
  const u32 count = list.count;
  if (list.left >= count) {
    for (u32 i = lane; i < count; i += simt::warp_size) list.put(i, i);
    return;
  }
  if (count <= simt::warp_size) return detail::part_short_list(list);
  auto at = detail::read_keys(list);
  while (at.is_open()) {
    counts.write(lane, 0);
    simt::warp_barrier(simt::full_warp);
    at.count(list.keys, count, counts);
    simt::warp_barrier(simt::full_warp);
    at.narrow(counts.read(lane));
  }
  if constexpr (List::asks_pivot) {
    if (at.below == list.left) at.low = detail::least_key_from(list.keys, count, at.low);
  } else {
    if (at.below == list.left) return detail::put_by_limit(list, at.low);
  }
  detail::put_by_ties(list, at);
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
