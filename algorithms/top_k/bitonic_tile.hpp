#pragma once

/// \file
/// Tiles of entries with the ordering functions of core/tile.hpp: a team's scratch, and all of a device's memory.

#include <cstdint>

#include <algorithms/top_k/bitonic.hpp>
#include <core/device/kernel.hpp>
#include <core/entry.hpp>

namespace zenith::top_k_detail {

using device::u32;
using device::u64;

/// Where item i of the runs of k lies. A merge leaves each result in the place of the first of its two runs, so that no
/// lane overwrites what another still reads and no second buffer is needed; the runs that are left then lie 2^spread
/// runs apart.
struct run_places {
  unsigned spread = 0;

  [[nodiscard]] ZENITH_FN u64 at(u64 i, u64 k) const { return ((i & ~(k - 1)) << spread) | (i & (k - 1)); }
};

/// Swaps without a branch: in a network half of all swaps happen, which no processor can predict.
ZENITH_FN void swap_if(bool swap, u64& first, u64& second) {
  const u64 change = (first ^ second) & (u64{0} - static_cast<u64>(swap));
  first ^= change;
  second ^= change;
}
ZENITH_FN void swap_if(bool swap, ordered::entry32& first, ordered::entry32& second) {
  swap_if(swap, first.packed, second.packed);
}
ZENITH_FN void swap_if(bool swap, ordered::entry64& first, ordered::entry64& second) {
  swap_if(swap, first.high, second.high);
  swap_if(swap, first.low, second.low);
}

template <class Entry>
ZENITH_FN void compare_exchange(Entry* at, u64 distance, bool descending) {
  Entry a = at[0];
  Entry b = at[distance];
  swap_if(better(b, a) == descending, a, b);
  at[0] = a;
  at[distance] = b;
}
/// Pair t of a step of the network over `entries`, which begin at place `base` of all.
template <class Entry>
ZENITH_FN void exchange_pair(Entry* entries, run_places places, u64 base, u64 t, u64 run, u64 distance) {
  const u64 i = pair_position(t, distance);
  compare_exchange(entries + places.at(i, run), distance, is_descending(base + i, run));
}

template <class Entry>
ZENITH_FN void keep_better(Entry& first, const Entry& second) {
  if (better(second, first)) first = second;
}

/// Entries of a tile: 16 KiB.
template <class Entry>
inline constexpr u32 tile_entries = 16384 / sizeof(Entry);
/// The longest runs that two tiles' worth of them still can merge in one tile.
template <class Entry>
inline constexpr u32 longest_tile_run = tile_entries<Entry> / 2;

/// A tile in a team's scratch.
template <class Entry, class Team>
class team_tile {
 public:
  /// `base` is where the tile's first item stands among all: it decides the direction of runs longer than the tile.
  ZENITH_FN team_tile(Team& team, u64 base) : team_(team), entries_(team.template scratch<Entry>()), base_(base) {}

  /// Fills the tile: entry i is `entry_at(i)`.
  template <class EntryAt>
  ZENITH_FN void load(const EntryAt& entry_at) {
    each(count_, [&](u64 i) ZENITH_BODY { entries_[i] = entry_at(i); });
  }
  /// Writes the first `count` items of what is left.
  ZENITH_FN void store(u64 count, Entry* to) const {
    each(count, [&](u64 i) ZENITH_BODY { to[i] = entries_[i]; });
  }

  ZENITH_FN void sort_runs(u32 k) {
    for (u64 run = 2; run <= k; run *= 2) sort_bitonic(run, run / 2);
  }
  ZENITH_FN void merge_runs(u32 k) {
    const run_places after{places_.spread + 1};
    count_ /= 2;
    each(count_, [&](u64 i) ZENITH_BODY {
      Entry* const at = entries_ + after.at(i, k);
      keep_better(*at, at[u64{k} << places_.spread]);
    });
    places_ = after;
  }
  ZENITH_FN void rebuild_runs(u32 k) { sort_bitonic(k, k / 2); }

