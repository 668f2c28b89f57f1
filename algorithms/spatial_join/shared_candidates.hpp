#pragma once

/// \file
/// What the left rows of a group share. Those of one cell that follow each other, a run, have the same candidates. A
/// team reads these once for all of them. Where partners are written, it sorts the candidates by their rows, and each
/// left row tests them in that order: so its partners need no sort of their own.

#include <limits>

#include <algorithms/spatial_join/placed_rows.hpp>
#include <core/device/team_sort.hpp>

namespace zenith::spatial_join_family {

/// In a team's scratch, from byte At on. Candidates have `candidate_bytes` from byte `CandidatesAt` on, which the
/// caller may use otherwise between two batches. Sorted: with their rows, and by these.
template <class T, unsigned D, group_sizes Sizes, bool Sorted, u32 At, u32 CandidatesAt>
class shared_candidates {
  using sort = device::segment_sort;
  static constexpr u32 most_rows = Sizes.rows;
  static constexpr u32 words_of_rows = (most_rows + 2) / 2 * 2 * sizeof(u32);
  static constexpr u32 heads_at = At + D * most_rows * sizeof(T);
  static constexpr u32 firsts_at = heads_at + words_of_rows;
  static constexpr u32 counts_at = firsts_at + words_of_rows;
  static constexpr u32 starts_at = counts_at + words_of_rows;
  static constexpr u32 boxes_at = starts_at + words_of_rows;
  /// Coordinates of an axis that follow each other. Aligned, so that one load brings them.
  struct alignas(16) pack {
    static constexpr u32 size = 16 / sizeof(T);
    T at[size];
  };
  static constexpr T no_place = std::numeric_limits<T>::quiet_NaN();
  // cells of a run: so many ranges as a rule
  static constexpr u32 ranges = D == 3 ? 9 : 3;
  static constexpr u32 most_runs = 32;
  static constexpr u32 froms_at = boxes_at + 2 * D * words_of_rows;
  static constexpr u32 places_at = froms_at + most_runs * ranges * sizeof(u32);
  static constexpr u32 owners_at = places_at + (most_runs * ranges + 1) * sizeof(u32);

 public:
  /// So many candidates of some runs are in scratch together.
  static constexpr u32 most_together = Sizes.together / (sizeof(u32) + D * sizeof(T)) / sort::block * sort::block;
  static_assert(most_together > 0 && At % sizeof(T) == 0 && CandidatesAt % alignof(pack) == 0);
  static constexpr u32 end_at = (owners_at + most_together / sort::block * sizeof(u32) + 127) / 128 * 128;
  static constexpr u32 candidate_bytes = most_together * ((Sorted ? sizeof(u32) : 0) + D * sizeof(T));

  template <class Team>
  ZENITH_FN shared_candidates(Team& team, const group_probe<T, D>& probe)
      : probe_(probe),
        grid_(probe.facts->grid),
        at_(team.template scratch<T>(At)),
        heads_(team.template scratch<u32>(heads_at)),
        firsts_(team.template scratch<u32>(firsts_at)),
        counts_(team.template scratch<u32>(counts_at)),
        starts_(team.template scratch<u32>(starts_at)),
        boxes_(team.template scratch<i32>(boxes_at)),
        froms_(team.template scratch<u32>(froms_at)),
        places_(team.template scratch<u32>(places_at)),
        owners_(team.template scratch<u32>(owners_at)),
        ids_(team.template scratch<u32>(CandidatesAt)),
        candidates_(team.template scratch<pack>(CandidatesAt + (Sorted ? most_together * sizeof(u32) : 0))) {}

