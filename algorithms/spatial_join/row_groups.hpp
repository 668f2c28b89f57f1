#pragma once

/// \file
/// All pairs in the order of the left side's rows, as a device finds them. A team has a group of left rows. A lane
/// takes the partners of a row where these are few. Otherwise they are counted first, and found again when they are
/// written: by rows that share their candidates (shared_rows.hpp), or by several lanes for a row, whose partners are
/// then sorted in scratch.

#include <algorithms/spatial_join/shared_candidates.hpp>
#include <core/device/team_sort.hpp>

namespace zenith::spatial_join_family {

/// Of each group of rows: how many partners, and where these are if they are listed.
struct row_groups {
  u64* counts;  ///< partners of each row
  u64* sums;    ///< partners of each group
  u32* is_listed;
  u64* listed;  ///< where in the list
};

/// So many partners of a row the list has space for, on average.
inline constexpr u64 listed_partners = 12;

/// Partners of some groups, in order and one group behind the other.
struct partner_list {
  u32* ids;
  u64* taken;  ///< counts on above the capacity
  u64 capacity;
};

/// That share a row at most.
inline constexpr u32 most_lanes = 256;

/// How many partners the rows of a group have. Those of rows with few partners are listed. Shares: rows, which are
/// taken by their cells, share candidates; else nothing of that is compiled, which takes registers.
template <class T, unsigned D, group_sizes Sizes, bool Shares>
struct count_groups {
  static constexpr u32 most_rows = Sizes.rows;
  static constexpr u32 most_listed = Sizes.listed;
  static constexpr u64 item_cost = u64{most_rows} * 512;
  static constexpr u32 wanted_teams = 4;
  static constexpr u32 base_at = most_rows * sizeof(u32);
  static constexpr u32 ids_at = base_at + 16;
  static constexpr u32 listed_end = ids_at + most_rows * most_listed * sizeof(u32);
  // where candidates are shared, no partners are listed
  static constexpr u32 candidates_at = shared_candidates<T, D, Sizes, false, ids_at, 0>::end_at;
  using shared_type = shared_candidates<T, D, Sizes, false, ids_at, candidates_at>;
  static constexpr u32 shared_end = Shares ? candidates_at + shared_type::candidate_bytes : 0;
  static constexpr u32 scratch_bytes = listed_end < shared_end ? shared_end : listed_end;

  group_probe<T, D> probe;
  row_groups groups;
  partner_list list;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 g) const {
    const auto grid = probe.facts->grid;
    const u64 begin = g * probe.rows;
    const u32 n = probe.rows_of(g);
    u32* const counts = team.template scratch<u32>();
    const u64 candidates = team.reduce(
        n, u64{0},
        [&](u64 i) ZENITH_BODY {
          T at[D];
          probe.get(probe.row_of(begin + i), at);
          u64 all = 0;
          probe.each_range(grid, at, [&](u32 from, u32 end) ZENITH_BODY { all += end - from; });
          return all;
        },
        [](u64 a, u64 b) ZENITH_BODY { return a + b; });
    const bool is_listable = candidates <= u64{n} * Sizes.few;
    if (is_listable) {
      const bool is_listed = list_rows(team, grid, begin, n, counts);
      team.for_each(n, [&](u64 i) ZENITH_BODY { groups.counts[probe.row_of(begin + i)] = counts[i]; });
      if (is_listed) return put_in_list(team, g, n, counts);
    } else {
      team.for_each(n, [&](u64 i) ZENITH_BODY { counts[i] = 0; });
      team.barrier();
      if constexpr (Shares) {
        count_shared(team, grid, g, n, counts);
      } else {
        u32 lanes = 1;
        while (lanes < most_lanes && candidates > u64{n} * lanes * Sizes.some) lanes *= 2;
        count_rows(team, grid, {begin, begin + n, lanes}, counts);
      }
      team.for_each(n, [&](u64 i) ZENITH_BODY { groups.counts[probe.row_of(begin + i)] = counts[i]; });
    }
    const u64 sum = team.reduce(
        n, u64{0}, [&](u64 i) ZENITH_BODY { return u64{counts[i]}; }, [](u64 a, u64 b) ZENITH_BODY { return a + b; });
    team.once([&]() ZENITH_BODY {
      groups.sums[g] = sum;
      groups.is_listed[g] = 0;
    });
  }

