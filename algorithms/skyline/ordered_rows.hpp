#pragma once

/// \file
/// The rows of a table that a prefilter leaves, as points in an order. No image of the table is kept.

#include <algorithm>
#include <type_traits>

#include <algorithms/skyline/bitmap_rows.hpp>
#include <algorithms/skyline/distinct_rows.hpp>
#include <algorithms/skyline/family.hpp>
#include <algorithms/skyline/group_numbers.hpp>
#include <algorithms/skyline/layer_pivots.hpp>
#include <algorithms/skyline/phases.hpp>
#include <algorithms/skyline/region_tree.hpp>
#include <algorithms/skyline/row_groups.hpp>
#include <algorithms/skyline/row_order.hpp>
#include <algorithms/skyline/row_prefilter.hpp>
#include <algorithms/skyline/row_source.hpp>
#include <algorithms/skyline/table_rows.hpp>
#include <core/with_key_type.hpp>

namespace zenith::skyline_family::detail {

/// Writes images of rows of the caller's table, whatever their type.
template <class Context, class Image>
class row_images {
 public:
  template <class T>
  explicit row_images(const row_source<T>& from) : from_(&from), place_(place_from<T>) {}

  /// Those of `count` points whose rows are known.
  void place(Context& on, const point_set<Image>& points, u64 count) const { place_(on, from_, points, count); }

 private:
  template <class T>
  static void place_from(Context& on, const void* from, const point_set<Image>& to, u64 count) {
    on.for_teams(tiles_of(count, row_tile), place_row_values<T>{*static_cast<const row_source<T>*>(from), count, to});
  }

  const void* from_;
  void (*place_)(Context& on, const void* from, const point_set<Image>& to, u64 count);
};

/// Points in their order.
template <class Context, class Image>
struct ordered_rows {
  point_set<Image> points;  ///< `rows` has space for those of the table
  u64 count;
  const Image* cuts;
  u64* spare;      ///< `count` words; nullptr where there is no order
  u8* flags;       ///< one for each row of the table: 0 for those of points
  u32* ascending;  ///< the rows by number, if they are few of the table's; else nullptr
  u64 left;        ///< rows that the prefilter left, of which an order up to a stop point has not all
  row_images<Context, Image> images;
  u64 room;  ///< bytes that the points, and what a strategy has beside them, are to take at most
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
    if (rejects_nan(call, on.read(static_cast<const u64*>(nan_at)))) return nullptr;
  }
  on.for_each(1, join_lists{left, counts, test.teams(), u64{tiles} * row_tile, found});
  count = on.read(static_cast<const u32*>(found));
  return left;
}

/// The same on a device, by pivots for what is asked (table_rows.hpp).
template <class T, class Context, class Asked>
[[nodiscard]] u32* list_table_rows_left(Context& on, const skyline_input& call, const row_source<T>& from,
                                        const Asked& asked, bool has_pivots, u8* removed, u64& count) {
  auto* const found = on.template buffer<table_findings>(1);
  u32* const rows = find_table_rows(on, call, from, asked, has_pivots ? 1 : 0, removed, found);
  const auto told = on.read(static_cast<const table_findings*>(found));
  if (rejects_nan(call, told.nan_at)) return nullptr;
  count = told.left;
  return rows;
}

/// All rows that take part.
struct no_prefilter {
  template <class T, class Context>
  [[nodiscard]] u32* find_rows_left(Context& on, const skyline_input& call, const row_source<T>& from, u8* removed,
                                    u64& count) const {
    if constexpr (Context::runs_on_host) {
      return list_rows_left<T>(on, call, from, {}, removed, count);
    } else {
      return list_table_rows_left(on, call, from, value_points{}, false, removed, count);
    }
  }
};

/// The prefilter of a skyline, by the best rows.
struct pivot_prefilter {
  template <class T, class Context>
  [[nodiscard]] u32* find_rows_left(Context& on, const skyline_input& call, const row_source<T>& from, u8* removed,
                                    u64& count) const {
    if constexpr (Context::runs_on_host) {
      using image = typename row_source<T>::image;
      const u32 used = pivots_for(call.rows, from.columns);
      image* const values = on.template buffer<image>(u64{used} * from.columns);
      const u32* const rows = choose_pivots(on, from, removed, used);
      on.for_each(u64{used} * from.columns, gather_row_pivots<T>{from, rows, call.nans == nan_rows::drop, values});
      return list_rows_left(on, call, from, {values, used}, removed, count);
    } else {
      return list_table_rows_left(on, call, from, value_points{}, true, removed, count);
    }
  }
};

