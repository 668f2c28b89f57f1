#pragma once

/// \file
/// `bitmap_tiles` on a device: the same phases as elsewhere, but of rows that are read from the table. Before the
/// rounds the host waits once; where few rows are left, it then knows their skyline, too.

#include <algorithm>
#include <type_traits>

#include <algorithms/skyline/few_rows.hpp>
#include <algorithms/skyline/phases.hpp>
#include <algorithms/skyline/table_buckets.hpp>
#include <algorithms/skyline/tile_rounds.hpp>
#include <core/with_key_type.hpp>

namespace zenith::skyline_family::detail {

/// Points of a device in their order.
template <class Image>
struct ordered_points {
  point_set<Image> points;
  u32* short_masks;  ///< `has_short_masks`: of the points, which then have no others; else nullptr
  u64 count;
  u8* flags;  ///< one for each row of the table; 0 for those that are left
  table_findings* found;
  const u32* kept;      ///< rows of the skyline, if few rows are left; else nullptr
  u64 members;          ///< how many they are
  u64 order_bytes = 0;  ///< that a point's place took, and that no one needs any more
};

/// Marks rows that a pivot dominates or that are dropped.
template <class T, class Context>
void test_rows_of_table(Context& on, const row_source<T>& from, const typename row_source<T>::image* pivots,
                        bool drops_nan, u64* nan_at, u8* removed) {
  if (from.columns > 16) {
    const test_wide_table<T> test{from, pivots, drops_nan, nan_at, removed};
    return on.for_teams(test.teams(), test);
  }
  with_padded(from.columns, [&]<unsigned Columns>(std::integral_constant<unsigned, Columns>) {
    if constexpr (Columns <= 16) {
      const test_table<T, Columns> test{from, pivots, drops_nan, from.is_by_fours(), nan_at, removed};
      on.for_teams(test.teams(), test);
    }
  });
}

/// The rows that take part, ascending.
template <class T, class Context>
[[nodiscard]] u32* find_table_rows(Context& on, const skyline_input& call, const row_source<T>& from,
                                   bool is_prefiltered, u8* removed, table_findings* found) {
  using image = typename row_source<T>::image;
  const bool drops_nan = call.nans == nan_rows::drop;
  u64* const pivots = on.template buffer<u64>(pivot_count);
  image* const values = is_prefiltered ? on.template buffer<image>(u64{pivot_count} * from.columns) : nullptr;
  u32* const left = on.template buffer<u32>(call.rows);
  on.for_each(pivot_count, begin_table{found, pivots});
  if (is_prefiltered) {
    find_pivots_of_stripes(on, from, pivots);
    on.for_each(u64{pivot_count} * from.columns, place_pivots<T>{from, pivots, drops_nan, values});
  }
  test_rows_of_table(on, from, values, drops_nan, &found->nan_at, removed);
  on.compact(call.rows, is_left{removed}, left, &found->left);
  return left;
}

/// Forgets what was found by an order that was none.
struct begin_again {
  table_findings* found;
  u8* flags;

