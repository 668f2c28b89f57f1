#pragma once

/// \file
/// Strategy "bitonic" once for every device and source: runs of k (rounded up to a power of two) are sorted and merged
/// until one is left. The network never looks at the data.
///
/// Runs that fit a team's scratch twice are made by one kernel that reads the source (SortReducer), and merged by
/// kernels that take a tile of runs down to one (BitonicReducer). Longer runs lie in device memory, and the whole
/// device is their tile. The input is taken in chunks, so that the scratch is a sixteenth of it, or O(k), and not a
/// copy. Complexity: O(n log^2 k).

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include <algorithms/top_k/bitonic_tile.hpp>
#include <algorithms/top_k/request.hpp>

namespace zenith::top_k_detail {

/// SortReducer: tile i of the source, from item `first` on, to a descending run of k.
template <class Source>
struct sort_reduce {
  using entry = source_entry<Source>;
  static constexpr u32 scratch_bytes = tile_entries<entry> * sizeof(entry);
  static constexpr u64 item_cost = u64{1} << 18;

  Source source;
  source_order<Source> order;
  u64 first;
  u64 last;
  u32 k;
  entry* runs;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    const u64 base = first + i * tile_entries<entry>;
    team_tile<entry, Team> tile(team, 0);
    const auto item = [&](u64 j) ZENITH_BODY { return entry_at(source, order, base + j); };
    if (base + tile_entries<entry> <= last) {
      tile.load(item);
    } else {
      tile.load([&](u64 j) ZENITH_BODY { return base + j < last ? item(j) : entry::worst(); });
    }
    sort_reduce_tile(tile, k, tile_entries<entry> / k);
    tile.store(k, runs + i * k);
  }
};

/// BitonicReducer: as many descending runs as a tile holds, to one.
template <class Entry>
struct bitonic_reduce {
  static constexpr u32 scratch_bytes = tile_entries<Entry> * sizeof(Entry);
  static constexpr u64 item_cost = u64{1} << 18;

  const Entry* in;
  u64 runs;
  u32 k;
  Entry* out;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    const u32 reduction = tile_entries<Entry> / k;
    team_tile<Entry, Team> tile(team, 0);
    tile.load([&](u64 j) ZENITH_BODY {
      const u64 run = i * reduction + j / k;
      // the network wants neighbours in opposite directions: it sees every second run from its end
      const u64 place = (j / k) % 2 == 0 ? j % k : k - 1 - j % k;
      return run < runs ? in[run * k + place] : Entry::worst();
    });
    bitonic_reduce_tile(tile, k, reduction);
    tile.store(k, out + i * k);
  }
};

/// A part of the source in device memory, padded with the worst entry.
template <class Source>
struct fill_entries {
  Source source;
  source_order<Source> order;
  u64 first;
  u64 last;
  source_entry<Source>* entries;

  ZENITH_FN void operator()(u64 i) const {
    entries[i] = first + i < last ? entry_at(source, order, first + i) : source_entry<Source>::worst();
  }
};

/// The better of each pair of two descending runs of k, seen from opposite ends: a bitonic sequence.
template <class Entry>
struct merge_opposed {
  Entry* best;
  const Entry* other;
  u64 k;

  ZENITH_FN void operator()(u64 i) const { keep_better(best[i], other[k - 1 - i]); }
};

template <class Source>
struct bitonic {
  using key = typename Source::key;
  using entry = source_entry<Source>;
  using kernels = device::concat<device::list<sort_reduce<Source>, fill_entries<Source>>, result_kernels<Source>>;

  template <device::device_context Context>
  static void run(Context& on, const Source& source, const selection_request<key>& asked) {
    const source_order<Source> order{asked.smallest, asked.nan_first};
    const u64 run = std::bit_ceil(asked.k);
    write_best(on, source, asked,
               run <= longest_tile_run<entry> ? in_tiles(on, source, order, static_cast<u32>(run))
                                              : in_memory(on, source, order, run));
    if (asked.statistics != nullptr) *asked.statistics = {std::string{on.variant()}, on.threads(), 1, 0};
  }

