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

/// A threshold that all teams raise: rows are in classes by their position, and each class has its best row so far. The
/// k-th best of those is not above the k-th best of all rows, because they are different rows. With twice k classes
/// some 1.4 k rows are above it.
struct class_threshold {
  static constexpr u32 most_classes = 2 * most_group_walk_k;

  u64* best;    ///< of the classes, as words; from 0
  u64* known;   ///< what a team has found to be the threshold; from 0
  u32 classes;  ///< a power of two, at least k
  u32 k;

  [[nodiscard]] static u32 classes_for(u64 k) {
    u32 classes = 1;
    while (classes < 2 * k && classes < most_classes) classes *= 2;
    return classes;
  }
  [[nodiscard]] ZENITH_FN u32 class_of(u64 position) const { return static_cast<u32>(position) & (classes - 1); }
  ZENITH_FN void raise(u32 of, u64 word) const {
    if (device::atomic_load(best + of) < word) (void)device::atomic_max(best + of, word);
  }
  /// What is known. Every lane gets it; `words` is scratch for one more than the classes. Barriers before and behind.
  template <class Team>
  [[nodiscard]] ZENITH_FN u64 get(Team& team, u64* words) const {
    u64* const found = words + classes;
    team.barrier();
    team.once([&]() ZENITH_BODY { *found = device::atomic_load(known); });
    team.barrier();
    return *found;
  }
  /// The same once it has been found anew.
  template <class Team>
  [[nodiscard]] ZENITH_FN u64 find(Team& team, u64* words) const {
    u64* const found = words + classes;
    team.barrier();
    team.for_each(classes, [&](u64 c) ZENITH_BODY { words[c] = device::atomic_load(best + c); });
    team.barrier();
    team.for_each(classes, [&](u64 c) ZENITH_BODY {
      const u64 own = words[c];
      u32 before = 0;
      ZENITH_UNROLLED_BY_4
      for (u32 other = 0; other < classes; ++other) {
        before += words[other] > own || (words[other] == own && other < c) ? 1 : 0;
      }
      if (before + 1 != k) return;
      *found = own;
      if (device::atomic_load(known) < own) (void)device::atomic_max(known, own);
    });
    team.barrier();
    return *found;
  }
};

/// What both kernels do with blocks.
template <class T>
struct group_rows {
  using score = score_of<T>;
  using entry = entry_of<T>;
  static constexpr u32 together = 256;  ///< rows, or bounds, at a time: one a lane
  static constexpr u32 found_at = 0;
  static constexpr u32 classes_at = 64;
  static constexpr u32 bounds_at = classes_at + (class_threshold::most_classes + 8) * sizeof(u64);
  static constexpr u32 blocks_at = bounds_at + together * sizeof(entry);
  static constexpr u32 rows_at = blocks_at + together * sizeof(u32);
  static constexpr u32 end_at = rows_at + together * sizeof(entry);

  rows_of<T> rows;
  bounds_of<T> of_blocks;
  u32 block_rows;  ///< at most
  class_threshold threshold;
  open_counters counters;

  /// The threshold, which is found anew at each of a team's `often` steps.
  template <class Team>
  [[nodiscard]] ZENITH_FN u64 limit(Team& team, u32 step) const {
    constexpr u32 often = 8;
    auto* const words = team.template scratch<u64>(classes_at);
    return step % often == 0 ? threshold.find(team, words) : threshold.get(team, words);
  }
  /// Blocks whose rows are evaluated at a time.
  [[nodiscard]] ZENITH_FN u32 blocks_together() const { return block_rows < together ? together / block_rows : 1; }

  /// Evaluates the rows of `count` blocks, block_at(i) for i < count <= blocks_together(), raises the threshold by
  /// those that are not below the limit, and calls use(n) where there are some: they are among n entries of scratch. A
  /// barrier behind.
  template <class Team, class BlockAt, class Use>
  ZENITH_FN void evaluate_rows(Team& team, u32 count, u64 limit, const BlockAt& block_at, const Use& use) const {
    auto* const entries = team.template scratch<entry>(rows_at);
    const u32 places = count * block_rows;
    for (u32 first = 0; first < places; first += together) {
      const u32 some = places - first < together ? places - first : together;
      team.for_each(some, [&](u64 i) ZENITH_BODY {
        const u32 place = first + static_cast<u32>(i);
        const u32 block = block_at(place / block_rows);
        const u64 at = u64{rows.begins[block]} + place % block_rows;
        entries[i] = at < rows.begins[block + 1] ? candidate(at, limit) : entry::worst();
      });
      team.barrier();
      if (!team.any(some, [&](u64 i) ZENITH_BODY { return better(entries[i], entry::worst()); })) continue;
      team.for_each(threshold.classes, [&](u64 c) ZENITH_BODY {
        u64 most = 0;
        for (u32 place = first; place < first + some;) {
          const u32 b = place / block_rows;
          const u32 end = (b + 1) * block_rows < first + some ? (b + 1) * block_rows : first + some;
          const u64 at = u64{rows.begins[block_at(b)]} + place % block_rows;
          for (u32 i = place + threshold.class_of(c - at); i < end; i += threshold.classes) {
            const u64 word = rank_word(entries[i - first]);
            most = word > most ? word : most;
          }
          place = end;
        }
        if (most > 0) threshold.raise(static_cast<u32>(c), most);
      });
      use(some);
      team.barrier();
    }
    team.once([&]() ZENITH_BODY {
      u64 evaluated = 0;
      if (counters.rows.is_on()) {
        for (u32 i = 0; i < count; ++i) evaluated += rows.begins[block_at(i) + 1] - rows.begins[block_at(i)];
      }
      counters.rows.add(evaluated);
      counters.blocks.add(count);
    });
  }

