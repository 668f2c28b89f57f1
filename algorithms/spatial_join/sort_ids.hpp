#pragma once

/// \file
/// Few or many ids in rising order, sorted by one thread.

#include <core/device/bits.hpp>
#include <core/device/kernel.hpp>

namespace zenith::spatial_join_family {

using device::u32;
using device::u64;

namespace detail {

template <class Index>
ZENITH_FN bool are_in_order(const Index* ids, u64 n) {
  // a part of them at a time, without a branch on a single one
  constexpr u64 together = 64;
  for (u64 first = 1; first < n; first += together) {
    const u64 end = first + together < n ? first + together : n;
    u32 fallen = 0;
    for (u64 i = first; i < end; ++i) fallen |= ids[i] < ids[i - 1] ? 1U : 0U;
    if (fallen != 0) return false;
  }
  return true;
}

/// By some bits from the lowest on: those in which some ids differ. A thread of a device has few: its counts lie in
/// memory that is reserved for all threads there may be.
template <class Index>
ZENITH_FN void sort_by_digits(Index* ids, u64 n, Index* spare) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  constexpr u32 bits = 4;
#else
  constexpr u32 bits = 8;
#endif
  constexpr u32 digits = 1 << bits;
  Index differing = 0;
  for (u64 i = 1; i < n; ++i) differing |= ids[i] ^ ids[0];
  Index* from = ids;
  Index* to = spare;
  for (u32 shift = 0; shift < 8 * sizeof(Index) && differing >> shift != 0; shift += bits) {
    if ((differing >> shift) % digits == 0) continue;
    u32 places[digits] = {};  // there are fewer than 2^32 rows
    for (u64 i = 0; i < n; ++i) ++places[(from[i] >> shift) % digits];
    u32 before = 0;
    for (u32& place : places) {
      const u32 count = place;
      place = before;
      before += count;
    }
    for (u64 i = 0; i < n; ++i) to[places[(from[i] >> shift) % digits]++] = from[i];
    Index* const sorted = to;
    to = from;
    from = sorted;
  }
  for (u64 i = 0; from != ids && i < n; ++i) ids[i] = from[i];
}

}  // namespace detail

/// Rising order of n ids that differ. `spare`: memory for as many, which is not kept. Few are inserted, somewhat more
/// are ranked, in loops that compilers vectorise, and many are sorted by digits, in O(n).
template <class Index>
ZENITH_FN void sort_ids(Index* ids, u64 n, Index* spare) {
  constexpr u64 few = 24;
  constexpr u64 some = 512 / sizeof(Index);
  if (n <= few) {
    for (u64 i = 1; i < n; ++i) {
      const Index id = ids[i];
      u64 at = i;
      for (; at > 0 && ids[at - 1] > id; --at) ids[at] = ids[at - 1];
      ids[at] = id;
    }
    return;
  }
  if (detail::are_in_order(ids, n)) return;
  if (n > some) return detail::sort_by_digits(ids, n, spare);
  for (u64 i = 0; i < n; ++i) {
    Index smaller = 0;
    for (u64 other = 0; other < n; ++other) smaller += ids[other] < ids[i] ? 1 : 0;
    spare[smaller] = ids[i];
  }
  for (u64 i = 0; i < n; ++i) ids[i] = spare[i];
}

}  // namespace zenith::spatial_join_family
