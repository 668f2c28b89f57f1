#pragma once

/// \file
/// Strategy "blocks" on a host: groups and blocks by falling bound. Bounds are put into buckets, steps of equal width
/// from a first threshold to the best bound, and buckets are emptied from the best one on: that is the order of a
/// priority queue but for what lies in one bucket, at the price of a list.
///
/// One team finds the first threshold and orders the groups. Then one team or more take group after group; each has
/// lists of its own, and all share the k best rows.

#include <algorithms/threshold_table/first_blocks.hpp>
#include <algorithms/threshold_table/open.hpp>
#include <core/device/best_heap.hpp>
#include <core/device/shared_state.hpp>

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

/// A block on the list of its bucket.
template <class Score>
struct listed_block {
  Score bound;
  u32 block;
  u32 first;  ///< row
  u32 next;
};

/// What the teams of a walk share. Places, lists and rows are taken in any order: the k best are the same.
template <class T>
struct walk_state {
  bound_buckets<score_of<T>> by;
  u32 groups;  ///< in the order
  u32 left;    ///< blocks of the best groups that were not opened: the first of the list
  u32 teams;
  typename entry_of<T>::image_t limit;  ///< of the worst of the k best rows
  u32 next_group;                       ///< a place in the order
  u32 listed;                           ///< blocks
  u32 next_ticket;                      ///< who changes the k best rows waits until its ticket is served
  u32 served;
};

/// What a walk reads, and where it writes. NaN is the least of scores.
template <class T>
struct best_first_walk {
  using score = score_of<T>;
  using entry = entry_of<T>;

  rows_of<T> rows;
  bounds_of<T> of_groups;
  bounds_of<T> of_blocks;
  score* group_bounds;
  u32* group_order;             ///< as many as groups
  u32* ends;                    ///< in the order, of the groups of each bucket
  listed_block<score>* listed;  ///< as many as blocks
  entry* best;                  ///< k
  walk_state<T>* state;
  u32 k;
  u32 block_rows;    ///< at most
  u32 first_blocks;  ///< to be opened before a threshold is asked for
  open_counters counters;
  device::event_counter bounds;

  [[nodiscard]] ZENITH_FN score key_of(typename entry::image_t image) const { return rows.order().key(image); }
  [[nodiscard]] ZENITH_FN u32 blocks_of(u32 group) const {
    const u64 left = of_blocks.size() - u64{group} * group_blocks;
    return left < group_blocks ? static_cast<u32>(left) : group_blocks;
  }
  [[nodiscard]] ZENITH_FN static score largest() {
    return sizeof(score) == 4 ? static_cast<score>(3.4028234663852886e38) : static_cast<score>(1.7976931348623157e308);
  }
};

/// A team on its walk.
template <class T, class Team>
struct best_first_walker {
  using score = score_of<T>;
  using entry = entry_of<T>;
  using buckets = bound_buckets<score>;

  const best_first_walk<T>& in;
  Team& team;
  score* scores;    ///< scratch
  bool has_others;  ///< that walk at the same time
  device::best_heap<entry> heap{in.best, in.k};
  entry worst = entry::worst();            ///< of the k best rows, when they were last changed here
  score limit = in.key_of(worst.image());  ///< nothing is below NaN
  u64 seen_bounds = 0;
  u64 seen_rows = 0;
  u64 seen_blocks = 0;

