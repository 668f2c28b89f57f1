#pragma once

/// \file
/// Layers (non-dominated sorting): the skyline, the skyline of the rest, and so on. The order of the points is made
/// once: what is left keeps it.

#include <type_traits>
#include <utility>

#include <algorithms/skyline/layer_pivots.hpp>
#include <algorithms/skyline/layers_by_search.hpp>
#include <algorithms/skyline/layers_of_two.hpp>
#include <algorithms/skyline/phases.hpp>
#include <algorithms/skyline/row_rounds.hpp>
#include <algorithms/skyline/table_rounds.hpp>

namespace zenith::skyline_family {

/// Gives the points whose rows are marked a layer. Marks of earlier layers stay: their points are gone.
struct assign_layer {
  const u32* rows;
  const u8* members;
  u32 layer;
  u32* layers;

  ZENITH_FN void operator()(u64 i) const {
    const u32 row = rows[i];
    if (members[row] != 0) layers[row] = layer;
  }
};

struct has_no_layer {
  const u32* rows;
  const u8* members;

  ZENITH_FN bool operator()(u64 i) const { return members[rows[i]] == 0; }
};

using layer_kernels = device::concat<
    device::list<write_no_layer, assign_layer, assign_by_search<std::uint32_t>, assign_by_search<std::uint64_t>>,
    layer_pivot_kernels<std::uint32_t, std::uint64_t>,
    layer_kernels_of_two<float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>>;

namespace detail {

/// The prefilter of a host's layers (layer_pivots.hpp).
struct layer_prefilter {
  u64 most_layers;

  template <class T, class Context>
  [[nodiscard]] u32* find_rows_left(Context& on, const skyline_input& call, const row_source<T>& from, u8* removed,
                                    u64& count) const {
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
  }
};

/// Layers of rows that lie in an order: of the rows [0, count) of `placed`, by `rounds`.
template <class Context>
class layer_marks {
 public:
  layer_marks(Context& on, const skyline_layers_call& call)
      : call_(call),
        layers_(on.template buffer<u32>(call.rows)),
        members_(on.template buffer<u8>(call.rows)),
        counters_(make_counters(on, call)) {
    on.for_each(call.rows, write_no_layer{layers_});
    on.fill_zero(members_, call.rows);
  }

  template <class Image, class Rounds>
  void mark(Context& on, const point_set<Image>& placed, u64 count, Rounds& rounds) {
    // what is left, in turns in one place and the other
    point_set<Image> points = placed;
    point_set<Image> other = make_points(on, count, placed, rounds.padded());
    u32* const picked = on.template buffer<u32>(count);
    u32* const found = on.template buffer<u32>(1);
    const u64 candidates = count;
    u32 small_layers = 0;
    while (count > 0 && layer_ < call_.most_layers && candidates - count < call_.enough_rows) {
      blocks_ += rounds.mark(on, points, count, members_, true, counters_, log_);
      on.for_each(count, assign_layer{points.rows, members_, layer_, layers_});
      on.compact(count, has_no_layer{points.rows, members_}, picked, found);
      const u64 before = std::exchange(count, on.read(found));
      on.for_each(count, gather_points<Image>{points, picked, other});
      std::swap(points, other);
      ++layer_;
      if constexpr (Context::runs_on_host) {
        small_layers = are_worth_a_search(before - count, count) ? small_layers + 1 : 0;
        if (small_layers < layers_before_search || call_.most_layers - layer_ < layers_before_search) continue;
        return search(on, points, count, candidates - count);
      }
    }
  }

  void deliver(Context& on, u64 candidates) {
    call_.outcome->count = layer_;
    report(on, call_, counters_, candidates, blocks_);
    // last of all: the caller's memory stays untouched when anything fails
    on.copy(on.output(call_.out_layers, call_.rows, call_.out_space), layers_, call_.rows);
  }

 private:
  /// The layers of what is left, when so many points have one.
  template <class Image>
  void search(Context& on, const point_set<Image>& points, u64 count, u64 placed) {
    if (count == 0 || placed >= call_.enough_rows) return;
    const auto words = [&] { return on.template buffer<u32>(count); };
    u32* const found = on.template buffer<u32>(1);
    on.for_each(1,
                assign_by_search<Image>{points, count, layer_, call_.most_layers - layer_, call_.enough_rows - placed,
                                        words(), words(), words(), words(), layers_, found});
    layer_ += on.read(static_cast<const u32*>(found));
  }

  const skyline_layers_call& call_;
  u32* layers_;
  u8* members_;
  test_counters counters_;
  round_log<Context> log_;  // off: layers are no rounds
  u32 layer_ = 0;
  u64 blocks_ = 0;
};

template <class Context>
void find_layers_by_bitmaps(Context& on, const skyline_layers_call& call) {
  layer_marks<Context> marks(on, call);
  if constexpr (Context::runs_on_host) {
    with_ordered_rows(on, call, always(row_layout::rows_by_grid), layer_prefilter{call.most_layers},
                      [&](const auto& rows) {
                        if (rows.count > 0) {
                          row_rounds rounds(on, rows, points_after::kept);
                          marks.mark(on, rows.points, rows.count, rounds);
                        }
                        marks.deliver(on, rows.count);
                      });
  } else {
    with_ordered_points(on, call, layer_points{call.most_layers}, [&](const auto& rows) {
      const auto mark = [&](auto* masks) {
        tile_rounds rounds(on, rows.points, rows.count, masks, all_bitmaps);
        marks.mark(on, rows.points, rows.count, rounds);
      };
      // masks of the points are kept for the next layer
      if (rows.count > 0 && has_short_masks(rows.points.columns)) {
        mark(static_cast<u32*>(nullptr));
      } else if (rows.count > 0) {
        mark(static_cast<u64*>(nullptr));
      }
      marks.deliver(on, rows.count);
      return true;
    });
  }
}

/// The order must hold all points once: no stop point, no padding.
template <class Context>
void find_layers_by_values(Context& on, const skyline_layers_call& call, const value_method& how) {
  layer_marks<Context> marks(on, call);
  const auto pivots_of = [&](const auto& from) -> const u32* {
    u64* const keys = on.template buffer<u64>(pivot_count);
    if (find_layer_pivots(on, from, call.nans == nan_rows::drop, call.most_layers, keys) == 0) return nullptr;
    u32* const rows = on.template buffer<u32>(pivot_count);
    on.for_each(pivot_count, name_pivots{keys, rows});
    return rows;
  };
  with_images(on, call, pivots_of, [&]<class Image>(const image_table<Image>& table) {
    prefilter(on, table);
    u64 count = 0;
    const u32* const left = rows_left(on, table.removed, call.rows, count);
    if (count > 0) {
      in_order_of(
          how, on, table, left, count, points_after::kept,
          [&](const point_set<Image>& placed, u64 /*count*/, auto& rounds) { marks.mark(on, placed, count, rounds); });
    }
    marks.deliver(on, count);
  });
}

}  // namespace detail

template <class Skyline>
template <class Context>
void layers_by<Skyline>::run(Context& on, const call_type& call) {
  if constexpr (Context::runs_on_host) {
    if (detail::has_two_columns(call)) return detail::find_layers_of_two(on, call);
  }
  if constexpr (std::is_same_v<Skyline, bitmap_tiles>) {
    detail::find_layers_by_bitmaps(on, call);
  } else {
    detail::find_layers_by_values(on, call, Skyline::how);
  }
}

}  // namespace zenith::skyline_family