 private:
  /// Word j of row i.
  [[nodiscard]] ZENITH_FN static u32 place_of(u32 i, u32 j) { return j * most_rows + i; }

  /// A row a lane. False: a row has too many for its place, and is only counted.
  template <class Team>
  ZENITH_FN bool list_rows(Team& team, const cell_grid<T, D>& grid, u64 begin, u32 n, u32* counts) const {
    u32* const ids = team.template scratch<u32>(ids_at);
    team.for_each(n, [&](u64 item) ZENITH_BODY {
      const u32 i = static_cast<u32>(item);
      T at[D];
      probe.get(probe.row_of(begin + i), at);
      u32 found = 0;
      probe.each_range(grid, at, [&](u32 from, u32 end) ZENITH_BODY {
        for (u32 r = from; r < end; ++r) {
          const cell_point<T, D> other = probe.points[r];
          if (!grid.is_near(at, other.at)) continue;
          if (found < most_listed) ids[place_of(i, found)] = other.row;
          ++found;
        }
      });
      counts[i] = found;
      const u32 listed = found < most_listed ? found : most_listed;
      for (u32 j = 1; j < listed; ++j) {
        const u32 id = ids[place_of(i, j)];
        u32 to = j;
        for (; to > 0 && ids[place_of(i, to - 1)] > id; --to) ids[place_of(i, to)] = ids[place_of(i, to - 1)];
        ids[place_of(i, to)] = id;
      }
    });
    team.barrier();
    return !team.any(n, [&](u64 i) ZENITH_BODY { return counts[i] > most_listed; });
  }

  /// The list has space for all of the group's or takes none.
  template <class Team>
  ZENITH_FN void put_in_list(Team& team, u64 g, u32 n, u32* counts) const {
    const u32* const ids = team.template scratch<u32>(ids_at);
    u64* const base = team.template scratch<u64>(base_at);
    const u32 sum = team.scan(counts, n);
    team.once([&]() ZENITH_BODY {
      const u64 first = sum == 0 ? 0 : device::atomic_add(list.taken, sum);
      *base = first;
      groups.sums[g] = sum;
      groups.is_listed[g] = first + sum <= list.capacity ? 1 : 0;
      groups.listed[g] = first;
    });
    team.barrier();
    const u64 first = *base;
    if (first + sum > list.capacity) return;
    team.for_each(n, [&](u64 item) ZENITH_BODY {
      const u32 i = static_cast<u32>(item);
      const u32 end = i + 1 < n ? counts[i + 1] : sum;
      for (u32 j = 0; counts[i] + j < end; ++j) list.ids[first + counts[i] + j] = ids[place_of(i, j)];
    });
  }

  /// Some rows, and how many lanes each is worth: a power of two.
  struct row_range {
    u64 begin;
    u64 end;
    u32 lanes;
  };

  /// Rows are not in the order of cells, or have more candidates than are shared.
  template <class Team>
  ZENITH_FN void count_rows(Team& team, const cell_grid<T, D>& grid, const row_range& rows, u32* counts) const {
    const u32 lanes = Team::is_one_lane ? 1 : rows.lanes;
    const u32 shift = exponent_of(lanes);
    team.for_each((rows.end - rows.begin) * lanes, [&](u64 item) ZENITH_BODY {
      const u64 row = rows.begin + (item >> shift);
      const u32 lane = static_cast<u32>(item) & (lanes - 1);
      T at[D];
      probe.get(probe.row_of(row), at);
      u32 found = 0;
      probe.each_range(grid, at, [&](u32 from, u32 end) ZENITH_BODY {
        const u32 own = lane_share(end - from, lane, shift);
        ZENITH_UNROLLED_BY_4
        for (u32 j = 0; j < own; ++j) {
          const cell_point<T, D> other = probe.points[from + lane + (j << shift)];
          found += grid.is_near(at, other.at) ? 1 : 0;
        }
      });
      if (found > 0) (void)team.add(counts + row % probe.rows, found);
    });
    team.barrier();
  }

