#pragma once

/// \file
/// What strategies do before their rounds: images of the table, a prefilter, and the points in an order in which none
/// is dominated by one behind it.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <algorithms/skyline/family.hpp>
#include <algorithms/skyline/images.hpp>
#include <algorithms/skyline/padding.hpp>
#include <algorithms/skyline/rounds.hpp>
#include <algorithms/skyline/row_pivots.hpp>
#include <algorithms/skyline/row_source.hpp>
#include <algorithms/skyline/widths.hpp>
#include <core/device/context.hpp>
#include <core/with_key_type.hpp>

namespace zenith::skyline_family {

namespace detail {

/// Images of a table: column c of row i at images[c * rows + i].
template <class Image>
struct image_table {
  const Image* images;
  u64 rows;
  u32 columns;
  u8* removed;        ///< rows that cannot be in the skyline
  const u32* pivots;  ///< rows; nullptr: none
};

/// The caller's table.
template <class T, class Context>
[[nodiscard]] row_source<T> make_row_source(Context& on, const skyline_input& call) {
  row_source<T> from{};
  const T* const block =
      call.block == nullptr ? nullptr : on.input(static_cast<const T*>(call.block), call.block_values, call.space);
  for (u32 c = 0; c < call.column_count; ++c) {
    const auto* const column = static_cast<const T*>(call.columns[c]);
    from.column[c] = block != nullptr ? block + (column - static_cast<const T*>(call.block))
                                      : on.input(column, (call.rows - 1) * call.row_stride + 1, call.space);
    if (call.preferences[c] == preference::maximise) from.maximised |= 1U << c;
    from.given[from.columns++] = static_cast<u8>(c);
    if (call.preferences[c] != preference::different) continue;
    from.different |= 1U << c;
    from.complement |= u64{1} << from.columns;
    from.given[from.columns++] = static_cast<u8>(c);
  }
  from.given_columns = call.column_count;
  from.row_stride = call.row_stride;
  from.rows = call.rows;
  return from;
}

/// Pivots of `count` stripes to words that are ~0. `removed` is nullptr, or flags of rows, which are then set.
template <class T, class Context>
void find_pivots_of_stripes(Context& on, const row_source<T>& from, u64* pivots, u8* removed, u32 count) {
  auto* const scales = on.template buffer<column_scale>(from.given_columns);
  constexpr bool is_host = Context::runs_on_host;
  // a team a stripe is little for a device: there are more, and they look at some of the rows of a large table
  const u32 parts = is_host ? 1 : 8;
  const u64 step = is_host ? 1 : std::max<u64>(1, from.rows / count / parts / 8192);
  const u64 samples =
      is_host ? std::clamp<u64>(from.rows / 8, 32, find_scales<T>::most_samples) : find_scales<T>::most_samples;
  on.for_teams(from.given_columns, find_scales<T>{from, scales, samples});
  find_pivots<T> find{from, scales, step, is_host, from.is_by_fours(), parts, pivots, ~u64{0}, nullptr, nullptr, count};
  if (removed != nullptr && find.is_by_fours && from.rows / count > 8 * row_tile) {
    // the best of some rows dominates most of the others where columns are correlated
    u64* const seeds = on.template buffer<u64>(count);
    auto of_some = find;
    of_some.most_of_stripe = row_tile;
    of_some.pivots = seeds;
    on.for_teams(count, of_some);
    find.seeds = seeds;
  }
  find.removed = removed;
  on.for_teams(u64{count} * parts, find);
}

/// The rows of `count` pivots, the best first. `removed` is nullptr, or flags of rows, which are then set
/// (`find_pivots`).
template <class T, class Context>
[[nodiscard]] const u32* choose_pivots(Context& on, const row_source<T>& from, u8* removed, u32 count = pivot_count) {
  u64* const pivots = on.template buffer<u64>(count);
  u32* const rows = on.template buffer<u32>(count);
  on.for_each(count, begin_nan_search{pivots});
  find_pivots_of_stripes(on, from, pivots, removed, count);
  on.for_each(count, rank_pivots{pivots, rows, count});
  return rows;
}

/// The best rows of stripes, the best of all first.
struct best_rows {
  u64* keys;  ///< `find_pivots`; ~0 where a stripe has none
  u32* rows;
};
template <class T, class Context>
[[nodiscard]] best_rows find_best_rows(Context& on, const row_source<T>& from, u32 count) {
  const best_rows found{on.template buffer<u64>(count), on.template buffer<u32>(count)};
  on.for_each(count, begin_nan_search{found.keys});
  find_pivots_of_stripes(on, from, found.keys, nullptr, count);
  on.for_each(count, name_pivots{found.keys, found.rows});
  on.sort_pairs(found.keys, found.rows, count);
  return found;
}

/// The table as images; sets call.outcome if a NaN is rejected. pivots_of(table) are rows, or nullptr.
template <class T, class Context, class PivotsOf>
[[nodiscard]] auto make_images(Context& on, const skyline_input& call, const PivotsOf& pivots_of) {
  using image = ordered::bits_t<T>;
  const auto from = make_row_source<T>(on, call);
  write_images<T> write{};
  std::copy_n(from.column, call.column_count, write.column);
  write.maximised = from.maximised;
  write.different = from.different;
  write.row_stride = call.row_stride;
  write.rows = call.rows;
  write.columns = call.column_count;
  write.drops_nan = call.nans == nan_rows::drop;
  write.to = on.template buffer<image>(call.rows * from.columns);
  write.nan_at = on.template buffer<u64>(1);
  write.removed = on.template buffer<u8>(call.rows);
  on.fill_zero(write.removed, call.rows);
  on.for_each(1, begin_nan_search{write.nan_at});
  on.for_teams(tiles_of(call.rows, write.tile), write);
  if (std::is_floating_point_v<T> && call.nans == nan_rows::reject) {
    const u64 at = on.read(static_cast<const u64*>(write.nan_at));
    if (at != no_nan) {
      *call.outcome = {0, true, at / most_given_columns, static_cast<unsigned>(at % most_given_columns)};
    }
  }
  return image_table<image>{write.to, call.rows, from.columns, write.removed, pivots_of(from)};
}

/// Calls use(table) with the images, unless a NaN is rejected. `use` is compiled for two widths, not for six types.
template <class Context, class PivotsOf, class Use>
void with_images(Context& on, const skyline_input& call, const PivotsOf& pivots_of, const Use& use) {
  ::zenith::detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) {
    const auto table = make_images<T>(on, call, pivots_of);
    if (!call.outcome->has_nan) use(table);
  });
  on.finish();
}