  /// Neither NaN nor infinite.
  [[nodiscard]] ZENITH_FN static bool is_number(score x) { return x - x == 0; }
  /// Whether an item may have one of the k best rows. Bounds that tie with the worst of those are told apart by ids.
  [[nodiscard]] ZENITH_FN bool reaches(const bounds_of<T>& of, u64 i, score bound) const {
    if (bound < limit) return false;
    return bound != limit || !better(worst, of.bound(i, bound));
  }
  /// Learns what others found.
  ZENITH_FN void look() {
    if (!has_others) return;
    const auto image = device::atomic_load(&in.state->limit);
    if (image > worst.image()) limit = in.key_of(image);
  }
  ZENITH_FN void keep(const entry& one) {
    if (!has_others) {
      heap.replace_worst(one);
      worst = heap.worst();
    } else {
      auto& shared = *in.state;
      const u32 ticket = device::atomic_add(&shared.next_ticket, 1);
      device::wait_until([&]() ZENITH_BODY { return device::atomic_observe(&shared.served) == ticket; });
      if (better(one, heap.worst())) heap.replace_worst(one);
      worst = heap.worst();
      device::atomic_store(&shared.limit, worst.image());
      device::atomic_publish(&shared.served, ticket + 1);
    }
    limit = in.key_of(worst.image());
  }
  ZENITH_FN void open(u64 block) {
    const u64 first = in.rows.begins[block];
    const auto count = static_cast<u32>(in.rows.begins[block + 1] - first);
    evaluate(team, in.rows.scored, first, count, scores);
    ++seen_blocks;
    seen_rows += count;
    constexpr u32 segment = 64;
    for (u32 begin = 0; begin < count; begin += segment) {
      const u32 length = count - begin < segment ? count - begin : segment;
      const score* const here = scores + begin;
      score least = limit;
      if (!team.any(length, [=](u64 r) ZENITH_BODY { return !(here[r] < least); })) continue;
      for (u32 r = 0; r < length; ++r) {
        if (here[r] < least) continue;
        const entry one = in.rows.entry(first + begin + r, here[r]);
        if (!better(one, worst)) continue;
        keep(one);
        least = limit;
      }
    }
  }
  ZENITH_FN void count() const {
    in.counters.rows.add(seen_rows);
    in.counters.blocks.add(seen_blocks);
    in.bounds.add(seen_bounds);
  }
};

/// A team that takes group after group, and opens their blocks.
template <class T, class Team>
struct group_walker {
  using score = score_of<T>;
  using buckets = bound_buckets<score>;
  static constexpr u32 none = ~u32{0};
  static constexpr u32 most_ahead = 8;
  static constexpr u32 heads_at = most_scores * sizeof(score);

  best_first_walker<T, Team>& walker;
  const best_first_walk<T>& in{walker.in};
  Team& team{walker.team};
  u32* heads{walker.team.template scratch<u32>(heads_at)};  ///< of the buckets' lists

  /// As the own-th of some teams.
  ZENITH_FN void run(u32 own) {
    const auto& state = *in.state;
    const buckets by = state.by;
    for (u32 b = 0; b < buckets::count; ++b) heads[b] = none;
    for (u32 i = own; i < state.left; i += state.teams) {
      if (walker.reaches(in.of_blocks, in.listed[i].block, in.listed[i].bound)) {
        link(by, buckets::count - 1, i, in.listed[i].bound);
      }
    }
    for (u32 b = buckets::count; b-- > 0;) {
      walker.look();
      if (walker.is_number(walker.limit) && b < by.of(walker.limit)) break;
      for (u32 place = next_group(in.ends[b]); place < state.groups; place = next_group(in.ends[b])) {
        open_group(by, b, place);
      }
      open_bucket(heads[b]);
    }
    walker.count();
  }