  template <class Team>
  ZENITH_FN void count_shared(Team& team, const cell_grid<T, D>& grid, u64 g, u32 n, u32* counts) const {
    const shared_type shared(team, probe);
    const u32 runs = shared.open(team, g, n);
    for (u32 run = 0; run < runs;) {
      const u32 end = shared.plan(team, run, runs);
      const u32 first = shared.first_row(run);
      if (end > run) {
        shared.list(team, run, end);
        // lanes that follow each other take rows that follow each other
        const u32 rows = shared.first_row(end) - first;
        const u32 parts = (shared.most_words(team, run, end) + 1) / 2;
        team.for_each(rows * parts, [&](u64 item) ZENITH_BODY {
          const u32 part = static_cast<u32>(item) / rows;
          const u32 row = first + static_cast<u32>(item) - part * rows;
          const auto of = shared.candidates_of(run, row);
          u32 found = 0;
          for (u32 word = part; word < of.words; word += parts) found += bits_of(shared.near_of(row, of, word));
          if (found > 0) (void)team.add(counts + row, found);
        });
        run = end;
      } else {
        const u64 begin = g * probe.rows;
        count_rows(team, grid, {begin + first, begin + shared.first_row(run + 1), most_lanes}, counts);
        ++run;
      }
    }
    team.barrier();
  }
};

/// The pairs of a group of rows, but for rows with a count of 0, which may be written already.
template <class T, unsigned D, group_sizes Sizes, class Index>
struct write_groups {
  using sort = device::segment_sort;
  static constexpr u32 most_rows = Sizes.rows;
  static constexpr u32 most_sorted = Sizes.sorted;
  static constexpr u32 chunk = Sizes.chunk;
  static constexpr u64 item_cost = u64{most_rows} * 512;
  static constexpr u32 wanted_teams = 4;
  static constexpr u32 firsts_at = (most_rows + 2) * sizeof(u64);
  static constexpr u32 rows_at = firsts_at + most_rows * sizeof(u64);
  static constexpr u32 filled_at = rows_at + most_rows * sizeof(u32);
  static constexpr u32 begins_at = filled_at + most_rows * sizeof(u32);
  static constexpr u32 owners_at = begins_at + (most_rows + 2) * sizeof(u32);
  static constexpr u32 ids_at = (owners_at + most_sorted / sort::block * sizeof(u32) + 127) / 128 * 128;
  static constexpr u32 scratch_words = most_sorted < chunk + 1 ? chunk + 1 : most_sorted;
  static constexpr u32 scratch_bytes = ids_at + scratch_words * sizeof(u32);

