#pragma once

/// \file
/// Layers (non-dominated sorting): the skyline, the skyline of the rest, and so on. The order of the points is made
/// once: what is left keeps it.

#include <algorithm>
#include <type_traits>
#include <vector>

#include <algorithms/skyline/group_layers.hpp>
#include <algorithms/skyline/incomparable_rows.hpp>
#include <algorithms/skyline/layers_by_search.hpp>
#include <algorithms/skyline/layers_of_two.hpp>
#include <algorithms/skyline/ordered_rows.hpp>
#include <algorithms/skyline/phases.hpp>
#include <algorithms/skyline/row_rounds.hpp>
#include <algorithms/skyline/table_rounds.hpp>
#include <algorithms/skyline/value_points.hpp>
#include <core/device/bisect.hpp>

namespace zenith::skyline_family {

/// Rows that are not in the layer that was found last: those of layers before it are not asked.
struct has_no_layer {
  const u32* rows;
  const u8* flags;

  ZENITH_FN bool operator()(u64 i) const { return flags[rows[i]] != marked; }
};

/// Layers of rows that lie layer by layer.
struct write_layers {
  static constexpr u64 item_cost = 64;

  const u32* rows;
  const u32* ends;  ///< of layers, rising
  u64 layers;
  u32* to;  ///< by row of the table

  ZENITH_FN void operator()(u64 i) const {
    to[rows[i]] = static_cast<u32>(device::first_failing(layers, [&](u64 k) ZENITH_BODY { return ends[k] <= i; }));
  }
};

using layer_kernels =
    device::concat<device::list<write_no_layer, write_first_layer, write_layers, write_searched_layers,
                                assign_by_search<std::uint32_t>, assign_by_search<std::uint64_t>>,
                   layer_pivot_kernels<std::uint32_t, std::uint64_t>, group_layer_kernels,
                   layer_kernels_of_two<float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>>;

namespace detail {

/// Rows layer by layer, and behind them those without one, in an order in which none is dominated by one behind it.
template <class Context>
class layer_order {
 public:
  layer_order(Context& on, const skyline_layers_call& call) : call_(call), counters_(make_counters(on, call)) {}

  /// All of `rows` have no layer; `flags` are those of rows of the table. `spare` has space for as many rows, and is
  /// not asked for anything else behind a round.
  void begin(Context& on, u32* rows, u64 count, u8* flags, u32* spare) {
    rows_ = rows;
    count_ = count;
    flags_ = flags;
    picked_ = spare;
    found_ = on.template buffer<u32>(1);
  }

  /// Finds layers by `rounds`, which mark the skyline of points_behind(done): those of the rows from that one on.
  template <class Rounds, class PointsBehind>
  void find(Context& on, Rounds& rounds, const PointsBehind& points_behind) {
    u32 small_layers = 0;
    while (wants_more()) {
      blocks_ += rounds.mark(on, points_behind(done_), count_ - done_, flags_, true, counters_, log_);
      const u64 size = take_layer(on);
      if constexpr (Context::runs_on_host) {
        small_layers = are_worth_a_search(size, count_ - done_) ? small_layers + 1 : 0;
        if (small_layers < layers_before_search || call_.most_layers - ends_.size() < layers_before_search) continue;
        if (wants_more()) search(on, points_behind(done_));
        return;
      }
    }
  }

  /// The points' memory was released: a number for each row takes its place.
  void deliver(Context& on) {
    const auto layers = static_cast<u32>(ends_.size());
    call_.outcome->count = layers + searched_;
    report(on, call_, counters_, count_, blocks_);
    const u32* const ends = layers == 0 ? nullptr : on.input(ends_.data(), layers, memory_space::host);
    u32* const by_row = on.template buffer<u32>(call_.rows);
    on.for_each(call_.rows, write_no_layer{by_row});
    on.for_each(done_, write_layers{rows_, ends, layers, by_row});
    if (searched_ > 0) {
      on.for_each(count_ - done_, write_searched_layers{rows_ + done_, of_search_, searched_, layers, by_row});
    }
    // last of all: the caller's memory stays untouched when anything fails
    on.copy(on.output(call_.out_layers, call_.rows, call_.out_space), static_cast<const u32*>(by_row), call_.rows);
  }

 private:
  [[nodiscard]] bool wants_more() const {
    return done_ < count_ && ends_.size() < call_.most_layers && done_ < call_.enough_rows;
  }

  /// Brings the marked rows in front of the others; returns how many they are.
  u64 take_layer(Context& on) {
    u32* const behind = rows_ + done_;
    const u64 left = count_ - done_;
    on.compact(left, is_marked_row{flags_, behind}, picked_, found_);
    const u64 size = on.read(static_cast<const u32*>(found_));
    on.compact(left, has_no_layer{behind, flags_}, picked_ + size, found_);
    on.for_each(left, name_rows{behind, picked_});
    on.copy(behind, static_cast<const u32*>(picked_), left);
    done_ += size;
    ends_.push_back(static_cast<u32>(done_));
    return size;
  }

  /// The layers of all points that are left, whose rows are lost.
  template <class Image>
  void search(Context& on, const point_set<Image>& points) {
    const u64 left = count_ - done_;
    const auto most = static_cast<u32>(call_.most_layers - ends_.size());
    u32* const last = on.template buffer<u32>(std::min<u64>(most, left));
    of_search_ = on.template buffer<u32>(left);
    on.for_each(1, assign_by_search<Image>{points, left, most, call_.enough_rows - done_, last, points.rows, of_search_,
                                           found_});
    searched_ = on.read(static_cast<const u32*>(found_));
  }

