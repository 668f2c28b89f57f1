#pragma once

/// \file
/// Strategy "blocks" on a host: one team goes through groups and blocks by falling bound. Bounds are put into buckets,
/// steps of equal width from a first threshold to the best bound, and buckets are emptied from the best one on: that is
/// the order of a priority queue but for what lies in one bucket, at the price of a list.

#include <algorithms/threshold_table/open.hpp>
#include <core/device/best_heap.hpp>

namespace zenith::threshold_table_family {

/// Bounds by bucket. What is not a number is in the last bucket: such a bound is above all others.
template <class Score>
struct bound_buckets {
  static constexpr u32 count = 256;

  Score least;
  Score factor;

  /// Without an extent that is a number, all numbers are in the first bucket.
  ZENITH_FN bound_buckets(Score from, Score to) : least(0), factor(0) {
    const Score extent = to - from;
    if (!(extent > 0 && extent + extent != extent)) return;
    least = from;
    factor = static_cast<Score>(count - 1) / extent;
  }
  /// Does not fall when the bound rises: rounding keeps the order.
  [[nodiscard]] ZENITH_FN u32 of(Score bound) const {
    constexpr auto last = static_cast<Score>(count - 1);
    Score place = (bound - least) * factor;
    place = place < last ? place : last;
    place = place > 0 ? place : Score{0};
    return static_cast<u32>(place);
  }
};

/// Finds the k best rows, where NaN is the least of scores. A single team.
template <class T>
struct open_best_first {
  using score = score_of<T>;
  using entry = entry_of<T>;
  using buckets = bound_buckets<score>;
  static constexpr u32 none = ~u32{0};
  static constexpr u32 most_ahead = 8;
  static constexpr u32 first_groups = 4;
  static constexpr u32 first_places = first_groups * group_blocks;
  static constexpr u32 scores_at = 0;
  static constexpr u32 entries_at = scores_at + most_scores * sizeof(score);
  static constexpr u32 heads_at = entries_at + first_places * sizeof(entry);
  static constexpr u32 ends_at = heads_at + buckets::count * sizeof(u32);
  static constexpr u32 scratch_bytes = ends_at + buckets::count * sizeof(u32);

  /// A block on the list of its bucket.
  struct listed_block {
    score bound;
    u32 block;
    u32 first;  ///< row
    u32 next;
  };

  rows_of<T> rows;
  bounds_of<T> of_groups;
  bounds_of<T> of_blocks;
  score* group_bounds;
  u32* group_order;      ///< as many as groups
  listed_block* listed;  ///< as many as blocks
  entry* best;           ///< k
  u32 k;
  u32 block_rows;    ///< at most
  u32 first_blocks;  ///< to be opened before a threshold is asked for
  open_counters counters;
  device::event_counter bounds;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 /*i*/) const {
    walk<Team>{*this, team}.run();
  }

 private:
  template <class Team>
  struct walk {
    const open_best_first& in;
    Team& team;
    device::best_heap<entry> heap{in.best, in.k};
    score limit = in.rows.order().key(entry::worst().image());  // nothing is below NaN
    u32 listed_count = 0;
    u64 seen_bounds = 0;
    u64 seen_rows = 0;
    u64 seen_blocks = 0;

    ZENITH_FN void run() {
      for (u32 i = 0; i < in.k; ++i) in.best[i] = entry::worst();
      const auto groups = static_cast<u32>(in.of_groups.size());
      evaluate(team, in.of_groups.upper, 0, groups, in.group_bounds);
      seen_bounds += groups;
      u32 first[first_groups];
      const u32 opened = choose_groups(first);
      auto* const bounds = team.template scratch<entry>(entries_at);
      open_first(first, opened, bounds);

      const buckets by = buckets_for(groups);
      auto* const heads = team.template scratch<u32>(heads_at);
      for (u32 b = 0; b < buckets::count; ++b) heads[b] = none;
      for (u32 i = 0; i < opened * group_blocks; ++i) {
        // one that was opened, or is no block, is the worst
        if (!better(bounds[i], entry::worst()) || better(heap.worst(), bounds[i])) continue;
        const u64 block = u64{first[i / group_blocks]} * group_blocks + i % group_blocks;
        list(by, buckets::count - 1, static_cast<u32>(block), device::key_at(in.of_blocks.upper, block));
      }
      order_groups(by, first, opened);
      const u32* const ends = team.template scratch<u32>(ends_at);
      u32 group = 0;
      for (u32 b = buckets::count; b-- > 0;) {
        if (is_number(limit) && b < by.of(limit)) break;
        for (; group < ends[b]; ++group) open_group(by, b, group, ends[0]);
        open_bucket(heads[b]);
      }
      in.counters.rows.add(seen_rows);
      in.counters.blocks.add(seen_blocks);
      in.bounds.add(seen_bounds);
    }