/// For `with_images`.
inline constexpr auto no_pivots = [](const auto& /*table*/) { return static_cast<const u32*>(nullptr); };

/// Removes what the pivots dominate, if there are any.
template <class Context, class Image>
void prefilter(Context& on, const image_table<Image>& table) {
  if (table.pivots == nullptr) return;
  Image* const values = on.template buffer<Image>(u64{pivot_count} * 64);
  with_padded(table.columns, [&]<unsigned Columns>(std::integral_constant<unsigned, Columns>) {
    on.for_each(u64{pivot_count} * Columns,
                gather_pivots<Image>{table.images, table.rows, table.columns, table.removed, table.pivots, values});
    on.for_each(table.rows,
                test_pivots<Image, Columns>{table.images, table.rows, table.columns, values, table.removed});
  });
}

/// Orders positions by a key, and by those before as they were.
template <class Context>
void sort_again(Context& on, const u64* keys, u32* positions, u64 count) {
  u64* const moved = on.template buffer<u64>(count);
  on.for_each(count, gather_keys{keys, positions, moved});
  on.sort_pairs(moved, positions, count);
}

/// Points at their places.
template <class Context, class Image>
void place_rows(Context& on, const image_table<Image>& table, const u32* left, const u32* positions, const u64* masks,
                u64 count, const point_set<Image>& to) {
  on.for_each(count, place_points<Image>{left, positions, masks, to});
  const place_values<Image> values{table.images, table.rows, count, to};
  on.for_teams(values.pieces() * table.columns, values);
}

/// Positions by rising sum.
template <class Context, class Image>
[[nodiscard]] u32* order_by_sum(Context& on, const image_table<Image>& table, const u32* left, u64 count) {
  u32* const positions = on.template buffer<u32>(count);
  u64* const high = on.template buffer<u64>(count);
  u64* const low = exact_sum<Image>::low_bits == 0 ? nullptr : on.template buffer<u64>(count);
  on.for_each(count, write_sums<Image>{table.images, table.rows, table.columns, left, high, low, positions});
  if (low == nullptr) {
    on.sort_pairs(high, positions, count);
  } else {
    on.sort_pairs(low, positions, count);
    sort_again(on, high, positions, count);
  }
  return positions;
}

