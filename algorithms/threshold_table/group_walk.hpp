#pragma once

/// \file
/// Strategy "blocks" where a launch, and an answer to the host, cost more than the blocks: on a device. Teams go
/// through the groups with a threshold that all of them raise, and nothing is asked of them in between.

#include <algorithms/threshold_table/open_best_groups.hpp>
#include <core/device/team_best.hpp>

namespace zenith::threshold_table_family {

/// Opens the blocks that reach the threshold, each team those of an eighth of the groups of a list by falling bound,
/// and appends its rows that reach what the threshold is then, or the k best of them.
template <class T>
struct open_reaching {
  using entry = entry_of<T>;
  using shared = group_rows<T>;
  static constexpr u32 together = shared::together;
  /// Blocks of a part of a group: few, so that teams have about as much to do where blocks that are near one another
  /// reach it.
  static constexpr u32 part_blocks = 8;
  static constexpr u32 group_parts = group_blocks / part_blocks;
  static constexpr u32 at_once = 6;  ///< loads of a lane that overlap
  static constexpr u32 most_listed = at_once * together;
  static constexpr u32 most_parts = 128;  ///< whose blocks are put into an order
  static constexpr u32 most_blocks = most_parts * part_blocks;
  static constexpr u32 most_kept = 1024;  ///< rows that reached it and are not yet among the k best
  using best_rows = device::team_best<entry, most_group_walk_k, together>;

  static constexpr u32 counts_of_at = 0;
  static constexpr u32 now_at = 16;
  static constexpr u32 classes_at = 64;
  // the words of groups are not needed any more when blocks are listed
  static constexpr u32 groups_at = classes_at + 2 * class_threshold::scratch_words * sizeof(u64);
  static constexpr u32 words_at = groups_at;
  static constexpr u32 order_at = words_at + most_blocks * sizeof(u64);
  static constexpr u32 firsts_at = order_at + most_blocks * sizeof(u32);
  static constexpr u32 counts_at = firsts_at + most_blocks * sizeof(u32);
  static constexpr u32 parts_at = counts_at + most_blocks * sizeof(u32);
  static_assert(firsts_at - groups_at >= most_listed * sizeof(u64));
  static constexpr u32 kept_at = parts_at + most_listed * sizeof(u32);
  static constexpr u32 best_at = kept_at + most_kept * sizeof(entry);
  static constexpr u32 scratch_bytes = best_at + best_rows::scratch_bytes;
  static constexpr u64 item_cost = u64{1} << 16;
  static constexpr u32 wanted_teams = 4;

  shared in;
  u32 k;
  u32 most_given;  ///< rows that a team appends, at least k
  kept_rows<T> kept;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    walk<Team>(*this, team, static_cast<u32>(t)).run();
  }

 private:
  enum : u32 { parts, blocks, reached };  // counters

  template <class Team>
  struct walk {
    const open_reaching& in;
    Team& team;
    u32 t;
    u32* const counter = team.template scratch<u32>(counts_of_at);
    u64* const now = team.template scratch<u64>(now_at);  ///< what is known, by turns in two places
    u64* seen = team.template scratch<u64>(classes_at);   ///< the best of classes, when they were last read
    u64* next = seen + class_threshold::scratch_words;
    entry* const rows = team.template scratch<entry>(kept_at);
    best_rows best{team, best_at, in.k};
    u64 limit = 0;
    u32 step = t;
    u32 most_reached = 0;  ///< so many rows at most are in `rows`

    ZENITH_FN walk(const open_reaching& of, Team& by, u32 index) : in(of), team(by), t(index) {}

    ZENITH_FN void run() {
      const auto& groups = in.in.groups;
      const auto& threshold = in.in.threshold;
      const u32 list = t / group_parts;
      const u32 own = (groups.groups - list + groups.lists - 1) / groups.lists;
      const u64* const words = groups.words + u64{list} * groups.length();
      auto* const held = team.template scratch<u64>(groups_at);
      auto* const listed = team.template scratch<u32>(parts_at);
      for (u32 begin = 0; begin < own; begin += most_listed) {
        team.once([&]() ZENITH_BODY {
          counter[parts] = 0;
          counter[blocks] = 0;
          if (begin == 0) counter[reached] = 0;
        });
        team.for_each(together, [&](u64 lane) ZENITH_BODY {
          u64 some[at_once];
          ZENITH_UNROLLED
          for (u32 f = 0; f < at_once; ++f) {
            const u32 i = begin + f * together + static_cast<u32>(lane);
            some[f] = i < own ? words[i] : 0;
          }
          for (u64 c = lane; c <= threshold.classes; c += together) next[c] = threshold.word(c);
          ZENITH_UNROLLED
          for (u32 f = 0; f < at_once; ++f) held[f * together + lane] = some[f];
        });
        team.barrier();
        find();
        team.for_each(together, [&](u64 lane) ZENITH_BODY {
          ZENITH_UNROLLED
          for (u32 f = 0; f < at_once; ++f) {
            const u32 i = f * together + static_cast<u32>(lane);
            if (begin + i < own && held[i] >= limit) {
              listed[team.add(counter + parts, 1)] =
                  (list + (begin + i) * groups.lists) * group_parts + t % group_parts;
            }
          }
        });
        team.barrier();
        const u32 count = counter[parts];
        for (u32 first = 0; first < count; first += most_parts) {
          if (first > 0) {
            team.barrier();
            team.once([&]() ZENITH_BODY { counter[blocks] = 0; });
            team.barrier();
          }
          open_parts(listed + first, count - first < most_parts ? count - first : most_parts);
        }
        team.barrier();
      }
      give();
    }