 private:
  static constexpr u64 least_chunk = u64{1} << 20;

  [[nodiscard]] static u64 tiles_of(u64 items) { return (items + tile_entries<entry> - 1) / tile_entries<entry>; }

  /// The k best, best first.
  template <class Context>
  [[nodiscard]] static const entry* in_tiles(Context& on, const Source& source, const source_order<Source>& order,
                                             u32 k) {
    const u64 n = source.size();
    const u64 chunk = tiles_of(std::max(least_chunk, n / 16)) * tile_entries<entry>;
    const u64 chunks = (n + chunk - 1) / chunk;
    const u64 most = std::max(chunks, std::min(tiles_of(n), chunk / tile_entries<entry>));
    auto* const best = on.template buffer<entry>(chunks * k);
    auto* const runs = on.template buffer<entry>(most * k);
    auto* const fewer = on.template buffer<entry>(fewer_runs(most, k) * k);
    for (u64 c = 0; c < chunks; ++c) {
      const u64 last = std::min(n, (c + 1) * chunk);
      const u64 tiles = tiles_of(last - c * chunk);
      on.for_teams(tiles, sort_reduce<Source>{source, order, c * chunk, last, k, tiles == 1 ? best + c * k : runs});
      if (tiles > 1) reduce(on, runs, fewer, tiles, k, best + c * k);
    }
    if (chunks == 1) return best;
    reduce(on, best, fewer, chunks, k, runs);
    return runs;
  }

  [[nodiscard]] static u64 fewer_runs(u64 runs, u64 k) {
    const u64 reduction = tile_entries<entry> / k;
    return (runs + reduction - 1) / reduction;
  }
  /// Takes sorted runs of k to one, at `to`. Both pieces of memory are overwritten.
  template <class Context>
  static void reduce(Context& on, entry* from, entry* fewer, u64 runs, u32 k, entry* to) {
    while (runs > 1) {
      const u64 left = fewer_runs(runs, k);
      on.for_teams(left, bitonic_reduce<entry>{from, runs, k, left == 1 ? to : fewer});
      std::swap(from, fewer);
      runs = left;
    }
  }

  template <class Context>
  [[nodiscard]] static const entry* in_memory(Context& on, const Source& source, const source_order<Source>& order,
                                              u64 k) {
    const u64 n = source.size();
    const u64 chunk = std::max(k, std::min(std::bit_ceil(n), least_chunk));
    auto* const entries = on.template buffer<entry>(chunk);
    auto* const best = on.template buffer<entry>(n <= chunk ? 0 : k);
    for (u64 first = 0; first < n; first += chunk) {
      on.for_each(chunk, fill_entries<Source>{source, order, first, std::min(n, first + chunk), entries});
      device_tile<entry, Context> tile(on, entries, chunk);
      // sort_reduce_tile, on the host
      tile.sort_runs(k);
      for (u64 left = chunk / k; left > 1; left /= 2) {
        tile.merge_runs(k);
        tile.rebuild_runs(k);
      }
      if (n <= chunk) return entries;
      if (first == 0) {
        on.copy(best, static_cast<const entry*>(entries), k);
      } else {
        on.for_each(k, merge_opposed<entry>{best, entries, k});
        device_tile<entry, Context>(on, best, k).rebuild_runs(k);
      }
    }
    return best;
  }
};

/// Kernels that do not know the source, by width of the key.
template <class Entry>
using bitonic_width_kernels = device::list<bitonic_reduce<Entry>, sort_in_tiles<Entry>, network_step<Entry>,
                                           merge_neighbours<Entry>, merge_opposed<Entry>>;
using bitonic_common_kernels =
    device::concat<bitonic_width_kernels<ordered::entry32>, bitonic_width_kernels<ordered::entry64>>;

}  // namespace zenith::top_k_detail