/// Cuts of every column, from a sample: draw(sample, zeros) writes that, column by column.
template <class Image, class Context, class Draw>
[[nodiscard]] const Image* pick_cuts_of(Context& on, u32 samples, u32 columns, u32 buckets, const Draw& draw) {
  const u64 all = u64{samples} * columns;
  Image* const drawn = on.template buffer<Image>(all);
  u32* const unused = on.template buffer<u32>(all);
  u32* const offsets = on.template buffer<u32>(columns + 1);
  Image* const cuts = on.template buffer<Image>(u64{columns} * buckets);
  draw(drawn, unused);
  on.for_each(columns + 1, write_offsets{offsets, samples});
  on.sort_segments(drawn, unused, all, offsets, columns, all / columns);
  on.for_each(u64{columns} * buckets, pick_cuts<Image>{drawn, samples, buckets, cuts});
  on.release(drawn);
  on.release(unused);
  return cuts;
}

template <class Context, class Image>
[[nodiscard]] const Image* find_cuts(Context& on, const image_table<Image>& table, const u32* left, u64 count) {
  const auto samples = static_cast<u32>(std::min<u64>(count, most_cut_samples));
  return pick_cuts_of<Image>(on, samples, table.columns, buckets_of(table.columns), [&](Image* drawn, u32* unused) {
    on.for_each(u64{samples} * table.columns,
                draw_cut_samples<Image>{table.images, table.rows, left, count, samples, drawn, unused});
  });
}

/// The points in the order of the grid, with masks, of quartiles too if those are wanted.
template <class Context, class Image>
[[nodiscard]] point_set<Image> place_by_grid(Context& on, const image_table<Image>& table, const u32* left, u64 count,
                                             u32 padded, bool wants_quartiles) {
  const Image* const cuts = find_cuts(on, table, left, count);
  const bool is_one_key = fits_one_key<Image>(table.columns);
  u32* const positions = is_one_key ? on.template buffer<u32>(count) : order_by_sum(on, table, left, count);
  const point_set<Image> cells{nullptr, 0, table.columns, nullptr, on.template buffer<u64>(count)};
  u64* const keys = on.template buffer<u64>(count);
  on.for_each(count, assign_cells<Image>{table.images, table.rows, table.columns, left, cuts, cells.masks, keys,
                                         is_one_key ? positions : nullptr, wants_quartiles});
  if (is_one_key) {
    on.sort_pairs(keys, positions, count);
  } else {
    sort_again(on, keys, positions, count);
  }
  const auto placed = make_points(on, count, cells, padded);
  place_rows(on, table, left, positions, cells.masks, count, placed);
  return placed;
}

/// The points in the order of their sums.
template <class Context, class Image>
[[nodiscard]] point_set<Image> place_by_sum(Context& on, const image_table<Image>& table, const u32* left, u64 count,
                                            u32 padded) {
  const u32* const positions = order_by_sum(on, table, left, count);
  const auto placed = make_points(on, count, point_set<Image>{nullptr, 0, table.columns}, padded);
  place_rows(on, table, left, positions, nullptr, count, placed);
  return placed;
}

/// The points in the order of their least values, up to the stop point: `count` becomes what is before it.
template <class Context, class Image>
[[nodiscard]] point_set<Image> place_by_least_value(Context& on, const image_table<Image>& table, const u32* left,
                                                    u64& count, u32 padded) {
  u64* const least = on.template buffer<u64>(count);
  u64* const stop = on.template buffer<u64>(1);
  u32* const found = on.template buffer<u32>(1);
  on.for_each(1, begin_nan_search{stop});
  on.for_each(count, write_least_values<Image>{table.images, table.rows, table.columns, left, least, stop});
  u32* const positions = order_by_sum(on, table, left, count);
  u64* const sorted = on.template buffer<u64>(count);
  on.for_each(count, gather_keys{least, positions, sorted});
  on.sort_pairs(sorted, positions, count);
  on.for_each(1, find_stop{sorted, count, stop, found});
  count = on.read(static_cast<const u32*>(found));
  const auto placed = make_points(on, count, point_set<Image>{nullptr, 0, table.columns}, padded);
  place_rows(on, table, left, positions, nullptr, count, placed);
  return placed;
}

