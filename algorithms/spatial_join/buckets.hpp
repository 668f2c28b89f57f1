#pragma once

/// \file
/// Points in the order of their cells, as a host makes it: without atomics, and with nothing scattered over more memory
/// than a cache holds. Cells are put together to buckets of consecutive ones. Parts of the points count how many they
/// have in each bucket, and move them there; then each bucket is put in order by itself, with cells counted in place.
/// The order is stable.

#include <algorithm>
#include <cstdint>

#include <algorithms/spatial_join/geometry.hpp>
#include <core/device/context.hpp>
#include <core/device/list.hpp>

namespace zenith::spatial_join_family {

/// A point with its row. `Scored`: and its score times the weight.
template <class T, unsigned D, bool Scored>
struct packed_point {
  T at[D];
  u32 row;
};
template <class T, unsigned D>
struct packed_point<T, D, true> {
  T at[D];
  T value;
  u32 row;
};

/// Points of one side by their rows.
template <class T, unsigned D, bool Scored>
struct point_list {
  using point = packed_point<T, D, Scored>;

  point_columns<T, D> columns;

  ZENITH_FN packed_point<T, D, Scored> get(u64 i) const {
    packed_point<T, D, Scored> one;
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) one.at[a] = columns.at[a][i];
    if constexpr (Scored) one.value = columns.value(i);
    one.row = static_cast<u32>(i);
    return one;
  }
};

/// Points with their scores that are packed already, or are to be.
template <class T, unsigned D>
struct packed_list {
  using point = packed_point<T, D, true>;

  point* points;

  ZENITH_FN point get(u64 i) const { return points[i]; }
  ZENITH_FN void set(u64 i, const point& one) const { points[i] = one; }
};

inline constexpr u32 most_buckets = 1024;

/// Consecutive parts of points, and consecutive cells by the power of two.
struct bucket_plan {
  u64 points;
  u32 parts;
  u32 shift;  ///< of a cell's number
  u32 buckets;
  u32 cells;

  ZENITH_FN u64 begin_of(u64 part) const { return points * part / parts; }
  ZENITH_FN u64 first_cell(u64 bucket) const {
    const u64 first = bucket << shift;
    return first < cells ? first : cells;
  }
};

/// The number of a bucket.
using bucket_number = std::uint16_t;

/// How many points of a part are in each bucket, and in which each point is. `From`: a list as above.
template <class T, unsigned D, class From>
struct count_buckets {
  static constexpr u64 item_cost = u64{1} << 19;
  static constexpr u32 scratch_bytes = most_buckets * sizeof(u32);
  static constexpr u64 together = 256;  ///< numbers in a loop that compilers vectorise

  From from;
  cell_grid<T, D> grid;
  bucket_plan plan;
  u32* counts;  ///< of part p in bucket b at [b * parts + p]
  bucket_number* numbers;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 part) const {
    u32* const mine = team.template scratch<u32>();
    team.once([&]() ZENITH_BODY {
      for (u32 b = 0; b < plan.buckets; ++b) mine[b] = 0;
      const u64 end = plan.begin_of(part + 1);
      for (u64 first = plan.begin_of(part); first < end; first += together) {
        const u64 last = first + together < end ? first + together : end;
        grid.each_cell(
            static_cast<u32>(last - first), [&](u32 j) ZENITH_BODY { return from.get(first + j); },
            [&](u32 j, u32 cell) ZENITH_BODY { numbers[first + j] = static_cast<bucket_number>(cell >> plan.shift); });
        for (u64 i = first; i < last; ++i) ++mine[numbers[i]];
      }
      for (u32 b = 0; b < plan.buckets; ++b) counts[u64{b} * plan.parts + part] = mine[b];
    });
  }
};

/// Moves the points of a part to their buckets.
template <class From>
struct move_to_buckets {
  static constexpr u64 item_cost = u64{1} << 19;
  static constexpr u32 scratch_bytes = most_buckets * sizeof(u32);
  static constexpr u32 ahead = 8;  ///< in a bucket: there are more of them than a core has in mind

  From from;
  bucket_plan plan;
  const u32* begins;  ///< as the counts
  const bucket_number* numbers;
  typename From::point* to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 part) const {
    u32* const mine = team.template scratch<u32>();
    team.once([&]() ZENITH_BODY {
      for (u32 b = 0; b < plan.buckets; ++b) mine[b] = begins[u64{b} * plan.parts + part];
      const u64 end = plan.begin_of(part + 1);
      for (u64 i = plan.begin_of(part); i < end; ++i) {
        const u32 place = mine[numbers[i]]++;
        to[place] = from.get(i);
        write_soon(to + place + ahead);
      }
    });
  }
};

/// Packed points, or columns of them, in the order of cells.
template <class T, unsigned D, bool Scored>
struct ordered_points {
  packed_point<T, D, Scored>* points;

  ZENITH_FN void set(u64 i, const packed_point<T, D, Scored>& one) const { points[i] = one; }
};
template <class T, unsigned D>
struct ordered_points<T, D, true> {
  placed_points<T, D> columns;

  ZENITH_FN void set(u64 i, const packed_point<T, D, true>& one) const {
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) columns.at[a][i] = one.at[a];
    columns.values[i] = one.value;
    columns.rows[i] = one.row;
  }
};

