#pragma once

/// \file
/// The rows of a host's table that a prefilter leaves, in an order: points that lie row by row, of which no image is
/// made before.

#include <algorithm>
#include <type_traits>

#include <algorithms/skyline/bitmap_rows.hpp>
#include <algorithms/skyline/family.hpp>
#include <algorithms/skyline/phases.hpp>
#include <algorithms/skyline/region_tree.hpp>
#include <algorithms/skyline/row_groups.hpp>
#include <algorithms/skyline/row_order.hpp>
#include <algorithms/skyline/row_prefilter.hpp>
#include <algorithms/skyline/row_source.hpp>
#include <core/with_key_type.hpp>

namespace zenith::skyline_family::detail {

/// On a host, `bitmap_tiles` has an override of its own, for speed (perf/notes/skyline.md); these share its order, for
/// memory: no image of the table is kept.
[[nodiscard]] inline bool goes_by_rows(const value_method& how) {
  return how.is_prefiltered && how.order != row_order::least_value && !how.is_padded;
}

/// Points in their order.
template <class Image>
struct ordered_rows {
  point_set<Image> points;
  u64 count;
  const Image* cuts;
  u64* spare;                ///< as many words; nullptr where there is no order
  u8* flags;                 ///< one for each row of the table
  u32* ascending = nullptr;  ///< the rows by number, if they are few of the table's
};

/// Rows that are compared with all others first; nullptr: none.
template <class Image>
struct pivot_rows {
  const Image* values = nullptr;  ///< row by row
  u32 count = 0;
};

/// The rows that no pivot dominates, ascending, and how many they are; nullptr when a NaN is rejected: then the outcome
/// says so. With pivots, rows may be marked in `removed` already (`find_pivots`).
template <class T, class Context>
[[nodiscard]] u32* list_rows_left(Context& on, const skyline_input& call, const row_source<T>& from,
                                  const pivot_rows<typename row_source<T>::image>& pivots, u8* removed, u64& count) {
  u64* const nan_at = on.template buffer<u64>(1);
  on.for_each(1, begin_nan_search{nan_at});
  const u32 tiles = test_rows<T>::tiles_for(call.rows, on.threads());
  u32* const left = on.template buffer<u32>(call.rows);
  u32* const counts = on.template buffer<u32>(tiles_of(call.rows, u64{tiles} * row_tile));
  u32* const found = on.template buffer<u32>(1);
  const test_rows<T> test{
      from,   pivots.values, call.nans == nan_rows::drop, from.is_by_fours(), tiles, nan_at, removed, left,
      counts, pivots.count};
  on.for_teams(test.teams(), test);
  if (std::is_floating_point_v<T> && call.nans == nan_rows::reject) {
    const u64 at = on.read(static_cast<const u64*>(nan_at));
    if (at != no_nan) {
      *call.outcome = {0, true, at / most_given_columns, static_cast<unsigned>(at % most_given_columns)};
      return nullptr;
    }
  }
  on.for_each(1, join_lists{left, counts, test.teams(), u64{tiles} * row_tile, found});
  count = on.read(static_cast<const u32*>(found));
  return left;
}

/// The prefilter of a skyline: `list_rows_left` by the best rows.
struct pivot_prefilter {
  template <class T, class Context>
  [[nodiscard]] u32* find_rows_left(Context& on, const skyline_input& call, const row_source<T>& from, u8* removed,
                                    u64& count) const {
    using image = typename row_source<T>::image;
    const u32 used = pivots_for(call.rows, from.columns);
    image* const values = on.template buffer<image>(u64{used} * from.columns);
    const u32* const rows = choose_pivots(on, from, removed, used);
    on.for_each(u64{used} * from.columns, gather_row_pivots<T>{from, rows, call.nans == nan_rows::drop, values});
    return list_rows_left(on, call, from, {values, used}, removed, count);
  }
};

/// The prefilter of a skyline: where there are many groups, rows of small ones get their flags.
struct group_prefilter {
  bool keeps_twins;
  const test_counters& counters;
  bool& has_members;  ///< whether there are flags that say `marked`
  u64& settled;       ///< rows that have their flags

