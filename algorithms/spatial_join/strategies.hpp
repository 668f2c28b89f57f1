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
#include <algorithms/spatial_join/result_vectors.hpp>
#include <algorithms/spatial_join/rounds.hpp>
#include <algorithms/spatial_join/row_groups.hpp>
#include <algorithms/spatial_join/rows.hpp>
#include <algorithms/spatial_join/sampled_cells.hpp>
#include <algorithms/spatial_join/sampled_pairs.hpp>
#include <algorithms/spatial_join/samples.hpp>
#include <algorithms/spatial_join/shared_rows.hpp>
#include <core/device/context.hpp>
#include <core/large_pages.hpp>

namespace zenith::spatial_join_family {

template <class T, unsigned D>
using kernels_of =
    device::concat<input_kernels<T, D>, bucket_kernels<T, D, point_list<T, D, false>, ordered_points<T, D, false>>,
                   row_kernels<T, D>, picked_kernels<T, D>,
                   device::list<count_takers<T, D>, append_pairs<T, D>, draw_samples<T, D>, count_near_samples<T, D>,
                                find_nearest_samples<T, D>, join_samples<T, D>, draw_members<T, D>>>;

using kernels =
    device::concat<kernels_of<float, 2>, kernels_of<float, 3>, kernels_of<double, 2>, kernels_of<double, 3>,
                   column_kernels<float>, column_kernels<double>, best_pairs_kernels<float>, best_pairs_kernels<double>,
                   best_pairs_common_kernels,
                   device::list<begin_row, touch_pages, grow_vectors, list_best_pairs<float>, list_best_pairs<double>>>;

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
  const u64 n = call.left.rows;
  const u64 m = call.right.rows;
  const u64 groups = (n + list::group - 1) / list::group;
  const auto grid = make_side_grid(on, input, m);
  const auto plan = plan_buckets(n, cells_of(grid), on.threads(), left_buckets_for(m));
  auto* const right = on.template buffer<point>(m + list::tested);
  auto* const left = on.template buffer<point>(n);
  // the same memory for points on their way to cells, and then for ids, of which some more than there are may be read
  const u64 capacity = n * kept_partners;
  const u64 words = std::max(capacity + kept_partners, (m * sizeof(point) + sizeof(u32) - 1) / sizeof(u32));
  auto* const spare = on.template buffer<point>((words * sizeof(u32) + sizeof(point) - 1) / sizeof(point));
  prefer_large_pages(right, m * sizeof(point));
  prefer_large_pages(left, n * sizeof(point));
  prefer_large_pages(spare, words * sizeof(u32));
  const auto* const starts = order_by_cells(on, point_list<T, D, false>{input.right}, m, grid,
                                            ordered_points<T, D, false>{right}, {spare, nullptr});
  const point_list<T, D, false> from{input.left};
  const auto moved = move_to_buckets_of(on, from, grid, plan, left);
  const row_probe<T, D> probe{left, n, right, starts, grid};
  u32* const ids = reinterpret_cast<u32*>(spare);
  u32* const counts = on.template buffer<u32>(n);
  u64* const sums = on.template buffer<u64>(plan.parts);
  u64* const offsets = on.template buffer<u64>(u64{plan.parts} + 1);
  u64* const listed = on.template buffer<u64>(groups);
  on.for_teams(groups, list{probe, counts, listed, ids, capacity, on.template zeroed<u64>(1)});
  const listed_rows<T, D> rows{from, plan, moved, counts, listed, ids};
  on.for_teams(plan.parts, sum_parts<T, D>{rows, sums});
  on.exclusive_scan(static_cast<const u64*>(sums), plan.parts, offsets);
  const u64 total = on.read(static_cast<const u64*>(offsets + plan.parts));
  call.outcome->count = total;
  if (call.reserve != nullptr) {
    const auto space = call.reserve(call.provide_state, total);
    const u64 bytes = total * static_cast<u64>(call.index_bytes);
    // one worker has all of it soon enough: `provide` writes to it
    if (on.threads() > 1) {
      const touch_pages touch{{static_cast<char*>(space.left), static_cast<char*>(space.right)}, bytes};
      on.for_teams(touch.teams(), touch);
      if (call.grow != nullptr) on.for_teams(2, grow_vectors{call.grow, call.provide_state, total, bytes});
    }
  }
  const auto out = call.provide(call.provide_state, total);
  if (total == 0 || out.left == nullptr) return on.finish();
  with_index(call.index_bytes, [&]<class Index>(std::type_identity<Index>) {
    on.for_teams(plan.parts, write_rows<T, D, Index>{probe, rows, offsets,
                                                     on.output(static_cast<Index*>(out.left), total, call.out_space),
                                                     on.output(static_cast<Index*>(out.right), total, call.out_space)});
  });
  on.finish();
}

