#pragma once

/// \file
/// The paper's walk through a partition (hbuild, algorithm 2): block after block is evaluated and merged into the
/// team's k best, until the threshold tuple says that nothing behind can be among them.

#include <algorithms/threshold_table/open.hpp>

namespace zenith::threshold_table_family {

/// The most rows that a team keeps of its partition.
inline constexpr u32 most_walk_k = 512;
/// Rows that a team merges at a time.
inline constexpr u32 walk_rows = 256;

/// A team's k best: entries in its scratch, in falling order once `sort` ran.
template <class Entry>
struct team_heap {
  /// k entries, and all that a piece of a block may add to them, up to a power of two
  static constexpr u32 capacity = 1024;
  static_assert(most_walk_k + walk_rows <= capacity);

  Entry* entries;

  /// Bitonic sort of `count` entries, whose rest up to a power of two is filled up.
  template <class Team>
  ZENITH_FN void sort(Team& team, u32 count) const {
    u32 padded = 2;
    while (padded < count) padded *= 2;
    team.for_each(padded - count, [&](u64 i) ZENITH_BODY { entries[count + i] = Entry::worst(); });
    team.barrier();
    for (u32 size = 2; size <= padded; size *= 2) {
      for (u32 stride = size / 2; stride > 0; stride /= 2) {
        team.for_each(padded / 2, [&](u64 i) ZENITH_BODY {
          const auto low = static_cast<u32>(2 * i - (i & (stride - 1)));
          const u32 high = low + stride;
          const Entry a = entries[low];
          const Entry b = entries[high];
          if (better(b, a) == ((low & size) == 0)) {
            entries[low] = b;
            entries[high] = a;
          }
        });
        team.barrier();
      }
    }
  }
};

/// Partitions by falling bound: complemented images rise.
template <class Entry>
struct order_partitions {
  const Entry* bounds;
  typename Entry::image_t* keys;
  u32* order;

  ZENITH_FN void operator()(u64 i) const {
    keys[i] = static_cast<typename Entry::image_t>(~bounds[i].image());
    order[i] = static_cast<u32>(i);
  }
};

/// Partition order[i], or i. Its k best rows are appended, without those that are worse than the shared threshold.
template <class T>
struct walk_partition {
  using score = score_of<T>;
  using entry = entry_of<T>;
  using image = typename entry::image_t;
  static constexpr u32 limit_at = 0;
  static constexpr u32 scores_at = 64;
  static constexpr u32 ranks_at = scores_at + walk_rows * sizeof(score);
  static constexpr u32 heap_at = ranks_at + walk_rows * sizeof(u32);
  static constexpr u32 scratch_bytes = heap_at + team_heap<entry>::capacity * sizeof(entry);
  static constexpr u64 item_cost = u64{1} << 16;

  rows_of<T> rows;
  bounds_of<T> behind;  ///< threshold tuples
  const u32* partition_begins;
  const u32* order;                         ///< may be nullptr
  const entry* bounds;                      ///< of partitions; read with a shared threshold alone
  device::running_threshold<image> shared;  ///< at nullptr: each partition stops by itself
  u32 k;
  kept_rows<T> kept;
  open_counters counters;
  device::event_counter tuples;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    const team_heap<entry> heap{team.template scratch<entry>(heap_at)};
    const u64 p = order == nullptr ? i : order[i];
    u32 held = 0;
    image limit = shared_limit(team);
    if (shared.at == nullptr || !(bounds[p].image() < limit)) {
      for (u64 block = partition_begins[p]; block < partition_begins[p + 1]; ++block) {
        for (u64 first = rows.begins[block]; first < rows.begins[block + 1]; first += walk_rows) {
          const u64 left = rows.begins[block + 1] - first;
          held = merge(team, heap, held, limit, first, left < walk_rows ? static_cast<u32>(left) : walk_rows);
        }
        team.once([&]() ZENITH_BODY {
          counters.rows.add(rows.begins[block + 1] - rows.begins[block]);
          counters.blocks.add(1);
          tuples.add(1);
          if (shared.at != nullptr && held == k) shared.raise(heap.entries[k - 1].image());
        });
        limit = shared_limit(team);
        // a tie goes to the lower id, which may be behind
        const image next = behind.bound(block).image();
        if (next < limit || (held == k && next < heap.entries[k - 1].image())) break;
      }
    }
    team.for_each(held, [&](u64 r) ZENITH_BODY {
      if (!(heap.entries[r].image() < limit)) kept.append(heap.entries[r]);
    });
  }

 private:
  /// The shared threshold, the same for all lanes.
  template <class Team>
  ZENITH_FN image shared_limit(Team& team) const {
    auto* const at = team.template scratch<image>(limit_at);
    team.barrier();
    team.once([&]() ZENITH_BODY { *at = shared.at == nullptr ? image{0} : shared.get(); });
    team.barrier();
    return *at;
  }
  /// Merges rows with the k best so far. Returns how many there are then.
  template <class Team>
  ZENITH_FN u32 merge(Team& team, const team_heap<entry>& heap, u32 held, image limit, u64 first, u32 count) const {
    auto* const scores = team.template scratch<score>(scores_at);
    auto* const ranks = team.template scratch<u32>(ranks_at);
    evaluate(team, rows.scored, first, count, scores);
    const entry least = held == k ? heap.entries[k - 1] : entry::worst();
    const auto passes = [&](u64 r) ZENITH_BODY {
      const entry one = rows.entry(first + r, scores[r]);
      return !better(least, one) && !(one.image() < limit);
    };
    if (!team.any(count, passes)) return held;
    team.for_each(count, [&](u64 r) ZENITH_BODY { ranks[r] = passes(r) ? 1U : 0U; });
    team.barrier();
    const u32 more = team.scan(ranks, count);
    team.for_each(count, [&](u64 r) ZENITH_BODY {
      if (passes(r)) heap.entries[held + ranks[r]] = rows.entry(first + r, scores[r]);
    });
    team.barrier();
    heap.sort(team, held + more);
    return held + more < k ? held + more : k;
  }
};

}  // namespace zenith::threshold_table_family