    /// By the words of classes that were read. A barrier before it is the caller's, one is behind.
    ZENITH_FN void find() {
      const u64 found = in.in.threshold.find_among(team, next);
      u64* const other = seen;
      seen = next;
      next = other;
      limit = limit < found ? found : limit;
    }
    ZENITH_FN void open_parts(const u32* of, u32 count) {
      auto* const words = team.template scratch<u64>(words_at);
      auto* const firsts = team.template scratch<u32>(firsts_at);
      auto* const counts = team.template scratch<u32>(counts_at);
      auto* const order = team.template scratch<u32>(order_at);
      team.for_each(count * part_blocks, [&](u64 i) ZENITH_BODY {
        const u64 block = u64{of[i / part_blocks]} * part_blocks + i % part_blocks;
        if (block >= in.in.of_blocks.size()) return;
        const auto one = in.in.block_at(block);
        const u64 word = rank_word(one.bound);
        if (word < limit) return;
        const u32 at = team.add(counter + blocks, 1);
        words[at] = word;
        firsts[at] = one.first;
        counts[at] = one.count;
      });
      team.barrier();
      const u32 listed = counter[blocks];
      team.for_each(listed, [&](u64 i) ZENITH_BODY {
        const u64 own = words[i];
        u32 before = 0;
        for (u32 other = 0; other < listed; ++other) {
          before += words[other] > own || (words[other] == own && other < i) ? 1 : 0;
        }
        order[before] = static_cast<u32>(i);
      });
      team.barrier();
      const u32 each = in.in.blocks_together();
      for (u32 begin = 0; begin < listed && words[order[begin]] >= limit; begin += each) {
        open_blocks(order + begin, listed - begin < each ? listed - begin : each);
      }
    }
    /// Keeps their rows that reach the threshold, and raises it.
    ZENITH_FN void open_blocks(const u32* chosen, u32 count) {
      const auto* const firsts = team.template scratch<u32>(firsts_at);
      const auto* const counts = team.template scratch<u32>(counts_at);
      const auto& threshold = in.in.threshold;
      const u32 block_rows = in.in.block_rows;
      const u32 places = count * block_rows;
      for (u32 first = 0; first < places; first += together) {
        if (most_reached + together > most_kept) thin();
        most_reached += together;
        // of few classes it costs little
        constexpr u32 few_classes = 64;
        const u32 often = threshold.classes <= few_classes ? 4 : 8;
        const bool finds = ++step % often == 0;
        u64* const known = now + step % 2;
        team.for_each(together, [&](u64 lane) ZENITH_BODY {
          // what is read for the next step comes with the rows
          const u64 known_now = lane == 0 ? threshold.word(threshold.classes) : 0;
          const u64 best_of_class = finds && lane < threshold.classes ? threshold.word(lane) : 0;
          const u32 place = first + static_cast<u32>(lane);
          const u32 block = chosen[place < places ? place / block_rows : 0];
          const u32 r = place % block_rows;
          if (place < places && r < counts[block]) {
            const u64 at = u64{firsts[block]} + r;
            const entry one = in.in.row_at(at);
            const u64 word = rank_word(one);
            if (word >= limit) {
              rows[team.add(counter + reached, 1)] = one;
              const u32 of = threshold.class_of(at);
              if (word > seen[of]) (void)device::atomic_max(threshold.best + of, word);
            }
          }
          if (finds && lane < threshold.classes) next[lane] = best_of_class;
          if (lane == 0) *known = next[threshold.classes] = known_now;
        });
        team.barrier();
        if (finds) {
          find();
        } else {
          limit = limit < *known ? *known : limit;
        }
      }
      team.once([&]() ZENITH_BODY {
        if (!in.in.counters.rows.is_on()) return;
        u64 evaluated = 0;
        for (u32 i = 0; i < count; ++i) evaluated += counts[chosen[i]];
        in.in.counters.rows.add(evaluated);
        in.in.counters.blocks.add(count);
      });
    }
    /// Leaves the rows that reach the threshold, or the k best of them where these are many.
    ZENITH_FN void thin() {
      team.barrier();
      const u32 count = counter[reached];
      most_reached = count;
      if (count + together <= most_kept) return team.barrier();
      best.push(team, count, [&](u64 i) ZENITH_BODY { return rank_word(rows[i]) < limit ? entry::worst() : rows[i]; });
      const u64 own_worst = rank_word(best.worst());
      limit = limit < own_worst ? own_worst : limit;
      team.once([&]() ZENITH_BODY { counter[reached] = 0; });
      most_reached = 0;
      team.barrier();
    }
    /// Appends what is to be ranked.
    ZENITH_FN void give() {
      const u32 count = counter[reached];
      const auto reaches = [&](const entry& one) ZENITH_BODY { return rank_word(one) >= limit; };
      if (best.size() == 0 && (count <= in.most_given || team.count(count, [&](u64 i) ZENITH_BODY {
            return reaches(rows[i]);
          }) <= in.most_given)) {
        team.for_each(count, [&](u64 i) ZENITH_BODY {
          if (reaches(rows[i])) in.kept.append(rows[i]);
        });
        return;
      }
      best.push(team, count, [&](u64 i) ZENITH_BODY { return reaches(rows[i]) ? rows[i] : entry::worst(); });
      team.for_each(best.size(), [&](u64 i) ZENITH_BODY {
        if (reaches(best.entry(i))) in.kept.append(best.entry(i));
      });
    }
  };
};

