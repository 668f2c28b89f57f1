#pragma once

/// \file
/// The tile vocabulary of core/tile.hpp on a Kokkos team.

#include <algorithms/top_k/bitonic.hpp>
#include <algorithms/top_k/entry.hpp>
#include <backends/kokkos/space.hpp>
#include <core/tile.hpp>

namespace zenith::kokkos_backend {

/// Where item i of the runs of k lies. A merge leaves each result in the place of the first of its two runs, so that no
/// lane overwrites what another still reads and no second buffer is needed; the runs that are left then lie 2^spread
/// runs apart.
struct run_places {
  unsigned spread = 0;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint64_t at(std::uint64_t i, std::uint64_t k) const {
    return ((i & ~(k - 1)) << spread) | (i & (k - 1));
  }
};

/// Swaps without a branch: in a network half of all swaps happen, which no processor can predict.
KOKKOS_INLINE_FUNCTION void swap_if(bool swap, std::uint64_t& first, std::uint64_t& second) {
  const std::uint64_t change = (first ^ second) & (std::uint64_t{0} - static_cast<std::uint64_t>(swap));
  first ^= change;
  second ^= change;
}
KOKKOS_INLINE_FUNCTION void swap_if(bool swap, top_k_detail::entry32& first, top_k_detail::entry32& second) {
  swap_if(swap, first.packed, second.packed);
}
KOKKOS_INLINE_FUNCTION void swap_if(bool swap, top_k_detail::entry64& first, top_k_detail::entry64& second) {
  swap_if(swap, first.high, second.high);
  swap_if(swap, first.low, second.low);
}

template <class Entry>
KOKKOS_INLINE_FUNCTION void compare_exchange(Entry& first, Entry& second, bool descending) {
  Entry a = first;
  Entry b = second;
  swap_if(better(b, a) == descending, a, b);
  first = a;
  second = b;
}

template <class Entry>
KOKKOS_INLINE_FUNCTION void keep_better(Entry& first, const Entry& second) {
  if (better(second, first)) first = second;
}

/// A tile of entries in a team's scratch memory: the ordering family.
template <class Entry>
class run_tile {
 public:
  /// Entries that it holds: 16 KiB, half of what the leanest space (Serial) gives a team.
  static constexpr tile_index capacity = 16384 / sizeof(Entry);
  /// The longest runs that two tiles' worth of them still can merge in one tile.
  static constexpr tile_index longest_run = capacity / 2;

  [[nodiscard]] static team_policy policy(std::uint64_t tiles) { return teams(tiles, storage::shmem_size(capacity)); }

  /// `base` is where the tile's first item stands among all: it decides the direction of runs longer than the tile.
  KOKKOS_FUNCTION run_tile(const team& lanes, std::uint64_t base)
      : lanes_(lanes), entries_(lanes.team_scratch(0), capacity), base_(base) {}

  /// Fills the tile: entry i is `entry_at(i)`.
  template <class EntryAt>
  KOKKOS_FUNCTION void load(const EntryAt& entry_at) {
    each(capacity, [&](std::uint64_t i) { entries_(i) = entry_at(i); });
  }

  /// Hands the first `count` items of what is left to `take(i, entry)`.
  template <class Take>
  KOKKOS_FUNCTION void store(tile_index count, const Take& take) const {
    each(count, [&](std::uint64_t i) { take(i, entries_(i)); });
  }

  KOKKOS_FUNCTION void sort_runs(tile_index k) {
    for (std::uint64_t run = 2; run <= k; run *= 2) sort_bitonic(run, run / 2);
  }

  KOKKOS_FUNCTION void merge_runs(tile_index k) {
    const run_places after{places_.spread + 1};
    count_ /= 2;
    each(count_, [&](std::uint64_t i) {
      const std::uint64_t at = after.at(i, k);
      keep_better(entries_(at), entries_(at + (std::uint64_t{k} << places_.spread)));
    });
    places_ = after;
  }

  KOKKOS_FUNCTION void rebuild_runs(tile_index k) { sort_bitonic(k, k / 2); }

  /// The steps from `distance` down to 1 of the phase that sorts bitonic sequences of `run` items.
  KOKKOS_FUNCTION void sort_bitonic(std::uint64_t run, std::uint64_t distance) {
    for (; distance > 0; distance /= 2) {
      each(count_ / 2, [&](std::uint64_t t) {
        const std::uint64_t i = top_k_detail::pair_position(t, distance);
        const std::uint64_t at = places_.at(i, run);
        compare_exchange(entries_(at), entries_(at + distance), top_k_detail::is_descending(base_ + i, run));
      });
    }
  }

 private:
  using storage = Kokkos::View<Entry*, space::scratch_memory_space, unmanaged>;

  // All lanes share `count` pieces of work, and wait for each other after it.
  template <class Work>
  KOKKOS_FUNCTION void each(std::uint64_t count, const Work& work) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(lanes_, static_cast<int>(count)),
                         [&](int i) { work(static_cast<std::uint64_t>(i)); });
    lanes_.team_barrier();
  }

  const team& lanes_;
  storage entries_;
  std::uint64_t base_;
  std::uint64_t count_ = capacity;
  run_places places_{};
};

}  // namespace zenith::kokkos_backend