 private:
  /// A place before `end`, or behind it where another team was faster; none: there is none.
  [[nodiscard]] ZENITH_FN u32 next_group(u32 end) const {
    u32* const next = &in.state->next_group;
    const u32 place = device::atomic_load(next);
    if (place >= end) return none;
    if (walker.has_others) return device::atomic_add(next, 1);
    *next = place + 1;  // an atomic operation would wait for what its core does besides
    return place;
  }
  ZENITH_FN void link(const buckets& by, u32 most_bucket, u32 place, score bound) {
    const u32 own = by.of(bound);
    u32& head = heads[own < most_bucket ? own : most_bucket];
    in.listed[place].next = head;
    head = place;
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
  ZENITH_FN void open_group(const buckets& by, u32 bucket, u32 place) {
    const u32 later = place + ahead();
    if (later < in.state->groups) {
      read_soon(in.of_blocks.upper, u64{in.group_order[later]} * group_blocks, group_blocks);
    }
    const u32 group = in.group_order[place];
    walker.look();
    if (!walker.reaches(in.of_groups, group, in.group_bounds[group])) return;
    const u32 count = in.blocks_of(group);
    const u64 first = u64{group} * group_blocks;
    evaluate(team, in.of_blocks.upper, first, count, walker.scores);
    walker.seen_bounds += count;
    const score* const bounds = walker.scores;
    const score least = walker.limit;
    if (!team.any(count, [=](u64 i) ZENITH_BODY { return !(bounds[i] < least); })) return;
    // a team alone lists without gaps
    u32* const listed = &in.state->listed;
    u32 at = walker.has_others ? device::atomic_add(listed, count) : *listed;
    for (u32 i = 0; i < count; ++i) {
      if (bounds[i] < least || !walker.reaches(in.of_blocks, first + i, bounds[i])) continue;
      in.listed[at] = {bounds[i], static_cast<u32>(first + i), in.rows.begins[first + i], none};
      link(by, bucket, at++, bounds[i]);
    }
    if (!walker.has_others) *listed = at;
  }
  ZENITH_FN void open_bucket(u32 head) {
    u32 later = head;
    const u32 distance = ahead();
    for (u32 i = 0; i < distance && later != none; ++i) later = read_block_soon(later);
    for (u32 at = head; at != none; at = in.listed[at].next) {
      const auto& one = in.listed[at];
      if (later != none) later = read_block_soon(later);
      walker.look();
      if (walker.reaches(in.of_blocks, one.block, one.bound)) walker.open(one.block);
    }
  }
  /// Returns the next block of the list.
  [[nodiscard]] ZENITH_FN u32 read_block_soon(u32 at) const {
    const auto& one = in.listed[at];
    if (!(one.bound < walker.limit)) read_soon(in.rows.scored, one.first, in.block_rows);
    return one.next;
  }
};

/// Opens the best blocks of the best groups, and orders the other groups. A single team, which goes on alone where
/// there is no work for others.
template <class T>
struct begin_best_first {
  using score = score_of<T>;
  using entry = entry_of<T>;
  using buckets = bound_buckets<score>;
  static constexpr u32 first_groups = 4;
  static constexpr u32 first_places = first_groups * group_blocks;
  static constexpr u32 entries_at = most_scores * sizeof(score) + buckets::count * sizeof(u32);  // behind `heads`
  static constexpr u32 scratch_bytes = entries_at + first_places * sizeof(entry);

  best_first_walk<T> in;
  u32 threads;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 /*i*/) const {
    best_first_walker<T, Team> at{in, team, team.template scratch<score>(), false};
    for (u32 i = 0; i < in.k; ++i) in.best[i] = entry::worst();
    const auto groups = static_cast<u32>(in.of_groups.size());
    evaluate(team, in.of_groups.upper, 0, groups, in.group_bounds);
    at.seen_bounds += groups;
    u32 first[first_groups];
    const u32 opened = choose_groups(team, first);
    auto* const bounds = team.template scratch<entry>(entries_at);
    open_first(at, first, opened, bounds);

    const buckets by = buckets_for(at, groups);
    u32 left = 0;
    for (u32 i = 0; i < opened * group_blocks; ++i) {
      // one that was opened, or is no block, is the worst
      if (!better(bounds[i], entry::worst()) || better(at.worst, bounds[i])) continue;
      const u64 block = u64{first[i / group_blocks]} * group_blocks + i % group_blocks;
      in.listed[left++] = {device::key_at(in.of_blocks.upper, block), static_cast<u32>(block), in.rows.begins[block],
                           0};
    }
    const u32 listed = order_groups(team, at.limit, by, first, opened);
    const u32 teams = teams_of_walk(listed, in.of_groups.upper.columns, threads);
    *in.state = {by, listed, left, teams, at.worst.image(), 0, left, 0, 0};
    if (teams == 1) return group_walker<T, Team>{at}.run(0);
    at.count();
  }