/// The prefilter of layers (layer_pivots.hpp).
struct layer_prefilter {
  u64 most_layers;
  bool keeps_twins;

  template <class T, class Context>
  [[nodiscard]] u32* find_rows_left(Context& on, const skyline_input& call, const row_source<T>& from, u8* removed,
                                    u64& count) const {
    u32* const rows = find_rows(on, call, from, removed, count);
    if (rows != nullptr && !keeps_twins) count = take_copies_out(on, from, rows, count, removed);
    return rows;
  }

 private:
  template <class T, class Context>
  [[nodiscard]] u32* find_rows(Context& on, const skyline_input& call, const row_source<T>& from, u8* removed,
                               u64& count) const {
    if constexpr (Context::runs_on_host) {
      using image = typename row_source<T>::image;
      const bool drops_nan = call.nans == nan_rows::drop;
      u64* const pivots = on.template buffer<u64>(pivot_count);
      const u32 used = find_layer_pivots(on, from, drops_nan, most_layers, pivots);
      if (used == 0) return list_rows_left<T>(on, call, from, {}, removed, count);
      u32* const rows = on.template buffer<u32>(used);
      image* const values = on.template buffer<image>(u64{used} * from.columns);
      on.for_each(used, name_pivots{pivots, rows});
      on.for_each(u64{used} * from.columns, gather_row_pivots<T>{from, rows, drops_nan, values});
      on.fill_zero(removed, call.rows);
      return list_rows_left(on, call, from, {values, used}, removed, count);
    } else {
      return list_table_rows_left(on, call, from, layer_value_points{{most_layers, keeps_twins}}, true, removed, count);
    }
  }
};

/// Rows of small groups, which have their flags before there is an order.
struct settled_groups {
  bool are_there = false;
  u64 rows = 0;
};

/// The prefilter of a skyline. On a host, small groups are settled first where there are many.
struct skyline_prefilter {
  bool has_pivots;
  bool keeps_twins;
  const test_counters& counters;
  settled_groups& settled;

  template <class T, class Context>
  [[nodiscard]] u32* find_rows_left(Context& on, const skyline_input& call, const row_source<T>& from, u8* flags,
                                    u64& count) const {
    if (!has_pivots) return no_prefilter{}.find_rows_left(on, call, from, flags, count);
    if constexpr (Context::runs_on_host) {
      if (has_many_groups(on, from)) return settle_groups_first(on, call, from, flags, count);
    }
    return pivot_prefilter{}.find_rows_left(on, call, from, flags, count);
  }

 private:
  template <class T, class Context>
  [[nodiscard]] u32* settle_groups_first(Context& on, const skyline_input& call, const row_source<T>& from, u8* flags,
                                         u64& count) const {
    u64 all = 0;
    u32* const rows = no_prefilter{}.find_rows_left(on, call, from, flags, all);
    if (rows == nullptr) return rows;
    settle_small_groups(on, from, rows, all, keeps_twins, flags, counters);
    u32* const found = on.template buffer<u32>(1);
    on.compact(call.rows, is_left{flags}, rows, found);
    count = on.read(static_cast<const u32*>(found));
    settled = {true, all - count};
    return rows;
  }
};

/// Where the values of points lie, and what orders them.
enum class row_layout : u8 {
  rows_by_grid,
  rows_as_they_are,  ///< with `row_padding` bytes behind them
  columns_by_grid,   ///< with zeros in columns up to a compiled number
  columns_by_sum,    ///< the same
  columns_to_stop,   ///< the same, by <least value, sum>, as far as the stop point
};

/// That of a strategy that compares by values.
[[nodiscard]] inline row_layout layout_of(const value_method& how) {
  return how.order == row_order::sum           ? row_layout::columns_by_sum
         : how.order == row_order::least_value ? row_layout::columns_to_stop
                                               : row_layout::columns_by_grid;
}

