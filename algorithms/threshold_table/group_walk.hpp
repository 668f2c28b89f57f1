#pragma once

/// \file
/// Strategy "blocks" where a launch, and an answer to the host, cost more than the blocks: on a device. Teams go
/// through the groups with a threshold that all of them raise, and nothing is asked of them in between.

#include <algorithms/threshold_table/open.hpp>
#include <core/device/team_best.hpp>

namespace zenith::threshold_table_family {

/// The most rows that a team of this walk keeps.
inline constexpr u32 most_group_walk_k = 128;

/// What is compared with the shared threshold: an entry, or as much of it as a word holds.
ZENITH_FN u64 rank_word(const ordered::entry32& one) { return one.packed; }
ZENITH_FN u64 rank_word(const ordered::entry64& one) { return one.high; }

/// What both kernels do with a group.
template <class T>
struct group_rows {
  using score = score_of<T>;
  using entry = entry_of<T>;
  using best_rows = device::team_best<entry, most_group_walk_k, 256>;
  static constexpr u32 together = 256;  ///< rows of small blocks that are evaluated at a time
  static constexpr u32 words_at = 0;
  static constexpr u32 bounds_at = 64;
  static constexpr u32 blocks_at = bounds_at + group_blocks * sizeof(entry);
  static constexpr u32 scores_at = blocks_at + group_blocks * sizeof(u32);
  static constexpr u32 best_at = scores_at + most_scores * sizeof(score);
  static constexpr u32 scratch_bytes = best_at + best_rows::scratch_bytes;

  rows_of<T> rows;
  bounds_of<T> of_blocks;
  u32 block_rows;  ///< at most
  open_counters counters;

  /// The bounds of a group's blocks, to scratch; places behind the last block have the worst entry.
  template <class Team>
  ZENITH_FN void bound_blocks(Team& team, u64 group) const {
    auto* const scores = team.template scratch<score>(scores_at);
    auto* const bounds = team.template scratch<entry>(bounds_at);
    const u64 first = group * group_blocks;
    const u64 left = of_blocks.size() - first;
    const u32 count = left < group_blocks ? static_cast<u32>(left) : group_blocks;
    evaluate(team, of_blocks.upper, first, count, scores);
    team.for_each(group_blocks, [&](u64 b) ZENITH_BODY {
      bounds[b] = b < count ? of_blocks.bound(first + b, scores[b]) : entry::worst();
    });
    team.barrier();
  }

  /// As many blocks as the team has lanes for, and scratch.
  [[nodiscard]] ZENITH_FN u32 blocks_together() const {
    const u32 most = block_rows < together ? together / block_rows : 1;
    return most < group_blocks ? most : group_blocks;
  }

  /// Evaluates the rows of the first `count` blocks of scratch, some blocks together, and pushes those that are not
  /// below the limit.
  template <class Team>
  ZENITH_FN void open(Team& team, best_rows& best, u32 count, u64 limit) const {
    auto* const scores = team.template scratch<score>(scores_at);
    const auto* const blocks = team.template scratch<u32>(blocks_at);
    const u32 each = blocks_together();
    for (u32 begin = 0; begin < count; begin += each) {
      const u32 some = count - begin < each ? count - begin : each;
      const u32 places = some * block_rows;
      const auto position = [&](u64 r) ZENITH_BODY {
        const u32 block = blocks[begin + static_cast<u32>(r) / block_rows];
        const u64 at = rows.begins[block] + r % block_rows;
        return at < rows.begins[block + 1] ? at : ~u64{0};
      };
      team.for_each(places, [&](u64 r) ZENITH_BODY {
        const u64 at = position(r);
        if (at != ~u64{0}) scores[r] = device::key_at(rows.scored, at);
      });
      team.barrier();
      const u64 least = limit < rank_word(best.worst()) ? rank_word(best.worst()) : limit;
      best.push(team, places, [&](u64 r) ZENITH_BODY {
        const u64 at = position(r);
        if (at == ~u64{0}) return entry::worst();
        // the id is read of few rows
        const auto highest = entry::make(rows.order().image(scores[r]), 0);
        if (rank_word(highest) < least) return entry::worst();
        const entry one = rows.entry(at, scores[r]);
        return rank_word(one) < least ? entry::worst() : one;
      });
      team.barrier();
    }
    team.once([&]() ZENITH_BODY {
      u64 opened = 0;
      if (counters.rows.is_on()) {
        for (u32 b = 0; b < count; ++b) opened += rows.begins[blocks[b] + 1] - rows.begins[blocks[b]];
      }
      counters.rows.add(opened);
      counters.blocks.add(count);
    });
  }
};

/// The best blocks of the best of every `teams`-th group: their k best rows to to[t * k …], filled up with the worst.
template <class T>
struct open_best_groups {
  using entry = entry_of<T>;
  using best_rows = typename group_rows<T>::best_rows;
  static constexpr u32 scratch_bytes = group_rows<T>::scratch_bytes;
  static constexpr u64 item_cost = u64{1} << 16;

