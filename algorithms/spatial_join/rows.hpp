#pragma once

/// \file
/// All pairs in the order of the left side's rows, as a host finds them. Left points are moved to buckets of
/// consecutive cells, whose right points a cache holds, and their partners are listed there. A bucket has its points in
/// the order of their rows. So the pairs are written row by row from one front in each bucket, and a cache holds all
/// fronts.

#include <algorithm>

#include <algorithms/spatial_join/buckets.hpp>
#include <algorithms/spatial_join/pairs.hpp>
#include <algorithms/spatial_join/sort_ids.hpp>

namespace zenith::spatial_join_family {

/// The cells around some points. Found by loops of a known length over columns, which compilers vectorise.
template <class T, unsigned D>
struct cells_around {
  static constexpr u32 together = D == 2 ? 32 : 16;
  static constexpr u32 usual = 3;  ///< that a point's reach meets on an axis, at most, but for rounding

  u32 first[together];
  u32 count[D][together];  ///< on each axis; one of them is 0 for a point beyond reach

  /// Of n points. False: there are more than usual on an axis but the first, whose cells are one range, or their
  /// numbers begin anew.
  template <class Point>
  ZENITH_FN bool find(const cell_grid<T, D>& grid, const Point* points, u32 n) {
    T at[D][together];
    for (u32 j = 0; j < n; ++j) {
      for (unsigned a = 0; a < D; ++a) at[a][j] = points[j].at[a];
    }
    for (u32 j = n; j < together; ++j) {
      for (unsigned a = 0; a < D; ++a) at[a][j] = points[0].at[a];
    }
    u32 is_in_reach[together];
    for (u32 j = 0; j < together; ++j) {
      first[j] = 0;
      is_in_reach[j] = 1;
    }
    i32 lowest[D][together];
    u32 most = 0;
    u32 stride = 1;
    for (unsigned a = 0; a < D; ++a) {
      const cell_axis<T> axis = grid.axis(a);
      const T least = grid.least[a];
      const T greatest = grid.greatest[a];
      const T reach = grid.reach;
      for (u32 j = 0; j < together; ++j) {
        const T below = at[a][j] - reach;
        const T above = at[a][j] + reach;
        is_in_reach[j] &= (above >= least ? 1U : 0U) & (below <= greatest ? 1U : 0U);
        lowest[a][j] = axis.cell_of(below);
        const u32 cells = grid.cells_between(lowest[a][j], axis.cell_of(above));
        first[j] += static_cast<u32>(lowest[a][j]) * stride;
        count[a][j] = cells;
        most = a > 0 && cells > most ? cells : most;
      }
      stride *= grid.cells[a];
    }
    bool is_usual = most <= usual;
    if (grid.is_periodic()) is_usual = is_usual && has_single_ranges(grid, lowest);
    for (u32 j = 0; j < together; ++j) count[1][j] *= is_in_reach[j];
    return is_usual;
  }

 private:
  /// With a period the first cells are known by the lowest on each axis.
  ZENITH_FN bool has_single_ranges(const cell_grid<T, D>& grid, const i32 (&lowest)[D][together]) {
    u32 others = 0;
    for (u32 j = 0; j < together; ++j) {
      i32 own[D];
      for (unsigned a = 0; a < D; ++a) {
        own[a] = lowest[a][j];
        others += count[a][j] > grid.cells[a] ? 1 : 0;
      }
      first[j] = grid.periodic_number_of(own);
    }
    for (u32 plane = 0; plane < (D == 3 ? usual : 1); ++plane) {
      for (u32 row = 0; row < usual; ++row) {
        for (u32 j = 0; j < together; ++j) {
          others += grid.wraps(grid.beyond(first[j], plane, row), count[0][j]) ? 1 : 0;
        }
      }
    }
    return others == 0;
  }
};

/// Left points in buckets, and the right side in the order of its cells.
template <class T, unsigned D>
struct row_probe {
  using point = packed_point<T, D, false>;
  static constexpr u32 together = cells_around<T, D>::together;  ///< points whose cells are found at once
  static constexpr u32 most_ranges = D == 2 ? 3 : 9;

