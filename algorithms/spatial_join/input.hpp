#pragma once

/// \file
/// What every strategy begins with: the caller's columns where kernels can read them, their extremes, and whether there
/// is a value that a join does not take. And the placement of both sides in a grid.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <algorithms/spatial_join/buckets.hpp>
#include <algorithms/spatial_join/geometry.hpp>
#include <algorithms/spatial_join/nearest_places.hpp>
#include <algorithms/spatial_join/usual_extents.hpp>
#include <core/device/context.hpp>
#include <core/device/list.hpp>

namespace zenith::spatial_join_family {

template <class T, unsigned D>
struct join_input {
  point_columns<T, D> left;
  point_columns<T, D> right;
  column_extremes<T> known;
  u32 near;   ///< of samples of both sides, how many pairs are near each other; 0: none were drawn
  T squared;  ///< distance * distance
};

/// `n` of them, wanted at `at`.
template <class Item>
struct piece {
  Item*& at;
  u64 n;
};
template <class Item>
piece(Item*&, u64) -> piece<Item>;

/// Several buffers of scratch as one: on a device each allocation costs as much as a launch.
template <class Context, class... Item>
void allocate_together(Context& on, const piece<Item>&... pieces) {
  constexpr u64 line = 64;
  struct alignas(line) lines {
    std::byte bytes[line];
  };
  lines* next = on.template buffer<lines>((0 + ... + ((pieces.n * sizeof(Item) + line - 1) / line)));
  const auto take = [&]<class One>(const piece<One>& to) {
    to.at = reinterpret_cast<One*>(next);
    next += (to.n * sizeof(One) + line - 1) / line;
  };
  (take(pieces), ...);
}

/// What scores must be.
struct score_rules {
  bool are_read = false;
  bool may_be_negative = true;
  double left_weight = 1;
  double right_weight = 1;
};

template <class T, unsigned D, class Context>
[[nodiscard]] point_columns<T, D> columns_of(Context& on, const spatial_side& side, memory_space space, bool has_scores,
                                             double weight) {
  point_columns<T, D> columns{};
  for (unsigned a = 0; a < D; ++a)
    columns.at[a] = on.input(static_cast<const T*>(side.coordinates[a]), side.rows, space);
  if (has_scores) columns.scores = on.input(static_cast<const T*>(side.scores), side.rows, space);
  columns.weight = static_cast<T>(weight);
  columns.rows = side.rows;
  return columns;
}

/// The kernel for the extremes of all columns; where it writes them is missing.
template <class T, unsigned D>
[[nodiscard]] find_extremes<T> extremes_of(const point_columns<T, D>& left, const point_columns<T, D>& right) {
  find_extremes<T> find{};
  const auto enter = [&](const point_columns<T, D>& side, unsigned first) {
    for (unsigned a = 0; a < D; ++a) {
      find.column[first + a] = side.at[a];
      find.weight[first + a] = T{1};
      find.rows[first + a] = side.rows;
    }
    if (side.scores == nullptr) return;
    const unsigned last = first + most_side_columns - 1;
    find.column[last] = side.scores;
    find.weight[last] = side.weight;
    find.rows[last] = side.rows;
  };
  enter(left, 0);
  enter(right, most_side_columns);
  const u64 rows = left.rows < right.rows ? right.rows : left.rows;
  find.parts = (rows + find_extremes<T>::part - 1) / find_extremes<T>::part;
  return find;
}

template <class T, unsigned D, class Context>
[[nodiscard]] column_extremes<T> read_extremes(Context& on, const point_columns<T, D>& left,
                                               const point_columns<T, D>& right) {
  using image = ordered::bits_t<T>;
  auto find = extremes_of(left, right);
  find.least = on.template buffer<image>(find.parts * most_all_columns);
  find.greatest = on.template buffer<image>(find.parts * most_all_columns);
  auto* const all = on.template buffer<column_extremes<T>>(1);
  on.for_teams(find.parts * most_all_columns, find);
  on.for_teams(most_all_columns, fold_extremes<T>{find.parts, find.least, find.greatest, all});
  return on.read(static_cast<const column_extremes<T>*>(all));
}

template <class T, class Context>
[[nodiscard]] u64 first_outside(Context& on, const T* column, T weight, u64 rows, ordered::bits_t<T> least,
                                ordered::bits_t<T> greatest) {
  u64* const row = on.template buffer<u64>(1);
  on.for_each(1, begin_row{row});
  on.for_each(rows, find_outside<T>{column, weight, least, greatest, row});
  return on.read(static_cast<const u64*>(row));
}

/// The first fault of one side, if there is any.
template <class T, unsigned D, class Context>
[[nodiscard]] spatial_outcome fault_of(Context& on, const point_columns<T, D>& side, const column_extremes<T>& known,
                                       bool is_right, bool may_be_negative) {
  using image = ordered::bits_t<T>;
  constexpr T most = std::numeric_limits<T>::max();
  const image least = total_order(-most);
  const image greatest = total_order(most);
  const unsigned first = is_right ? most_side_columns : 0;
  for (unsigned a = 0; a < D; ++a) {
    if (known.least[first + a] >= least && known.greatest[first + a] <= greatest) continue;
    return {0, spatial_fault::coordinate, is_right, a,
            first_outside<T>(on, side.at[a], T{1}, side.rows, least, greatest)};
  }
  if (side.scores == nullptr) return {};
  const unsigned score = first + most_side_columns - 1;
  if (known.least[score] < least || known.greatest[score] > greatest) {
    const u64 row = first_outside<T>(on, side.scores, T{1}, side.rows, least, greatest);
    if (row != no_row) return {0, spatial_fault::score, is_right, 0, row};
    return {0, spatial_fault::weighted_score, is_right, 0,
            first_outside<T>(on, side.scores, side.weight, side.rows, least, greatest)};
  }
  const image zero = total_order(-T{0});
  if (!may_be_negative && known.least[score] < zero) {
    return {0, spatial_fault::negative_score, is_right, 0,
            first_outside<T>(on, side.scores, T{1}, side.rows, zero, greatest)};
  }
  return {};
}

/// The call's columns, of which nothing is known yet.
template <class T, unsigned D, class Context>
[[nodiscard]] join_input<T, D> open_input(Context& on, const spatial_call& call, const score_rules& rules) {
  join_input<T, D> input{};
  input.left = columns_of<T, D>(on, call.left, call.space, rules.are_read, rules.left_weight);
  input.right = columns_of<T, D>(on, call.right, call.space, rules.are_read, rules.right_weight);
  const T distance = static_cast<T>(call.distance);
  input.squared = distance * distance;
  return input;
}

/// The first fault of both sides, whose extremes are known.
template <class T, unsigned D, class Context>
[[nodiscard]] spatial_outcome fault_of(Context& on, const join_input<T, D>& input, const score_rules& rules) {
  const auto fault = fault_of(on, input.left, input.known, false, rules.may_be_negative);
  return fault.fault != spatial_fault::none ? fault
                                            : fault_of(on, input.right, input.known, true, rules.may_be_negative);
}

/// The call's input; sets its outcome if there is a fault.
template <class T, unsigned D, class Context>
[[nodiscard]] join_input<T, D> read_input(Context& on, const spatial_call& call, const score_rules& rules) {
  auto input = open_input<T, D>(on, call, rules);
  input.known = read_extremes(on, input.left, input.right);
  *call.outcome = fault_of(on, input, rules);
  return input;
}

/// Rows of one side that take part; no list: all of them.
struct picked_rows {
  const u32* rows;
  u64 count;
};

/// Places the points by cells; returns where each cell begins.
template <class T, unsigned D, class Context>
[[nodiscard]] const u32* place(Context& on, const point_columns<T, D>& from, const picked_rows& picked,
                               const cell_grid<T, D>& grid, placed_points<T, D>& to) {
  const u64 n = picked.count;
  const u64 cells = cells_of(grid);
  for (unsigned a = 0; a < D; ++a) to.at[a] = on.template buffer<T>(n);
  to.values = from.scores == nullptr ? nullptr : on.template buffer<T>(n);
  to.rows = on.template buffer<u32>(n);
  to.count = n;
  u32* const cell = on.template buffer<u32>(n);
  u32* const rank = on.template buffer<u32>(n);
  u32* const counts = on.template buffer<u32>(cells);
  u32* const starts = on.template buffer<u32>(cells + 1);
  on.fill_zero(counts, cells);
  on.for_each(n, count_cells<T, D>{from, picked.rows, grid, cell, rank, counts});
  on.exclusive_scan(static_cast<const u32*>(counts), cells, starts);
  on.for_each(n, place_in_cells<T, D>{from, picked.rows, cell, rank, starts, to});
  return starts;
}

/// Where most points of both sides lie.
template <class T, unsigned D>
struct usual_sides {
  side_extents<T, D> side[2];
};
template <class T, unsigned D, class Context>
[[nodiscard]] usual_sides<T, D> usual_extents(Context& on, const point_columns<T, D>& left,
                                              const point_columns<T, D>& right) {
  auto* const usual = on.template buffer<usual_sides<T, D>>(1);
  on.for_teams(2, find_usual_extents<T, D>{{left, right}, usual->side});
  return on.read(static_cast<const usual_sides<T, D>*>(usual));
}

/// A grid over the right side for so many of its points. where(): what samples of them say, if it is asked.
template <class T, unsigned D, class Where>
[[nodiscard]] cell_grid<T, D> make_side_grid(const join_input<T, D>& input, u64 points, const Where& where) {
  return make_grid_for<T, D>(static_cast<double>(points), right_extents<T, D>(input.known), input.squared,
                             reach_of(input.squared), static_cast<double>(most_cells(points)), where);
}
template <class T, unsigned D, class Context>
[[nodiscard]] cell_grid<T, D> make_side_grid(Context& on, const join_input<T, D>& input, u64 points) {
  return make_side_grid(input, points, [&] {
    auto* const found = on.template buffer<sampled_places<T, D>>(1);
    on.for_teams(1, find_places<T, D>{input.right, found});
    return on.read(static_cast<const sampled_places<T, D>*>(found));
  });
}

/// All points of one side in the order of their cells, on a host; `starts`: where each cell begins.
template <class T, unsigned D, class Context>
[[nodiscard]] placed_points<T, D> order_points(Context& on, const point_columns<T, D>& from,
                                               const cell_grid<T, D>& grid, const u32*& starts) {
  placed_points<T, D> to{};
  for (unsigned a = 0; a < D; ++a) to.at[a] = on.template buffer<T>(from.rows);
  to.values = on.template buffer<T>(from.rows);
  to.rows = on.template buffer<u32>(from.rows);
  to.count = from.rows;
  starts = order_by_cells<T, D>(on, point_list<T, D, true>{from}, from.rows, grid, ordered_points<T, D, true>{to}, {});
  return to;
}

/// All points of both sides in one grid.
template <class T, unsigned D, class Context>
[[nodiscard]] placed_sides<T, D> place_sides(Context& on, const join_input<T, D>& input) {
  placed_sides<T, D> sides{};
  sides.grid = make_side_grid(on, input, input.right.rows);
  if constexpr (Context::runs_on_host) {
    const u32* unused = nullptr;
    sides.right = order_points(on, input.right, sides.grid, sides.starts);
    sides.left = order_points(on, input.left, sides.grid, unused);
  } else {
    sides.starts = place(on, input.right, {nullptr, input.right.rows}, sides.grid, sides.right);
    (void)place(on, input.left, {nullptr, input.left.rows}, sides.grid, sides.left);
  }
  return sides;
}

/// Some of both sides' points in a grid, on a device.
template <class T, unsigned D, class Context>
[[nodiscard]] placed_sides<T, D> place_picked(Context& on, const join_input<T, D>& input, const picked_rows& left,
                                              const picked_rows& right) {
  placed_sides<T, D> sides{};
  sides.grid = make_side_grid(on, input, right.count);
  sides.starts = place(on, input.right, right, sides.grid, sides.right);
  (void)place(on, input.left, left, sides.grid, sides.left);
  return sides;
}

/// Those whose scores are not worse than limits. `smallest`: of scores, the smaller are better.
template <class T, unsigned D, class Context>
[[nodiscard]] placed_sides<T, D> place_best(Context& on, const join_input<T, D>& input, T left_limit, T right_limit,
                                            bool smallest) {
  const T sign = smallest ? T{-1} : T{1};
  auto* const counts = on.template zeroed<picked_counts>(1);
  const auto pick = [&](const point_columns<T, D>& side, T limit, u32* count) {
    u32* const rows = on.template buffer<u32>(side.rows);
    on.compact(side.rows, reaches_limit<T>{side.scores, sign * side.weight, sign * limit}, rows, count);
    return rows;
  };
  const u32* const left = pick(input.left, left_limit, &counts->left);
  const u32* const right = pick(input.right, right_limit, &counts->right);
  const auto found = on.read(static_cast<const picked_counts*>(counts));
  return place_picked(on, input, {left, found.left}, {right, found.right});
}

template <class T, unsigned D>
using input_kernels = device::concat<bucket_kernels<T, D, point_list<T, D, true>, ordered_points<T, D, true>>,
                                     device::list<find_usual_extents<T, D>, find_places<T, D>>>;
template <class T>
using column_kernels = device::list<find_extremes<T>, fold_extremes<T>, find_outside<T>>;

}  // namespace zenith::spatial_join_family
