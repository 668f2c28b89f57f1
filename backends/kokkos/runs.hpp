#pragma once

/// \file
/// Strategy "bitonic" over the whole device: the k best of any source of entries. `best_of` is its host-level order.
///
/// Runs that fit a team's scratch twice are made by one kernel that reads the source (SortReducer), and merged by
/// kernels that take a tile of runs down to one (BitonicReducer). Longer runs lie in device memory, and the whole
/// device is their tile: steps over long distances are kernels of their own, the rest of each phase runs in scratch.
///
/// The input is taken in chunks, so that the scratch is a sixteenth of it, or O(k), and not a copy.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include <backends/kokkos/space.hpp>
#include <backends/kokkos/tile.hpp>

namespace zenith::kokkos_backend {

/// Entries in device memory with the ordering functions of a tile: the device is the team.
template <class Entry>
class device_tile {
 public:
  /// `entries` holds a power of two of them, at least `run_tile<Entry>::capacity`.
  explicit device_tile(buffer<Entry> entries) : entries_(std::move(entries)), count_(entries_.extent(0)) {}

  void sort_runs(std::uint64_t k);
  void merge_runs(std::uint64_t k);
  void rebuild_runs(std::uint64_t k);

 private:
  void sort_bitonic(std::uint64_t run);

  buffer<Entry> entries_;
  std::uint64_t count_;
  run_places places_{};
};

/// Takes `runs` sorted runs of k (a power of two, at most `run_tile::longest_run`), all descending, to one.
template <class Entry>
[[nodiscard]] buffer<Entry> reduce_runs(buffer<Entry> entries, std::uint64_t runs, std::uint64_t k);

/// The better k of two descending runs of k = extent, into `best`, descending.
template <class Entry>
void merge_into(const buffer<Entry>& best, const buffer<Entry>& other);

/// SortReducer: tile i of the source to one descending run of k.
template <class Entry, class Source>
struct sort_reduce_tiles {
  Source source;
  std::uint64_t first;
  std::uint64_t last;
  std::uint64_t k;
  buffer<Entry> runs;
  std::uint64_t first_run;

  KOKKOS_FUNCTION void operator()(const team& lanes) const {
    const auto league = static_cast<std::uint64_t>(lanes.league_rank());
    const std::uint64_t base = first + league * run_tile<Entry>::capacity;
    run_tile<Entry> tile(lanes, 0);
    tile.load([&](std::uint64_t i) { return base + i < last ? source(base + i) : Entry::worst(); });
    const auto length = static_cast<tile_index>(k);
    top_k_detail::sort_reduce_tile(tile, length, run_tile<Entry>::capacity / length);
    tile.store(length, [&](std::uint64_t i, const Entry& entry) { runs((first_run + league) * k + i) = entry; });
  }
};

/// Copies a part of the source to device memory, padded with the worst entry.
template <class Entry, class Source>
struct fill_entries {
  Source source;
  std::uint64_t first;
  std::uint64_t last;
  buffer<Entry> entries;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint64_t at = first + static_cast<std::uint64_t>(i);
    entries(static_cast<std::size_t>(i)) = at < last ? source(at) : Entry::worst();
  }
};

inline constexpr std::uint64_t least_chunk = std::uint64_t{1} << 20;

template <class Entry, class Source>
[[nodiscard]] buffer<Entry> best_in_tiles(const Source& source, std::uint64_t count, std::uint64_t k) {
  constexpr std::uint64_t size = run_tile<Entry>::capacity;
  const auto tiles_of = [](std::uint64_t items) { return (items + size - 1) / size; };
  const std::uint64_t chunk = tiles_of(std::max(least_chunk, count / 16)) * size;
  const std::uint64_t chunks = (count + chunk - 1) / chunk;

  auto best = make_buffer<Entry>("zenith::top_k::bitonic chunk results", chunks * k);
  for (std::uint64_t c = 0; c < chunks; ++c) {
    const std::uint64_t last = std::min(count, (c + 1) * chunk);
    const std::uint64_t tiles = tiles_of(last - c * chunk);
    auto runs = tiles == 1 ? best : make_buffer<Entry>("zenith::top_k::bitonic runs", tiles * k);
    Kokkos::parallel_for("zenith::top_k::bitonic sort reduce", run_tile<Entry>::policy(tiles),
                         sort_reduce_tiles<Entry, Source>{source, c * chunk, last, k, runs, tiles == 1 ? c : 0});
    if (tiles == 1) continue;
    const auto reduced = reduce_runs(runs, tiles, k);
    Kokkos::deep_copy(space{}, Kokkos::subview(best, std::make_pair(c * k, (c + 1) * k)),
                      Kokkos::subview(reduced, std::make_pair(std::uint64_t{0}, k)));
  }
  return reduce_runs(best, chunks, k);
}

template <class Entry, class Source>
[[nodiscard]] buffer<Entry> best_in_device(const Source& source, std::uint64_t count, std::uint64_t k) {
  const std::uint64_t chunk = std::max(k, std::min(std::bit_ceil(count), least_chunk));
  // g++ 12 miscompiles a view that is made empty and assigned later (kokkos#8187)
  std::optional<buffer<Entry>> best;
  for (std::uint64_t first = 0; first < count; first += chunk) {
    auto entries = make_buffer<Entry>("zenith::top_k::bitonic chunk", chunk);
    Kokkos::parallel_for("zenith::top_k::bitonic fill", range(chunk),
                         fill_entries<Entry, Source>{source, first, std::min(count, first + chunk), entries});
    device_tile<Entry> tile(entries);
    top_k_detail::sort_reduce_tile(tile, k, chunk / k);
    const auto run = chunk == k ? entries : buffer<Entry>(entries, std::make_pair(std::uint64_t{0}, k));
    if (best) {
      merge_into(*best, run);
    } else {
      best.emplace(run);
    }
  }
  return *best;
}

/// The k best of `source(0)` … `source(count - 1)`, best first, at the head of what is returned. 1 <= k <= count.
template <class Entry, class Source>
[[nodiscard]] buffer<Entry> best_of(const Source& source, std::uint64_t count, std::uint64_t k) {
  const std::uint64_t run = std::bit_ceil(k);
  return run <= run_tile<Entry>::longest_run ? best_in_tiles<Entry>(source, count, run)
                                             : best_in_device<Entry>(source, count, run);
}

}  // namespace zenith::kokkos_backend