 private:
  /// The best groups, best first. Returns how many they are.
  template <class Team>
  [[nodiscard]] ZENITH_FN u32 choose_groups(Team& team, u32* chosen) const {
    constexpr u32 step = 64;
    const score* const bound_of = in.group_bounds;
    const auto groups = static_cast<u32>(in.of_groups.size());
    entry bounds[first_groups];
    u32 count = 0;
    score worst = in.key_of(entry::worst().image());
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
  template <class Walker>
  ZENITH_FN void open_first(Walker& at, const u32* groups, u32 group_count, entry* bounds) const {
    for (u32 g = 0; g < group_count; ++g) {
      const u64 first = u64{groups[g]} * group_blocks;
      const u32 count = in.blocks_of(groups[g]);
      evaluate(at.team, in.of_blocks.upper, first, count, at.scores);
      at.seen_bounds += count;
      for (u32 i = 0; i < group_blocks; ++i) {
        bounds[g * group_blocks + i] = i < count ? in.of_blocks.bound(first + i, at.scores[i]) : entry::worst();
      }
    }
    for (u32 opened = 0; opened < in.first_blocks || !better(at.worst, entry::worst()); ++opened) {
      u32 best = 0;
      for (u32 i = 1; i < group_count * group_blocks; ++i) best = better(bounds[i], bounds[best]) ? i : best;
      if (!better(bounds[best], entry::worst()) || better(at.worst, bounds[best])) break;
      at.open(u64{groups[best / group_blocks]} * group_blocks + best % group_blocks);
      bounds[best] = entry::worst();
    }
  }
  /// From the threshold, or the least bound where that is none, to the best bound.
  template <class Walker>
  [[nodiscard]] ZENITH_FN buckets buckets_for(const Walker& at, u32 groups) const {
    const score limit = at.limit;
    score most = Walker::is_number(limit) ? limit : -in.largest();
    score least = in.largest();
    for (u32 g = 0; g < groups; ++g) {
      const score bound = in.group_bounds[g];
      const bool counts = Walker::is_number(bound);
      most = counts && bound > most ? bound : most;
      least = counts && bound < least ? bound : least;
    }
    return {Walker::is_number(limit) ? limit : least, most};
  }
  /// Lists the groups that reach a threshold, those of the best bucket first; those of bucket b end at ends[b]. Returns
  /// how many they are.
  template <class Team>
  ZENITH_FN u32 order_groups(Team& team, score least, const buckets& by, const u32* without, u32 without_count) const {
    constexpr u32 step = 64;
    for (u32 b = 0; b < buckets::count; ++b) in.ends[b] = 0;
    const auto groups = static_cast<u32>(in.of_groups.size());
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
    each([&](u32 /*group*/, score bound) ZENITH_BODY { ++in.ends[by.of(bound)]; });
    u32 before = 0;
    for (u32 b = buckets::count; b-- > 0;) {
      const u32 count = in.ends[b];
      in.ends[b] = before;
      before += count;
    }
    each([&](u32 group, score bound) ZENITH_BODY { in.group_order[in.ends[by.of(bound)]++] = group; });
    return before;
  }
};

/// Finds the k best rows behind `begin_best_first` where it leaves that to some teams.
template <class T>
struct open_best_first {
  static constexpr u32 scratch_bytes = begin_best_first<T>::scratch_bytes;
  static constexpr u64 item_cost = u64{1} << 20;  // each team is a worker's

  best_first_walk<T> in;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    best_first_walker<T, Team> at{in, team, team.template scratch<score_of<T>>(), true};
    group_walker<T, Team>{at}.run(static_cast<u32>(t));
  }
};

}  // namespace zenith::threshold_table_family
