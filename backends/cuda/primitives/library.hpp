#pragma once

/// \file
/// The primitives that CUDA's own library does: sorts and scans. Compiled once for the widths there are; what a test
/// runs without a device has the standard library's meaning (tests/simt/emulation/primitives.cpp). All of them are
/// enqueued on the executor's stream. No CUDA header in here.

#include <cstdint>

#include <backends/cuda/call_memory.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library {

/// By rising key, stable, in place; keys are less than 2^bits. Those that differ in their lowest `ignored` bits alone
/// may end in any order. Key and Value: uint32, uint64.
template <class Key, class Value>
void sort_pairs(call_memory& memory, Key* keys, Value* values, std::uint64_t n, int bits = 8 * sizeof(Key),
                int ignored = 0);

/// The same within [offsets[s], offsets[s + 1]) for each s, no longer than tuning::most_sorted_in_block. One launch.
template <class Key, class Value>
void sort_short_segments(call_memory& memory, Key* keys, Value* values, const std::uint32_t* offsets,
                         std::uint64_t segments, std::uint64_t longest);

/// Falling, in place.
void sort_falling(call_memory& memory, std::uint64_t* keys, std::uint64_t n);

/// to[i] = from[0] + … + from[i - 1] for i = 0 … n; `to` may be `from`. T: uint32, uint64.
template <class T>
void exclusive_scan(call_memory& memory, const T* from, std::uint64_t n, T* to);

#define ZENITH_LIBRARY_PAIRS(use)                                                                       \
  use(std::uint32_t, std::uint32_t) use(std::uint32_t, std::uint64_t) use(std::uint64_t, std::uint32_t) \
      use(std::uint64_t, std::uint64_t)

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library