 private:
  /// The row at a position, or the worst entry when it is below the limit. The id is read of few rows.
  [[nodiscard]] ZENITH_FN entry candidate(u64 at, u64 limit) const {
    const score own = device::key_at(rows.scored, at);
    if (rank_word(entry::make(rows.order().image(own), 0)) < limit) return entry::worst();
    const entry one = rows.entry(at, own);
    return rank_word(one) < limit ? entry::worst() : one;
  }
};

/// Raises the threshold by the best blocks of a few of the best of every `teams`-th group.
template <class T>
struct open_best_groups {
  using entry = entry_of<T>;
  using shared = group_rows<T>;
  static constexpr u32 groups_together = shared::together / group_blocks;
  static constexpr u32 scratch_bytes = shared::end_at;
  static constexpr u64 item_cost = u64{1} << 16;

  shared in;
  const entry* groups;  ///< bounds
  u64 group_count;
  u64 teams;  ///< at most as many as groups
  u32 blocks;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    constexpr u32 none = ~u32{0};
    auto* const bounds = team.template scratch<entry>(shared::bounds_at);
    auto* const chosen_groups = team.template scratch<u32>(shared::classes_at);
    auto* const chosen = team.template scratch<u32>(shared::blocks_at);
    const auto better_of = [](const entry& a, const entry& b) ZENITH_BODY { return better(b, a) ? b : a; };
    // each lane the best of some groups, and of every few lanes the best one
    const u64 own = (group_count - t + teams - 1) / teams;
    team.for_each(shared::together, [&](u64 lane) ZENITH_BODY {
      entry best = entry::worst();
      for (u64 i = lane; i < own; i += shared::together) {
        const u64 group = t + i * teams;
        best = better_of(best, entry::make(groups[group].image(), static_cast<u32>(group)));
      }
      bounds[lane] = best;
    });
    team.barrier();
    for (u32 g = 0; g < groups_together; ++g) {
      const entry top = team.reduce(
          shared::together / groups_together, entry::worst(),
          [&](u64 i) ZENITH_BODY { return bounds[i * groups_together + g]; }, better_of);
      team.once([&]() ZENITH_BODY { chosen_groups[g] = better(top, entry::worst()) ? top.index() : none; });
    }
    team.barrier();
    team.for_each(shared::together, [&](u64 i) ZENITH_BODY {
      const u32 group = chosen_groups[i / group_blocks];
      const u64 block = u64{group} * group_blocks + i % group_blocks;
      bounds[i] = group != none && block < in.of_blocks.size()
                      ? entry::make(in.of_blocks.bound(block).image(), static_cast<u32>(i))
                      : entry::worst();
    });
    team.barrier();
    u32 count = 0;
    for (entry last = entry::worst(); count < blocks; ++count) {
      last = team.reduce(
          shared::together, entry::worst(),
          [&](u64 i) ZENITH_BODY { return count == 0 || better(last, bounds[i]) ? bounds[i] : entry::worst(); },
          better_of);
      if (!better(last, entry::worst())) break;
      team.once([&]() ZENITH_BODY {
        chosen[count] = chosen_groups[last.index() / group_blocks] * group_blocks + last.index() % group_blocks;
      });
    }
    team.barrier();
    const u32 each = in.blocks_together();
    for (u32 begin = 0; begin < count; begin += each) {
      in.evaluate_rows(
          team, count - begin < each ? count - begin : each, 0, [&](u32 i) ZENITH_BODY { return chosen[begin + i]; },
          [](u32 /*rows*/) ZENITH_BODY {});
    }
  }
};