/// Writes the k best of the rows that teams appended. One team.
template <class T, class Index>
struct finish_walk {
  using entry = entry_of<T>;
  static constexpr u32 together = group_rows<T>::together;
  static constexpr u32 most_listed = 512;
  static constexpr u32 at_once = 8;  ///< loads of a lane that overlap
  using best_rows = device::team_best<entry, most_group_walk_k, together>;
  static constexpr u32 counts_at = 0;
  static constexpr u32 classes_at = 64;
  static constexpr u32 listed_at = classes_at + class_threshold::scratch_words * sizeof(u64);
  static constexpr u32 best_at = listed_at + most_listed * sizeof(entry);
  static constexpr u32 scratch_bytes = best_at + best_rows::scratch_bytes;
  static constexpr u64 item_cost = u64{1} << 16;

  class_threshold threshold;
  kept_rows<T> kept;
  write_rows<T, Index> to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 /*i*/) const {
    auto* const counter = team.template scratch<u32>(counts_at);
    auto* const words = team.template scratch<u64>(classes_at);
    auto* const listed = team.template scratch<entry>(listed_at);
    team.for_each(together, [&](u64 lane) ZENITH_BODY {
      const u32 count = lane == 0 ? device::atomic_load(kept.count) : 0;
      for (u64 c = lane; c <= threshold.classes; c += together) words[c] = threshold.word(c);
      if (lane > 0) return;
      counter[0] = 0;
      counter[1] = count;
    });
    team.barrier();
    const u64 limit = threshold.find_among(team, words);
    const u32 all = counter[1];
    team.for_each(together, [&](u64 lane) ZENITH_BODY {
      for (u32 first = static_cast<u32>(lane); first < all; first += at_once * together) {
        entry some[at_once];
        ZENITH_UNROLLED
        for (u32 f = 0; f < at_once; ++f) {
          const u32 i = first + f * together;
          some[f] = i < all ? kept.items[i] : entry::worst();
        }
        ZENITH_UNROLLED
        for (u32 f = 0; f < at_once; ++f) {
          if (first + f * together >= all || rank_word(some[f]) < limit) continue;
          const u32 at = team.add(counter, 1);
          if (at < most_listed) listed[at] = some[f];
        }
      }
    });
    team.barrier();
    u32 count = counter[0];
    if (count > most_listed) {
      best_rows best(team, best_at, threshold.k);
      team.barrier();
      best.push(team, all, [&](u64 i) ZENITH_BODY { return kept.items[i]; });
      count = best.size();
      team.for_each(count, [&](u64 i) ZENITH_BODY { listed[i] = best.entry(i); });
      team.barrier();
    }
    team.for_each(count, [&](u64 i) ZENITH_BODY {
      const entry own = listed[i];
      u32 before = 0;
      ZENITH_UNROLLED_BY_4
      for (u32 other = 0; other < count; ++other) before += better(listed[other], own) ? 1 : 0;
      if (before < threshold.k) to.write(before, own);
    });
  }
};

}  // namespace zenith::threshold_table_family
