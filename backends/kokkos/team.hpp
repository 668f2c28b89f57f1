#pragma once

/// \file
/// The vocabulary of core/device/plain_team.hpp on a Kokkos team of many lanes. A tile is one lane's: items strided
/// over the team, so that loads coalesce; what is asked of a tile needs no barrier. On hosts a team is one thread and
/// core's plain team itself.

#include <backends/kokkos/space.hpp>
#include <core/device/plain_team.hpp>

namespace zenith::kokkos_backend {

using device::u32;
using device::u64;

/// Items of a lane's tile: what a GPU's lane has registers for, with all its loads in flight.
inline constexpr u32 lane_items = 16;

/// A lane's share of a tile whose first item is `first`.
template <device::formula_source Source, bool Full>
struct strided_tile {
  static constexpr bool is_full = Full;
  const Source& source;
  u64 first;  ///< this lane's
  u32 count;  ///< of this lane
  u32 stride;

  ZENITH_FN u64 index(u32 i) const { return first + static_cast<u64>(i) * stride; }
  ZENITH_FN auto key(u32 i) const { return device::key_at(source, index(i)); }
};

/// The item at place i of a tile.
template <class Tile>
ZENITH_FN u64 index_in(const Tile& items, u32 i) {
  if constexpr (requires { items.index(i); }) {
    return items.index(i);
  } else {
    return items.first + i;
  }
}

/// A collection in the hands of a team: one array and a counter for all of them. Its bound does not rise.
template <class Entry>
class sink {
 public:
  ZENITH_FN explicit sink(const device::collection<Entry>& to) : to_(to), bound_(*to.bound) {}

  [[nodiscard]] ZENITH_FN Entry bound() const { return bound_; }

  /// One atomic operation for all that a lane keeps. Two passes: hardly any tile has an item to keep, so making its
  /// entry again is cheaper than holding entries in registers.
  template <class Team, class Tile, class Make>
  ZENITH_FN void append(Team& /*team*/, const Tile& items, u64 flags, const Make& make) {
    u64 kept = 0;
    u32 count = 0;
    for (u32 i = 0; flags != 0; ++i, flags >>= 1) {
      if ((flags & 1) == 0 || better(bound_, make(index_in(items, i)))) continue;
      kept |= u64{1} << i;
      ++count;
    }
    if (count == 0) return;
    u32 at = device::atomic_add(to_.count, count);
    for (u32 i = 0; kept != 0; ++i, kept >>= 1) {
      if ((kept & 1) == 0) continue;
      if (at < to_.capacity) to_.entries[at] = make(index_in(items, i));
      ++at;
    }
  }
  template <class Team>
  ZENITH_FN void close(Team& /*team*/) {}

 private:
  const device::collection<Entry>& to_;
  Entry bound_;
};

/// An operation as a Kokkos reducer.
template <class T, class Op>
struct joined_by {
  using reducer = joined_by;
  using value_type = T;
  using result_view_type = Kokkos::View<T, memory, unmanaged>;

  T* to;
  T none;
  const Op& op;

  ZENITH_FN void join(T& all, const T& more) const { all = op(all, more); }
#if KOKKOS_VERSION < 40000
  ZENITH_FN void join(volatile T& all, const volatile T& more) const {
    const_cast<T&>(all) = op(const_cast<const T&>(all), const_cast<const T&>(more));
  }
#endif
  ZENITH_FN void init(T& value) const { value = none; }
  [[nodiscard]] ZENITH_FN T& reference() const { return *to; }
  [[nodiscard]] ZENITH_FN result_view_type view() const { return result_view_type(to); }
  [[nodiscard]] ZENITH_FN bool references_scalar() const { return true; }
};

/// Words as in core/device/plain_team.hpp.
class strided_team {
 public:
  static constexpr bool is_one_lane = false;

  ZENITH_FN strided_team(const team& lanes, u64 index, u64 begin, u64 end, void* scratch)
      : lanes_(lanes), index_(index), begin_(begin), end_(end), scratch_(static_cast<char*>(scratch)) {}

  [[nodiscard]] ZENITH_FN u64 index() const { return index_; }

  template <class T>
  [[nodiscard]] ZENITH_FN T* scratch(u32 byte_offset = 0) const {
    return reinterpret_cast<T*>(scratch_ + byte_offset);
  }
  template <class F>
  ZENITH_FN void for_each(u64 n, const F& f) const {
    for (u64 i = rank(); i < n; i += size()) f(i);
  }
  template <class F>
  ZENITH_FN void once(const F& f) const {
    if (rank() == 0) f();
  }
  ZENITH_FN void barrier() const { lanes_.team_barrier(); }

