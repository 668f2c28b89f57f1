#pragma once

/// \file
/// All pairs in the order of the left side's rows, as a host finds them: the left side is not moved, and pairs are
/// written one behind the other. The cells of some rows are asked for before the first of them is looked at, for they
/// lie anywhere in the right side.

#include <algorithms/spatial_join/buckets.hpp>
#include <algorithms/spatial_join/pairs.hpp>

namespace zenith::spatial_join_family {

/// Memory that is read soon.
ZENITH_FN void read_soon([[maybe_unused]] const void* at) {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  __builtin_prefetch(at);
#endif
}

/// Left rows, and the right side in the order of its cells.
template <class T, unsigned D>
struct row_probe {
  using point = packed_point<T, D, false>;
  static constexpr u32 together = D == 2 ? 32 : 16;  ///< rows whose cells are asked for at once
  static constexpr u32 most_ranges = D == 2 ? 3 : 9;

  /// Places of the right side that may be near to a point. `is_wide`: there are more than these.
  struct ranges {
    u32 begin[most_ranges];
    u32 end[most_ranges];
    u32 count;
    bool is_wide;
  };

  point_columns<T, D> left;
  const point* right;
  const u32* starts;
  cell_grid<T, D> grid;

  ZENITH_FN void get(u64 row, T (&at)[D]) const {
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) at[a] = left.at[a][row];
  }
  /// use(begin, end) for every range of places of the right side around a point.
  template <class Use>
  ZENITH_FN void each_range(const T (&at)[D], const Use& use) const {
    grid.each_range(at, [&](u32 first, u32 end) ZENITH_BODY { use(starts[first], starts[end]); });
  }
  /// Ranges of cells, whose places are read soon.
  ZENITH_FN void ask_for_cells(u64 row, ranges& to) const {
    T at[D];
    get(row, at);
    u32 count = 0;
    to.is_wide = false;
    grid.each_range(at, [&](u32 first, u32 end) ZENITH_BODY {
      if (count == most_ranges) {
        to.is_wide = true;
        return;
      }
      to.begin[count] = first;
      to.end[count] = end;
      ++count;
      read_soon(starts + first);
    });
    to.count = count;
  }
  /// Ranges of places in place of these, whose points are read soon.
  ZENITH_FN void ask_for_points(ranges& to) const {
    for (u32 j = 0; j < to.count; ++j) {
      to.begin[j] = starts[to.begin[j]];
      to.end[j] = starts[to.end[j]];
      read_soon(right + to.begin[j]);
      read_soon(right + to.end[j]);
    }
  }
  /// use(begin, end) again.
  template <class Use>
  ZENITH_FN void each_asked(const T (&at)[D], const ranges& asked, const Use& use) const {
    if (asked.is_wide) return each_range(at, use);
    for (u32 j = 0; j < asked.count; ++j) use(asked.begin[j], asked.end[j]);
  }
};

/// n <= kept_partners ids to another place in rising order; as many can be read, whatever they are, and what may be
/// written is one more. They differ, so the place of one is how many are smaller.
ZENITH_FN void sort_few(const u32* ids, u32 n, u32* to) {
  u32 from[kept_partners];
  u32 smaller[kept_partners];
  for (u32 j = 0; j < kept_partners; ++j) {
    from[j] = ids[j] | (j < n ? 0 : ~u32{0});
    smaller[j] = 0;
  }
  for (const u32 other : from) {
    for (u32 j = 0; j < kept_partners; ++j) smaller[j] += other < from[j] ? 1 : 0;
  }
  for (u32 j = 0; j < kept_partners; ++j) to[smaller[j]] = from[j];
}

/// The partners of a group of left rows, if these have space for them, and how many they are.
template <class T, unsigned D>
struct list_partners {
  static constexpr u32 group = 1024;
  static constexpr u32 space = group * kept_partners;
  static constexpr u32 stride = space + 2 * kept_partners;
  static constexpr u64 item_cost = u64{group} * 512;
  static constexpr u32 scratch_bytes = 2 * stride * sizeof(u32);
  static constexpr u64 not_listed = ~u64{0};