  /// Places of the right side that may be near to a point. `is_wide`: there are more than these.
  struct ranges {
    u32 begin[most_ranges];
    u32 end[most_ranges];
    u32 count;
    bool is_wide;
  };

  const point* left;
  u64 count;  ///< of left points
  const point* right;
  const u32* starts;
  cell_grid<T, D> grid;

  /// use(begin, end) for every range of places of the right side around a point.
  template <class Use>
  ZENITH_FN void each_range(const T (&at)[D], const Use& use) const {
    grid.each_range(at, [&](u32 first, u32 end) ZENITH_BODY { use(starts[first], starts[end]); });
  }
  /// The ranges around n <= together points, which are read soon.
  ZENITH_FN void ask_for_points(const point* points, u32 n, ranges* to) const {
    cells_around<T, D> cells;
    const bool is_usual = cells.find(grid, points, n);
    for (u32 j = 0; j < n; ++j) {
      u32 asked = 0;
      to[j].is_wide = !is_usual;
      for (u32 plane = 0; is_usual && plane < (D == 3 ? cells.count[D - 1][j] : 1); ++plane) {
        for (u32 row = 0; row < cells.count[1][j]; ++row) {
          const u32 first = grid.beyond(cells.first[j], plane, row);
          to[j].begin[asked] = starts[first];
          to[j].end[asked] = starts[first + cells.count[0][j]];
          read_soon(right + to[j].begin[asked]);
          read_soon(right + to[j].end[asked]);
          ++asked;
        }
      }
      to[j].count = asked;
    }
  }
  /// use(begin, end) again.
  template <class Use>
  ZENITH_FN void each_asked(const T (&at)[D], const ranges& asked, const Use& use) const {
    if (asked.is_wide) return each_range(at, use);
    for (u32 j = 0; j < asked.count; ++j) use(asked.begin[j], asked.end[j]);
  }
};

/// Lists of kept_partners words, each in rising order: a sorting network, all lists at once.
template <u32 lists>
ZENITH_FN void sort_lists(u32 (&words)[lists * kept_partners]) {
  static_assert(kept_partners == 8);
  for (u32 j = 0; j < lists; ++j) {
    u32* const at = words + j * kept_partners;
    u32 a = at[0], b = at[1], c = at[2], d = at[3], e = at[4], f = at[5], g = at[6], h = at[7];
    const auto order = [](u32& x, u32& y) ZENITH_BODY {
      const u32 low = x < y ? x : y;
      y = x < y ? y : x;
      x = low;
    };
    order(a, c), order(b, d), order(e, g), order(f, h);
    order(a, e), order(b, f), order(c, g), order(d, h);
    order(a, b), order(c, d), order(e, f), order(g, h);
    order(c, e), order(d, f);
    order(b, e), order(d, g);
    order(b, c), order(d, e), order(f, g);
    at[0] = a, at[1] = b, at[2] = c, at[3] = d, at[4] = e, at[5] = f, at[6] = g, at[7] = h;
  }
}

/// The partners of a group of left points, if these have space for them, and how many they are.
template <class T, unsigned D>
struct list_partners {
  static constexpr u32 group = 256;
  static constexpr u32 space = 32 * group;  ///< for a group's partners: points of a bucket are crowded together
  static constexpr u32 stride = space + 2 * kept_partners;
  static constexpr u64 item_cost = u64{group} * 512;
  static constexpr u32 scratch_bytes = 2 * stride * sizeof(u32);
  static constexpr u64 not_listed = ~u64{0};
  static constexpr u32 tested = 4;  ///< candidates at once: as many as there are behind the right side may be read

