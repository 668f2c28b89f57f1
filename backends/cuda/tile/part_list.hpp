#pragma once

/// \file
/// A list whose least items come first, by one warp (`each_parted` of core/device/plain_team.hpp).

#include <type_traits>

#include <backends/cuda/simt/vocabulary.hpp>
#include <core/device/part_list.hpp>

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

/// What `more` says of this lane's items, whose loads overlap.
template <class Key, class More>
ZENITH_DEVICE void each_own_key(const Key* keys, u32 count, const More& more) {
  constexpr u32 at_once = 4;
  u32 i = simt::lane_index();
  for (; i + (at_once - 1) * simt::warp_size < count; i += at_once * simt::warp_size) {
    Key some[at_once];
    ZENITH_UNROLL
    for (u32 f = 0; f < at_once; ++f) some[f] = keys[i + f * simt::warp_size];
    ZENITH_UNROLL
    for (u32 f = 0; f < at_once; ++f) more(some[f]);
  }
  for (; i < count; i += simt::warp_size) more(keys[i]);
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
  for (u32 i = lane; i < count; i += simt::warp_size) {
    const key one = list.key(i);
    keys[i] = one;
    const key flipped = static_cast<key>(~one);
    least = one < least ? one : least;
    most_flipped = flipped < most_flipped ? flipped : most_flipped;
  }
  device::parting<key> at(detail::least_of_warp(least), static_cast<key>(~detail::least_of_warp(most_flipped)));
  while (at.is_open()) {
    const key middle = at.middle();
    u32 less = 0;
    detail::each_own_key(keys, count, [&](key one) { less += one < middle ? 1 : 0; });
    at.narrow(middle, simt::reduce_add(simt::full_warp, less), left);
  }
  if (at.is_found) {
    key next = at.high;
    detail::each_own_key(keys, count, [&](key one) { next = one >= at.low && one < next ? one : next; });
    at.low = detail::least_of_warp(next);
  }
  const key limit = at.low;
  const u32 ties_on_the_left = left - at.below;
  const u32 lanes_before = (u32{1} << lane) - 1;
  u32 lesser = 0;
  u32 ties = 0;
  for (u32 first = 0; first < count; first += simt::warp_size) {
    const u32 i = first + lane;
    const bool is_item = i < count;
    const key own = is_item ? keys[i] : limit;
    const bool is_less = is_item && own < limit;
    const bool is_tie = is_item && own == limit;
    const u32 less_here = simt::ballot(simt::full_warp, is_less);
    const u32 ties_here = simt::ballot(simt::full_warp, is_tie);
    const u32 lesser_before = lesser + simt::popcount(less_here & lanes_before);
    const u32 ties_before = ties + simt::popcount(ties_here & lanes_before);
    const u32 before = lesser_before + (ties_before < ties_on_the_left ? ties_before : ties_on_the_left);
    const bool goes_left = is_less || (is_tie && ties_before < ties_on_the_left);
    if (is_tie && ties_before == ties_on_the_left) list.pivot(i);
    if (is_item) list.put(i, goes_left ? before : left + i - before);
    lesser += simt::popcount(less_here);
    ties += simt::popcount(ties_here);
  }
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
