#pragma once

/// \file
/// The moving and deciding family of the tile vocabulary on a Kokkos team, as algorithms/top_k/filter.hpp needs it.

#include <type_traits>

#include <algorithms/top_k/filter.hpp>
#include <backends/kokkos/keys.hpp>
#include <backends/kokkos/space.hpp>
#include <backends/kokkos/top_k_keys.hpp>
#include <core/tile.hpp>

namespace zenith::kokkos_backend {

/// Keys that a team holds in registers: `lane_items` a lane. Of keys in memory, neighbouring lanes hold neighbours, so
/// that a GPU's loads coalesce; of a packed column each lane holds neighbours that it decoded.
template <class T>
class key_tile {
 public:
  /// A host thread's lane amortises its loop over more items than a GPU's lane has registers for.
  static constexpr tile_index lane_items = is_host_space ? 32 : 8;

  struct items {
    T key[lane_items];
    std::uint32_t valid;
  };
  using flags = std::uint32_t;
  struct ranks {
    tile_index before;
    tile_index count;
  };

  KOKKOS_FUNCTION key_tile(const team& lanes, const top_k_detail::key_order<T>& order)
      : lanes_(lanes),
        order_(order),
        lane_(static_cast<tile_index>(lanes.team_rank())),
        lanes_in_team_(static_cast<tile_index>(lanes.team_size())) {}

  [[nodiscard]] KOKKOS_FUNCTION tile_index size() const { return stride() * lane_items; }

  /// Says where among all keys the tile's first one stands.
  KOKKOS_FUNCTION void place(std::uint64_t first) {
    first_ = static_cast<std::uint32_t>(first) + lane_;
    distance_ = stride();
  }
  /// Says where this lane's first key stands, of neighbours that it holds by itself.
  KOKKOS_FUNCTION void place_lane(std::uint64_t first) {
    first_ = static_cast<std::uint32_t>(first);
    distance_ = 1;
  }

  [[nodiscard]] KOKKOS_FUNCTION items load(const T* from, tile_index count) const {
    items held;
    if (count == size()) {
      held.valid = all_items;
      for (tile_index j = 0; j < lane_items; ++j) held.key[j] = from[position(j)];
      return held;
    }
    held.valid = 0;
    for (tile_index j = 0; j < lane_items; ++j) {
      const tile_index at = position(j);
      held.key[j] = at < count ? from[at] : T{};
      held.valid |= static_cast<std::uint32_t>(at < count) << j;
    }
    return held;
  }

  /// Of a lane's own: the tile's `count` has nothing to say.
  [[nodiscard]] KOKKOS_FUNCTION items load(const decoded_values<top_k_detail::bits_t<T>>& from,
                                           tile_index /*count*/) const {
    items held;
    if (from.begin == 0 && from.end == lane_items) {
      held.valid = all_items;
      for (tile_index j = 0; j < lane_items; ++j) held.key[j] = static_cast<T>(from.values[j]);
      return held;
    }
    held.valid = 0;
    for (tile_index j = 0; j < lane_items; ++j) {
      const bool counts = j >= from.begin && j < from.end;
      held.key[j] = counts ? static_cast<T>(from.values[j]) : T{};
      held.valid |= static_cast<std::uint32_t>(counts) << j;
    }
    return held;
  }

  /// Asks `keep.may(image)` of all items in one straight loop first, as hardly any tile has an item to keep, and
  /// `keep(image, index)` only then.
  template <class Keep>
  [[nodiscard]] KOKKOS_FUNCTION flags flag(const items& held, const Keep& keep) const {
    unsigned possible = 0;
    for (tile_index j = 0; j < lane_items; ++j) possible |= static_cast<unsigned>(keep.may(order_.image(held.key[j])));
    if (possible == 0) return 0;
    flags kept = 0;
    for (tile_index j = 0; j < lane_items; ++j) {
      kept |= static_cast<flags>(keep(order_.image(held.key[j]), index(j))) << j;
    }
    return kept & held.valid;
  }

  [[nodiscard]] KOKKOS_FUNCTION bool any(const flags& kept) const {
    int found = kept != 0 ? 1 : 0;
    lanes_.team_reduce(Kokkos::Max<int>(found));
    return found != 0;
  }

  [[nodiscard]] KOKKOS_FUNCTION ranks scan(const flags& kept) const {
    int mine = 0;
    for (flags rest = kept; rest != 0; rest &= rest - 1) ++mine;
    const int before = lanes_.team_scan(mine);
    int count = mine;
    lanes_.team_reduce(Kokkos::Sum<int>(count));
    return {static_cast<tile_index>(before), static_cast<tile_index>(count)};
  }

  template <class Slot>
  KOKKOS_FUNCTION void store_compacted(const items& held, const flags& kept, const ranks& at, const Slot& slot) const {
    tile_index rank = at.before;
    for (tile_index j = 0; j < lane_items; ++j) {
      if ((kept >> j & 1) == 0) continue;
      slot.put(rank, entry_of<T>::make(order_.image(held.key[j]), index(j)));
      ++rank;
    }
  }

 private:
  static constexpr std::uint32_t all_items = static_cast<std::uint32_t>((std::uint64_t{1} << lane_items) - 1);

  // A host team is one thread: known here, so that its loops are over neighbours.
  [[nodiscard]] KOKKOS_FUNCTION tile_index stride() const { return is_host_space ? 1 : lanes_in_team_; }
  [[nodiscard]] KOKKOS_FUNCTION tile_index position(tile_index j) const {
    return is_host_space ? j : j * lanes_in_team_ + lane_;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t index(tile_index j) const { return first_ + j * distance_; }

  const team& lanes_;
  top_k_detail::key_order<T> order_;
  tile_index lane_;
  tile_index lanes_in_team_;
  std::uint32_t first_ = 0;
  std::uint32_t distance_ = 1;
};

using counter = Kokkos::View<unsigned long long, memory>;

/// Appends entries of all teams to one buffer. Counts on past its end and stores nothing there: the host sees the
/// overflow in the count.
template <class Entry>
struct appender {
  buffer<Entry> entries;
  counter count;
  std::uint64_t first = 0;  // the part of the buffer that it fills begins here

  struct slot {
    const appender& to;
    std::uint64_t begin;

    KOKKOS_FUNCTION void put(tile_index rank, const Entry& entry) const {
      const std::uint64_t at = begin + rank;
      if (at < to.entries.extent(0)) to.entries(static_cast<std::size_t>(at)) = entry;
    }
  };

  [[nodiscard]] KOKKOS_FUNCTION bool is_flooded() const {
    return first + Kokkos::atomic_fetch_add(&count(), 0ULL) > entries.extent(0);
  }
};

/// An appender in the hands of one team.
template <class Entry>
struct team_sink {
  const team& lanes;
  const appender<Entry>& to;

  KOKKOS_FUNCTION typename appender<Entry>::slot reserve(tile_index count) const {
    unsigned long long begin = 0;
    Kokkos::single(
        Kokkos::PerTeam(lanes),
        [&](unsigned long long& value) {
          value = Kokkos::atomic_fetch_add(&to.count(), static_cast<unsigned long long>(count));
        },
        begin);
    return {to, to.first + begin};
  }
};

}  // namespace zenith::kokkos_backend