    /// Neither NaN nor infinite.
    [[nodiscard]] ZENITH_FN static bool is_number(score x) { return x - x == 0; }
    [[nodiscard]] ZENITH_FN bool is_full() const { return better(heap.worst(), entry::worst()); }
    /// Whether an item may have one of the k best rows. Bounds that tie with the worst of those are told apart by ids.
    [[nodiscard]] ZENITH_FN bool reaches(const bounds_of<T>& of, u64 i, score bound) const {
      if (bound < limit) return false;
      return bound != limit || !better(heap.worst(), of.bound(i, bound));
    }

    /// The best groups, best first. Returns how many they are.
    [[nodiscard]] ZENITH_FN u32 choose_groups(u32* chosen) const {
      constexpr u32 step = 64;
      const score* const bound_of = in.group_bounds;
      const auto groups = static_cast<u32>(in.of_groups.size());
      entry bounds[first_groups];
      u32 count = 0;
      score worst = in.limit_of_nothing();
      for (u32 begin = 0; begin < groups; begin += step) {
        const u32 some = groups - begin < step ? groups - begin : step;
        const score* const here = bound_of + begin;
        if (!team.any(some, [=](u64 i) ZENITH_BODY { return !(here[i] < worst); })) continue;
        for (u32 i = 0; i < some; ++i) {
          if (here[i] < worst) continue;
          const entry one = in.of_groups.bound(begin + i, here[i]);
          if (count == first_groups && !better(one, bounds[count - 1])) continue;
          u32 at = count < first_groups ? count++ : count - 1;
          for (; at > 0 && better(one, bounds[at - 1]); --at) {
            bounds[at] = bounds[at - 1];
            chosen[at] = chosen[at - 1];
          }
          bounds[at] = one;
          chosen[at] = begin + i;
          if (count == first_groups) worst = bound_of[chosen[count - 1]];
        }
      }
      return count;
    }

    /// Opens the best blocks of some groups; the entries of those become the worst.
    ZENITH_FN void open_first(const u32* groups, u32 group_count, entry* bounds) {
      auto* const scores = team.template scratch<score>(scores_at);
      for (u32 g = 0; g < group_count; ++g) {
        const u64 first = u64{groups[g]} * group_blocks;
        const u32 count = blocks_of(groups[g]);
        evaluate(team, in.of_blocks.upper, first, count, scores);
        seen_bounds += count;
        for (u32 i = 0; i < group_blocks; ++i) {
          bounds[g * group_blocks + i] = i < count ? in.of_blocks.bound(first + i, scores[i]) : entry::worst();
        }
      }
      for (u32 opened = 0; opened < in.first_blocks || !is_full(); ++opened) {
        u32 at = 0;
        for (u32 i = 1; i < group_count * group_blocks; ++i) at = better(bounds[i], bounds[at]) ? i : at;
        if (!better(bounds[at], entry::worst()) || better(heap.worst(), bounds[at])) break;
        open(u64{groups[at / group_blocks]} * group_blocks + at % group_blocks);
        bounds[at] = entry::worst();
      }
    }
    [[nodiscard]] ZENITH_FN u32 blocks_of(u32 group) const {
      const u64 left = in.of_blocks.size() - u64{group} * group_blocks;
      return left < group_blocks ? static_cast<u32>(left) : group_blocks;
    }

    /// From the threshold, or the least bound where that is none, to the best bound.
    [[nodiscard]] ZENITH_FN buckets buckets_for(u32 groups) const {
      score most = is_number(limit) ? limit : -in.largest();
      score least = in.largest();
      for (u32 g = 0; g < groups; ++g) {
        const score bound = in.group_bounds[g];
        const bool counts = is_number(bound);
        most = counts && bound > most ? bound : most;
        least = counts && bound < least ? bound : least;
      }
      return {is_number(limit) ? limit : least, most};
    }
    ZENITH_FN void list(const buckets& by, u32 most_bucket, u32 block, score bound) {
      if (!reaches(in.of_blocks, block, bound)) return;
      const u32 own = by.of(bound);
      u32& head = team.template scratch<u32>(heads_at)[own < most_bucket ? own : most_bucket];
      in.listed[listed_count] = {bound, block, in.rows.begins[block], head};
      head = listed_count++;
    }
    /// Lists the groups that reach the threshold, those of the best bucket first; those of bucket b end at ends[b].
    ZENITH_FN void order_groups(const buckets& by, const u32* without, u32 without_count) const {
      constexpr u32 step = 64;
      auto* const ends = team.template scratch<u32>(ends_at);
      for (u32 b = 0; b < buckets::count; ++b) ends[b] = 0;
      const auto groups = static_cast<u32>(in.of_groups.size());
      const score least = limit;
      // found twice: once to count, once to place
      const auto each = [&](const auto& use) ZENITH_BODY {
        for (u32 begin = 0; begin < groups; begin += step) {
          const u32 some = groups - begin < step ? groups - begin : step;
          const score* const here = in.group_bounds + begin;
          if (!team.any(some, [=](u64 i) ZENITH_BODY { return !(here[i] < least); })) continue;
          for (u32 i = 0; i < some; ++i) {
            if (here[i] < least) continue;
            bool is_new = true;
            for (u32 w = 0; w < without_count; ++w) is_new = is_new && without[w] != begin + i;
            if (is_new) use(begin + i, here[i]);
          }
        }
      };
      each([&](u32 /*group*/, score bound) ZENITH_BODY { ++ends[by.of(bound)]; });
      u32 before = 0;
      for (u32 b = buckets::count; b-- > 0;) {
        const u32 count = ends[b];
        ends[b] = before;
        before += count;
      }
      each([&](u32 group, score bound) ZENITH_BODY { in.group_order[ends[by.of(bound)]++] = group; });
    }