  /// Reads the n rows of group g. Returns how many runs they are.
  template <class Team>
  ZENITH_FN u32 open(Team& team, u64 g, u32 n) const {
    u32* const cells = counts_;
    team.for_each(n, [&](u64 i) ZENITH_BODY {
      const u64 row = probe_.row_of(g * probe_.rows + i);
      T at[D];
      probe_.get(row, at);
      ZENITH_UNROLLED
      for (unsigned a = 0; a < D; ++a) at_[a * most_rows + i] = at[a];
      cells[i] = grid_.unshared_number_at(at);
    });
    team.barrier();
    team.for_each(n + 1, [&](u64 i) ZENITH_BODY { heads_[i] = i < n && (i == 0 || cells[i] != cells[i - 1]) ? 1 : 0; });
    const u32 runs = team.scan(heads_, n + 1);
    team.for_each(n, [&](u64 i) ZENITH_BODY {
      if (heads_[i + 1] != heads_[i]) firsts_[heads_[i]] = static_cast<u32>(i);
    });
    team.once([&]() ZENITH_BODY { firsts_[runs] = n; });
    team.barrier();
    team.for_each(runs, [&](u64 run) ZENITH_BODY { find_box(static_cast<u32>(run)); });
    team.barrier();
    team.for_each(u64{runs} * ranges, [&](u64 item) ZENITH_BODY {
      const u32 run = static_cast<u32>(item) / ranges;
      const auto own = places_of(run, static_cast<u32>(item) % ranges);
      if (own.count > 0) (void)team.add(counts_ + run, own.count);
    });
    team.barrier();
    return runs;
  }
  /// How many candidates are sorted if all runs are shared.
  template <class Team>
  [[nodiscard]] ZENITH_FN u64 sorted(Team& team, u32 runs) const {
    return team.reduce(
        runs, u64{0}, [&](u64 run) ZENITH_BODY { return u64{sort::padded(counts_[run])}; },
        [](u64 a, u64 b) ZENITH_BODY { return a + b; });
  }

  [[nodiscard]] ZENITH_FN u32 first_row(u32 run) const { return firsts_[run]; }

