#pragma once

/// \file
/// Scans in one launch: a tile adds what the tiles before it told, without another launch between (Merrill and Garland,
/// Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016). For short sequences a launch costs more than the
/// items.

#include <backends/cuda/simt/vocabulary.hpp>
#include <backends/cuda/tile/block_sum.hpp>
#include <backends/cuda/tuning.hpp>
#include <core/device/atomics.hpp>
#include <core/device/kernel.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

using device::u32;
using device::u64;

/// Sums of tiles, one a block, in the order of their numbers. A tile waits for earlier ones alone, and those run:
/// blocks draw their numbers when they begin.
///
/// What a tile tells is one word: its sum, or that of all tiles up to its end, and which of the two it is. So no fence
/// has to order two stores. Sums are less than 2^62, or their halves are told apart.
struct tile_chain {
  static constexpr unsigned block_size = tuning::team_threads;
  static constexpr unsigned warps = block_size / simt::warp_size;

  u32* drawn = nullptr;  ///< 0 before the launch; nullptr: there is one tile
  u64* told = nullptr;   ///< of each tile 0 before the launch
  u64* upper = nullptr;  ///< the same of the sums' upper halves

  /// The number of the block's tile, to all of its threads.
  [[nodiscard]] ZENITH_DEVICE u32 draw() const {
    ZENITH_STATIC_SHARED(u32, number, 1);
    if (drawn == nullptr) return 0;
    if (simt::thread_index() == 0) number.write(0, simt::atomic_add(drawn, 1U));
    simt::block_barrier();
    return number.read(0);
  }

  /// The sum of all tiles before this one, to all of its threads. The same for `sum`, the tile's own. `IsWide`: of sums
  /// of any size; then `upper` must be there.
  template <bool IsWide>
  [[nodiscard]] ZENITH_DEVICE u64 sum_before(u32 tile, u64 sum) const {
    ZENITH_STATIC_SHARED(u64, found, 1);
    if (drawn == nullptr) return 0;
    if (simt::warp_index() == 0) {
      u64 before = pass(told, tile, IsWide ? u64{static_cast<u32>(sum)} : sum);
      if constexpr (IsWide) before += pass(upper, tile, sum >> 32) << 32;
      if (simt::lane_index() == 0) found.write(0, before);
    }
    simt::block_barrier();
    return found.read(0);
  }

 private:
  enum : u64 { nothing, is_own, is_through };
  static constexpr unsigned state_bits = 2;
  static constexpr unsigned at_once = 8;  ///< tiles that a lane looks at: each look takes the way to memory and back

  ZENITH_DEVICE static u64 state_of(u64 word) { return word & ((u64{1} << state_bits) - 1); }
  ZENITH_DEVICE static void tell(u64* words, u32 tile, u64 sum, u64 state) {
    if (simt::lane_index() == 0) device::atomic_store(words + tile, sum << state_bits | state);
  }

  // By the first warp: the sum before the tile.
  ZENITH_DEVICE static u64 pass(u64* words, u32 tile, u64 sum) {
    u64 before = 0;
    if (tile > 0) {
      tell(words, tile, sum, is_own);
      before = add_told(words, tile);
    }
    tell(words, tile, before + sum, is_through);
    return before;
  }

  // Lanes look at tiles before this one, nearest first, until one knows the sum up to its end.
  ZENITH_DEVICE static u64 add_told(const u64* words, u32 tile) {
    u64 before = 0;
    for (u32 end = tile;; end -= at_once * simt::warp_size) {
      u64 word[at_once];
      ZENITH_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        const u32 back = j * simt::warp_size + simt::lane_index();
        word[j] = back < end ? device::atomic_load(words + (end - 1 - back)) : u64{is_through};
      }
      ZENITH_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        const u32 back = j * simt::warp_size + simt::lane_index();
        device::wait_until([&] {
          if (state_of(word[j]) == nothing) word[j] = device::atomic_load(words + (end - 1 - back));
          return state_of(word[j]) != nothing;
        });
        const u32 known = simt::ballot(simt::full_warp, state_of(word[j]) == is_through);
        if (known == 0 || simt::lane_index() < simt::find_first_set(known)) before += word[j] >> state_bits;
        if (known != 0) return sum_of_lanes(before);
      }
    }
  }

  ZENITH_DEVICE static u64 sum_of_lanes(u64 value) {
    ZENITH_UNROLL
    for (unsigned lanes = simt::warp_size / 2; lanes > 0; lanes /= 2) {
      value += simt::shuffle_xor(simt::full_warp, value, lanes);
    }
    return value;
  }
};

