#pragma once

/// \file
/// All pairs of rows that share their candidates, as a device writes them. A kernel of its own: what other rows need
/// would take its registers.

#include <algorithms/spatial_join/row_groups.hpp>

namespace zenith::spatial_join_family {

/// The pairs of those rows of a group that share candidates. What it leaves to `write_groups`: groups whose partners
/// are listed, groups for which sorting candidates is not worth it, and rows of runs with more candidates than scratch
/// takes. The counts of other rows become 0 then, and so does the group's sum where nothing is left.
template <class T, unsigned D, group_sizes Sizes, class Index>
struct write_shared_rows {
  using sort = device::segment_sort;
  static constexpr u32 most_rows = Sizes.rows;
  static constexpr u64 item_cost = u64{most_rows} * 512;
  static constexpr u32 wanted_teams = 4;
  static constexpr u32 rows_at = most_rows * sizeof(u64);
  static constexpr u32 shared_at = rows_at + most_rows * sizeof(u32);
  static constexpr u32 candidates_at = shared_candidates<T, D, Sizes, true, shared_at, 0>::end_at;
  using shared_type = shared_candidates<T, D, Sizes, true, shared_at, candidates_at>;
  static constexpr u32 near_at = candidates_at + shared_type::candidate_bytes;
  // one row's at least
  static constexpr u32 near_words =
      Sizes.near < shared_type::most_together / sort::block ? shared_type::most_together / sort::block : Sizes.near;
  static constexpr u32 scratch_bytes = near_at + near_words * sizeof(u32);

  group_probe<T, D> probe;
  row_groups groups;
  const u64* begins;  ///< of each row
  Index* left_to;
  Index* right_to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 g) const {
    const u64 sum = groups.sums[g];
    if (sum == 0 || groups.is_listed[g] != 0) return;
    const u32 n = probe.rows_of(g);
    u64* const firsts = team.template scratch<u64>();
    u32* const rows = team.template scratch<u32>(rows_at);
    team.for_each(n, [&](u64 i) ZENITH_BODY {
      const u64 row = probe.row_of(g * probe.rows + i);
      rows[i] = static_cast<u32>(row);
      firsts[i] = begins[row];
    });
    const shared_type shared(team, probe);
    const u32 runs = shared.open(team, g, n);
    if (sum < Sizes.worth * shared.sorted(team, runs)) return;
    bool is_done = true;
    for (u32 run = 0; run < runs;) {
      const u32 end = shared.plan(team, run, runs);
      if (end > run) {
        shared.list(team, run, end);
        write(team, shared, run, end);
        run = end;
      } else {
        is_done = false;
        ++run;
      }
    }
    if (is_done) {
      team.once([&]() ZENITH_BODY { groups.sums[g] = 0; });
    } else {
      team.for_each(n, [&](u64 i) ZENITH_BODY {
        if (shared.fits(static_cast<u32>(i))) groups.counts[rows[i]] = 0;
      });
    }
  }

 private:
  template <class Team>
  ZENITH_FN void write(Team& team, const shared_type& shared, u32 run, u32 end) const {
    using candidates = typename shared_type::row_candidates;
    struct near_list {
      const shared_type* shared;
      candidates of;
      const u32* near;
      u32 stride;
      u32 words;
      Index* left;
      Index* right;
      Index row;

      [[nodiscard]] ZENITH_FN u32 word(u32 i) const { return near[i * stride]; }
      ZENITH_FN void put(u32 j, u32 rank) const {
        left[rank] = row;
        right[rank] = static_cast<Index>(shared->id_of(of, j));
      }
    };
    const u64* const firsts = team.template scratch<u64>();
    const u32* const rows = team.template scratch<u32>(rows_at);
    u32* const near = team.template scratch<u32>(near_at);
    const u32 last = shared.first_row(end);
    const u32 words = shared.most_words(team, run, end);
    if (words == 0) return;
    // so many rows at a time that their words have places; an odd stride, that lanes meet in no bank
    const u32 most = near_words / words < 3 ? 1 : near_words / words - 1;
    const u32 all = last - shared.first_row(run);
    const u32 times = (all + most - 1) / most;
    const u32 each = (all + times - 1) / times;
    for (u32 begin = shared.first_row(run); begin < last; begin += each) {
      const u32 n = last - begin < each ? last - begin : each;
      const u32 stride = n | 1;
      team.for_each(n * words, [&](u64 item) ZENITH_BODY {
        const u32 word = static_cast<u32>(item) / n;
        const u32 i = static_cast<u32>(item) - word * n;
        const auto of = shared.candidates_of(run, begin + i);
        if (word < of.words) near[word * stride + i] = shared.near_of(begin + i, of, word);
      });
      team.barrier();
      team.each_list(n, [&](u64 item) ZENITH_BODY {
        const u32 i = begin + static_cast<u32>(item);
        const auto of = shared.candidates_of(run, i);
        return near_list{&shared,
                         of,
                         near + item,
                         stride,
                         of.words,
                         left_to + firsts[i],
                         right_to + firsts[i],
                         static_cast<Index>(rows[i])};
      });
      team.barrier();
    }
  }
};

}  // namespace zenith::spatial_join_family
