#pragma once

/// \file
/// The primitives that are kernels of our own, in the words of core/device: so they run emulated as well.

#include <backends/cuda/tuning.hpp>
#include <core/device/atomics.hpp>
#include <core/device/context.hpp>
#include <core/device/kernel.hpp>
#include <core/device/merge.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

using device::u32;
using device::u64;

// ---- reduce

/// What changes no result: of `least` and `greatest` any of the items.
template <class Op, class T>
ZENITH_FN T neutral(const T* from) {
  if constexpr (std::is_same_v<Op, device::plus>) {
    return T{};
  } else {
    return from[0];
  }
}

/// Part i of the items, to parts[i].
template <class Op, class T>
struct reduce_part {
  const T* from;
  u64 n;
  u64 part;
  T* parts;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    const T* const first = from + i * part;
    const u64 left = n - i * part;
    const T all = team.reduce(
        left < part ? left : part, neutral<Op>(first), [&](u64 j) ZENITH_BODY { return first[j]; }, Op{});
    team.once([&]() ZENITH_BODY { parts[i] = all; });
  }
};

// ---- histogram

struct count_in_scratch {
  static constexpr u32 scratch_bytes = tuning::most_bins_in_scratch * sizeof(u32);
  const u32* from;
  u64 n;
  u64 bins;
  u32* to;
  u64 teams;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    u32* const counts = team.template scratch<u32>();
    team.for_each(bins, [&](u64 b) ZENITH_BODY { counts[b] = 0; });
    team.barrier();
    const u64 part = (n + teams - 1) / teams;
    const u64 begin = i * part < n ? i * part : n;
    const u64 end = begin + part < n ? begin + part : n;
    team.for_each(end - begin, [&](u64 j) ZENITH_BODY { team.add(counts + from[begin + j], 1); });
    team.barrier();
    team.for_each(bins, [&](u64 b) ZENITH_BODY {
      if (counts[b] != 0) (void)device::atomic_add(to + b, counts[b]);
    });
  }
};

struct count_in_place {
  const u32* from;
  u32* to;
  ZENITH_FN void operator()(u64 i) const { (void)device::atomic_add(to + from[i], 1); }
};

// ---- sorting segments

/// to[i] = i.
struct number_items {
  u32* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = static_cast<u32>(i); }
};

/// The segment that item order[i] lies in, from 1 on: 0 before the first, segments + 1 behind the last.
struct find_segment {
  const u32* offsets;
  u64 segments;
  const u32* order;
  u32* to;

  ZENITH_FN void operator()(u64 i) const {
    const u32 item = order[i];
    u64 low = 0;
    u64 high = segments + 1;
    while (low < high) {
      const u64 middle = (low + high) / 2;
      if (offsets[middle] <= item) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    to[i] = static_cast<u32>(low);
  }
};

template <class Key, class Value>
struct gather_pairs {
  const u32* order;
  const Key* keys;
  const Value* values;
  Key* to_keys;
  Value* to_values;

  ZENITH_FN void operator()(u64 i) const {
    to_keys[i] = keys[order[i]];
    to_values[i] = values[order[i]];
  }
};

/// Puts sorted pairs back where there are segments; what lies in none is not written.
template <class Key, class Value>
struct put_in_segments {
  const u32* offsets;
  u64 segments;
  const Key* from_keys;
  const Value* from_values;
  Key* keys;
  Value* values;

  ZENITH_FN void operator()(u64 i) const {
    if (i < offsets[0] || i >= offsets[segments]) return;
    keys[i] = from_keys[i];
    values[i] = from_values[i];
  }
};

// ---- sorting entries

/// Behind what a collection holds, so that all of its capacity can be sorted without knowing how much that is.
template <class Entry>
struct pad_entries {
  Entry* entries;
  const u32* count;
  ZENITH_FN void operator()(u64 i) const {
    if (i >= *count) entries[i] = Entry::worst();
  }
};

/// Entries of two words as what sorts upwards: complements.
struct split_entries {
  const ordered::entry64* entries;
  u64* images;
  u32* indices;
  ZENITH_FN void operator()(u64 i) const {
    images[i] = ~entries[i].high;
    indices[i] = ~static_cast<u32>(entries[i].low);
  }
};
struct join_entries {
  const u64* images;
  const u32* indices;
  ordered::entry64* entries;
  ZENITH_FN void operator()(u64 i) const { entries[i] = {~images[i], static_cast<u32>(~indices[i])}; }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