  row_probe<T, D> probe;
  u32* counts;  ///< of each left row
  u64* sums;    ///< of each group
  u64* listed;  ///< where a group's partners begin in `ids`; not_listed: they are only counted
  u32* ids;     ///< space for `space` of each group, of which only what is taken costs pages
  u64* taken;   ///< of it

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 g) const {
    team.once([&]() ZENITH_BODY {
      typename row_probe<T, D>::ranges asked[row_probe<T, D>::together];
      const u64 begin = g * group;
      const u64 end = begin + group < probe.left.rows ? begin + group : probe.left.rows;
      u32* const unsorted = team.template scratch<u32>();
      u32* const sorted = unsorted + stride;
      u64 all = 0;
      bool has_space = true;
      for (u64 first = begin; first < end; first += row_probe<T, D>::together) {
        const u64 left = end - first;
        const u32 n = left < row_probe<T, D>::together ? static_cast<u32>(left) : row_probe<T, D>::together;
        for (u32 j = 0; j < n; ++j) probe.ask_for_cells(first + j, asked[j]);
        for (u32 j = 0; j < n; ++j) probe.ask_for_points(asked[j]);
        const u64 before = all;
        for (u32 j = 0; j < n; ++j) {
          T at[D];
          probe.get(first + j, at);
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
      sums[g] = all;
      listed[g] = not_listed;
      if (!has_space) return;
      const u64 place = device::atomic_add(taken, all);
      u32* const to = ids + place;
      for (u64 i = 0; i < all; ++i) to[i] = sorted[i];
      listed[g] = place;
    });
  }

 private:
  using ranges = typename row_probe<T, D>::ranges;

  /// Without a branch that depends on a candidate: each is written, and the next one in its place unless it is near.
  ZENITH_FN u32 list(const T (&at)[D], const ranges& asked, u32* to) const {
    u32 found = 0;
    probe.each_asked(at, asked, [&](u32 begin, u32 end) ZENITH_BODY {
      for (u32 r = begin; r < end; ++r) {
        const auto other = probe.right[r];
        to[found] = other.row;
        found += probe.grid.is_near(at, other.at) ? 1 : 0;
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
  ZENITH_FN void sort(const u32* unsorted, const u32* found, u32 n, u32* to) const {
    for (u32 j = 0; j < n; ++j) {
      const u32 count = found[j];
      if (count <= kept_partners) {
        sort_few(unsorted, count, to);
      } else {
        for (u32 i = 0; i < count; ++i) to[i] = unsorted[i];
        sort_ids(to, count);
      }
      unsorted += count;
      to += count;
    }
  }
};

/// The pairs of a group of left rows.
template <class T, unsigned D, class Index>
struct write_rows {
  static constexpr u32 group = list_partners<T, D>::group;
  static constexpr u64 item_cost = u64{group} * 64;

  row_probe<T, D> probe;
  const u32* counts;
  const u64* listed;
  const u32* ids;
  const u64* begins;  ///< of each group, and where the last one ends
  Index* left;
  Index* right;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 g) const {
    team.once([&]() ZENITH_BODY {
      const u64 first = g * group;
      const u64 last = first + group < probe.left.rows ? first + group : probe.left.rows;
      u64 at = begins[g];
      const u64 end = begins[g + 1];
      if (listed[g] != list_partners<T, D>::not_listed) {
        const u32* const from = ids + listed[g];
        const u32 all = static_cast<u32>(end - at);
        Index* const to = right + at;
        for (u32 i = 0; i < all; ++i) to[i] = static_cast<Index>(from[i]);
      } else {
        write_right(first, last, right + at);
      }
      for (u64 row = first; row < last; ++row) {
        const u32 n = counts[row];
        if (n <= kept_partners && end - at >= kept_partners) {
          // without a branch that depends on the count: later rows write over what is too much
          for (u32 j = 0; j < kept_partners; ++j) left[at + j] = static_cast<Index>(row);
        } else {
          for (u32 j = 0; j < n; ++j) left[at + j] = static_cast<Index>(row);
        }
        at += n;
      }
    });
  }

 private:
  ZENITH_FN void write_right(u64 first, u64 last, Index* to) const {
    for (u64 row = first; row < last; ++row) {
      T at[D];
      probe.get(row, at);
      u64 found = 0;
      probe.each_range(at, [&](u32 from, u32 to_end) ZENITH_BODY {
        for (u32 r = from; r < to_end; ++r) {
          if (probe.grid.is_near(at, probe.right[r].at)) to[found++] = static_cast<Index>(probe.right[r].row);
        }
      });
      sort_ids(to, found);
      to += found;
    }
  }
};

/// Writes to each page of memory: so the pages come to all workers and not to the one that is the first to need them.
struct touch_pages {
  static constexpr u64 page = 4096;
  static constexpr u64 item_cost = page;

  char* at;

  ZENITH_FN void operator()(u64 i) const { at[i * page] = 0; }
};

template <class T, unsigned D>
using row_kernels = device::list<list_partners<T, D>, write_rows<T, D, std::uint32_t>, write_rows<T, D, std::uint64_t>>;

}  // namespace zenith::spatial_join_family
