#pragma once

/// \file
/// The prefilter of a skyband on hosts: the best rows of a table are a tile of bitmaps or some, by which the dominators
/// of all other rows are counted. A row with k of them is out; what else it dominates has as many.
///
/// Before that, rows are compared with the corners of a few sets of k rows, their worst values: a row that a corner
/// dominates is dominated by all of the set. That says less of what is dominated, but takes less.

#include <algorithms/skyline/ordered_rows.hpp>
#include <algorithms/skyline/row_copies.hpp>
#include <algorithms/skyline/row_filter.hpp>
#include <algorithms/skyline/row_rounds.hpp>
#include <algorithms/skyline/row_source.hpp>
#include <core/device/bits.hpp>
#include <core/device/list.hpp>

namespace zenith::skyline_family {

/// Sets of pivots of which corners are made.
inline constexpr u32 band_corners = 4;

/// A pivot that equals another before it becomes none.
struct drop_equal_pivots {
  const u32* firsts;
  u32* rows;

  ZENITH_FN void operator()(u64 i) const {
    if (firsts[i] != i) rows[i] = ~u32{0};
  }
};

/// Values row by row to columns (`pick_cuts_of`).
template <class Image>
struct draw_pivots {
  const Image* values;
  u32 columns;
  u32 count;
  Image* to;
  u32* unused;

  ZENITH_FN void operator()(u64 i) const {
    to[i] = values[i % count * columns + i / count];
    unused[i] = 0;
  }
};

/// Corners of sets of pivots: a set begins with one of the best, and takes what moves its corner least, in codes. By
/// how much a pivot moves it, is asked again whenever the set has doubled. One lane does it.
template <class Image>
struct find_corners {
  static constexpr u32 distances_at = most_columns * 2;
  static constexpr u32 scratch_bytes = distances_at + most_band_pivots * 4;
  static constexpr u64 item_cost = u64{1} << 16;
  static constexpr u32 taken = ~u32{0};

  const Image* values;  ///< of the pivots, row by row
  const u16* places;    ///< they rise with the codes of a column
  u32 columns;
  u32 count;
  u32 each;   ///< of a set
  Image* to;  ///< row by row

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    u16* const corner = team.template scratch<u16>();
    u32* const distances = team.template scratch<u32>(distances_at);
    Image* const own = to + t * columns;
    team.once([&]() ZENITH_BODY {
      for (u32 c = 0; c < columns; ++c) {
        corner[c] = 0;
        own[c] = 0;
      }
      for (u32 i = 0; i < count; ++i) distances[i] = 0;
      u32 next = static_cast<u32>(t);
      for (u32 members = 1;; ++members) {
        distances[next] = taken;
        for (u32 c = 0; c < columns; ++c) {
          const u16 place = places[next * columns + c];
          const Image value = values[next * columns + c];
          corner[c] = place > corner[c] ? place : corner[c];
          own[c] = value > own[c] ? value : own[c];
        }
        if (members == each) break;
        if ((members & (members - 1)) == 0) measure(corner, distances);
        for (u32 i = 0; i < count; ++i) next = distances[i] < distances[next] ? i : next;
      }
    });
  }

 private:
  ZENITH_FN void measure(const u16* corner, u32* distances) const {
    for (u32 i = 0; i < count; ++i) {
      if (distances[i] == taken) continue;
      u32 moved = 0;
      for (u32 c = 0; c < columns; ++c) {
        const u16 place = places[i * columns + c];
        moved += place > corner[c] ? static_cast<u32>(place - corner[c]) : 0U;
      }
      distances[i] = moved;
    }
  }
};

/// Flags of rows: 1 where pivots whose codes are all smaller are `most` or more, else 0.
template <class T>
struct count_pivots {
  using image = typename row_source<T>::image;
  static constexpr u32 codes_at = row_tile * 8;
  static constexpr u32 raw_at = row_tile * 16;
  static constexpr u32 lowest_at = row_tile * 24;
  static constexpr u32 places_at = row_tile * 25;
  static constexpr u32 scratch_bytes = places_at + row_tile * most_columns * 2;

  row_source<T> from;
  const u32* rows;
  u64 count;
  const image* cuts;
  tile_bitmaps pivots;
  u32 tiles;
  u32 most;
  u8* flags;