  template <class T, class Context>
  [[nodiscard]] u32* find_rows_left(Context& on, const skyline_input& call, const row_source<T>& from, u8* flags,
                                    u64& count) const {
    has_members = has_many_groups(on, from);
    if (!has_members) return pivot_prefilter{}.find_rows_left(on, call, from, flags, count);
    u32* const rows = list_rows_left<T>(on, call, from, {}, flags, count);
    if (rows == nullptr) return rows;
    settle_small_groups(on, from, rows, count, keeps_twins, flags, counters);
    u32* const found = on.template buffer<u32>(1);
    on.compact(call.rows, is_left{flags}, rows, found);
    settled = count;
    count = on.read(static_cast<const u32*>(found));
    settled -= count;
    return rows;
  }
};

/// Where the values of a host's points lie, and what orders them.
enum class row_layout : u8 {
  rows_by_grid,
  rows_as_they_are,  ///< with `row_padding` bytes behind them
  columns_by_grid,   ///< with zeros in columns up to a compiled number
  columns_by_sum,    ///< the same
};

[[nodiscard]] inline auto always(row_layout layout) {
  return [layout](u64 /*count*/) { return layout; };
}

template <class Image, class Context>
[[nodiscard]] point_set<Image> make_ordered_points(Context& on, row_layout layout, u64 count, u32 columns, u32* rows) {
  point_set<Image> made{nullptr, 1, columns, rows, nullptr, nullptr, columns};
  if (layout == row_layout::rows_by_grid || layout == row_layout::rows_as_they_are) {
    constexpr u64 padding = row_padding / sizeof(Image);
    made.values = on.template buffer<Image>(count * columns + padding);
    on.fill_zero(made.values + count * columns, padding);
    return made;
  }
  const u32 padded = padded_columns(columns);
  made.values = on.template buffer<Image>(count * padded);
  made.stride = count;
  made.step = 1;
  on.fill_zero(made.values + count * columns, count * (padded - columns));
  return made;
}

/// Calls use(rows) with the points in their order, unless a NaN is rejected. `layout_of` says which, by how many take
/// part. `use` is compiled for two widths.
template <class Context, class LayoutOf, class Prefilter, class Use>
void with_ordered_rows(Context& on, const skyline_input& call, const LayoutOf& layout_of, const Prefilter& prefilter,
                       const Use& use) {
  ::zenith::detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) {
    using image = typename row_source<T>::image;
    const auto from = make_row_source<T>(on, call);
    u64 count = 0;
    u8* const flags = on.template buffer<u8>(call.rows);
    u32* const rows = prefilter.find_rows_left(on, call, from, flags, count);
    if (call.outcome->has_nan) return;
    const row_layout layout = layout_of(count);
    const bool is_ordered = layout != row_layout::rows_as_they_are;
    ordered_rows<image> ordered{{}, count, nullptr, is_ordered ? on.template buffer<u64>(count) : nullptr, flags};
    ordered.points.rows = rows;
    if (count > 0 && count < call.rows / 32) {
      ordered.ascending = on.template buffer<u32>(count);
      on.copy(ordered.ascending, rows, count);
    }
    if (count > 0) {
      if (layout == row_layout::rows_by_grid || layout == row_layout::columns_by_grid) {
        // cuts for few rows need not be exact
        const auto samples = static_cast<u32>(std::min(count, std::clamp<u64>(count / 8, 256, most_cut_samples)));
        const auto draw = [&](image* drawn, u32* unused) {
          on.for_each(u64{samples} * from.columns, draw_row_samples<T>{from, rows, count, samples, drawn, unused});
        };
        ordered.cuts = pick_cuts_of<image>(on, samples, from.columns, row_buckets(from.columns), draw);
      }
      if (is_ordered) order_rows(on, from, rows, count, ordered.cuts, ordered.spare);
      ordered.points = make_ordered_points<image>(on, layout, count, from.columns, rows);
      on.for_teams(tiles_of(count, row_tile), place_row_values<T>{from, count, ordered.points});
    }
    use(ordered);
  });
  on.finish();
}

}  // namespace zenith::skyline_family::detail