  /// The steps from `distance` down to 1 of the phase that sorts bitonic sequences of `run` items.
  ZENITH_FN void sort_bitonic(u64 run, u64 distance) {
    for (; distance > 0; distance /= 2) {
      if constexpr (Team::is_one_lane) {
        // pairs that stand together have one direction: hardly any arithmetic of places
        for (u64 first = 0; first < count_; first += 2 * distance) {
          Entry* const at = entries_ + places_.at(first, run);
          const bool descending = is_descending(base_ + first, run);
          for (u64 i = 0; i < distance; ++i) compare_exchange(at + i, distance, descending);
        }
      } else {
        each(count_ / 2, [&](u64 t) ZENITH_BODY { exchange_pair(entries_, places_, base_, t, run, distance); });
      }
    }
  }

 private:
  template <class Work>
  ZENITH_FN void each(u64 count, const Work& work) const {
    team_.for_each(count, work);
    team_.barrier();
  }

  Team& team_;
  Entry* entries_;
  u64 base_;
  u64 count_ = tile_entries<Entry>;
  run_places places_{};
};

// ---- the device's memory as a tile

/// Sorts bitonic sequences of `run` items as far as a tile reaches; with `from_scratch`, sorts runs of a tile first.
template <class Entry>
struct sort_in_tiles {
  static constexpr u32 scratch_bytes = tile_entries<Entry> * sizeof(Entry);
  static constexpr u64 item_cost = u64{1} << 18;

  Entry* entries;
  run_places places;
  u64 run;
  bool from_scratch;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    constexpr u32 size = tile_entries<Entry>;
    Entry* const mine = entries + places.at(i * size, run);
    team_tile<Entry, Team> tile(team, i * size);
    tile.load([&](u64 j) ZENITH_BODY { return mine[j]; });
    if (from_scratch) {
      tile.sort_runs(size);
    } else {
      tile.sort_bitonic(run, size / 2);
    }
    tile.store(size, mine);
  }
};

/// One step of the network.
template <class Entry>
struct network_step {
  Entry* entries;
  run_places places;
  u64 run;
  u64 distance;

  ZENITH_FN void operator()(u64 t) const { exchange_pair(entries, places, 0, t, run, distance); }
};

template <class Entry>
struct merge_neighbours {
  Entry* entries;
  run_places after;
  u64 k;
  u64 apart;

  ZENITH_FN void operator()(u64 t) const {
    Entry* const at = entries + after.at(t, k);
    keep_better(*at, at[apart]);
  }
};

/// Steps over long distances are launches of their own; the rest of each phase runs in teams' tiles.
template <class Entry, class Context>
class device_tile {
 public:
  /// `count`: a power of two, at least tile_entries.
  device_tile(Context& on, Entry* entries, u64 count) : on_(on), entries_(entries), count_(count) {}

  void sort_runs(u64 k) {
    on_.for_teams(count_ / tile_entries<Entry>, sort_in_tiles<Entry>{entries_, places_, tile_entries<Entry>, true});
    for (u64 run = u64{2} * tile_entries<Entry>; run <= k; run *= 2) rebuild_runs(run);
  }
  void merge_runs(u64 k) {
    const run_places after{places_.spread + 1};
    count_ /= 2;
    on_.for_each(count_, merge_neighbours<Entry>{entries_, after, k, k << places_.spread});
    places_ = after;
  }
  void rebuild_runs(u64 k) {
    for (u64 distance = k / 2; distance >= tile_entries<Entry>; distance /= 2) {
      on_.for_each(count_ / 2, network_step<Entry>{entries_, places_, k, distance});
    }
    on_.for_teams(count_ / tile_entries<Entry>, sort_in_tiles<Entry>{entries_, places_, k, false});
  }

 private:
  Context& on_;
  Entry* entries_;
  u64 count_;
  run_places places_{};
};

}  // namespace zenith::top_k_detail
