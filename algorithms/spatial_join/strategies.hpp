#pragma once

/// \file
/// The strategies of spatial joins, and every kernel that they launch.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <algorithms/spatial_join/best_pairs.hpp>
#include <algorithms/spatial_join/collect.hpp>
#include <algorithms/spatial_join/family.hpp>
#include <algorithms/spatial_join/input.hpp>
#include <algorithms/spatial_join/on_device.hpp>
#include <algorithms/spatial_join/on_host.hpp>
#include <algorithms/spatial_join/pairs.hpp>
#include <algorithms/spatial_join/rounds.hpp>
#include <algorithms/spatial_join/rows.hpp>
#include <algorithms/spatial_join/samples.hpp>
#include <core/device/context.hpp>

namespace zenith::spatial_join_family {

template <class T, unsigned D>
using kernels_of =
    device::concat<input_kernels<T, D>, bucket_kernels<T, D, point_list<T, D, false>, ordered_points<T, D, false>>,
                   row_kernels<T, D>, picked_kernels<T, D>,
                   device::list<count_takers<T, D>, append_pairs<T, D>, draw_samples<T, D>, count_near_samples<T, D>>>;

using kernels =
    device::concat<kernels_of<float, 2>, kernels_of<float, 3>, kernels_of<double, 2>, kernels_of<double, 3>,
                   column_kernels<float>, column_kernels<double>, best_pairs_kernels<float>, best_pairs_kernels<double>,
                   best_pairs_common_kernels, device::list<begin_row, list_best_pairs<float>, list_best_pairs<double>>>;

namespace detail {

/// Calls use(T, D) with the call's type and dimensions.
template <class Use>
void with_points(const spatial_call& call, const Use& use) {
  const auto as = [&]<class T>(std::type_identity<T> type) {
    if (call.dimensions == 3) {
      use(type, std::integral_constant<unsigned, 3>{});
    } else {
      use(type, std::integral_constant<unsigned, 2>{});
    }
  };
  if (call.type == key_type::float32) {
    as(std::type_identity<float>{});
  } else {
    as(std::type_identity<double>{});
  }
}

/// All pairs on a host: by the left side's rows.
template <class T, unsigned D, class Context>
void join_by_rows(Context& on, const spatial_join_call& call, const join_input<T, D>& input) {
  using list = list_partners<T, D>;
  using point = packed_point<T, D, false>;
  const u64 groups = (call.left.rows + list::group - 1) / list::group;
  const u64 m = call.right.rows;
  const auto grid = make_side_grid(on, input, m);
  auto* const points = on.template buffer<point>(m);
  // the same memory for points on their way to cells, and then for ids
  const u64 words = std::max(groups * list::stride, (m * sizeof(point) + sizeof(u32) - 1) / sizeof(u32));
  auto* const spare = on.template buffer<point>((words * sizeof(u32) + sizeof(point) - 1) / sizeof(point));
  const auto* const starts = order_by_cells(on, point_list<T, D, false>{input.right}, m, grid,
                                            ordered_points<T, D, false>{points}, {spare, nullptr});
  const row_probe<T, D> probe{input.left, points, starts, grid};
  u32* const ids = reinterpret_cast<u32*>(spare);
  u32* const counts = on.template buffer<u32>(call.left.rows);
  u64* const sums = on.template buffer<u64>(groups);
  u64* const begins = on.template buffer<u64>(groups + 1);
  u32* const listed = on.template buffer<u32>(groups);
  on.for_teams(groups, list{probe, counts, sums, listed, ids});
  on.exclusive_scan(static_cast<const u64*>(sums), groups, begins);
  const u64 total = on.read(static_cast<const u64*>(begins + groups));
  call.outcome->count = total;
  const auto out = call.provide(call.provide_state, total);
  if (total == 0 || out.left == nullptr) return on.finish();
  with_index(call.index_bytes, [&]<class Index>(std::type_identity<Index>) {
    on.for_teams(groups, write_rows<T, D, Index>{probe, counts, listed, ids, begins,
                                                 on.output(static_cast<Index*>(out.left), total, call.out_space),
                                                 on.output(static_cast<Index*>(out.right), total, call.out_space)});
  });
  on.finish();
}

/// All pairs on a device: by the points of both sides in their places.
template <class T, unsigned D, class Context>
void join_by_places(Context& on, const spatial_join_call& call, const join_input<T, D>& input) {
  const u64 n = call.left.rows;
  const auto sides = place_sides(on, input);
  u64* const counts = on.template buffer<u64>(n);
  u64* const offsets = on.template buffer<u64>(n + 1);
  u32* const placed_counts = on.template buffer<u32>(n);
  u64* const begins = on.template buffer<u64>(n);
  u32* const kept = on.template buffer<u32>(n * kept_partners);
  on.for_each(n, count_partners<T, D>{sides, counts, placed_counts, kept});
  on.exclusive_scan(static_cast<const u64*>(counts), n, offsets);
  const u64 total = on.read(static_cast<const u64*>(offsets + n));
  call.outcome->count = total;
  const auto out = call.provide(call.provide_state, total);
  if (total == 0 || out.left == nullptr) return on.finish();
  with_index(call.index_bytes, [&]<class Index>(std::type_identity<Index>) {
    auto* const to = on.output(static_cast<Index*>(out.left), total, call.out_space);
    on.for_each(n, write_left<Index>{offsets, to});
    on.for_each(n, gather_begins{offsets, sides.left.rows, begins});
    on.for_each(n, write_partners<T, D, Index>{sides, begins, placed_counts, kept,
                                               on.output(static_cast<Index*>(out.right), total, call.out_space)});
  });
  on.finish();
}

}  // namespace detail

template <class Context>
void grid_join::run(Context& on, const call_type& call) {
  detail::with_points(call, [&]<class T, unsigned D>(std::type_identity<T>, std::integral_constant<unsigned, D>) {
    const auto input = read_input<T, D>(on, call, {});
    if (call.outcome->fault != spatial_fault::none) return on.finish();
    if constexpr (Context::runs_on_host) {
      detail::join_by_rows(on, call, input);
    } else {
      detail::join_by_places(on, call, input);
    }
  });
}

namespace detail {

template <class T, unsigned D, class Context>
void threshold_on_host(Context& on, const top_k_spatial_join_call& call, const pair_scorer<T>& scorer) {
  const auto rules = rules_of(call);
  auto input = open_input<T, D>(on, call, rules);
  side_samples<T, D, Context> samples(scorer);
  auto* const facts = on.template zeroed<input_facts<T>>(1);
  samples.draw(on, input, &facts->near);
  find_all_extremes(on, samples.places(false), samples.places(true), &facts->known);
  const auto sampled = on.read(static_cast<const input_facts<T>*>(facts));
  input.known = sampled.known;
  input.near = sampled.near;
  samples.learn(input);
  bound_search<T, D, Context> search(on, samples, call);
  picked_points<T, D, Context> picked(on, scorer, samples);
  auto image = search.bound();
  if (!picked.read(input, rules, *call.outcome, image)) return;
  for (u64 rounds = 1;; ++rounds) {
    if (image == 0) return join_all(on, call, input, scorer, rounds);
    const auto found = picked.join(input, image, call.k, search.capacity());
    // every pair that reaches the bound was joined: if they are enough, the k best are among them
    if (found.total >= call.k) {
      if (call.statistics != nullptr) {
        *call.statistics = {rounds, picked.left_count(), picked.right_count(), found.total};
      }
      return deliver(on, call, scores_of(input), scorer, found);
    }
    search.lower(found.total);
    image = search.bound();
    if (image != 0) picked.pick(input, image);
  }
}

}  // namespace detail

template <class Context>
void full::run(Context& on, const call_type& call) {
  detail::with_points(call, [&]<class T, unsigned D>(std::type_identity<T>, std::integral_constant<unsigned, D>) {
    const auto input = read_input<T, D>(on, call, detail::rules_of(call));
    if (call.outcome->fault == spatial_fault::none) {
      detail::join_all(on, call, input, pair_scorer<T>{call.score, call.select == selection::smallest}, 1);
    }
    on.finish();
  });
}

template <class Context>
void threshold_first::run(Context& on, const call_type& call) {
  detail::with_points(call, [&]<class T, unsigned D>(std::type_identity<T>, std::integral_constant<unsigned, D>) {
    const pair_scorer<T> scorer{call.score, call.select == selection::smallest};
    if constexpr (Context::runs_on_host) {
      detail::threshold_on_host<T, D>(on, call, scorer);
    } else {
      detail::threshold_on_device<T, D>(on, call, scorer);
    }
    on.finish();
  });
}

}  // namespace zenith::spatial_join_family