[[nodiscard]] inline auto always(row_layout layout) {
  return [layout](u64 /*count*/) { return layout; };
}

/// Memory for `count` points in columns, as the filters by values want it.
template <class Context, class Image>
void make_columns(Context& on, u64 count, point_set<Image>& points) {
  const u32 padded = padded_columns(points.columns);
  points.values = on.template buffer<Image>(count * padded);
  points.stride = count;
  points.step = 1;
  on.fill_zero(points.values + count * points.columns, count * (padded - points.columns));
}

template <class Image, class Context>
[[nodiscard]] point_set<Image> make_ordered_points(Context& on, row_layout layout, u64 count, u32 columns, u32* rows) {
  point_set<Image> made{nullptr, 1, columns, rows, nullptr, nullptr, columns};
  if (layout == row_layout::rows_by_grid || layout == row_layout::rows_as_they_are) {
    constexpr u64 padding = row_padding / sizeof(Image);
    made.values = on.template buffer<Image>(count * columns + padding);
    on.fill_zero(made.values + count * columns, padding);
  } else {
    make_columns(on, count, made);
  }
  return made;
}

/// Orders the rows; returns how many of them are points.
template <class T, class Context>
[[nodiscard]] u64 order_rows_for(Context& on, row_layout layout, const row_source<T>& from,
                                 ordered_rows<Context, typename row_source<T>::image>& ordered) {
  using image = typename row_source<T>::image;
  const u64 count = ordered.count;
  u32* const rows = ordered.points.rows;
  if (layout == row_layout::rows_by_grid || layout == row_layout::columns_by_grid) {
    // cuts for few rows need not be exact
    const auto samples = static_cast<u32>(std::min(count, std::clamp<u64>(count / 8, 256, most_cut_samples)));
    const auto draw = [&](image* drawn, u32* unused) {
      on.for_each(u64{samples} * from.columns, draw_row_samples<T>{from, rows, count, samples, drawn, unused});
    };
    ordered.cuts = pick_cuts_of<image>(on, samples, from.columns, row_buckets(from.columns), draw);
  }
  if (layout == row_layout::rows_as_they_are) return count;
  ordered.spare = on.template buffer<u64>(count);
  if (layout == row_layout::columns_to_stop) return order_rows_to_stop(on, from, rows, count, ordered.spare);
  order_rows(on, from, rows, count, static_cast<const image*>(ordered.cuts), ordered.spare);
  return count;
}

/// Calls use(rows) with the points in their order, unless a NaN is rejected. layout_for(count) says which, by how many
/// take part. `use` is compiled for two widths.
template <class Context, class LayoutFor, class Prefilter, class Use>
void with_ordered_rows(Context& on, const skyline_input& call, const LayoutFor& layout_for, const Prefilter& prefilter,
                       const Use& use) {
  ::zenith::detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) {
    using image = typename row_source<T>::image;
    const auto from = make_row_source<T>(on, call);
    u64 count = 0;
    u8* const flags = on.template buffer<u8>(call.rows);
    u32* const rows = prefilter.find_rows_left(on, call, from, flags, count);
    if (call.outcome->has_nan) return;
    const row_layout layout = layout_for(count);
    const auto source = number_groups_of(on, from, rows, count);
    ordered_rows<Context, image> ordered{
        {}, count, nullptr, nullptr, flags, nullptr, count, row_images<Context, image>(source), 0};
    ordered.points.rows = rows;
    ordered.room =
        2 * count * call.column_count * sizeof(image) - (source.numbers == nullptr ? 0 : count * sizeof(u32));
    if (count > 0 && count < call.rows / 32) {
      ordered.ascending = on.template buffer<u32>(count);
      on.copy(ordered.ascending, static_cast<const u32*>(rows), count);
    }
    if (count > 0) {
      ordered.count = order_rows_for(on, layout, source, ordered);
      ordered.points = make_ordered_points<image>(on, layout, ordered.count, source.columns, rows);
      ordered.images.place(on, ordered.points, ordered.count);
    }
    use(ordered);
  });
  on.finish();
}

}  // namespace zenith::skyline_family::detail
