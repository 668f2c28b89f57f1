#pragma once

/// \file
/// The team's end of a collection, which is one array and a counter here. A warp asks the counter once for all that its
/// lanes keep.

#include <backends/cuda/tile/tile.hpp>
#include <core/device/shared_state.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Flags of a tile. Whether there is one at all is known; which ones, is found again where it matters, so that no
/// register is held for what hardly ever happens.
template <class Predicate>
struct lane_flags {
  bool has_some;
  Predicate is;

  /// The calling lane's, a bit for each of its items.
  template <class Tile>
  [[nodiscard]] ZENITH_DEVICE u32 bits(const Tile& items) const {
    u32 found = 0;
    ZENITH_UNROLL
    for (unsigned i = 0; i < Tile::lane_items; ++i) {
      if (is(simt::opaque(items.key(i))) && items.holds(i)) found |= 1U << i;
    }
    return found;
  }
};

template <class Entry>
class sink {
 public:
  ZENITH_DEVICE explicit sink(const device::collection<Entry>& to) : to_(to), bound_(*to.bound) {}

  [[nodiscard]] ZENITH_DEVICE Entry bound() const { return bound_; }

  template <class Team, class Tile, class Flags, class Make>
  ZENITH_DEVICE void append(Team& /*team*/, const Tile& items, const Flags& flags, const Make& make) {
    u32 bits = flags.bits(items);
    while (simt::any(simt::full_warp, bits != 0)) {
      Entry entry = Entry::worst();
      bool is_kept = false;
      if (bits != 0) {
        entry = make(items.index(simt::find_first_set(bits) - 1));
        is_kept = !better(bound_, entry);
        bits &= bits - 1;
      }
      keep(entry, simt::ballot(simt::full_warp, is_kept));
    }
  }
  template <class Team>
  ZENITH_DEVICE void close(Team& /*team*/) {}

 private:
  // The entries of the lanes in `keepers`, one after the other.
  ZENITH_DEVICE void keep(const Entry& entry, u32 keepers) {
    if (keepers == 0) return;
    const unsigned lane = simt::lane_index();
    const unsigned leader = simt::find_first_set(keepers) - 1;
    u32 first = 0;
    if (lane == leader) first = simt::atomic_add(to_.count, simt::popcount(keepers));
    first = simt::shuffle(simt::full_warp, first, leader);
    const u32 at = first + simt::popcount(keepers & ((1U << lane) - 1));
    if ((keepers >> lane & 1) != 0 && at < to_.capacity) to_.entries[at] = entry;
  }

  const device::collection<Entry>& to_;
  Entry bound_;
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