/// Those items of a tile for which the test holds, behind those of the tiles before it.
template <class Test>
struct compact_tile {
  static constexpr unsigned block_size = tile_chain::block_size;
  static constexpr unsigned lane_items = tuning::compacted_items / block_size;

  Test test;
  u64 n;
  tile_chain chain;
  u32* to;
  u32* count;

  ZENITH_DEVICE void operator()() const {
    constexpr unsigned counts = lane_items * tile_chain::warps;
    ZENITH_STATIC_SHARED(u32, before, counts);
    const u32 tile = chain.draw();
    const u64 first = u64{tile} * tuning::compacted_items + simt::thread_index();
    u32 kept[lane_items];
    ZENITH_UNROLL
    for (unsigned j = 0; j < lane_items; ++j) {
      const u64 item = first + j * block_size;
      kept[j] = simt::ballot(simt::full_warp, item < n && test(item));
      if (simt::lane_index() == 0) before.write(j * tile_chain::warps + simt::warp_index(), simt::popcount(kept[j]));
    }
    simt::block_barrier();
    const u32 own = simt::thread_index() < counts ? before.read(simt::thread_index()) : 0;
    u32 all = 0;
    const u32 sum = sum_of_threads_before(own, all);
    if (simt::thread_index() < counts) before.write(simt::thread_index(), sum);
    const u64 begin = chain.sum_before<false>(tile, all);
    simt::block_barrier();
    const u32 lanes_below = (1U << simt::lane_index()) - 1;
    ZENITH_UNROLL
    for (unsigned j = 0; j < lane_items; ++j) {
      if ((kept[j] >> simt::lane_index() & 1) == 0) continue;
      const u32 place = before.read(j * tile_chain::warps + simt::warp_index()) + simt::popcount(kept[j] & lanes_below);
      simt::store(to + (begin + place), static_cast<u32>(first + j * block_size));
    }
    const bool is_last = (u64{tile} + 1) * tuning::compacted_items >= n;
    if (is_last && simt::thread_index() == 0) simt::store(count, static_cast<u32>(begin + all));
  }
};

/// to[i] = the sum of the items before i, and to[n] that of all; `to` may be `from`.
template <class T>
struct scan_tile {
  static constexpr unsigned block_size = tile_chain::block_size;
  static constexpr unsigned lane_items = tuning::scanned_items / block_size;

  const T* from;
  u64 n;
  tile_chain chain;
  T* to;

  ZENITH_DEVICE void operator()() const {
    const u32 tile = chain.draw();
    const u64 first = u64{tile} * tuning::scanned_items + u64{simt::thread_index()} * lane_items;
    T value[lane_items];
    T own = 0;
    ZENITH_UNROLL
    for (unsigned j = 0; j < lane_items; ++j) {
      value[j] = first + j < n ? simt::load(from + (first + j)) : T{0};
      own += value[j];
    }
    T all = 0;
    T sum = sum_of_threads_before(own, all);
    sum += static_cast<T>(chain.sum_before<sizeof(T) == 8>(tile, all));
    ZENITH_UNROLL
    for (unsigned j = 0; j < lane_items; ++j) {
      if (first + j <= n) simt::store(to + (first + j), sum);
      sum += value[j];
    }
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
