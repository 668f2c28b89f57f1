#pragma once

/// \file
/// Values that the items of a list have together, by one warp (`each_reduced` of core/device/plain_team.hpp).

#include <cstring>

#include <backends/cuda/simt/vocabulary.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

namespace detail {

/// One of two values, word by word: a choice between places would put both into memory.
template <class T>
ZENITH_DEVICE T chosen(bool takes_first, const T& first, const T& second) {
  static_assert(sizeof(T) % sizeof(u32) == 0);
  u32 words[sizeof(T) / sizeof(u32)];
  u32 others[sizeof(T) / sizeof(u32)];
  std::memcpy(words, &first, sizeof(T));
  std::memcpy(others, &second, sizeof(T));
  ZENITH_UNROLL
  for (u32 w = 0; w < sizeof(T) / sizeof(u32); ++w) words[w] = takes_first ? words[w] : others[w];
  T value;
  std::memcpy(&value, words, sizeof(T));
  return value;
}

/// Joins lanes that are `Distance` apart, and then nearer ones. Of 2 `Half` values a lane keeps one half and gives the
/// other, so that a value is joined with others as often as in a tree, and not that often by every lane. Returns
/// which value is the lane's at the end, own[0].
template <class List, u32 Half, u32 Distance>
ZENITH_DEVICE u32 exchange_halves(typename List::value_type* own) {
  using value = typename List::value_type;
  if constexpr (Distance == 0) {
    return 0;
  } else if constexpr (Half == 0) {
    own[0] = List::join(own[0], simt::shuffle_xor(simt::full_warp, own[0], Distance));
    return exchange_halves<List, 0, Distance / 2>(own);
  } else {
    const bool has_upper = (simt::lane_index() & Distance) != 0;
    ZENITH_UNROLL
    for (u32 v = 0; v < Half; ++v) {
      const value given = chosen(has_upper, own[v], own[v + Half]);
      own[v] =
          List::join(chosen(has_upper, own[v + Half], own[v]), simt::shuffle_xor(simt::full_warp, given, Distance));
    }
    return (has_upper ? Half : 0) + exchange_halves<List, Half / 2, Distance / 2>(own);
  }
}

}  // namespace detail

/// A lane has every 32nd item.
template <class List>
ZENITH_DEVICE void reduce_list(const List& list) {
  using value = typename List::value_type;
  constexpr u32 values = List::value_count;
  static_assert(values > 0 && values <= simt::warp_size && (values & (values - 1)) == 0);
  constexpr u32 at_once = List::at_once;
  const u32 lane = simt::lane_index();
  const u32 count = list.count;
  if (count == 0) return;
  value own[values];
  ZENITH_UNROLL
  for (u32 v = 0; v < values; ++v) own[v] = List::none();
  for (u32 first = lane; first < count; first += at_once * simt::warp_size) {
    using item = decltype(list.load(first));
    item some[at_once];
    ZENITH_UNROLL
    for (u32 f = 0; f < at_once; ++f) {
      const u32 i = first + f * simt::warp_size;
      some[f] = list.load(i < count ? i : first);
    }
    ZENITH_UNROLL
    for (u32 f = 0; f < at_once; ++f) {
      const u32 i = first + f * simt::warp_size;
      if (i < count) list.take(i, some[f], own);
    }
  }
  const u32 index = detail::exchange_halves<List, values / 2, simt::warp_size / 2>(own);
  // of lanes that have the same value, the first
  if (lane % (simt::warp_size / values) == 0) list.put(index, own[0]);
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