/// The points with their partitions padded; `count` becomes what they then are, at most twice as many: where partitions
/// are small, they begin at multiples of less than a warp.
template <class Context, class Image>
[[nodiscard]] point_set<Image> pad_partitions(Context& on, const point_set<Image>& points, u64& count, u32 padded) {
  u32* const begins = on.template buffer<u32>(count);
  u32* const found = on.template buffer<u32>(1);
  on.compact(count, begins_partition{points.masks, median_bits(points.columns)}, begins, found);
  const u64 partitions = on.read(static_cast<const u32*>(found));
  u32 multiple = 1;
  const u64 most = std::min(count, u64{~u32{0}} - count);  // what may be added
  while (multiple < most_padding && partitions * (2 * multiple - 1) <= most) multiple *= 2;
  u32* const sizes = on.template buffer<u32>(partitions);
  u32* const places = on.template buffer<u32>(partitions + 1);
  on.for_each(partitions, round_partitions{begins, partitions, count, multiple, sizes});
  on.exclusive_scan(sizes, partitions, places);
  const u64 all = on.read(static_cast<const u32*>(places + partitions));
  u32* const picked = on.template buffer<u32>(all);
  on.for_each(all, pick_padded{begins, places, partitions, count, picked});
  const auto spread = make_points(on, all, points, padded);
  on.for_each(all, gather_points<Image>{points, picked, spread});
  count = all;
  return spread;
}

/// The points in the order of a strategy that compares by values; `count` becomes how many take part.
template <class Context, class Image>
[[nodiscard]] point_set<Image> place(const value_method& how, Context& on, const image_table<Image>& table,
                                     const u32* left, u64& count, u32 padded) {
  if (how.order == row_order::sum) return place_by_sum(on, table, left, count, padded);
  if (how.order == row_order::least_value) return place_by_least_value(on, table, left, count, padded);
  const auto placed = place_by_grid(on, table, left, count, padded, how.has_quartiles);
  return how.is_padded ? pad_partitions(on, placed, count, padded) : placed;
}

/// What finds the skyline of points in the strategy's order: use(points, count, rounds). What a strategy does is looked
/// up, not compiled: they differ in a few launches.
template <class Context, class Image, class Use>
void in_rounds_by_values(const value_method& how, Context& on, const point_set<Image>& points, u64 count,
                         points_after after, const Use& use) {
  using windows = point_windows<Context, Image>;
  const u32 padded = padded_columns(points.columns);
  if (how.has_pivots) {
    skyline_rounds<partition_windows<Context, Image>, Context, Image> rounds(on, points, count, points.columns, after);
    use(points, count, rounds);
  } else if (how.window == 0) {
    skyline_rounds<windows, Context, Image> rounds(on, points, count, padded, after);
    use(points, count, rounds);
  } else {
    first_of_left<windows, Context, Image> rounds(on, points, count, padded, how.window);
    use(points, count, rounds);
  }
}

/// The same for the rows of a table that are left.
template <class Context, class Image, class Use>
void in_order_of(const value_method& how, Context& on, const image_table<Image>& table, const u32* left, u64 count,
                 points_after after, const Use& use) {
  const auto points =
      place(how, on, table, left, count, how.has_pivots ? table.columns : padded_columns(table.columns));
  in_rounds_by_values(how, on, points, count, after, use);
}

/// The counters of a call, off when nobody wants them.
template <class Context>
[[nodiscard]] test_counters make_counters(Context& on, const skyline_input& call) {
  if (call.statistics == nullptr) return {};
  u64* const events = on.template buffer<u64>(2);
  on.fill_zero(events, 2);
  return {{events}, {events + 1}};
}
template <class Context>
void report(Context& on, const skyline_input& call, const test_counters& counters, u64 candidates, u64 rounds) {
  if (call.statistics == nullptr) return;
  auto& to = *call.statistics;
  to.candidates = candidates;
  to.dominance_tests = on.read(static_cast<const u64*>(counters.dominance.at));
  to.mask_tests = on.read(static_cast<const u64*>(counters.masks.at));
  to.rounds = rounds;
}

/// The rows that are not removed, and how many they are.
template <class Context>
[[nodiscard]] u32* rows_left(Context& on, const u8* removed, u64 rows, u64& count) {
  u32* const left = on.template buffer<u32>(rows);
  u32* const found = on.template buffer<u32>(1);
  on.compact(rows, is_left{removed}, left, found);
  count = on.read(found);
  return left;
}

/// Lists marked rows, ascending, in `rows`, which has space for all; returns how many they are. Where few rows took
/// part, they are asked, not all.
template <class Context>
u64 list_marked(Context& on, const u8* flags, u64 all, const u32* asked, u64 asked_count, u32* rows) {
  u32* const found = on.template buffer<u32>(1);
  if (asked == nullptr) {
    on.compact(all, is_marked{flags}, rows, found);
  } else {
    on.compact(asked_count, is_marked_row{flags, asked}, rows, found);
  }
  const u64 count = on.read(static_cast<const u32*>(found));
  if (asked != nullptr) on.for_each(count, name_rows{asked, rows});
  return count;
}

}  // namespace detail

}  // namespace zenith::skyline_family