/// Orders the points of a bucket by cells. From the last point on, so that the end of a cell's places becomes their
/// begin.
template <class T, unsigned D, class Point, class To>
struct order_bucket {
  static constexpr u64 item_cost = u64{1} << 18;
  static constexpr u32 together = 256;  ///< cells in a loop that compilers vectorise
  static constexpr u32 scratch_bytes = together * sizeof(u32);

  const Point* from;
  cell_grid<T, D> grid;
  bucket_plan plan;
  const u32* begins;
  u32* starts;  ///< of cells; one more than there are
  To to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 bucket) const {
    u32* const cells = team.template scratch<u32>();
    team.once([&]() ZENITH_BODY {
      const u32 begin = begins[bucket * plan.parts];
      const u32 end = begins[(bucket + 1) * plan.parts];
      const u64 first = plan.first_cell(bucket);
      const u64 last = plan.first_cell(bucket + 1);
      for (u64 c = first; c < last; ++c) starts[c] = 0;
      for (u32 i = begin; i < end; i += together) {
        const u32 n = end - i < together ? end - i : together;
        find_cells(from + i, n, cells);
        for (u32 j = 0; j < n; ++j) ++starts[cells[j]];
      }
      u32 place = begin;
      for (u64 c = first; c < last; ++c) {
        place += starts[c];
        starts[c] = place;
      }
      for (u32 i = end; i > begin;) {
        const u32 n = i - begin < together ? i - begin : together;
        i -= n;
        find_cells(from + i, n, cells);
        for (u32 j = n; j > 0; --j) {
          const auto one = from[i + j - 1];
          to.set(--starts[cells[j - 1]], one);
        }
      }
      if (last == plan.cells) starts[last] = end;
    });
  }

 private:
  ZENITH_FN void find_cells(const Point* points, u32 n, u32* cells) const {
    grid.each_cell(
        n, [&](u32 j) ZENITH_BODY { return points[j]; }, [&](u32 j, u32 cell) ZENITH_BODY { cells[j] = cell; });
  }
};

/// `most`: buckets.
[[nodiscard]] inline bucket_plan plan_buckets(u64 points, u64 cells, int threads, u64 most) {
  constexpr u64 part = 1 << 12;
  bucket_plan plan{points, 1, 0, 1, static_cast<u32>(cells)};
  // more parts than threads, which may be kept from their work; but a part begins in each bucket, and of many threads
  // some are always free
  const auto each = static_cast<u64>(threads);
  const u64 most_parts = std::max(4 * each, std::min<u64>(8 * each, 64));
  if (threads > 1) plan.parts = static_cast<u32>(std::clamp<u64>(points / part, 1, most_parts));
  while ((cells - 1) >> plan.shift >= most) ++plan.shift;
  plan.buckets = static_cast<u32>((cells - 1) >> plan.shift) + 1;
  return plan;
}

/// Of points that were moved, where those of each part begin in each bucket, and in which each point is.
struct moved_points {
  const u32* begins;  ///< of part p in bucket b at [b * parts + p]
  const bucket_number* numbers;
};

template <class T, unsigned D, class From, class Context>
[[nodiscard]] moved_points move_to_buckets_of(Context& on, const From& from, const cell_grid<T, D>& grid,
                                              const bucket_plan& plan, typename From::point* to) {
  const u64 counted = u64{plan.parts} * plan.buckets;
  u32* const counts = on.template buffer<u32>(counted);
  u32* const begins = on.template buffer<u32>(counted + 1);
  auto* const numbers = on.template buffer<bucket_number>(plan.points);
  on.for_teams(plan.parts, count_buckets<T, D, From>{from, grid, plan, counts, numbers});
  on.exclusive_scan(static_cast<const u32*>(counts), counted, begins);
  on.for_teams(plan.parts, move_to_buckets<From>{from, plan, begins, numbers, to});
  return {begins, numbers};
}

/// Memory for an order by cells.
template <class Point>
struct order_memory {
  Point* spare;  ///< for as many points; nullptr: its own
  u32* starts;   ///< for one more than there are cells; nullptr: its own
};

/// Orders `count` points by cells; returns where each cell begins. What is read can be written: all of it is moved to
/// spare memory before.
template <class T, unsigned D, class From, class To, class Context>
[[nodiscard]] const u32* order_by_cells(Context& on, const From& from, u64 count, const cell_grid<T, D>& grid,
                                        const To& to, const order_memory<typename From::point>& memory) {
  using point = typename From::point;
  constexpr u64 bucket = 1 << 10;
  const u64 most = std::clamp<u64>(count / bucket, 1, most_buckets);
  const auto plan = plan_buckets(count, cells_of(grid), on.threads(), most);
  u32* const starts = memory.starts != nullptr ? memory.starts : on.template buffer<u32>(u64{plan.cells} + 1);
  point* const spare = memory.spare != nullptr ? memory.spare : on.template buffer<point>(count);
  const u32* const begins = move_to_buckets_of(on, from, grid, plan, spare).begins;
  on.for_teams(plan.buckets, order_bucket<T, D, point, To>{spare, grid, plan, begins, starts, to});
  return starts;
}

template <class T, unsigned D, class From, class To>
using bucket_kernels =
    device::list<count_buckets<T, D, From>, move_to_buckets<From>, order_bucket<T, D, typename From::point, To>>;

}  // namespace zenith::spatial_join_family
