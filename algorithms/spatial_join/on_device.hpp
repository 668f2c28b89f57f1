#pragma once

/// \file
/// threshold_first on a device: a first round in one launch, and others, for which the host decides, where that one did
/// not find enough.

#include <algorithm>

#include <algorithms/spatial_join/chains.hpp>
#include <algorithms/spatial_join/rounds.hpp>
#include <core/device/context.hpp>
#include <core/device/list.hpp>

namespace zenith::spatial_join_family {

namespace detail {

/// What the turns of a first round are given. Chains are for a part of the points: of more the other rounds take less
/// memory.
template <class T, unsigned D, class Context>
[[nodiscard]] round_plan<T, D> plan_first_round(Context& on, const join_input<T, D>& input,
                                                const top_k_spatial_join_call& call, const pair_scorer<T>& scorer) {
  constexpr double most_cells_of_chains = 1 << 20;
  round_plan<T, D> plan{};
  plan.side[0] = input.left;
  plan.side[1] = input.right;
  plan.scorer = scorer;
  plan.squared = input.squared;
  plan.reach = reach_of(input.squared);
  plan.pairs = 1;
  const auto part_of = [](u64 rows) { return static_cast<u32>(std::min(rows, 65536 + rows / 4)); };
  for (u32 s = 0; s < 2; ++s) {
    plan.pairs *= static_cast<double>(plan.side[s].rows);
    plan.samples[s] = static_cast<u32>(std::min<u64>(plan.side[s].rows, most_score_samples));
  }
  plan.images = on.template buffer<ordered::bits_t<T>>(u64{plan.samples[0]} + plan.samples[1]);
  plan.state = on.template zeroed<round_state<T, D>>(1);
  const double goal = pairs_to_find(call.k);
  if (goal > most_listed || goal > plan.pairs) return plan;
  plan.goal = goal;
  plan.capacity = {part_of(input.left.rows), part_of(input.right.rows)};
  plan.most_cells =
      static_cast<u32>(std::min(most_cells_of_chains, static_cast<double>(most_cells(plan.capacity.right))));
  plan.pool.capacity = static_cast<u32>(std::min(most_held(goal), plan.pairs));
  const bool has_entries = sizeof(T) == sizeof(u32) && call.k <= most_selected;
  allocate_together(on, piece{plan.heads, plan.most_cells}, piece{plan.points[0], plan.capacity.left},
                    piece{plan.points[1], plan.capacity.right}, piece{plan.rows[0], plan.capacity.left},
                    piece{plan.rows[1], plan.capacity.right}, piece{plan.pool.images, plan.pool.capacity},
                    piece{plan.pool.pairs, plan.pool.capacity},
                    piece{plan.pool.entries, has_entries ? plan.pool.capacity : 0});
  if (!has_entries) plan.pool.entries = nullptr;
  return plan;
}

template <class T, unsigned D, class Context>
void threshold_on_device(Context& on, const top_k_spatial_join_call& call, const pair_scorer<T>& scorer) {
  const auto rules = rules_of(call);
  auto input = open_input<T, D>(on, call, rules);
  const auto plan = plan_first_round(on, input, call, scorer);
  const learn_sides<T, D> learn{plan};
  const pick_points<T, D> pick{plan};
  const join_chains<T, D> join{plan};
  const bool has_bound = plan.goal > 0;
  on.for_teams_in_turn(device::turn{learn.teams(), learn}, device::turn{u64{has_bound}, choose_bound<T, D>{plan}},
                       device::turn{has_bound ? pick.teams() : 0, pick},
                       device::turn{has_bound ? join.teams() : 0, join});
  const auto seen = on.read(static_cast<const round_state<T, D>*>(plan.state));
  input.known = seen.known();
  input.near = seen.near;
  *call.outcome = fault_of(on, input, rules);
  if (call.outcome->fault != spatial_fault::none) return;

  const bool has_points = seen.picked.left <= seen.most.left && seen.picked.right <= seen.most.right;
  const bool is_whole = has_points && seen.is_crowded == 0 && seen.found <= plan.pool.capacity;
  if (seen.bound != 0 && is_whole && seen.found >= call.k) {
    if (call.statistics != nullptr) *call.statistics = {1, seen.picked.left, seen.picked.right, seen.found};
    best_keeper<T, Context> keeper(
        on, {plan.pool.images, plan.pool.pairs, on.template zeroed<u64>(1), plan.pool.capacity, false});
    auto* const bound = on.template buffer<pair_bound<T>>(1);
    auto found = keep_best(keeper, seen.found, bound, call.k);
    // where some were left out, those that are left lie elsewhere
    if (found.held == seen.found) found.entries = plan.pool.entries;
    return deliver(on, call, scores_of(input), scorer, found);
  }

  side_samples<T, D, Context> samples(scorer);
  samples.adopt(input, plan.images);
  if (has_bound) {
    samples.adopt_share(seen.near_share);
  } else {
    samples.learn(on, input, input.left, input.right);
  }
  const auto left_values = values_of(input.known, false, scorer.smallest);
  const auto right_values = values_of(input.known, true, scorer.smallest);
  bound_search<T, D, Context> search(on, samples, call);
  const bool is_void = seen.bound != 0 && !is_whole;
  if (seen.bound != 0 && is_whole) search.lower(seen.found);
  auto image = is_void ? seen.bound : search.bound();
  for (u64 rounds = seen.bound == 0 ? 1 : 2;; ++rounds, image = search.bound()) {
    if (image == 0) return join_all(on, call, input, scorer, rounds);
    const auto sides =
        is_void && has_points && rounds == 2
            ? place_picked(on, input, {plan.rows[0], seen.picked.left}, {plan.rows[1], seen.picked.right})
            : place_best(on, input, limit_of(scorer, left_values, right_values.best, image),
                         limit_of(scorer, right_values, left_values.best, image), scorer.smallest);
    const auto found = collect_best(on, sides, scorer, make_bound<T>(on, image), call.k, search.capacity());
    if (found.total >= call.k) {
      if (call.statistics != nullptr) *call.statistics = {rounds, sides.left.count, sides.right.count, found.total};
      return deliver(on, call, scores_of(input), scorer, found);
    }
    search.lower(found.total);
  }
}

}  // namespace detail

}  // namespace zenith::spatial_join_family