  const skyline_layers_call& call_;
  test_counters counters_;
  round_log<Context> log_;  // off: layers are no rounds
  u32* rows_ = nullptr;
  u32* picked_ = nullptr;
  u32* found_ = nullptr;
  u8* flags_ = nullptr;
  u64 count_ = 0;
  u64 done_ = 0;              ///< rows that have a layer
  std::vector<u32> ends_;     ///< of layers among the rows
  u32* of_search_ = nullptr;  ///< layers of the rows behind them, from 0 on
  u32 searched_ = 0;          ///< how many of these there are
  u64 blocks_ = 0;
};

/// For `layer_order`: the points of rows from one on. Rounds lose them: they are made anew.
template <class Context, class Image>
class points_of_layers {
 public:
  /// Masks are those of `how`; nullptr: none are wanted.
  points_of_layers(Context& on, const ordered_rows<Context, Image>& rows, const value_method* how)
      : on_(on), rows_(rows), how_(how) {
    on.release(rows.spare);  // whose place a list of rows takes
    rows_.spare = nullptr;
    rows_.points.rows = on.template buffer<u32>(rows.count);
    on.copy(rows_.points.rows, static_cast<const u32*>(rows.points.rows), rows.count);
    if (how != nullptr && how->order == row_order::grid) rows_.points.masks = on.template buffer<u64>(rows.count);
    order_ = rows.points.rows;
  }

  /// The rows and their points, before there is a layer.
  [[nodiscard]] const ordered_rows<Context, Image>& rows() const { return rows_; }

  const point_set<Image>& operator()(u64 done) const {
    const u64 left = rows_.count - done;
    if (done > 0) {
      on_.copy(rows_.points.rows, order_ + done, left);
      rows_.images.place(on_, rows_.points, left);
    }
    if (how_ != nullptr) place_masks(*how_, on_, rows_.points, left, rows_.cuts);
    return rows_.points;
  }

 private:
  Context& on_;
  ordered_rows<Context, Image> rows_;
  const value_method* how_;
  const u32* order_;
};

template <class Context>
void find_layers_by_bitmaps(Context& on, const skyline_layers_call& call) {
  layer_order<Context> order(on, call);
  const bool keeps_twins = call.duplicates == duplicate_rows::keep_all;
  if constexpr (Context::runs_on_host) {
    with_ordered_rows(on, call, always(row_layout::rows_by_grid), layer_prefilter{call.most_layers, keeps_twins},
                      [&]<class Image>(const ordered_rows<Context, Image>& rows) {
                        if (rows.count > 0) {
                          const points_of_layers<Context, Image> points(on, rows, nullptr);
                          order.begin(on, rows.points.rows, rows.count, rows.flags, points.rows().points.rows);
                          row_rounds<Context, Image> rounds(on, points.rows(),
                                                            rows.count * sizeof(u32) + call.held_bytes);
                          order.find(on, rounds, points);
                          on.release(rows.points.values);
                        }
                        order.deliver(on);
                      });
  } else {
    with_ordered_points(on, call, layer_points{call.most_layers, keeps_twins}, [&](const auto& rows) {
      const auto find = [&](auto* masks) {
        order.begin(on, rows.points.rows, rows.count, rows.flags, on.template buffer<u32>(rows.count));
        // fewer bitmaps would be made in many launches, for each layer
        const u64 of_some = bitmap_bytes_of(rows.count / 4, rows.points.columns);
        const u64 space = std::max(of_some, bytes_for_bitmaps(call, rows, rows.count * sizeof(u32)));
        tile_rounds rounds(on, rows.points, rows.count, masks, space);
        order.find(on, rounds, [&](u64 done) {
          auto points = rows.points;
          points.rows += done;
          if (done > 0) rows.images.place(on, points, rows.short_masks, rows.count - done);
          return points;
        });
      };
      if (rows.count > 0 && rows.short_masks != nullptr) {
        find(rows.short_masks);
      } else if (rows.count > 0) {
        find(rows.points.masks);
      }
      if (rows.count > 0) on.release(rows.points.values);
      order.deliver(on);
      return true;
    });
  }
}

/// The order must hold all points once: no stop point, no padding.
template <class Context>
void find_layers_by_values(Context& on, const skyline_layers_call& call, const value_method& how) {
  layer_order<Context> order(on, call);
  const bool keeps_twins = call.duplicates == duplicate_rows::keep_all;
  with_ordered_rows(on, call, always(layout_of(how)), layer_prefilter{call.most_layers, keeps_twins},
                    [&]<class Image>(const ordered_rows<Context, Image>& rows) {
                      if (rows.count > 0) {
                        const points_of_layers<Context, Image> points(on, rows, &how);
                        order.begin(on, rows.points.rows, rows.count, rows.flags, points.rows().points.rows);
                        const u64 lists = rows.count * sizeof(u32) + call.held_bytes;
                        const u64 most = most_of_block<Image>(how, call, rows.points.columns, rows.count, lists);
                        in_rounds_by_values(how, on, points.rows().points, rows.count, most,
                                            [&](const auto& /*first*/, u64 /*count*/, auto& rounds) {
                                              order.find(on, rounds, points);
                                            });
                        on.release(rows.points.values);
                      }
                      order.deliver(on);
                    });
}

}  // namespace detail

template <class Skyline>
template <class Context>
void layers_by<Skyline>::run(Context& on, const call_type& call) {
  if (detail::are_incomparable(call)) return detail::find_incomparable_layers(on, call);
  if constexpr (Context::runs_on_host) {
    if (detail::has_two_columns(call)) return detail::find_layers_of_two(on, call);
    if (detail::find_layers_of_groups(on, call)) return;
  }
  if constexpr (std::is_same_v<Skyline, bitmap_tiles>) {
    detail::find_layers_by_bitmaps(on, call);
  } else {
    detail::find_layers_by_values(on, call, Skyline::how);
  }
}

}  // namespace zenith::skyline_family