  group_probe<T, D> probe;
  point_columns<T, D> right;
  row_groups groups;
  const u32* list;
  const u64* begins;  ///< of each group; where rows are taken by cells, of each row
  Index* left_to;
  Index* right_to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 g) const {
    if (groups.sums[g] == 0) return;
    const u32 n = probe.rows_of(g);
    u64* const offsets = team.template scratch<u64>();
    u64* const firsts = team.template scratch<u64>(firsts_at);
    u32* const rows = team.template scratch<u32>(rows_at);
    team.for_each(n + 1, [&](u64 i) ZENITH_BODY {
      const u64 row = i < n ? probe.row_of(g * probe.rows + i) : 0;
      offsets[i] = i < n ? groups.counts[row] : 0;
      if (i < n) rows[i] = static_cast<u32>(row);
    });
    const u64 sum = team.scan(offsets, n + 1);
    team.for_each(
        n, [&](u64 i) ZENITH_BODY { firsts[i] = probe.order == nullptr ? begins[g] + offsets[i] : begins[rows[i]]; });
    team.barrier();
    if (groups.is_listed[g] != 0) return copy_list(team, g, n, sum);
    write_rows(team, 0, n);
  }

 private:
  struct batch {
    u32 begin;  ///< rows of the group
    u32 end;
    u32 lanes;
  };

  template <class Team>
  ZENITH_FN void copy_list(Team& team, u64 g, u32 n, u64 sum) const {
    const u64* const offsets = team.template scratch<u64>();
    const u64* const firsts = team.template scratch<u64>(firsts_at);
    const u32* const rows = team.template scratch<u32>(rows_at);
    const u32* const from = list + groups.listed[g];
    const bool is_in_order = probe.order == nullptr;
    if (is_in_order) {
      const u64 first = begins[g];
      team.for_each(sum, [&](u64 j) ZENITH_BODY { right_to[first + j] = static_cast<Index>(from[j]); });
    }
    team.for_each(n, [&](u64 i) ZENITH_BODY {
      const u64 first = firsts[i];
      const u64 count = offsets[i + 1] - offsets[i];
      for (u64 j = 0; j < count; ++j) left_to[first + j] = static_cast<Index>(rows[i]);
      if (is_in_order) return;
      for (u64 j = 0; j < count; ++j) right_to[first + j] = static_cast<Index>(from[offsets[i] + j]);
    });
  }

  /// Rows whose own partners are sorted.
  template <class Team>
  ZENITH_FN void write_rows(Team& team, u32 begin, u32 end) const {
    const u32* const rows = team.template scratch<u32>(rows_at);
    const u64* const firsts = team.template scratch<u64>(firsts_at);
    const u64* const offsets = team.template scratch<u64>();
    // the cells around a point are about three times as large as what is within the distance, in space six times
    const u64 candidates = (offsets[end] - offsets[begin]) * (D == 3 ? 6 : 3);
    u32 lanes = 1;
    if constexpr (!Team::is_one_lane) {
      while (lanes < most_lanes && candidates > u64{end - begin} * lanes * Sizes.some) lanes *= 2;
    }
    for (u32 i = begin; i < end;) {
      const u32 batch_end = plan_batch(team, offsets, i, end);
      if (batch_end == i) {
        write_long(team, rows[i], firsts[i]);
        ++i;
      } else {
        write_batch(team, {i, batch_end, lanes});
        i = batch_end;
      }
    }
  }

  /// Which of the rows from `row` on are sorted together: the end of these, and where each begins in scratch; none if
  /// the first has too many partners.
  template <class Team>
  ZENITH_FN u32 plan_batch(Team& team, const u64* offsets, u32 row, u32 n) const {
    u32* const filled = team.template scratch<u32>(filled_at);
    u32* const starts = team.template scratch<u32>(begins_at);
    // what is in scratch is done with
    team.barrier();
    team.for_each(n - row + 1, [&](u64 i) ZENITH_BODY {
      const u64 count = row + i < n ? offsets[row + i + 1] - offsets[row + i] : 0;
      starts[i] = count <= most_sorted ? sort::padded(static_cast<u32>(count)) : most_sorted + sort::block;
      if (row + i < n) filled[i] = 0;
    });
    (void)team.scan(starts, n - row + 1);
    u32 low = 0;  // so many fit
    u32 high = n - row;
    while (low < high) {
      const u32 middle = low + (high - low + 1) / 2;
      if (starts[middle] <= most_sorted) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return row + low;
  }

  template <class Team>
  ZENITH_FN void write_batch(Team& team, const batch& of) const {
    const auto grid = probe.facts->grid;
    const u64* const offsets = team.template scratch<u64>();
    u32* const filled = team.template scratch<u32>(filled_at);
    const u32* const starts = team.template scratch<u32>(begins_at);
    const u64* const firsts = team.template scratch<u64>(firsts_at);
    const u32* const rows = team.template scratch<u32>(rows_at);
    u32* const owners = team.template scratch<u32>(owners_at);
    u32* const ids = team.template scratch<u32>(ids_at);
    const u32 n = of.end - of.begin;
    team.for_each(n, [&](u64 i) ZENITH_BODY {
      for (u32 b = starts[i] / sort::block; b < starts[i + 1] / sort::block; ++b) owners[b] = static_cast<u32>(i);
    });
    const u32 lanes = of.lanes;
    const u32 shift = exponent_of(lanes);
    team.for_each(u64{n} * lanes, [&](u64 item) ZENITH_BODY {
      const u32 i = static_cast<u32>(item) >> shift;
      const u32 lane = static_cast<u32>(item) & (lanes - 1);
      if (offsets[of.begin + i + 1] == offsets[of.begin + i]) return;
      T at[D];
      probe.get(rows[of.begin + i], at);
      probe.each_range(grid, at, [&](u32 from, u32 end) ZENITH_BODY {
        // which of some candidates are near first: one place is taken for all of them
        constexpr u32 together = 32;
        const u32 own = lane_share(end - from, lane, shift);
        for (u32 begin = 0; begin < own; begin += together) {
          const cell_point<T, D>* const some = probe.points + (from + lane + (begin << shift));
          const u32 tested = own - begin < together ? own - begin : together;
          u32 near = 0;
          u32 found = 0;
          ZENITH_UNROLLED_BY_4
          for (u32 j = 0; j < tested; ++j) {
            const cell_point<T, D> other = some[j << shift];
            const u32 is_near = grid.is_near(at, other.at) ? 1 : 0;
            near |= is_near << j;
            found += is_near;
          }
          if (found == 0) continue;
          u32 to = starts[i] + team.add(filled + i, found);
          for (; near != 0; near &= near - 1) ids[sort::place_of(to++)] = some[lowest_bit(near) << shift].row;
        }
      });
    });
    const u32 longest = team.reduce(
        n, u32{0},
        [&](u64 i) ZENITH_BODY { return static_cast<u32>(offsets[of.begin + i + 1] - offsets[of.begin + i]); },
        [](u32 a, u32 b) ZENITH_BODY { return a < b ? b : a; });
    team.barrier();
    sort::sort(team, ids, starts[n], longest, [&](u32 block) ZENITH_BODY {
      const u32 i = owners[block];
      return sort::segment{starts[i], filled[i]};
    });
    team.for_each(starts[n], [&](u64 place) ZENITH_BODY {
      const u32 i = owners[place / sort::block];
      const u32 j = static_cast<u32>(place) - starts[i];
      if (j >= filled[i]) return;
      const u64 to = firsts[of.begin + i] + j;
      left_to[to] = static_cast<Index>(rows[of.begin + i]);
      right_to[to] = static_cast<Index>(ids[sort::place_of(static_cast<u32>(place))]);
    });
  }

  /// More partners than are sorted: the whole right side in its order.
  template <class Team>
  ZENITH_FN void write_long(Team& team, u64 row, u64 to) const {
    const auto grid = probe.facts->grid;
    u32* const before = team.template scratch<u32>(ids_at);
    T at[D];
    probe.get(row, at);
    for (u64 begin = 0; begin < right.rows; begin += chunk) {
      const u32 n = right.rows - begin < chunk ? static_cast<u32>(right.rows - begin) : chunk;
      team.for_each(n + 1, [&](u64 i) ZENITH_BODY {
        T other[D] = {};
        if (i < n) {
          ZENITH_UNROLLED
          for (unsigned a = 0; a < D; ++a) other[a] = right.at[a][begin + i];
        }
        before[i] = i < n && grid.is_near(at, other) ? 1 : 0;
      });
      const u32 found = team.scan(before, n + 1);
      team.for_each(n, [&](u64 i) ZENITH_BODY {
        if (before[i + 1] == before[i]) return;
        left_to[to + before[i]] = static_cast<Index>(row);
        right_to[to + before[i]] = static_cast<Index>(begin + i);
      });
      to += found;
      team.barrier();
    }
  }
};

}  // namespace zenith::spatial_join_family