  group_rows<T> in;
  const entry* groups;  ///< bounds
  u64 group_count;
  u64 teams;  ///< at most as many as groups
  u32 blocks;
  u32 k;
  entry* to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    best_rows best(team, group_rows<T>::best_at, k);
    const auto better_of = [](const entry& a, const entry& b) ZENITH_BODY { return better(b, a) ? b : a; };
    const entry top = team.reduce((group_count - t + teams - 1) / teams, entry::worst(),
                                  [&](u64 i) ZENITH_BODY {
                                    const u64 group = t + i * teams;
                                    return entry::make(groups[group].image(), static_cast<u32>(group));
                                  },
                                  better_of);
    const u64 group = top.index();
    in.bound_blocks(team, group);
    const auto* const bounds = team.template scratch<entry>(group_rows<T>::bounds_at);
    auto* const chosen = team.template scratch<u32>(group_rows<T>::blocks_at);
    const u64 left = in.of_blocks.size() - group * group_blocks;
    const u32 most = left < blocks ? static_cast<u32>(left) : blocks;
    entry last = entry::worst();
    for (u32 b = 0; b < most; ++b) {
      last = team.reduce(
          left < group_blocks ? left : group_blocks, entry::worst(),
          [&](u64 i) ZENITH_BODY {
            const entry one = entry::make(bounds[i].image(), static_cast<u32>(i));
            return b == 0 || better(last, one) ? one : entry::worst();
          },
          better_of);
      const u32 block = static_cast<u32>(group * group_blocks) + last.index();
      team.once([&]() ZENITH_BODY { chosen[b] = block; });
    }
    team.barrier();
    in.open(team, best, most, 0);
    team.for_each(k, [&](u64 r) ZENITH_BODY { to[t * k + r] = r < best.size() ? best.entry(r) : entry::worst(); });
  }
};

/// Blocks to open, with their bounds as words.
struct listed_bounds {
  u32* blocks;
  u64* words;
  u32* count;
};

/// Lists block i if its bound reaches `least`.
template <class T>
struct list_reaching {
  using entry = entry_of<T>;
  static constexpr u64 item_cost = 64;

  bounds_of<T> of_blocks;
  const entry* groups;  ///< bounds
  const entry* least;
  listed_bounds to;

  ZENITH_FN void operator()(u64 i) const {
    const u64 limit = rank_word(*least);
    if (rank_word(groups[i / group_blocks]) < limit) return;
    const u64 word = rank_word(of_blocks.bound(i));
    if (word < limit) return;
    const u32 at = device::atomic_add(to.count, 1);
    to.blocks[at] = static_cast<u32>(i);
    to.words[at] = word;
  }
};

/// The listed blocks, some at a time, whose bounds still reach the threshold. The k best rows of each team as above.
template <class T>
struct open_reaching {
  using entry = entry_of<T>;
  using best_rows = typename group_rows<T>::best_rows;
  static constexpr u32 scratch_bytes = group_rows<T>::scratch_bytes;
  static constexpr u64 item_cost = u64{1} << 16;

  group_rows<T> in;
  listed_bounds list;
  u32 k;
  const entry* least;  ///< k rows are not worse
  u32* next;           ///< listed block that no team has taken, from 0
  u64* threshold;      ///< from 0; as a word
  entry* to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    best_rows best(team, group_rows<T>::best_at, k);
    auto* const chosen = team.template scratch<u32>(group_rows<T>::blocks_at);
    auto* const words = team.template scratch<u64>(group_rows<T>::words_at);
    auto* const found = reinterpret_cast<u32*>(words + 2);
    const u32 count = *list.count;
    const u32 together = in.blocks_together();
    u64 limit = rank_word(*least);
    for (;;) {
      team.barrier();
      team.once([&]() ZENITH_BODY {
        const u64 own = best.is_full() ? rank_word(best.worst()) : 0;
        if (own > limit) (void)device::atomic_max(threshold, own);
        words[0] = device::atomic_add(next, together);
        words[1] = device::atomic_load(threshold);
        *found = 0;
      });
      team.barrier();
      const u64 begin = words[0];
      limit = limit < words[1] ? words[1] : limit;
      if (begin >= count) break;
      team.for_each(count - begin < together ? count - begin : together, [&](u64 i) ZENITH_BODY {
        if (list.words[begin + i] >= limit) chosen[team.add(found, 1)] = list.blocks[begin + i];
      });
      team.barrier();
      in.open(team, best, *found, limit);
    }
    team.for_each(k, [&](u64 r) ZENITH_BODY { to[t * k + r] = r < best.size() ? best.entry(r) : entry::worst(); });
  }
};

}  // namespace zenith::threshold_table_family