/// Opens the blocks that reach the threshold, each team those of every `teams`-th part of a group by falling bound, and
/// appends the k best of its rows that reach what the threshold is then.
template <class T>
struct open_reaching {
  using entry = entry_of<T>;
  using shared = group_rows<T>;
  using best_rows = device::team_best<entry, most_group_walk_k, shared::together>;
  /// Blocks of a part: few, so that teams have about as much to do where blocks that are near one another reach it.
  static constexpr u32 part_blocks = 8;
  static constexpr u32 group_parts = group_blocks / part_blocks;
  static constexpr u32 at_once = 8;  ///< loads of a lane that overlap
  static constexpr u32 most_listed = at_once * shared::together;
  static constexpr u32 parts_at = shared::end_at;
  static constexpr u32 order_at = parts_at + most_listed * sizeof(u32);
  static constexpr u32 best_at = order_at + shared::together * sizeof(u32);
  static constexpr u32 scratch_bytes = best_at + best_rows::scratch_bytes;
  static constexpr u64 item_cost = u64{1} << 16;
  static constexpr u32 wanted_teams = 4;

  shared in;
  const entry* groups;  ///< bounds
  u64 group_count;
  u64 teams;  ///< at most as many as parts
  u32 k;
  kept_rows<T> kept;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    best_rows best(team, best_at, k);
    auto* const found = team.template scratch<u32>(shared::found_at);
    auto* const parts = team.template scratch<u32>(parts_at);
    u64 limit = in.limit(team, 0);
    const u64 own = (group_count * group_parts - t + teams - 1) / teams;
    for (u64 begin = 0; begin < own; begin += most_listed) {
      team.once([&]() ZENITH_BODY { *found = 0; });
      team.barrier();
      team.for_each(shared::together, [&](u64 lane) ZENITH_BODY {
        u64 words[at_once];
        ZENITH_UNROLLED
        for (u32 f = 0; f < at_once; ++f) {
          const u64 i = begin + f * shared::together + lane;
          words[f] = i < own ? rank_word(groups[(t + i * teams) / group_parts]) : 0;
        }
        ZENITH_UNROLLED
        for (u32 f = 0; f < at_once; ++f) {
          const u64 i = begin + f * shared::together + lane;
          if (i < own && words[f] >= limit) parts[team.add(found, 1)] = static_cast<u32>(t + i * teams);
        }
      });
      team.barrier();
      const u32 listed = *found;
      constexpr u32 each = shared::together / part_blocks;
      for (u32 first = 0; first < listed; first += each) {
        limit = open_parts(team, best, parts + first, listed - first < each ? listed - first : each, limit);
      }
      team.barrier();
    }
    team.for_each(best.size(), [&](u64 r) ZENITH_BODY {
      const entry one = best.entry(r);
      if (rank_word(one) >= limit) kept.append(one);
    });
  }

 private:
  /// Returns the threshold as it is then.
  template <class Team>
  [[nodiscard]] ZENITH_FN u64 open_parts(Team& team, best_rows& best, const u32* parts, u32 count, u64 limit) const {
    auto* const found = team.template scratch<u32>(shared::found_at);
    auto* const words = team.template scratch<u64>(shared::bounds_at);
    auto* const blocks = team.template scratch<u32>(shared::blocks_at);
    auto* const order = team.template scratch<u32>(order_at);
    auto* const entries = team.template scratch<entry>(shared::rows_at);
    team.barrier();
    team.once([&]() ZENITH_BODY { *found = 0; });
    team.barrier();
    team.for_each(count * part_blocks, [&](u64 i) ZENITH_BODY {
      const u64 block = u64{parts[i / part_blocks]} * part_blocks + i % part_blocks;
      if (block >= in.of_blocks.size()) return;
      const u64 word = rank_word(in.of_blocks.bound(block));
      if (word < limit) return;
      const u32 at = team.add(found, 1);
      blocks[at] = static_cast<u32>(block);
      words[at] = word;
    });
    team.barrier();
    const u32 listed = *found;
    team.for_each(listed, [&](u64 i) ZENITH_BODY {
      const u64 own = words[i];
      u32 before = 0;
      for (u32 other = 0; other < listed; ++other) {
        before += words[other] > own || (words[other] == own && other < i) ? 1 : 0;
      }
      order[before] = static_cast<u32>(i);
    });
    team.barrier();
    const u32 each = in.blocks_together();
    u32 step = static_cast<u32>(team.index());
    for (u32 begin = 0; begin < listed && words[order[begin]] >= limit; begin += each) {
      const u64 own_worst = rank_word(best.worst());
      in.evaluate_rows(
          team, listed - begin < each ? listed - begin : each, limit < own_worst ? own_worst : limit,
          [&](u32 i) ZENITH_BODY { return blocks[order[begin + i]]; },
          [&](u32 rows) ZENITH_BODY { best.push(team, rows, [&](u64 r) ZENITH_BODY { return entries[r]; }); });
      if (begin + each >= listed) break;
      const u64 now = in.limit(team, ++step);
      limit = limit < now ? now : limit;
    }
    return limit;
  }
};

}  // namespace zenith::threshold_table_family