  [[nodiscard]] u64 launch_cost(u64 /*n*/) const { return count * from.columns * 64; }
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * row_tile;
    const u64 n = count - first < row_tile ? count - first : row_tile;
    image* const column = team.template scratch<image>();
    image* const codes = team.template scratch<image>(codes_at);
    T* const raw = team.template scratch<T>(raw_at);
    u8* const lowest = team.template scratch<u8>(lowest_at);
    u16* const places = team.template scratch<u16>(places_at);
    const u32 columns = from.columns;
    const u32 buckets = row_buckets(columns);
    team.for_each(n, [&](u64 i) ZENITH_BODY { lowest[i] = 0; });
    for (u32 c = 0; c < columns; ++c) {
      from.convert(
          team, c, n, [&](u64 i) ZENITH_BODY { return u64{rows[first + i]}; }, raw, column);
      constexpr u32 lanes = image_lanes<image>::count;
      team.for_each((n + lanes - 1) / lanes, [&](u64 g) ZENITH_BODY {
        find_codes(column + g * lanes, cuts + c * buckets, buckets, codes + g * lanes);
      });
      team.barrier();
      team.for_each(n, [&](u64 i) ZENITH_BODY {
        const auto code = static_cast<u32>(codes[i]);
        lowest[i] |= code == 0 ? u8{1} : u8{0};
        places[i * columns + c] = static_cast<u16>((c * buckets + code - (code == 0 ? 0 : 1)) * bitmap_bytes);
      });
      team.barrier();
    }
    team.for_each(n, [&](u64 i) ZENITH_BODY {
      u32 counted = 0;
      for (u32 tile = 0; tile < tiles && lowest[i] == 0 && counted < most; ++tile) {
        u64 words[bitmap_words];
        candidate_in_tile{pivots.of(tile), places + i * columns, columns}.reaching().store(words);
        for (const u64 word : words) counted += device::bits_of(word);
      }
      flags[first + i] = counted >= most ? 1 : 0;
    });
  }
};

template <class Image>
using band_pivot_kernels = device::list<draw_pivots<Image>, find_corners<Image>>;
using band_pivot_kernels_of_all = device::list<drop_equal_pivots>;

namespace detail {

/// `list_rows_left` for a band.
struct band_prefilter {
  u32 most;          ///< dominators of a row that is out
  bool drops_equal;  ///< of equal rows only the first counts

  template <class T, class Context>
  [[nodiscard]] u32* find_rows_left(Context& on, const skyline_input& call, const row_source<T>& from, u8* removed,
                                    u64& count) const {
    using image = typename row_source<T>::image;
    const u32 pivots = band_pivots_for(call.rows, most);
    if (pivots == 0) return list_rows_left<T>(on, call, from, {}, removed, count);
    const u32 columns = from.columns;
    const u64 values_count = u64{pivots} * columns;
    u32* const rows = find_best_rows(on, from, pivots).rows;
    image* const values = on.template buffer<image>(values_count);
    const auto gather = [&] {
      on.for_each(values_count, gather_row_pivots<T>{from, rows, call.nans == nan_rows::drop, values});
    };
    gather();
    if (drops_equal && drop_equal(on, values, columns, rows, pivots)) gather();
    const image* const cuts =
        pick_cuts_of<image>(on, pivots, columns, row_buckets(columns), [&](image* drawn, u32* unused) {
          on.for_each(values_count, draw_pivots<image>{values, columns, pivots, drawn, unused});
        });
    u16* const places = on.template buffer<u16>(values_count);
    u64* const masks = on.template buffer<u64>(pivots);
    on.for_teams(tiles_of(pivots, row_tile), code_rows<image>{values, columns, pivots, cuts, places, masks});

    const u32 corners = std::min(pivots, band_corners);
    image* const worst = on.template buffer<image>(u64{corners} * columns);
    on.for_teams(corners, find_corners<image>{values, places, columns, std::min(pivots, 64 + 4 * most), most, worst});
    on.fill_zero(removed, call.rows);
    u32* const left = list_rows_left<T>(on, call, from, {worst, corners}, removed, count);
    if (left != nullptr && count > pivots) keep_few_dominated(on, from, left, count, cuts, places, masks, pivots);
    return left;
  }

 private:
  /// Whether there are equal ones.
  template <class Context, class Image>
  static bool drop_equal(Context& on, const Image* values, u32 columns, u32* rows, u32 count) {
    u32* const all = on.template buffer<u32>(count);
    on.for_each(count, name_points{all});
    const u32* const firsts = find_equals(on, values, columns, count, all, count, on.template buffer<u32>(count));
    if (firsts != nullptr) on.for_each(count, drop_equal_pivots{firsts, rows});
    return firsts != nullptr;
  }
  /// Leaves out the rows that `most` pivots dominate.
  template <class T, class Context>
  void keep_few_dominated(Context& on, const row_source<T>& from, u32* left, u64& count,
                          const typename row_source<T>::image* cuts, const u16* places, const u64* masks,
                          u32 pivots) const {
    const u64 tiles = tiles_of(pivots, bitmap_tile);
    bitmap_space<Context> space(on, pivots, from.columns);
    space.reserve(on, pivots);
    on.for_teams(tiles, extend_bitmaps{places, masks, from.columns, 0, pivots, space.bitmaps(), space.masks()});
    u8* const flags = on.template buffer<u8>(count);
    u32* const picked = on.template buffer<u32>(count);
    u32* const found = on.template buffer<u32>(1);
    on.for_teams(tiles_of(count, row_tile),
                 count_pivots<T>{from, left, count, cuts, space.bitmaps(), static_cast<u32>(tiles), most, flags});
    on.compact(count, is_left{flags}, picked, found);
    count = on.read(static_cast<const u32*>(found));
    on.for_each(count, name_rows{left, picked});
    on.copy(left, picked, count);
    on.release(picked);
    on.release(flags);
  }
};

}  // namespace detail

}  // namespace zenith::skyline_family