    /// Asks for so many values of each column.
    ZENITH_FN static void read_soon(const columns_of<T>& of, u64 first, u32 count) {
      constexpr u32 line = 64 / sizeof(value_of<T>);
      for (unsigned j = 0; j < of.columns; ++j) {
        for (u32 i = 0; i < count; i += line) __builtin_prefetch(of.column[j] + first + i);
      }
    }
    /// Blocks whose rows are on their way, or groups with the bounds of their blocks: some hundred lines.
    [[nodiscard]] ZENITH_FN u32 ahead() const {
      const unsigned columns = in.of_groups.upper.columns;
      return columns < most_ahead ? most_ahead / columns : 1;
    }
    ZENITH_FN void open_group(const buckets& by, u32 bucket, u32 place, u32 groups) {
      const u32 later = place + ahead();
      if (later < groups) {
        read_soon(in.of_blocks.upper, u64{in.group_order[later]} * group_blocks, group_blocks);
      }
      const u32 group = in.group_order[place];
      if (!reaches(in.of_groups, group, in.group_bounds[group])) return;
      auto* const scores = team.template scratch<score>(scores_at);
      const u32 count = blocks_of(group);
      evaluate(team, in.of_blocks.upper, u64{group} * group_blocks, count, scores);
      seen_bounds += count;
      const score least = limit;
      if (!team.any(count, [=](u64 i) ZENITH_BODY { return !(scores[i] < least); })) return;
      for (u32 i = 0; i < count; ++i) {
        if (!(scores[i] < least)) list(by, bucket, group * group_blocks + i, scores[i]);
      }
    }
    ZENITH_FN void open_bucket(u32 head) {
      u32 later = head;
      const u32 distance = ahead();
      for (u32 i = 0; i < distance && later != none; ++i) later = read_block_soon(later);
      for (u32 at = head; at != none; at = in.listed[at].next) {
        const auto& one = in.listed[at];
        if (later != none) later = read_block_soon(later);
        if (reaches(in.of_blocks, one.block, one.bound)) open(one.block);
      }
    }
    /// Returns the next block of the list.
    [[nodiscard]] ZENITH_FN u32 read_block_soon(u32 at) const {
      const auto& one = in.listed[at];
      if (!(one.bound < limit)) read_soon(in.rows.scored, one.first, in.block_rows);
      return one.next;
    }
    ZENITH_FN void open(u64 block) {
      auto* const scores = team.template scratch<score>(scores_at);
      const u64 first = in.rows.begins[block];
      const auto count = static_cast<u32>(in.rows.begins[block + 1] - first);
      evaluate(team, in.rows.scored, first, count, scores);
      ++seen_blocks;
      seen_rows += count;
      score least = limit;
      constexpr u32 segment = 64;
      for (u32 begin = 0; begin < count; begin += segment) {
        const u32 length = count - begin < segment ? count - begin : segment;
        const score* const here = scores + begin;
        if (!team.any(length, [=](u64 r) ZENITH_BODY { return !(here[r] < least); })) continue;
        for (u32 r = 0; r < length; ++r) {
          if (here[r] < least) continue;
          const entry one = in.rows.entry(first + begin + r, here[r]);
          if (!better(one, heap.worst())) continue;
          heap.replace_worst(one);
          least = in.rows.order().key(heap.worst().image());
        }
      }
      limit = least;
    }
  };

  [[nodiscard]] ZENITH_FN score limit_of_nothing() const { return rows.order().key(entry::worst().image()); }
  [[nodiscard]] ZENITH_FN static score largest() {
    return sizeof(score) == 4 ? static_cast<score>(3.4028234663852886e38) : static_cast<score>(1.7976931348623157e308);
  }
};

}  // namespace zenith::threshold_table_family
