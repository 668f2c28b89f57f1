#pragma once

/// \file
/// The team: a block. Its words are those of core/device/plain_team.hpp.

#include <backends/cuda/tile/block_sum.hpp>
#include <backends/cuda/tile/sink.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <u32 ScratchBytes>
class team {
 public:
  static constexpr bool is_one_lane = false;

  ZENITH_DEVICE explicit team(u64 index) : index_(index) {}

  [[nodiscard]] ZENITH_DEVICE u64 index() const { return index_; }

  template <class T>
  [[nodiscard]] ZENITH_DEVICE T* scratch(u32 byte_offset = 0) const {
    const u32 count = (ScratchBytes - byte_offset) / static_cast<u32>(sizeof(T));
    return simt::dynamic_shared<T>(byte_offset, count).pointer(0);
  }
  template <class F>
  ZENITH_DEVICE void for_each(u64 n, const F& f) const {
    for (u64 i = simt::thread_index(); i < n; i += tuning::team_threads) f(i);
  }
  template <class F>
  ZENITH_DEVICE void once(const F& f) const {
    if (simt::thread_index() == 0) f();
  }
  ZENITH_DEVICE void barrier() const { simt::block_barrier(); }

  template <class T, class F, class Op>
  ZENITH_DEVICE T reduce(u64 n, T none, const F& f, const Op& op) const {
    ZENITH_STATIC_SHARED(T, of_warps, tuning::team_warps);
    T own = none;
    for (u64 i = simt::thread_index(); i < n; i += tuning::team_threads) own = op(own, f(i));
    ZENITH_UNROLL
    for (unsigned lanes = simt::warp_size / 2; lanes > 0; lanes /= 2) {
      own = op(own, simt::shuffle_xor(simt::full_warp, own, lanes));
    }
    // whoever still reads the last result is done
    simt::block_barrier();
    if (simt::lane_index() == 0) of_warps.write(simt::warp_index(), own);
    simt::block_barrier();
    T all = of_warps.read(0);
    ZENITH_UNROLL
    for (unsigned warp = 1; warp < tuning::team_warps; ++warp) all = op(all, of_warps.read(warp));
    return all;
  }
  template <class F>
  ZENITH_DEVICE bool any(u64 n, const F& f) const {
    bool found = false;
    for (u64 i = simt::thread_index(); i < n && !found; i += tuning::team_threads) found = f(i);
    return simt::block_barrier_or(found);
  }
  template <class F>
  ZENITH_DEVICE u64 count(u64 n, const F& f) const {
    return reduce(
        n, u64{0}, [&](u64 i) { return f(i) ? u64{1} : u64{0}; }, [](u64 a, u64 b) { return a + b; });
  }

  /// Each thread sums up a piece, the threads' sums are scanned, and each writes its piece anew.
  template <class T>
  ZENITH_DEVICE T scan(T* values, u64 n) const {
    simt::block_barrier();
    const u64 piece = (n + tuning::team_threads - 1) / tuning::team_threads;
    const u64 begin = simt::thread_index() * piece < n ? simt::thread_index() * piece : n;
    const u64 end = begin + piece < n ? begin + piece : n;
    T sum{};
    for (u64 i = begin; i < end; ++i) sum += values[i];
    T total{};
    T before = sum_of_threads_before(sum, total);
    for (u64 i = begin; i < end; ++i) {
      const T value = values[i];
      values[i] = before;
      before += value;
    }
    simt::block_barrier();
    return total;
  }
  template <class T>
  ZENITH_DEVICE T add(T* at, std::type_identity_t<T> more) const {
    return simt::atomic_add<simt::scope::block>(at, more);
  }
  /// A list a warp, 32 of its items at a time. Those that are taken wait in shared memory for 32 of them: so lanes that
  /// follow each other put what follows each other.
  template <class Open>
  ZENITH_DEVICE void each_list(u64 n, const Open& open) const {
    constexpr u32 most_waiting = 2 * simt::warp_size;
    ZENITH_STATIC_SHARED(u32, waiting, tuning::team_warps * most_waiting);
    const u32 own = simt::warp_index() * most_waiting;
    const u32 lane = simt::lane_index();
    const u32 below = (u32{1} << lane) - 1;
    for (u64 i = simt::warp_index(); i < n; i += tuning::team_warps) {
      const auto list = open(i);
      constexpr bool puts = requires { list.put(u32{}, u32{}); };
      // so many ranks from `begin` on, at most a warp's
      const auto put = [&](u32 begin, u32 count) {
        if constexpr (puts) {
          simt::warp_barrier(simt::full_warp);
          if (lane < count) list.put(waiting.read(own + (begin + lane) % most_waiting), begin + lane);
          simt::warp_barrier(simt::full_warp);
        }
      };
      u32 before = 0;
      for (u32 j = lane; j - lane < list.count; j += simt::warp_size) {
        const bool is_taken = j < list.count && list.takes(j);
        const u32 taken = simt::ballot(simt::full_warp, is_taken);
        const u32 after = before + simt::popcount(taken);
        if constexpr (puts) {
          if (is_taken) waiting.write(own + (before + simt::popcount(taken & below)) % most_waiting, j);
          const u32 begin = before / simt::warp_size * simt::warp_size;
          if (after - begin >= simt::warp_size) put(begin, simt::warp_size);
        }
        before = after;
      }
      put(before / simt::warp_size * simt::warp_size, before % simt::warp_size);
      if (lane == 0) list.done(before);
    }
  }
  template <class Test>
  ZENITH_DEVICE void wait_until(const Test& test) const {
    device::wait_until(test);
  }

  template <class Source, class Body>
  ZENITH_DEVICE void each_tile(const Source& source, const Body& body) const {
    const u64 warp = u64{simt::block_index()} * tuning::team_warps + simt::warp_index();
    each_warp_tile(source, warp, u64{simt::grid_size()} * tuning::team_warps, body);
  }
  template <class Tile, class Predicate>
  ZENITH_DEVICE lane_flags<Predicate> flag(const Tile& items, const Predicate& is) const {
    bool has_some = false;
    ZENITH_UNROLL
    for (unsigned i = 0; i < Tile::lane_items; ++i) {
      if constexpr (Tile::is_full) {
        has_some |= is(items.key(i));
      } else {
        has_some |= items.holds(i) && is(items.key(i));
      }
    }
    return {has_some, is};
  }
  template <class Predicate>
  ZENITH_DEVICE bool any(const lane_flags<Predicate>& flags) const {
    return simt::any(simt::full_warp, flags.has_some);
  }
  template <class Tile, class Use>
  ZENITH_DEVICE void each_item(const Tile& items, const Use& use) const {
    ZENITH_UNROLL
    for (unsigned i = 0; i < Tile::lane_items; ++i) {
      if (items.holds(i)) use(items.key(i));
    }
  }
  template <class Entry>
  ZENITH_DEVICE sink<Entry> open(const device::collection<Entry>& to) const {
    return sink<Entry>(to);
  }

 private:
  u64 index_;
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