/// All pairs on a device. The host asks twice: what the points are like, and how many pairs there are.
template <class T, unsigned D, class Context>
void join_on_device(Context& on, const spatial_join_call& call) {
  constexpr group_sizes sizes = sizes_of_groups<Context>;
  using facts_type = join_facts<T, D>;
  auto input = open_input<T, D>(on, call, {});
  const u64 n = call.left.rows;
  const u64 m = call.right.rows;
  const u64 cells = most_cells(m);
  u32 rows = 1;
  while (rows < sizes.rows && n / rows >= sizes.groups) rows *= 2;
  const u64 count = (n + rows - 1) / rows;
  auto find = extremes_of(input.left, input.right);
  const u64 parts = find.parts * most_all_columns;

  u32* counts = nullptr;
  u32* starts = nullptr;
  u32* ranks = nullptr;
  cell_point<T, D>* points = nullptr;
  row_groups groups{};
  partner_list list{nullptr, nullptr, n * listed_partners};
  u64* begins = nullptr;
  facts_type* facts = nullptr;
  allocate_together(on, piece{counts, cells}, piece{starts, cells + 1}, piece{ranks, std::max(n, m)}, piece{points, m},
                    piece{find.least, parts}, piece{find.greatest, parts}, piece{groups.counts, n},
                    piece{groups.sums, count}, piece{groups.is_listed, count}, piece{groups.listed, count},
                    piece{list.ids, list.capacity}, piece{list.taken, 1}, piece{begins, n + 1}, piece{facts, 1});
  on.fill_zero(counts, cells);
  on.fill_zero(list.taken, 1);
  on.fill_zero(facts, 1);
  on.for_teams_in_turn(
      device::turn{parts, find},
      device::turn{u64{most_all_columns}, fold_extremes<T>{find.parts, find.least, find.greatest, &facts->known}},
      device::turn{u64{1}, choose_grid<T, D>{input.right, input.squared, reach_of(input.squared),
                                             static_cast<double>(cells), facts}});
  on.for_each(m, count_in_cells<T, D>{input.right, facts, ranks, counts});
  on.exclusive_scan(static_cast<const u32*>(counts), cells, starts);
  group_probe<T, D> probe{input.left, facts, points, starts, rows, nullptr};
  using sample = sample_candidates<T, D>;
  on.for_each(sample::rows, sample{probe, &facts->candidates});
  on.for_each(m, put_in_cells<T, D>{input.right, facts, ranks, starts, points});
  const auto seen = on.read(static_cast<const facts_type*>(facts));
  input.known = seen.known;
  *call.outcome = fault_of(on, input, {});
  if (call.outcome->fault != spatial_fault::none) return on.finish();

  const bool is_crowded = n >= sizes.groups && seen.candidates > sample::rows * sizes.few;
  if (is_crowded) {
    u32* const order = on.template buffer<u32>(n);
    u32* const order_starts = on.template buffer<u32>(cells + 1);
    on.fill_zero(counts, cells);
    on.for_each(n, count_in_cells<T, D>{input.left, facts, ranks, counts});
    on.exclusive_scan(static_cast<const u32*>(counts), cells, order_starts);
    on.for_each(n, order_rows<T, D>{input.left, facts, ranks, order_starts, order});
    probe.order = order;
  }
  const u64 around = seen.candidates / sample::rows;
  // kernels whose rows share candidates, where most rows have enough of them and a team's scratch takes them
  const auto with_sharing = [&](u64 least, const auto& launch) {
    constexpr u64 most = u64{count_groups<T, D, sizes, true>::shared_type::most_together} * sizes.eighths / 8;
    if (is_crowded && around >= least && around <= most) {
      launch(std::true_type{});
    } else {
      launch(std::false_type{});
    }
  };
  with_sharing(sizes.many, [&](auto shares) {
    on.for_teams(count, count_groups<T, D, sizes, shares()>{probe, groups, list});
  });
  const u64 begun = is_crowded ? n : count;
  on.exclusive_scan(static_cast<const u64*>(is_crowded ? groups.counts : groups.sums), begun, begins);
  const u64 total = on.read(static_cast<const u64*>(begins + begun));
  call.outcome->count = total;
  const auto out = call.provide(call.provide_state, total);
  if (total == 0 || out.left == nullptr) return on.finish();
  with_index(call.index_bytes, [&]<class Index>(std::type_identity<Index>) {
    auto* const left_to = on.output(static_cast<Index*>(out.left), total, call.out_space);
    auto* const right_to = on.output(static_cast<Index*>(out.right), total, call.out_space);
    with_sharing(u64{sizes.crowded} * (D == 3 ? 27 : 9), [&](auto shares) {
      if constexpr (shares()) {
        on.for_teams(count, write_shared_rows<T, D, sizes, Index>{probe, groups, begins, left_to, right_to});
      }
    });
    on.for_teams(count,
                 write_groups<T, D, sizes, Index>{probe, input.right, groups, list.ids, begins, left_to, right_to});
  });
  on.finish();
}

}  // namespace detail

