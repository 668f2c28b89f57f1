#pragma once

/// \file
/// What strategies have in common before their rounds and behind them: the caller's table, pivots, cuts, counters, and
/// lists of rows.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <algorithms/skyline/family.hpp>
#include <algorithms/skyline/rounds.hpp>
#include <algorithms/skyline/row_pivots.hpp>
#include <algorithms/skyline/row_source.hpp>
#include <algorithms/skyline/widths.hpp>
#include <core/device/context.hpp>

namespace zenith::skyline_family {

struct write_no_layer {
  u32* layers;

  ZENITH_FN void operator()(u64 i) const { layers[i] = no_layer; }
};

namespace detail {

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

/// Whether a NaN at `nan_at` is rejected: then the outcome says so.
[[nodiscard]] inline bool rejects_nan(const skyline_input& call, u64 nan_at) {
  if (call.nans != nan_rows::reject || nan_at == no_nan) return false;
  *call.outcome = {0, true, nan_at / most_given_columns, static_cast<unsigned>(nan_at % most_given_columns)};
  return true;
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

/// What finds the skyline of points in the strategy's order, up to `most` in a block: use(points, count, rounds). What
/// a strategy does is looked up, not compiled: they differ in a few launches.
template <class Context, class Image, class Use>
void in_rounds_by_values(const value_method& how, Context& on, const point_set<Image>& points, u64 count, u64 most,
                         const Use& use) {
  using windows = point_windows<Context, Image>;
  const u32 padded = padded_columns(points.columns);
  if (how.has_pivots) {
    skyline_rounds<partition_windows<Context, Image>, Context, Image> rounds(on, points, count, points.columns, most);
    use(points, count, rounds);
  } else if (how.window == 0) {
    skyline_rounds<windows, Context, Image> rounds(on, points, count, padded, most);
    use(points, count, rounds);
  } else {
    first_of_left<windows, Context, Image> rounds(on, points, count, padded, how.window);
    use(points, count, rounds);
  }
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

/// `count` ids to the caller, unless they are there already.
template <class Context>
void deliver_ids(Context& on, const skyline_call& call, const u32* rows, u64 count, bool are_written) {
  call.outcome->count = count;
  void* const ids = call.provide_ids == nullptr ? nullptr : call.provide_ids(call.provide_state, count);
  if (ids == nullptr || count == 0 || are_written) return;
  if (call.index_bytes == 4) {
    auto* const to = on.output(static_cast<std::uint32_t*>(ids), count, call.out_space);
    on.for_each(count, write_ids<std::uint32_t>{rows, to});
  } else {
    auto* const to = on.output(static_cast<std::uint64_t*>(ids), count, call.out_space);
    on.for_each(count, write_ids<std::uint64_t>{rows, to});
  }
}

/// The mask to the caller.
template <class Context>
void deliver_marks(Context& on, const skyline_call& call, const u8* flags) {
  if (call.out_mask == nullptr) return;
  on.for_each(call.rows, write_mask_of_marks{flags, on.output(call.out_mask, call.rows, call.out_space)});
}

}  // namespace detail

}  // namespace zenith::skyline_family
