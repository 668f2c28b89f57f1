#pragma once

/// \file
/// The first kernel of a walk through groups: a threshold by the best blocks of a few groups.

#include <algorithms/threshold_table/group_rows.hpp>

namespace zenith::threshold_table_family {

/// Writes the bounds of all groups, and raises the threshold by the best blocks of a few of the best groups of each
/// team.
template <class T>
struct open_best_groups {
  using entry = entry_of<T>;
  using shared = group_rows<T>;
  static constexpr u32 together = shared::together;
  static constexpr u32 groups_together = together / group_blocks;
  static constexpr u32 in_first_step = 32;  ///< lanes that find the best groups
  static constexpr u32 bounds_at = 0;
  static constexpr u32 rows_at = bounds_at + together * sizeof(entry);
  static constexpr u32 firsts_at = rows_at + together * sizeof(entry);
  static constexpr u32 counts_at = firsts_at + together * sizeof(u32);
  static constexpr u32 chosen_at = counts_at + together * sizeof(u32);
  static constexpr u32 chosen_groups_at = chosen_at + group_blocks * sizeof(u32);
  static constexpr u32 classes_at = chosen_groups_at + groups_together * sizeof(u32);
  static constexpr u32 scratch_bytes = classes_at + class_threshold::most_classes * sizeof(u64);
  static_assert(classes_at % sizeof(u64) == 0);
  static constexpr u64 item_cost = u64{1} << 16;

  shared in;
  bounds_of<T> of_groups;
  u32 teams;   ///< at most as many as groups
  u32 blocks;  ///< of a team

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    auto* const bounds = team.template scratch<entry>(bounds_at);
    auto* const firsts = team.template scratch<u32>(firsts_at);
    auto* const counts = team.template scratch<u32>(counts_at);
    auto* const chosen = team.template scratch<u32>(chosen_at);
    const auto better_of = [](const entry& a, const entry& b) ZENITH_BODY { return better(b, a) ? b : a; };
    const u32 chosen_groups = choose_groups(team, static_cast<u32>(t));
    const auto* const groups = team.template scratch<u32>(chosen_groups_at);
    team.for_each(together, [&](u64 i) ZENITH_BODY {
      const u32 g = static_cast<u32>(i) / group_blocks;
      const u64 block = u64{groups[g < chosen_groups ? g : 0]} * group_blocks + i % group_blocks;
      bounds[i] = entry::worst();
      if (g >= chosen_groups || block >= in.of_blocks.size()) return;
      const auto one = in.block_at(block);
      bounds[i] = entry::make(one.bound.image(), static_cast<u32>(i));
      firsts[i] = one.first;
      counts[i] = one.count;
    });
    team.barrier();
    u32 count = 0;
    for (entry last = entry::worst(); count < blocks; ++count) {
      last = team.reduce(
          together, entry::worst(),
          [&](u64 i) ZENITH_BODY { return count == 0 || better(last, bounds[i]) ? bounds[i] : entry::worst(); },
          better_of);
      if (!better(last, entry::worst())) break;
      team.once([&]() ZENITH_BODY { chosen[count] = last.index(); });
    }
    team.barrier();
    const u32 each = in.blocks_together();
    for (u32 begin = 0; begin < count; begin += each) {
      const u32 some = count - begin < each ? count - begin : each;
      raise_by(team, chosen + begin, some);
      team.once([&]() ZENITH_BODY {
        if (!in.counters.rows.is_on()) return;
        u64 evaluated = 0;
        for (u32 i = begin; i < begin + some; ++i) evaluated += counts[chosen[i]];
        in.counters.rows.add(evaluated);
        in.counters.blocks.add(some);
      });
    }
  }

 private:
  /// Of each `teams`-th group. A barrier behind. Returns how many were chosen.
  template <class Team>
  [[nodiscard]] ZENITH_FN u32 choose_groups(Team& team, u32 t) const {
    auto* const bounds = team.template scratch<entry>(bounds_at);
    auto* const fewer = team.template scratch<entry>(rows_at);
    auto* const chosen = team.template scratch<u32>(chosen_groups_at);
    const u32 count = in.groups.groups;
    team.for_each(together, [&](u64 lane) ZENITH_BODY {
      entry best = entry::worst();
      for (u32 group = t + static_cast<u32>(lane) * teams; group < count; group += together * teams) {
        const entry bound = of_groups.bound(group);
        *in.groups.place_of(group) = rank_word(bound);
        const entry one = entry::make(bound.image(), group);
        best = better(one, best) ? one : best;
      }
      bounds[lane] = best;
    });
    team.barrier();
    // the best ones of every fourth lane, in two steps
    const auto best_of = [](const entry* all, u32 first, u32 step) ZENITH_BODY {
      constexpr u32 joined = together / in_first_step;
      entry best = all[first];
      ZENITH_UNROLLED
      for (u32 j = 1; j < joined; ++j) {
        const entry one = all[first + j * step];
        best = better(one, best) ? one : best;
      }
      return best;
    };
    static_assert(in_first_step * in_first_step == together * groups_together);
    team.for_each(in_first_step,
                  [&](u64 i) ZENITH_BODY { fewer[i] = best_of(bounds, static_cast<u32>(i), in_first_step); });
    team.barrier();
    team.for_each(groups_together,
                  [&](u64 g) ZENITH_BODY { chosen[g] = best_of(fewer, static_cast<u32>(g), groups_together).index(); });
    team.barrier();
    const u32 own = (count - t + teams - 1) / teams;
    return own < groups_together ? own : groups_together;
  }
  /// By the rows of a few blocks. A barrier behind.
  template <class Team>
  ZENITH_FN void raise_by(Team& team, const u32* chosen, u32 count) const {
    auto* const rows = team.template scratch<entry>(rows_at);
    auto* const seen = team.template scratch<u64>(classes_at);
    const auto& threshold = in.threshold;
    const auto* const firsts = team.template scratch<u32>(firsts_at);
    const auto* const counts = team.template scratch<u32>(counts_at);
    const u32 block_rows = in.block_rows;
    const u32 places = count * block_rows;
    for (u32 first = 0; first < places; first += together) {
      const u32 end = places - first < together ? places : first + together;
      team.for_each(together, [&](u64 i) ZENITH_BODY {
        // comes with the rows
        const u64 best_of_class = i < threshold.classes ? threshold.word(i) : 0;
        const u32 place = first + static_cast<u32>(i);
        const u32 block = chosen[place < end ? place / block_rows : 0];
        const u32 r = place % block_rows;
        rows[i] = place < end && r < counts[block] ? in.row_at(u64{firsts[block]} + r) : entry::worst();
        if (i < threshold.classes) seen[i] = best_of_class;
      });
      team.barrier();
      team.for_each(threshold.classes, [&](u64 c) ZENITH_BODY {
        u64 most = 0;
        for (u32 place = first; place < end;) {
          const u32 b = place / block_rows;
          const u32 block_end = (b + 1) * block_rows < end ? (b + 1) * block_rows : end;
          const u64 at = u64{firsts[chosen[b]]} + place % block_rows;
          for (u32 i = place + threshold.class_of(c - at); i < block_end; i += threshold.classes) {
            const u64 word = rank_word(rows[i - first]);
            most = word > most ? word : most;
          }
          place = block_end;
        }
        if (most > seen[c]) threshold.raise(static_cast<u32>(c), most);
      });
      team.barrier();
    }
  }
};

}  // namespace zenith::threshold_table_family