  /// The end of those runs from `run` on whose candidates are in scratch together; `run` if it has too many. What was
  /// in scratch before is done with.
  template <class Team>
  ZENITH_FN u32 plan(Team& team, u32 run, u32 runs) const {
    team.barrier();
    team.for_each(runs - run + 1, [&](u64 i) ZENITH_BODY {
      const u32 count = run + i < runs ? counts_[run + i] : 0;
      starts_[i] = count <= most_together ? sort::padded(count) : most_together + sort::block;
    });
    (void)team.scan(starts_, runs - run + 1);
    u32 low = 0;  // so many fit
    u32 high = runs - run < most_runs ? runs - run : most_runs;
    while (low < high) {
      const u32 middle = low + (high - low + 1) / 2;
      if (starts_[middle] <= most_together) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return run + low;
  }

  /// The candidates of the runs of a plan to scratch.
  template <class Team>
  ZENITH_FN void list(Team& team, u32 run, u32 end) const {
    const u32 n = end - run;
    team.once([&]() ZENITH_BODY { places_[n * ranges] = 0; });
    team.for_each(n * ranges, [&](u64 item) ZENITH_BODY {
      const auto own = places_of(run + static_cast<u32>(item) / ranges, static_cast<u32>(item) % ranges);
      froms_[item] = own.from;
      places_[item] = own.count;
    });
    (void)team.scan(places_, n * ranges + 1);
    if constexpr (Sorted) {
      sort_ids(team, run, n);
      each_candidate(team, n, [&](u32 i, u32 /*to*/, const cell_point<T, D>& point) ZENITH_BODY {
        put(order_of_id(starts_[i], counts_[run + i], point.row), point.at);
      });
    } else {
      each_candidate(team, n, [&](u32 /*i*/, u32 to, const cell_point<T, D>& point) ZENITH_BODY { put(to, point.at); });
    }
    // behind those of a run: near to nothing
    team.for_each(u64{n} * sort::block, [&](u64 item) ZENITH_BODY {
      const u32 i = static_cast<u32>(item) / sort::block;
      const u32 to = starts_[i] + counts_[run + i] + static_cast<u32>(item) % sort::block;
      T nowhere[D];
      ZENITH_UNROLLED
      for (unsigned a = 0; a < D; ++a) nowhere[a] = no_place;
      if (to < starts_[i + 1]) put(to, nowhere);
    });
    team.barrier();
  }

  /// The candidates of row i of the group, in one of the runs that were listed from `run` on: 32 in each of so many
  /// words.
  struct row_candidates {
    u32 begin;
    u32 words;
  };
  [[nodiscard]] ZENITH_FN row_candidates candidates_of(u32 run, u32 i) const {
    const u32 own = heads_[i + 1] - 1;
    return {starts_[own - run], sort::padded(counts_[own]) / sort::block};
  }
  /// Whether the run of row i of the group has no more candidates than scratch takes.
  [[nodiscard]] ZENITH_FN bool fits(u32 i) const { return counts_[heads_[i + 1] - 1] <= most_together; }
  /// The most words of the runs from `run` to `end`.
  template <class Team>
  [[nodiscard]] ZENITH_FN u32 most_words(Team& team, u32 run, u32 end) const {
    return team.reduce(
        end - run, u32{0}, [&](u64 i) ZENITH_BODY { return sort::padded(counts_[run + i]) / sort::block; },
        [](u32 a, u32 b) ZENITH_BODY { return a < b ? b : a; });
  }
  /// Which of the 32 candidates of a word row i is near to. Lanes of rows of one run read the same places.
  [[nodiscard]] ZENITH_FN u32 near_of(u32 i, const row_candidates& of, u32 word) const {
    static_assert(sort::block == 32);
    T at[D];
    get(i, at);
    const T squared = grid_.squared;
    const pack* const from = candidates_ + (of.begin + word * sort::block) / pack::size;
    u32 near = 0;
    ZENITH_UNROLLED
    for (u32 j = 0; j < sort::block; j += pack::size) {
      pack some[D];
      ZENITH_UNROLLED
      for (unsigned a = 0; a < D; ++a) some[a] = from[(a * most_together + j) / pack::size];
      ZENITH_UNROLLED
      for (u32 e = 0; e < pack::size; ++e) {
        T other[D];
        ZENITH_UNROLLED
        for (unsigned a = 0; a < D; ++a) other[a] = some[a].at[e];
        if (are_near<T, D>(at, other, squared)) near |= u32{1} << (j + e);
      }
    }
    return near;
  }
  /// The row of the right side that is candidate j of these.
  [[nodiscard]] ZENITH_FN u32 id_of(const row_candidates& of, u32 j) const {
    return ids_[sort::place_of(of.begin + j)];
  }

 private:
  ZENITH_FN void get(u32 i, T (&at)[D]) const {
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) at[a] = at_[a * most_rows + i];
  }
  /// The rows of the candidates of n runs, each run's in rising order.
  template <class Team>
  ZENITH_FN void sort_ids(Team& team, u32 run, u32 n) const {
    team.for_each(n, [&](u64 i) ZENITH_BODY {
      for (u32 b = starts_[i] / sort::block; b < starts_[i + 1] / sort::block; ++b) owners_[b] = static_cast<u32>(i);
    });
    each_candidate(team, n, [&](u32 /*i*/, u32 to, const cell_point<T, D>& point) ZENITH_BODY {
      ids_[sort::place_of(to)] = point.row;
    });
    const u32 longest = team.reduce(
        n, u32{0}, [&](u64 i) ZENITH_BODY { return counts_[run + i]; },
        [](u32 a, u32 b) ZENITH_BODY { return a < b ? b : a; });
    team.barrier();
    sort::sort(team, ids_, starts_[n], longest, [&](u32 block) ZENITH_BODY {
      const u32 i = owners_[block];
      return sort::segment{starts_[i], counts_[run + i]};
    });
  }
  /// Where an id is among `count` from `begin` on, which have it.
  [[nodiscard]] ZENITH_FN u32 order_of_id(u32 begin, u32 count, u32 id) const {
    u32 low = begin;
    u32 high = begin + count;
    while (high - low > 1) {
      const u32 middle = low + (high - low) / 2;
      if (ids_[sort::place_of(middle)] <= id) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }
  ZENITH_FN void put(u32 to, const T (&at)[D]) const {
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) candidates_[(a * most_together + to) / pack::size].at[to % pack::size] = at[a];
  }