template <class Context>
void grid_join::run(Context& on, const call_type& call) {
  detail::with_points(call, [&]<class T, unsigned D>(std::type_identity<T>, std::integral_constant<unsigned, D>) {
    if constexpr (Context::runs_on_host) {
      const auto input = read_input<T, D>(on, call, {});
      if (call.outcome->fault != spatial_fault::none) return on.finish();
      detail::join_by_rows(on, call, input);
    } else {
      detail::join_on_device<T, D>(on, call);
    }
  });
}

namespace detail {

template <class T, unsigned D, class Context>
void threshold_on_host(Context& on, const top_k_spatial_join_call& call, const pair_scorer<T>& scorer) {
  const auto rules = rules_of(call);
  auto input = open_input<T, D>(on, call, rules);
  side_samples<T, D, Context> samples(scorer);
  auto* const near = on.template zeroed<u32>(1);
  samples.draw(on, input, near);
  input.near = on.read(static_cast<const u32*>(near));
  samples.learn(on, input, samples.places(false), samples.places(true));
  double counted = -1;  // below 0: not known
  bool has_counted = false;
  const auto count = [&] {
    if (!has_counted) counted = count_by_cells(on, input, samples.usual_right());
    has_counted = true;
  };
  const double all = static_cast<double>(call.left.rows) * static_cast<double>(call.right.rows);
  const bool are_few = all * samples.near_share() <= few_pairs(pairs_to_find(call.k));
  if (are_few && samples.may_hide_pairs(call.left.rows, call.right.rows)) count();
  if (counted >= 0) samples.adopt_share(std::max(1.0, counted) / all);
  bound_search<T, D, Context> search(on, samples, call);
  picked_points<T, D, Context> picked(on, scorer, samples);
  auto image = search.bound();
  if (!picked.read(input, rules, *call.outcome, image)) return;
  bool has_sampled = false;
  // 0: nothing better than the last bound is known
  const auto bound_of_pairs = [&](ordered::bits_t<T> last, ordered::bits_t<T> otherwise) {
    has_sampled = true;
    const auto of_pairs = bound_of_sampled_pairs(on, input, samples, scorer, 2 * search.goal);
    return of_pairs.has_pairs && of_pairs.image < last ? of_pairs.image : otherwise;
  };
  // so few pairs are expected that all are wanted: where that is much to join, samples may know better
  constexpr u64 much = u64{1} << 16;
  if (image == 0 && counted < 0 && search.goal <= most_listed && std::max(call.left.rows, call.right.rows) >= much) {
    image = bound_of_pairs(~ordered::bits_t<T>{0}, 0);
    if (image != 0) picked.pick(input, image);
  }
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
    const auto lowered = search.bound();
    // far fewer than the guess says: one lower bound after the other would be as wrong
    const bool is_misled = 8 * static_cast<double>(found.total) < search.goal;
    if (is_misled && !has_counted) {
      count();
      if (counted >= 0 && counted < 2 * search.goal) return join_all(on, call, input, scorer, rounds + 1);
    }
    image = is_misled && !has_sampled ? bound_of_pairs(image, lowered) : lowered;
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