  row_probe<T, D> probe;
  u32* counts;  ///< of each left point
  u64* listed;  ///< where a group's partners begin in `ids`; not_listed: they are only counted
  u32* ids;
  u64 capacity;  ///< of `ids`, of which only what is taken costs pages
  u64* taken;    ///< of it

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 g) const {
    team.once([&]() ZENITH_BODY {
      typename row_probe<T, D>::ranges asked[row_probe<T, D>::together];
      const u64 begin = g * group;
      const u64 end = begin + group < probe.count ? begin + group : probe.count;
      u32* const unsorted = team.template scratch<u32>();
      u32* const sorted = unsorted + stride;
      u64 all = 0;
      bool has_space = true;
      for (u64 first = begin; first < end; first += row_probe<T, D>::together) {
        const u64 left = end - first;
        const u32 n = left < row_probe<T, D>::together ? static_cast<u32>(left) : row_probe<T, D>::together;
        probe.ask_for_points(probe.left + first, n, asked);
        const u64 before = all;
        for (u32 j = 0; j < n; ++j) {
          const auto& at = probe.left[first + j].at;
          u64 candidates = 0;
          probe.each_asked(at, asked[j], [&](u32 from, u32 to_end) ZENITH_BODY { candidates += to_end - from; });
          has_space = has_space && all + candidates <= space;
          const u32 found = has_space ? list(at, asked[j], unsorted + (all - before)) : count_near(at, asked[j]);
          counts[first + j] = found;
          all += found;
        }
        // not row by row: what was just written one by one cannot be read together yet
        if (has_space) sort(unsorted, counts + first, n, sorted + before);
      }
      listed[g] = not_listed;
      if (!has_space) return;
      const u64 place = device::atomic_add(taken, all);
      if (place + all > capacity) return;
      u32* const to = ids + place;
      for (u64 i = 0; i < all; ++i) to[i] = sorted[i];
      listed[g] = place;
    });
  }

 private:
  using ranges = typename row_probe<T, D>::ranges;
  using point = typename row_probe<T, D>::point;

  /// Without a branch that depends on a candidate, or, as a rule, on how many a range has: each is written, and the
  /// next one in its place unless it is near.
  ZENITH_FN u32 list(const T (&at)[D], const ranges& asked, u32* to) const {
    u32 found = 0;
    probe.each_asked(at, asked, [&](u32 begin, u32 end) ZENITH_BODY {
      for (u32 first = begin; first < end; first += tested) {
        // by a pointer: a place may wrap around, and each would be an address of its own
        const point* const from = probe.right + first;
        const u32 n = end - first;
        for (u32 j = 0; j < tested; ++j) {
          const u32 is_near = (j < n ? 1U : 0U) & (probe.grid.is_near(at, from[j].at) ? 1U : 0U);
          to[found] = from[j].row;
          found += is_near;
        }
      }
    });
    return found;
  }
  ZENITH_FN u32 count_near(const T (&at)[D], const ranges& asked) const {
    u32 found = 0;
    probe.each_asked(at, asked, [&](u32 begin, u32 end) ZENITH_BODY {
      for (u32 r = begin; r < end; ++r) found += probe.grid.is_near(at, probe.right[r].at) ? 1 : 0;
    });
    return found;
  }
  ZENITH_FN void sort(u32* unsorted, const u32* found, u32 n, u32* to) const {
    constexpr u32 lists = row_probe<T, D>::together;
    u32 few[lists * kept_partners];
    const u32* from = unsorted;
    for (u32 j = 0; j < lists; ++j) {
      const u32 count = j < n ? found[j] : 0;
      u32* const here = few + j * kept_partners;
      for (u32 i = 0; i < kept_partners; ++i) here[i] = from[i] | (u32{0} - (i < count ? 0 : 1));
      from += count;
    }
    sort_lists<lists>(few);
    for (u32 j = 0; j < n; ++j) {
      const u32 count = found[j];
      if (count <= kept_partners) {
        for (u32 i = 0; i < kept_partners; ++i) to[i] = few[j * kept_partners + i];
      } else {
        for (u32 i = 0; i < count; ++i) to[i] = unsorted[i];
        sort_ids(to, count, unsorted);
      }
      unsorted += count;
      to += count;
    }
  }
};

inline constexpr u32 most_left_buckets = 256;

/// Into how many buckets left points are moved at most: a core's cache holds the right points of one, and one front of
/// each.
[[nodiscard]] inline u64 left_buckets_for(u64 right_points) {
  constexpr u64 bucket = 1 << 12;
  return std::clamp<u64>(right_points / bucket, 1, most_left_buckets);
}

/// Left points in buckets with what was found for them.
template <class T, unsigned D>
struct listed_rows {
  static constexpr u32 group = list_partners<T, D>::group;
  static constexpr u64 not_listed = list_partners<T, D>::not_listed;

  point_list<T, D, false> from;
  bucket_plan plan;
  moved_points moved;
  const u32* counts;
  const u64* listed;
  const u32* ids;
};