  /// Cells around all points of a run, and how many candidates are there.
  ZENITH_FN void find_box(u32 run) const {
    T low[D];
    T high[D];
    get(firsts_[run], low);
    get(firsts_[run], high);
    for (u32 i = firsts_[run] + 1; i < firsts_[run + 1]; ++i) {
      T at[D];
      get(i, at);
      ZENITH_UNROLLED
      for (unsigned a = 0; a < D; ++a) {
        low[a] = at[a] < low[a] ? at[a] : low[a];
        high[a] = high[a] < at[a] ? at[a] : high[a];
      }
    }
    i32 lowest[D];
    i32 highest[D];
    const bool is_in_reach = grid_.find_cells(low, high, lowest, highest);
    bool is_usual = true;
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) {
      boxes_[2 * a * most_rows + run] = is_in_reach ? lowest[a] : 1;
      boxes_[(2 * a + 1) * most_rows + run] = is_in_reach ? highest[a] : 0;
      is_usual = is_usual && (a == 0 || highest[a] - lowest[a] < 3) &&
                 grid_.cells_between(lowest[a], highest[a]) <= grid_.cells[a];
    }
    if (is_in_reach && is_usual && grid_.is_periodic()) {
      const u32 first = grid_.first_of(lowest);
      for (u32 r = 0; r < ranges; ++r) {
        is_usual =
            is_usual && !grid_.wraps(grid_.beyond(first, r / 3, r % 3), grid_.cells_between(lowest[0], highest[0]));
      }
    }
    // cells have at least the distance's width, but for rounding
    counts_[run] = is_usual || !is_in_reach ? 0 : most_together + 1;
  }

  struct place_range {
    u32 from;
    u32 count;
  };
  /// Range r of those around a run.
  [[nodiscard]] ZENITH_FN place_range places_of(u32 run, u32 r) const {
    i32 lowest[D];
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) lowest[a] = boxes_[2 * a * most_rows + run];
    lowest[1] += static_cast<i32>(r % 3);
    if (lowest[1] > boxes_[3 * most_rows + run]) return {0, 0};
    if constexpr (D == 3) {
      lowest[2] += static_cast<i32>(r / 3);
      if (lowest[2] > boxes_[5 * most_rows + run]) return {0, 0};
    }
    const u32 first = grid_.first_of(lowest);
    const u32 cells = grid_.cells_between(lowest[0], boxes_[most_rows + run]);
    if (grid_.wraps(first, cells)) return {0, 0};  // of a run that is not shared
    const u32 from = probe_.starts[first];
    return {from, probe_.starts[first + cells] - from};
  }

  /// use(i, to, point) for every candidate of n runs; `to` is its place if they are not sorted.
  template <class Team, class Use>
  ZENITH_FN void each_candidate(Team& team, u32 n, const Use& use) const {
    u32 shift = 0;
    if constexpr (!Team::is_one_lane) {
      shift = 5;
      while (shift > 2 && (n * ranges << shift) > 512) --shift;
    }
    team.for_each(u64{n} * ranges << shift, [&](u64 item) ZENITH_BODY {
      const u32 range = static_cast<u32>(item) >> shift;
      const u32 lane = static_cast<u32>(item) & ((u32{1} << shift) - 1);
      const u32 i = range / ranges;
      const u32 own = lane_share(places_[range + 1] - places_[range], lane, shift);
      const u32 to = starts_[i] + places_[range] - places_[i * ranges] + lane;
      const cell_point<T, D>* const from = probe_.points + froms_[range] + lane;
      ZENITH_UNROLLED_BY_4
      for (u32 j = 0; j < own; ++j) use(i, to + (j << shift), from[j << shift]);
    });
  }

  const group_probe<T, D>& probe_;
  const cell_grid<T, D>& grid_;
  T* at_;
  u32* heads_;   ///< of the rows' runs: how many begin before a row
  u32* firsts_;  ///< row of each run
  u32* counts_;  ///< candidates of each run
  u32* starts_;  ///< in scratch, of the runs of a plan
  i32* boxes_;   ///< of cells of each run
  u32* froms_;   ///< of the ranges of a plan's runs
  u32* places_;  ///< candidates in the ranges before
  u32* owners_;  ///< of blocks of candidates
  u32* ids_;
  pack* candidates_;
};

}  // namespace zenith::spatial_join_family
