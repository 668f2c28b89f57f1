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
struct tile_chain {
  static constexpr unsigned block_size = tuning::team_threads;
  static constexpr unsigned warps = block_size / simt::warp_size;

  u32* drawn = nullptr;    ///< 0 before the launch; nullptr: there is one tile
  u32* told = nullptr;     ///< of each tile `nothing` before the launch
  u64* own = nullptr;      ///< of each tile its sum
  u64* through = nullptr;  ///< of each tile the sum up to its end

  /// The number of the block's tile, to all of its threads.
  [[nodiscard]] ZENITH_DEVICE u32 draw() const {
    ZENITH_STATIC_SHARED(u32, number, 1);
    if (drawn == nullptr) return 0;
    if (simt::thread_index() == 0) number.write(0, simt::atomic_add(drawn, 1U));
    simt::block_barrier();
    return number.read(0);
  }

  /// The sum of all tiles before this one, to all of its threads. The same for `sum`, the tile's own.
  [[nodiscard]] ZENITH_DEVICE u64 sum_before(u32 tile, u64 sum) const {
    ZENITH_STATIC_SHARED(u64, found, 1);
    if (drawn == nullptr) return 0;
    if (simt::warp_index() == 0) {
      const u64 before = add_told(tile, sum);
      if (simt::lane_index() == 0) {
        simt::store(through + tile, before + sum);
        device::atomic_publish(told + tile, is_through);
        found.write(0, before);
      }
    }
    simt::block_barrier();
    return found.read(0);
  }

 private:
  enum : u32 { nothing, is_own, is_through };

  // By the first warp: lanes look at as many tiles before, nearest first, until one knows the sum up to its end.
  ZENITH_DEVICE u64 add_told(u32 tile, u64 sum) const {
    if (tile == 0) return 0;
    if (simt::lane_index() == 0) {
      simt::store(own + tile, sum);
      device::atomic_publish(told + tile, is_own);
    }
    u64 before = 0;
    for (u32 end = tile;; end -= simt::warp_size) {
      u32 state = is_through;
      u64 value = 0;
      if (simt::lane_index() < end) {
        const u32 at = end - 1 - simt::lane_index();
        device::wait_until([&] {
          state = device::atomic_observe(told + at);
          return state != nothing;
        });
        value = simt::load((state == is_through ? through : own) + at);
      }
      const u32 known = simt::ballot(simt::full_warp, state == is_through);
      if (known != 0 && simt::lane_index() >= simt::find_first_set(known)) value = 0;
      ZENITH_UNROLL
      for (unsigned lanes = simt::warp_size / 2; lanes > 0; lanes /= 2) {
        value += simt::shuffle_xor(simt::full_warp, value, lanes);
      }
      before += value;
      if (known != 0) return before;
    }
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
    const u64 begin = chain.sum_before(tile, all);
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
    sum += static_cast<T>(chain.sum_before(tile, all));
    ZENITH_UNROLL
    for (unsigned j = 0; j < lane_items; ++j) {
      if (first + j <= n) simt::store(to + (first + j), sum);
      sum += value[j];
    }
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
