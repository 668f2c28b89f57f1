#pragma once

/// \file
/// The team: a block. Its words are those of core/device/plain_team.hpp.

#include <backends/cuda/tile/block_sum.hpp>
#include <backends/cuda/tile/part_list.hpp>
#include <backends/cuda/tile/reduce_list.hpp>
#include <backends/cuda/tile/sink.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <u32 ScratchBytes, u32 Threads = tuning::team_threads>
class team {
  static constexpr u32 warps = Threads / simt::warp_size;
  static_assert(warps > 0 && Threads % simt::warp_size == 0 && Threads <= tuning::team_threads);

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
    for (u64 i = simt::thread_index(); i < n; i += Threads) f(i);
  }
  template <class F>
  ZENITH_DEVICE void once(const F& f) const {
    if (simt::thread_index() == 0) f();
  }
  ZENITH_DEVICE void barrier() const {
    if constexpr (warps == 1) {
      simt::warp_barrier(simt::full_warp);
    } else {
      simt::block_barrier();
    }
  }

  template <class T, class F, class Op>
  ZENITH_DEVICE T reduce(u64 n, T none, const F& f, const Op& op) const {
    ZENITH_STATIC_SHARED(T, of_warps, warps);
    T own = none;
    for (u64 i = simt::thread_index(); i < n; i += Threads) own = op(own, f(i));
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
    for (unsigned warp = 1; warp < warps; ++warp) all = op(all, of_warps.read(warp));
    return all;
  }
  template <class F>
  ZENITH_DEVICE bool any(u64 n, const F& f) const {
    bool found = false;
    for (u64 i = simt::thread_index(); i < n && !found; i += Threads) found = f(i);
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
    const u64 piece = (n + Threads - 1) / Threads;
    const u64 begin = simt::thread_index() * piece < n ? simt::thread_index() * piece : n;
    const u64 end = begin + piece < n ? begin + piece : n;
    T sum{};
    for (u64 i = begin; i < end; ++i) sum += values[i];
    T total{};
    T before = sum_of_threads_before<warps>(sum, total);
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
  /// A list a warp. Each lane has a word or a part of one, and knows how many flags come before. Items wait in shared
  /// memory, so that lanes that follow each other put what follows each other.
  template <class Open>
  ZENITH_DEVICE void each_list(u64 n, const Open& open) const {
    constexpr u32 word_bits = 32;
    constexpr u32 most_waiting = 256;
    ZENITH_STATIC_SHARED(std::uint16_t, waiting, warps * most_waiting);
    const u32 own = simt::warp_index() * most_waiting;
    const u32 lane = simt::lane_index();
    for (u64 i = simt::warp_index(); i < n; i += warps) {
      const auto list = open(i);
      // lanes of a word: where lists are short, more have something to do
      u32 shift = 0;
      while (shift < 3 && list.words << (shift + 1) <= simt::warp_size) ++shift;
      const u32 bits = word_bits >> shift;
      const u32 part = (lane & ((u32{1} << shift) - 1)) * bits;
      u32 before = 0;
      for (u32 first = 0; first < list.words; first += simt::warp_size >> shift) {
        const u32 word = first + (lane >> shift);
        u32 flags = word < list.words ? list.word(word) >> part & ~u32{0} >> (word_bits - bits) : 0;
        u32 rank = simt::popcount(flags);
        ZENITH_UNROLL
        for (unsigned distance = 1; distance < simt::warp_size; distance *= 2) {
          const u32 below = simt::shuffle_up(simt::full_warp, rank, distance);
          if (lane >= distance) rank += below;
        }
        const u32 all = simt::shuffle(simt::full_warp, rank, simt::warp_size - 1);
        rank -= simt::popcount(flags);
        // at most 1024 items: some ranks at a time
        for (u32 begin = 0; begin < all; begin += most_waiting) {
          const u32 end = begin + most_waiting < all ? begin + most_waiting : all;
          for (; flags != 0 && rank < end; flags &= flags - 1, ++rank) {
            const u32 item = (lane >> shift) * word_bits + part + simt::find_first_set(flags) - 1;
            waiting.write(own + rank - begin, static_cast<std::uint16_t>(item));
          }
          simt::warp_barrier(simt::full_warp);
          for (u32 at = begin + lane; at < end; at += simt::warp_size) {
            list.put(first * word_bits + waiting.read(own + at - begin), before + at);
          }
          simt::warp_barrier(simt::full_warp);
        }
        before += all;
      }
    }
  }
  /// A list a warp.
  template <class Open>
  ZENITH_DEVICE void each_parted(u64 n, const Open& open) const {
    for (u64 i = simt::warp_index(); i < n; i += warps) part_list<warps>(open(i));
  }
  /// A list a warp.
  template <class Open>
  ZENITH_DEVICE void each_reduced(u64 n, const Open& open) const {
    for (u64 i = simt::warp_index(); i < n; i += warps) reduce_list(open(i));
  }
  template <class Test>
  ZENITH_DEVICE void wait_until(const Test& test) const {
    device::wait_until(test);
  }

  template <class Source, class Body>
  ZENITH_DEVICE void each_tile(const Source& source, const Body& body) const {
    const u64 warp = u64{simt::block_index()} * warps + simt::warp_index();
    each_warp_tile(source, warp, u64{simt::grid_size()} * warps, body);
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
