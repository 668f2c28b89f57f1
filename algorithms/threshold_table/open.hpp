#pragma once

/// \file
/// Opening blocks: the rows of chosen blocks are evaluated, and those that may be among the k best are kept.

#include <algorithms/threshold_table/bounds.hpp>

namespace zenith::threshold_table_family {

/// The rows of a table under a query's weights.
template <class T>
struct rows_of {
  columns_of<T> scored;  ///< by position
  const u32* ids;
  const u32* begins;  ///< of blocks
  bool nan_first;

  [[nodiscard]] ZENITH_FN ordered::key_order<score_of<T>> order() const { return {false, nan_first}; }
  [[nodiscard]] ZENITH_FN entry_of<T> entry(u64 position, score_of<T> score) const {
    return entry_of<T>::make(order().image(score), ids[position]);
  }
};

/// Entries of unknown number, which teams append to.
template <class T>
using kept_rows = device::appender<entry_of<T>>;

struct open_counters {
  device::event_counter rows;
  device::event_counter blocks;
};

/// Appends those of evaluated rows that are not worse than `least`. Nearly no block has any: one comparison a row says
/// so. NaN passes it, and so does everything while `least` is the worst entry, whose key is NaN.
template <class T, class Team>
ZENITH_FN void keep_rows(Team& team, const rows_of<T>& rows, u64 first, u32 count, const score_of<T>* scores,
                         const entry_of<T>& least, const kept_rows<T>& kept) {
  constexpr u32 segment = 64;  // rows that are looked at one by one where one of them passes
  const score_of<T> limit = rows.order().key(least.image());
  if (!team.any(count, [=](u64 r) ZENITH_BODY { return !(scores[r] < limit); })) return;
  for (u32 begin = 0; begin < count; begin += segment) {
    const u32 length = count - begin < segment ? count - begin : segment;
    const score_of<T>* const here = scores + begin;
    if (!team.any(length, [=](u64 r) ZENITH_BODY { return !(here[r] < limit); })) continue;
    team.for_each(length, [&](u64 r) ZENITH_BODY {
      if (here[r] < limit) return;
      const auto entry = rows.entry(first + begin + r, here[r]);
      if (!better(least, entry)) kept.append(entry);
    });
  }
}

/// Block blocks[i] for each i whose bound is not worse than *cut.
template <class T>
struct open_blocks {
  static constexpr u32 scratch_bytes = most_scores * sizeof(score_of<T>);
  static constexpr u64 item_cost = 2048;

  rows_of<T> rows;
  const u32* blocks;
  const entry_of<T>* bounds;
  const entry_of<T>* cut;
  const entry_of<T>* least;  ///< what is worse is not among the k best
  kept_rows<T> kept;
  open_counters counters;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    if (better(*cut, bounds[i])) return;
    auto* const scores = team.template scratch<score_of<T>>();
    const u64 first = rows.begins[blocks[i]];
    const auto count = static_cast<u32>(rows.begins[blocks[i] + 1] - first);
    evaluate(team, rows.scored, first, count, scores);
    keep_rows(team, rows, first, count, scores, *least, kept);
    team.once([&]() ZENITH_BODY {
      counters.rows.add(count);
      counters.blocks.add(1);
    });
  }
};

/// The same of blocks that were fetched: the rows of blocks[i] stand at i * length in `rows`.
template <class T>
struct open_fetched {
  static constexpr u32 scratch_bytes = most_scores * sizeof(score_of<T>);
  static constexpr u64 item_cost = 2048;

  rows_of<T> rows;
  const u32* blocks;
  u64 length;
  const entry_of<T>* least;
  kept_rows<T> kept;
  open_counters counters;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    auto* const scores = team.template scratch<score_of<T>>();
    const auto count = rows.begins[blocks[i] + 1] - rows.begins[blocks[i]];
    evaluate(team, rows.scored, i * length, count, scores);
    keep_rows(team, rows, i * length, count, scores, *least, kept);
    team.once([&]() ZENITH_BODY {
      counters.rows.add(count);
      counters.blocks.add(1);
    });
  }
};

/// The entries of all positions, a piece a team.
template <class T>
struct score_all {
  static constexpr u32 scratch_bytes = most_scores * sizeof(score_of<T>);
  static constexpr u64 piece = u64{8} * most_scores;  ///< rows of a team
  static constexpr u64 item_cost = piece * sizeof(value_of<T>) * 2;

  rows_of<T> rows;
  entry_of<T>* to;
  open_counters counters;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    auto* const scores = team.template scratch<score_of<T>>();
    const u64 begin = i * piece;
    const u64 end = begin + piece < rows.scored.count ? begin + piece : rows.scored.count;
    for (u64 first = begin; first < end; first += most_scores) {
      const u32 count = end - first < most_scores ? static_cast<u32>(end - first) : most_scores;
      evaluate(team, rows.scored, first, count, scores);
      team.for_each(count, [&](u64 r) ZENITH_BODY { to[first + r] = rows.entry(first + r, scores[r]); });
    }
    team.once([&]() ZENITH_BODY { counters.rows.add(end - begin); });
  }
};

}  // namespace zenith::threshold_table_family
