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

/// This lane's items of some that follow each other, whose loads overlap: use(i, key) with ~0 for those behind the end.
template <class Key, class Use>
ZENITH_DEVICE void each_own_key(const Key* keys, u32 count, const Use& use) {
  constexpr u32 at_once = 4;
  const u32 lane = simt::lane_index();
  u32 first = 0;
  for (; first + at_once * simt::warp_size <= count; first += at_once * simt::warp_size) {
    Key some[at_once];
    ZENITH_UNROLL
    for (u32 f = 0; f < at_once; ++f) some[f] = keys[first + f * simt::warp_size + lane];
    ZENITH_UNROLL
    for (u32 f = 0; f < at_once; ++f) use(first + f * simt::warp_size + lane, some[f]);
  }
  for (; first < count; first += simt::warp_size) {
    const u32 i = first + lane;
    use(i, i < count ? keys[i] : static_cast<Key>(~Key{0}));
  }
}

/// The key of the first item behind the `left` least ones, and how many have a lesser one.
template <class Key>
struct parting_key {
  Key limit;
  u32 below;
};

/// Of keys in memory, from `low` to `high`. Three keys between the two are tried at a time: their counts are one sum.
template <class Key>
ZENITH_DEVICE parting_key<Key> find_parting_key(const Key* keys, u32 count, u32 left, Key low, Key high) {
  constexpr u32 field = 10;  // none of up to 1024 keys is above the greatest
  u32 below = 0;
  while (low < high && below != left) {
    const Key step = (high - low) / 4;
    const Key first = low + step + 1;
    const Key second = first + step;
    const Key third = second + step;
    u32 less = 0;
    each_own_key(keys, count, [&](u32 /*i*/, Key one) {
      less += one < first ? 1U : 0U;
      less += one < second ? 1U << field : 0U;
      less += one < third ? 1U << (2 * field) : 0U;
    });
    less = simt::reduce_add(simt::full_warp, less);
    const u32 below_first = less & ((1U << field) - 1);
    const u32 below_second = less >> field & ((1U << field) - 1);
    const u32 below_third = less >> (2 * field);
    if (below_third <= left) {
      low = third;
      below = below_third;
    } else if (below_second <= left) {
      low = second;
      below = below_second;
      high = third - 1;
    } else if (below_first <= left) {
      low = first;
      below = below_first;
      high = second - 1;
    } else {
      high = first - 1;
    }
  }
  if (below == left) {
    Key next = high;
    each_own_key(keys, count, [&](u32 /*i*/, Key one) { next = one >= low && one < next ? one : next; });
    low = least_of_warp(next);
  }
  return {low, below};
}

}  // namespace detail

template <class List>
ZENITH_DEVICE void part_list(const List& list) {
  using key = typename List::key_type;
  const u32 count = list.count;
  const u32 left = list.left;
  const u32 lane = simt::lane_index();
  if (left >= count) {
    for (u32 i = lane; i < count; i += simt::warp_size) list.put(i, i);
    return;
  }
  key* const keys = list.keys;
  key least = static_cast<key>(~key{0});
  key most_flipped = least;
  constexpr u32 at_once = 4;  // keys whose loads overlap
  for (u32 first = lane; first < count; first += at_once * simt::warp_size) {
    key some[at_once]{};
    ZENITH_UNROLL
    for (u32 f = 0; f < at_once; ++f) {
      const u32 i = first + f * simt::warp_size;
      if (i < count) some[f] = list.key(i);
    }
    ZENITH_UNROLL
    for (u32 f = 0; f < at_once; ++f) {
      const u32 i = first + f * simt::warp_size;
      if (i >= count) continue;
      keys[i] = some[f];
      const key flipped = static_cast<key>(~some[f]);
      least = some[f] < least ? some[f] : least;
      most_flipped = flipped < most_flipped ? flipped : most_flipped;
    }
  }
  const auto [limit, below] = detail::find_parting_key<key>(keys, count, left, detail::least_of_warp(least),
                                                            static_cast<key>(~detail::least_of_warp(most_flipped)));
  const u32 lanes_before = (u32{1} << lane) - 1;
  const u32 ties_on_the_left = left - below;
  u32 lesser = 0;
  u32 ties = 0;
  detail::each_own_key(keys, count, [&](u32 i, key own) {
    const bool is_item = i < count;
    const bool is_less = own < limit;
    const u32 less_here = simt::ballot(simt::full_warp, is_less);
    u32 before = lesser + simt::popcount(less_here & lanes_before);
    lesser += simt::popcount(less_here);
    bool goes_left = is_less;
    // items of the limit's key, which are few: until the first of those that go right
    if (ties <= ties_on_the_left) {
      const bool is_tie = is_item && own == limit;
      const u32 ties_here = simt::ballot(simt::full_warp, is_tie);
      const u32 ties_before = ties + simt::popcount(ties_here & lanes_before);
      goes_left = is_less || (is_tie && ties_before < ties_on_the_left);
      if (is_tie && ties_before == ties_on_the_left) list.pivot(i);
      before += ties_before < ties_on_the_left ? ties_before : ties_on_the_left;
      ties += simt::popcount(ties_here);
    } else {
      before += ties_on_the_left;
    }
    if (is_item) list.put(i, goes_left ? before : left + i - before);
  });
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
