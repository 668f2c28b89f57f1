#pragma once

/// \file
/// The order of a table's rows, and their images in it.

#include <algorithms/skyline/bitmap_rows.hpp>
#include <algorithms/skyline/grid.hpp>
#include <algorithms/skyline/rounds.hpp>
#include <algorithms/skyline/row_pivots.hpp>
#include <algorithms/skyline/row_source.hpp>
#include <core/device/atomics.hpp>
#include <core/device/bisect.hpp>

namespace zenith::skyline_family {

/// Every so many-th row's images, column by column.
template <class T>
struct draw_row_samples {
  row_source<T> from;
  const u32* left;
  u64 count;
  u32 samples;
  typename row_source<T>::image* to;
  u32* unused;

  ZENITH_FN void operator()(u64 i) const {
    to[i] = from.image_at(left[i % samples * count / samples], static_cast<u32>(i / samples));
    unused[i] = 0;
  }
};

/// What rows are ordered by: all of it in one key where that fits, else its parts from the last to the first.
enum class row_key : u8 { all, low_sum, high_sum, cell };

/// The key that says `which`.
ZENITH_FN u64 cell_key(row_key which, u32 median, u64 high_sum, u64 low_sum) {
  const u64 bits = bits_in(median);
  const u64 rank = gray_rank(median);
  return which == row_key::all        ? (bits << 58) | (rank << sum_bits) | high_sum
         : which == row_key::low_sum  ? low_sum
         : which == row_key::high_sum ? high_sum
                                      : (bits << 32) | rank;
}

template <class T>
struct write_row_keys {
  using image = typename row_source<T>::image;
  static constexpr u32 scratch_bytes = row_tile * 40;

  row_source<T> from;
  const u32* left;
  u64 count;
  const image* cuts;
  u32 buckets;
  row_key which;
  u64* keys;

  [[nodiscard]] u64 launch_cost(u64 /*n*/) const { return count * from.columns * 32; }
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * row_tile;
    const u64 n = count - first < row_tile ? count - first : row_tile;
    T* const raw = team.template scratch<T>();
    image* const images = team.template scratch<image>(row_tile * 8);
    u64* const high = team.template scratch<u64>(row_tile * 16);
    u64* const low = team.template scratch<u64>(row_tile * 24);
    u32* const median = team.template scratch<u32>(row_tile * 32);
    team.for_each(n, [&](u64 i) ZENITH_BODY {
      high[i] = 0;
      low[i] = 0;
      median[i] = 0;
    });
    constexpr unsigned low_bits = exact_sum<image>::low_bits;
    for (u32 c = 0; c < from.columns; ++c) {
      from.convert(
          team, c, n, [&](u64 i) ZENITH_BODY { return u64{left[first + i]}; }, raw, images);
      team.for_each(n, [&](u64 i) ZENITH_BODY { high[i] += images[i] >> low_bits; });
      if (low_bits > 0) team.for_each(n, [&](u64 i) ZENITH_BODY { low[i] += images[i] & ((u64{1} << low_bits) - 1); });
      if (c >= most_ordering_columns) continue;
      if (cuts == nullptr) continue;
      const image cut = cuts[c * buckets + buckets / 2];
      team.for_each(n, [&](u64 i) ZENITH_BODY { median[i] |= (cut <= images[i] ? 1U : 0U) << c; });
    }
    team.barrier();
    team.for_each(n, [&](u64 i) ZENITH_BODY { keys[first + i] = cell_key(which, median[i], high[i], low[i]); });
  }
};

/// What `salsa` orders rows by, and stops at: the least value of each, and the smallest of their largest values.
template <class T>
struct write_least_values {
  using image = typename row_source<T>::image;
  static constexpr u64 item_cost = 64;

  row_source<T> from;
  const u32* left;
  u64* least;
  u64* stop;  ///< lowered

  ZENITH_FN void operator()(u64 i) const {
    image low = static_cast<image>(~image{0});
    image high = 0;
    for (u32 first = 0; first < from.columns; first += 4) {
      image four[4];
      from.four_at(left[i], first, four);
      ZENITH_UNROLLED
      for (u32 k = 0; k < 4; ++k) {  // behind the last is the last again
        low = four[k] < low ? four[k] : low;
        high = four[k] > high ? four[k] : high;
      }
    }
    least[i] = low;
    if (u64{high} < device::atomic_load(stop)) (void)device::atomic_min(stop, u64{high});
  }
};

/// How many of rising least values are not above the stop: the row of this largest value dominates the others.
struct find_stop {
  const u64* least;
  u64 count;
  const u64* stop;
  u32* to;

  ZENITH_FN void operator()(u64 /*i*/) const {
    *to = static_cast<u32>(device::first_failing(count, [&](u64 i) ZENITH_BODY { return least[i] <= *stop; }));
  }
};

/// Images of points whose rows are known.
template <class T>
struct place_row_values {
  using image = typename row_source<T>::image;
  static constexpr u32 scratch_bytes = row_tile * 16;

  row_source<T> from;
  u64 count;
  point_set<image> to;

  [[nodiscard]] u64 launch_cost(u64 /*n*/) const { return count * from.columns * 32; }
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * row_tile;
    const u64 n = count - first < row_tile ? count - first : row_tile;
    T* const raw = team.template scratch<T>();
    image* const images = team.template scratch<image>(row_tile * 8);
    for (u32 c = 0; c < from.columns; ++c) {
      from.convert(
          team, c, n, [&](u64 i) ZENITH_BODY { return u64{to.rows[first + i]}; }, raw, images);
      image* const column = to.values + first * to.step + c * to.stride;
      team.for_each(n, [&](u64 i) ZENITH_BODY { column[i * to.step] = images[i]; });
    }
  }
};

namespace detail {

/// Orders rows by the grid, or by their sums without `cuts`, and equal ones by their ids.
template <class T, class Context>
void order_rows(Context& on, const row_source<T>& from, u32* rows, u64 count, const typename row_source<T>::image* cuts,
                u64* keys) {
  using image = typename row_source<T>::image;
  const auto sort_by = [&](row_key which) {
    on.for_teams(tiles_of(count, row_tile),
                 write_row_keys<T>{from, rows, count, cuts, row_buckets(from.columns), which, keys});
    on.sort_pairs(keys, rows, count);
  };
  if (cuts != nullptr && fits_one_key<image>(from.columns)) return sort_by(row_key::all);
  if (exact_sum<image>::low_bits > 0) sort_by(row_key::low_sum);
  sort_by(row_key::high_sum);
  if (cuts != nullptr) sort_by(row_key::cell);
}

/// Orders rows by <least value, sum>; returns how many there are up to the stop point.
template <class T, class Context>
[[nodiscard]] u64 order_rows_to_stop(Context& on, const row_source<T>& from, u32* rows, u64 count, u64* keys) {
  u64* const stop = on.template buffer<u64>(1);
  u32* const found = on.template buffer<u32>(1);
  order_rows(on, from, rows, count, nullptr, keys);
  on.for_each(1, begin_nan_search{stop});
  auto values = from;
  if (from.numbers != nullptr) values.columns = from.numbered;
  on.for_each(count, write_least_values<T>{values, rows, keys, stop});
  on.sort_pairs(keys, rows, count);
  if (from.numbers != nullptr) return count;  // a row dominates none of another group
  on.for_each(1, find_stop{keys, count, stop, found});
  return on.read(static_cast<const u32*>(found));
}

}  // namespace detail

}  // namespace zenith::skyline_family