  ZENITH_FN void operator()(u64 i) const {
    if (flags[i] == marked) flags[i] = 0;
    if (i == 0) found->has_ties = 0;
  }
};

/// How the order comes about.
enum class order_keys : u8 {
  rounded,  ///< by short keys; what they do not tell apart is put right, unless that is too much
  exact,
};

/// Orders rows by the grid, and equal ones by their ids. `keys` are as many words, of 32 bits if rounded; `has_ties` is
/// set to 1 where rounded keys tell too little apart: then there is no order.
template <class T, class Context>
void order_table_rows(Context& on, const row_source<T>& from, u32* rows, u64 count,
                      const typename row_source<T>::image* cuts, const u64* of_sums, u32 buckets, u64* keys,
                      order_keys by, u32* has_ties) {
  using image = typename row_source<T>::image;
  if (by == order_keys::rounded && short_sum_bits(from.columns) > 0) {
    auto* const short_keys = reinterpret_cast<u32*>(keys);
    on.for_each(count, write_short_keys<T>{from, rows, cuts, buckets, of_sums, short_keys});
    on.sort_pairs(short_keys, rows, count);
    return on.for_each(count, order_ties<T>{from, short_keys, count, rows, has_ties});
  }
  const auto sort_by = [&](row_key which) {
    on.for_each(count, write_table_keys<T>{from, rows, cuts, buckets, which, keys});
    on.sort_pairs(keys, rows, count);
  };
  if (fits_one_key<image>(from.columns)) return sort_by(row_key::all);
  if (exact_sum<image>::low_bits > 0) sort_by(row_key::low_sum);
  sort_by(row_key::high_sum);
  sort_by(row_key::cell);
}

/// Calls use(points, order_again) with the points in their order, unless a NaN is rejected. Where `found` then says
/// that there are ties, order_again() puts the points, where they are, into an exact order. `few`: what is asked where
/// few are left, which then have no order; nullptr: all are wanted in their order. `use` is compiled for two widths.
template <class Context, class Use>
void with_ordered_points(Context& on, const skyline_input& call, bool is_prefiltered, order_keys by,
                         const few_request* few, const Use& use) {
  ::zenith::detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) {
    using image = typename row_source<T>::image;
    const auto from = make_row_source<T>(on, call);
    u8* const flags = on.template buffer<u8>(call.rows);
    auto* const found = on.template buffer<table_findings>(1);
    u32* const rows = find_table_rows(on, call, from, is_prefiltered, flags, found);
    const u32* const kept = few == nullptr ? nullptr : compare_few_rows(on, from, rows, found, *few);
    const auto told = on.read(static_cast<const table_findings*>(found));
    if (call.nans == nan_rows::reject && told.nan_at != no_nan) {
      const u64 at = told.nan_at;
      *call.outcome = {0, true, at / most_given_columns, static_cast<unsigned>(at % most_given_columns)};
      return;
    }
    const bool is_done = kept != nullptr && told.left <= most_few_rows;
    ordered_points<image> ordered{{nullptr, 1, from.columns, rows, nullptr, nullptr, from.columns},
                                  nullptr,
                                  told.left,
                                  flags,
                                  found,
                                  is_done ? kept : nullptr,
                                  told.members};
    if (ordered.count == 0 || is_done) return use(ordered, [] {});
    const u64 count = ordered.count;
    const u32 buckets = buckets_of(from.columns);
    image* const cuts = on.template buffer<image>(u64{from.columns} * buckets);
    const bool is_short = by == order_keys::rounded && has_short_masks(from.columns);
    u32* const short_masks = is_short ? on.template buffer<u32>(count) : nullptr;
    u64* const masks = is_short ? nullptr : on.template buffer<u64>(count);
    // masks are written when keys have done their work
    u64* const keys = is_short ? reinterpret_cast<u64*>(short_masks) : masks;
    const bool is_by_buckets = by == order_keys::rounded && fits_one_key<image>(from.columns) &&
                               count > most_few_rows && count <= most_rows_in_buckets;
    u64* const of_sums = is_by_buckets ? nullptr : on.template buffer<u64>(sum_cuts + 1);
    const find_cuts_of_columns<T> find{from, rows, count, buckets, cuts, of_sums};
    on.for_teams(find.teams(), find);
    if (!is_by_buckets) order_table_rows(on, from, rows, count, cuts, of_sums, buckets, keys, by, &found->has_ties);
    ordered.points.values = on.template buffer<image>(count * from.columns);
    ordered.points.masks = masks;
    ordered.short_masks = short_masks;
    ordered.points.codes = on.template buffer<u32>(count * code_words(from.columns));
    const place_table_rows<T> place{from, cuts, buckets, ordered.points, short_masks};
    if constexpr (sizeof(image) == 4) {
      if (is_by_buckets) {
        place_by_buckets(on, place, count, &found->has_ties);
        ordered.order_bytes = sizeof(u32);
      }
    }
    if (!is_by_buckets) on.for_each(count, place);
    use(ordered, [&] {
      on.for_each(call.rows, begin_again{found, flags});
      on.compact(call.rows, is_left{flags}, rows, &found->left);
      // values are written again
      u64* const exact_keys = is_short ? reinterpret_cast<u64*>(ordered.points.values) : masks;
      order_table_rows(on, from, rows, count, cuts, nullptr, buckets, exact_keys, order_keys::exact, nullptr);
      on.for_each(count, place);
    });
  });
  on.finish();
}

/// Calls use(rounds) with those of points that lose their masks.
template <class Context, class Image, class Use>
void with_tile_rounds(Context& on, const ordered_points<Image>& of, u64 most_bytes, const Use& use) {
  if (of.short_masks != nullptr) {
    use(tile_rounds<Context, Image, u32>(on, of.points, of.count, of.short_masks, most_bytes));
  } else {
    use(tile_rounds<Context, Image, u64>(on, of.points, of.count, of.points.masks, most_bytes));
  }
}
/// The same of points that keep their masks, of 64 bits.
template <class Context, class Image, class Use>
void with_lasting_tile_rounds(Context& on, const ordered_points<Image>& of, const Use& use) {
  if (has_short_masks(of.points.columns)) {
    use(tile_rounds<Context, Image, u32>(on, of.points, of.count, nullptr, all_bitmaps));
  } else {
    use(tile_rounds<Context, Image, u64>(on, of.points, of.count, nullptr, all_bitmaps));
  }
}

}  // namespace zenith::skyline_family::detail