/// How many pairs each part of the left rows has.
template <class T, unsigned D>
struct sum_parts {
  static constexpr u64 item_cost = u64{1} << 17;

  listed_rows<T, D> rows;
  u64* sums;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 part) const {
    team.once([&]() ZENITH_BODY {
      u64 all = 0;
      for (u32 b = 0; b < rows.plan.buckets; ++b) {
        const u32* const begin = rows.moved.begins + (u64{b} * rows.plan.parts + part);
        for (u32 i = begin[0]; i < begin[1]; ++i) all += rows.counts[i];
      }
      sums[part] = all;
    });
  }
};

/// The pairs of a part of the left rows.
template <class T, unsigned D, class Index>
struct write_rows {
  using known = listed_rows<T, D>;
  /// How far a bucket is read.
  struct front {
    u64 ids;    ///< where the next point's partners begin; not_listed: they are found again
    u32 place;  ///< of the next point
  };
  static constexpr u32 line = 64 / sizeof(u32);
  static constexpr u64 item_cost = u64{1} << 19;
  static constexpr u32 scratch_bytes = most_left_buckets * sizeof(front);

  row_probe<T, D> probe;
  known rows;
  const u64* offsets;  ///< of each part, and where the last one ends
  Index* left;
  Index* right;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 part) const {
    front* const fronts = team.template scratch<front>();
    team.once([&]() ZENITH_BODY {
      for (u32 b = 0; b < rows.plan.buckets; ++b)
        fronts[b] = front_at(rows.moved.begins[u64{b} * rows.plan.parts + part]);
      const u64 last = rows.plan.begin_of(part + 1);
      const u64 end = offsets[part + 1];
      u64 at = offsets[part];
      for (u64 row = rows.plan.begin_of(part); row < last; ++row) {
        front& next = fronts[rows.moved.numbers[row]];
        const u32 place = next.place++;
        if (place % known::group == 0) next.ids = rows.listed[place / known::group];
        const u32 n = rows.counts[place];
        if (next.ids == known::not_listed) {
          find_again(rows.from.get(row).at, right + at, left + at);
          for (u32 j = 0; j < n; ++j) left[at + j] = static_cast<Index>(row);
          at += n;
          continue;
        }
        const u32* const ids = rows.ids + next.ids;
        next.ids += n;
        read_soon(ids + n + line);
        if (n <= kept_partners && end - at >= kept_partners) {
          // without a branch that depends on the count: later rows write over what is too much
          for (u32 j = 0; j < kept_partners; ++j) left[at + j] = static_cast<Index>(row);
          for (u32 j = 0; j < kept_partners; ++j) right[at + j] = static_cast<Index>(ids[j]);
        } else {
          for (u32 j = 0; j < n; ++j) left[at + j] = static_cast<Index>(row);
          for (u32 j = 0; j < n; ++j) right[at + j] = static_cast<Index>(ids[j]);
        }
        at += n;
      }
    });
  }

 private:
  /// The front of a bucket whose next point is in a place, which may be in the middle of a group.
  ZENITH_FN front front_at(u32 place) const {
    const u32 first = place - place % known::group;
    if (first == place) return {known::not_listed, place};  // it is looked up there
    u64 ids = rows.listed[first / known::group];
    if (ids == known::not_listed) return {ids, place};
    for (u32 i = first; i < place; ++i) ids += rows.counts[i];
    return {ids, place};
  }
  /// `spare`: memory for as many.
  ZENITH_FN void find_again(const T (&at)[D], Index* to, Index* spare) const {
    u64 found = 0;
    probe.each_range(at, [&](u32 begin, u32 end) ZENITH_BODY {
      for (u32 r = begin; r < end; ++r) {
        if (probe.grid.is_near(at, probe.right[r].at)) to[found++] = static_cast<Index>(probe.right[r].row);
      }
    });
    sort_ids(to, found, spare);
  }
};

template <class T, unsigned D>
using row_kernels = device::list<list_partners<T, D>, sum_parts<T, D>, write_rows<T, D, std::uint32_t>,
                                 write_rows<T, D, std::uint64_t>>;

}  // namespace zenith::spatial_join_family