  template <class T, class F, class Op>
  ZENITH_FN T reduce(u64 n, T none, const F& f, const Op& op) const {
    barrier();
    T all = none;
    for (u64 i = rank(); i < n; i += size()) all = op(all, f(i));
    lanes_.team_reduce(joined_by<T, Op>{&all, none, op});
    barrier();
    return all;
  }
  template <class F>
  ZENITH_FN bool any(u64 n, const F& f) const {
    return count(n, f) != 0;
  }
  template <class F>
  ZENITH_FN u64 count(u64 n, const F& f) const {
    return reduce(
        n, u64{0}, [&](u64 i) { return f(i) ? u64{1} : u64{0}; }, [](u64 a, u64 b) { return a + b; });
  }
  /// Neighbours are one lane's, so that only one sum a lane is scanned across the team.
  template <class T>
  ZENITH_FN T scan(T* values, u64 n) const {
    barrier();
    const u64 piece = (n + size() - 1) / size();
    const u64 begin = piece * rank() < n ? piece * rank() : n;
    const u64 end = begin + piece < n ? begin + piece : n;
    T own{};
    for (u64 i = begin; i < end; ++i) own += values[i];
    T sum = lanes_.team_scan(own);
    T total = sum + own;
    lanes_.team_broadcast(total, static_cast<int>(size()) - 1);
    for (u64 i = begin; i < end; ++i) {
      const T value = values[i];
      values[i] = sum;
      sum += value;
    }
    barrier();
    return total;
  }
  template <class T>
  ZENITH_FN T add(T* at, std::type_identity_t<T> more) const {
    return device::atomic_add(at, more);
  }
  /// A list a lane.
  template <class Open>
  ZENITH_FN void each_list(u64 n, const Open& open) const {
    for (u64 i = rank(); i < n; i += size()) device::take_list(open(i));
  }
  /// A list a lane.
  template <class Open>
  ZENITH_FN void each_parted(u64 n, const Open& open) const {
    for (u64 i = rank(); i < n; i += size()) device::part_list(open(i));
  }
  /// A list a lane.
  template <class Open>
  ZENITH_FN void each_reduced(u64 n, const Open& open) const {
    for (u64 i = rank(); i < n; i += size()) device::reduce_list(open(i));
  }
  template <class Test>
  ZENITH_FN void wait_until(const Test& test) const {
    device::wait_until(test);
  }

  template <class Source, class Body>
  ZENITH_FN void each_tile(const Source& source, const Body& body) const {
    if constexpr (device::block_source<Source>) {
      each_block(source, body);
    } else {
      const u32 stride = size();
      const u64 items = static_cast<u64>(stride) * lane_items;
      u64 at = begin_;
      for (; at + items <= end_; at += items) body(strided_tile<Source, true>{source, at + rank(), lane_items, stride});
      if (at < end_) body(strided_tile<Source, false>{source, at + rank(), held(end_ - at), stride});
    }
  }
  template <class Tile, class Predicate>
  [[nodiscard]] ZENITH_FN u64 flag(const Tile& items, const Predicate& is) const {
    int some = 0;
    if constexpr (Tile::is_full) {
      ZENITH_UNROLLED
      for (u32 i = 0; i < lane_items; ++i) some |= is(items.key(i)) ? 1 : 0;
    } else {
      for (u32 i = 0; i < items.count; ++i) some |= is(items.key(i)) ? 1 : 0;
    }
    if (some == 0) [[likely]]
      return 0;
    u64 flags = 0;
    for (u32 i = 0; i < items.count; ++i) flags |= static_cast<u64>(is(items.key(i)) ? 1 : 0) << i;
    return flags;
  }
  [[nodiscard]] ZENITH_FN bool any(u64 flags) const { return flags != 0; }
  template <class Tile, class Use>
  ZENITH_FN void each_item(const Tile& items, const Use& use) const {
    for (u32 i = 0; i < items.count; ++i) use(items.key(i));
  }
  template <class Entry>
  [[nodiscard]] ZENITH_FN sink<Entry> open(const device::collection<Entry>& to) const {
    return sink<Entry>(to);
  }

 private:
  [[nodiscard]] ZENITH_FN u32 rank() const { return static_cast<u32>(lanes_.team_rank()); }
  [[nodiscard]] ZENITH_FN u32 size() const { return static_cast<u32>(lanes_.team_size()); }
  /// How many of the `left` items of a last tile are this lane's.
  [[nodiscard]] ZENITH_FN u32 held(u64 left) const {
    return left <= rank() ? 0 : static_cast<u32>((left - rank() + size() - 1) / size());
  }

  /// A lane decodes a block to its own memory and takes its tiles from there.
  template <class Source, class Body>
  ZENITH_FN void each_block(const Source& source, const Body& body) const {
    using key = typename Source::key;
    constexpr u32 block = Source::block_items;
    static_assert(block % lane_items == 0);
    key keys[block];
    for (u64 at = begin_ + static_cast<u64>(rank()) * block; at < end_; at += static_cast<u64>(size()) * block) {
      source.decode(at / block, keys);
      for (u32 part = 0; part < block && at + part < end_; part += lane_items) {
        const u64 left = end_ - at - part;
        if (left >= lane_items) {
          body(device::decoded_tile<key, true>{keys + part, at + part, lane_items});
        } else {
          body(device::decoded_tile<key, false>{keys + part, at + part, static_cast<u32>(left)});
        }
      }
    }
  }

  const team& lanes_;
  u64 index_;
  u64 begin_;
  u64 end_;
  char* scratch_;
};

}  // namespace zenith::kokkos_backend
