#pragma once

/// \file
/// The paper's walk through a partition (hbuild, algorithm 2): block after block is evaluated and merged into the
/// team's k best, until the threshold tuple says that nothing behind can be among them.

#include <algorithms/threshold_table/open.hpp>
#include <core/device/team_best.hpp>

namespace zenith::threshold_table_family {

/// The most rows that a team keeps of its partition.
inline constexpr u32 most_walk_k = 512;
/// Rows that a team merges at a time.
inline constexpr u32 walk_rows = 256;

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
  using best_rows = device::team_best<entry, most_walk_k, walk_rows>;
  static constexpr u32 best_at = scores_at + walk_rows * sizeof(score);
  static constexpr u32 scratch_bytes = best_at + best_rows::scratch_bytes;
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
    best_rows best(team, best_at, k);
    const u64 p = order == nullptr ? i : order[i];
    image limit = shared_limit(team);
    if (shared.at == nullptr || !(bounds[p].image() < limit)) {
      for (u64 block = partition_begins[p]; block < partition_begins[p + 1]; ++block) {
        for (u64 first = rows.begins[block]; first < rows.begins[block + 1]; first += walk_rows) {
          const u64 left = rows.begins[block + 1] - first;
          evaluate_rows(team, best, limit, first, left < walk_rows ? static_cast<u32>(left) : walk_rows);
        }
        team.once([&]() ZENITH_BODY {
          counters.rows.add(rows.begins[block + 1] - rows.begins[block]);
          counters.blocks.add(1);
          tuples.add(1);
          if (shared.at != nullptr && best.is_full()) shared.raise(best.worst().image());
        });
        limit = shared_limit(team);
        // a tie goes to the lower id, which may be behind
        const image next = behind.bound(block).image();
        if (next < limit || next < best.worst().image()) break;
      }
    }
    team.for_each(best.size(), [&](u64 r) ZENITH_BODY {
      if (!(best.entry(r).image() < limit)) kept.append(best.entry(r));
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
  template <class Team>
  ZENITH_FN void evaluate_rows(Team& team, best_rows& best, image limit, u64 first, u32 count) const {
    auto* const scores = team.template scratch<score>(scores_at);
    evaluate(team, rows.scored, first, count, scores);
    best.push(team, count, [&](u64 r) ZENITH_BODY {
      const entry one = rows.entry(first + r, scores[r]);
      return one.image() < limit ? entry::worst() : one;
    });
  }
};

}  // namespace zenith::threshold_table_family
