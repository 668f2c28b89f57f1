#include <algorithm>
#include <cmath>
#include <string>

#include <algorithms/spatial_join/choices.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace spatial_join_detail {
namespace {

// One side's rows that take part, in cells: a count, a place, a copy of every column, all of them scattered.
phase placing(double rows, const spatial_join_problem& problem, const device_profile& on) {
  const double bytes = rows * (problem.dimensions + 1) * static_cast<double>(size_of(problem.type));
  return {"place",
          {{static_cast<std::uint64_t>(2 * bytes), 3 * bytes, 2 * bytes}},
          {{"spatial_join.place", rows, 12e-9}},
          5,
          on.grain_bytes > 0 ? cores_for(bytes * 4, on) : 0};
}

// About three pairs of neighbouring cells are tested for one that is within the distance, more where points crowd.
double tests_of(const spatial_join_problem& problem) {
  return std::max(3 * static_cast<double>(problem.pairs), static_cast<double>(problem.tests));
}

// A walk through the pairs of neighbouring cells.
phase walking(const std::string& name, double left, double pairs, double tests, double written_bytes,
              const device_profile& on) {
  const double bytes = left * 64 + pairs * 8;
  return {name,
          {{static_cast<std::uint64_t>(bytes), 0, pairs * written_bytes}},
          {{"spatial_join.probe", left, 20e-9}, {"spatial_join.test", tests, 1.5e-9}},
          1,
          on.grain_bytes > 0 ? cores_for(bytes, on) : 0};
}

phase reading(const spatial_join_problem& problem, unsigned columns, const device_profile& on) {
  const double bytes = static_cast<double>(problem.left_rows + problem.right_rows) * columns *
                       static_cast<double>(size_of(problem.type));
  return {"extremes",
          {{static_cast<std::uint64_t>(bytes), bytes, 0}},
          {},
          2,
          on.grain_bytes > 0 ? cores_for(bytes, on) : 0};
}

void add_transfers(cost& to, const spatial_join_problem& problem, unsigned columns, double pairs,
                   const device_profile& on) {
  if (problem.space != memory_space::host || on.host_to_device <= 0) return;
  to.to_device_bytes = static_cast<double>(problem.left_rows + problem.right_rows) * columns *
                       static_cast<double>(size_of(problem.type));
  to.pieces = 2 * columns;
  to.to_host_bytes = pairs * 12;
}

// Pairs with their scores: a selection of the k best, and their order.
phase selecting(double pairs, double k, const device_profile& on) {
  return {"select",
          {{static_cast<std::uint64_t>(pairs * 24), pairs * 24, pairs * 16}},
          {{"spatial_join.select", pairs, 4e-9}, {"spatial_join.order", k * std::log2(k + 2), 4e-9}},
          8,
          on.grain_bytes > 0 ? 1 : 0};
}

}  // namespace

cost grid_cost(const spatial_join_problem& problem, const device_profile& on) {
  const auto left = static_cast<double>(problem.left_rows);
  const auto pairs = static_cast<double>(problem.pairs);
  cost all;
  all.phases.push_back(reading(problem, problem.dimensions, on));
  all.phases.push_back(placing(static_cast<double>(problem.right_rows), problem, on));
  all.phases.push_back(placing(left, problem, on));
  all.phases.push_back(walking("count", left, pairs, tests_of(problem), 0, on));
  all.phases.push_back(walking("write", left, pairs, tests_of(problem), 8, on));
  add_transfers(all, problem, problem.dimensions, pairs, on);
  return all;
}

cost full_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  const auto left = static_cast<double>(problem.left_rows);
  const auto pairs = static_cast<double>(problem.pairs);
  const double k = std::min(static_cast<double>(problem.k), pairs);
  cost all;
  all.phases.push_back(reading(problem, problem.dimensions + 1, on));
  all.phases.push_back(placing(static_cast<double>(problem.right_rows), problem, on));
  all.phases.push_back(placing(left, problem, on));
  all.phases.push_back(walking("count", left, pairs, tests_of(problem), 0, on));
  all.phases.push_back(walking("append", left, pairs, tests_of(problem), 16, on));
  all.phases.push_back(selecting(pairs, k, on));
  add_transfers(all, problem, problem.dimensions + 1, k, on);
  return all;
}

cost threshold_first_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  const auto pairs = std::max(1.0, static_cast<double>(problem.pairs));
  const double goal = 1.5 * static_cast<double>(problem.k) + 16;
  // scores that are independent: of a sum, a share s of all pairs is made of a share of about the root of 2 s of both
  const double share = std::sqrt(std::min(1.0, 2 * goal / pairs));
  const double left = static_cast<double>(problem.left_rows) * share;
  const double right = static_cast<double>(problem.right_rows) * share;
  const double rounds = share < 1 ? 1 : 2;
  cost all;
  all.phases.push_back(reading(problem, problem.dimensions + 1, on));
  // samples, a guess, the choice of rows
  constexpr double launches = 6;
  all.phases.push_back({"guess",
                        {},
                        {{"spatial_join.guess", rounds, on.kind == device_kind::gpu ? 60e-6 : 400e-6}},
                        launches * rounds,
                        on.grain_bytes > 0 ? 1 : 0});
  auto pick = reading(problem, 1, on);
  pick.name = "pick";
  all.phases.push_back(std::move(pick));
  all.phases.push_back(placing(right * rounds, problem, on));
  all.phases.push_back(placing(left * rounds, problem, on));
  const double part = share * share * rounds;
  all.phases.push_back(walking("append", left * rounds, pairs * part, tests_of(problem) * part, 16, on));
  all.phases.push_back(selecting(std::min(pairs, goal), std::min(pairs, goal), on));
  add_transfers(all, problem, problem.dimensions + 1, std::min(pairs, goal), on);
  return all;
}

namespace {

// Trees over both sides: a sort of places on a curve, a scattered copy, levels of nodes.
cost making_trees(const top_k_spatial_join_problem& problem, const device_profile& on) {
  const double rows = static_cast<double>(problem.left_rows + problem.right_rows);
  const double bytes = rows * 64;
  cost all;
  all.phases.push_back(reading(problem, problem.dimensions + 1, on));
  all.phases.push_back({"trees",
                        {{static_cast<std::uint64_t>(bytes), bytes, bytes}},
                        {{"spatial_join.tree", rows, 100e-9}},
                        40,
                        on.grain_bytes > 0 ? cores_for(bytes, on) : 0});
  return all;
}

// The choice of the best of some pairs that were found, and their way.
void finish(cost& all, const top_k_spatial_join_problem& problem, double found, const device_profile& on) {
  const double k = std::min(static_cast<double>(problem.k), static_cast<double>(problem.pairs));
  all.phases.push_back(selecting(found, k, on));
  add_transfers(all, problem, problem.dimensions + 1, k, on);
}

// The left side's blocks by score, and a descent for each item that takes part.
cost tree_cost(const top_k_spatial_join_problem& problem, double blocks, double share, const device_profile& on) {
  const auto left = static_cast<double>(problem.left_rows);
  const auto pairs = static_cast<double>(problem.pairs);
  const double bytes = static_cast<double>(problem.left_rows + problem.right_rows) * 64;
  const int cores = on.grain_bytes > 0 ? cores_for(bytes, on) : 0;
  auto all = making_trees(problem, on);
  all.phases.push_back({"order", {}, {{"spatial_join.block", blocks, 50e-9}}, 6, cores});
  all.phases.push_back({"descend",
                        {},
                        {{"spatial_join.descent", left * share, 700e-9}, {"spatial_join.found", share * pairs, 10e-9}},
                        60,
                        cores});
  finish(all, problem, std::min(pairs, 4 * static_cast<double>(problem.k)), on);
  return all;
}

// Pairs of near leaves, about six of a left leaf, and of nodes above them; of both, the shares that are opened.
cost node_pair_cost(const top_k_spatial_join_problem& problem, double leaf_share, double node_share,
                    const device_profile& on) {
  const auto left = static_cast<double>(problem.left_rows);
  const auto pairs = static_cast<double>(problem.pairs);
  const double opened = left / 16 * 6 * leaf_share + left / 256 * 6 * node_share + pairs / 16 * leaf_share;
  const double rounds = 8 + std::log2(opened + 1);
  auto all = making_trees(problem, on);
  all.phases.push_back({"open",
                        {},
                        {{"spatial_join.open", opened, 290e-9}, {"spatial_join.round", rounds, 20e-6}},
                        12 * rounds,
                        on.grain_bytes > 0 ? cores_for(opened * 512, on) : 0});
  finish(all, problem, pairs * std::min(1.0, leaf_share), on);
  return all;
}

// Of items that reach the k-th score with the best partner there is, if scores are independent.
double share_in_reach(const top_k_spatial_join_problem& problem) {
  return std::sqrt(
      std::min(1.0, 2 * static_cast<double>(problem.k) / std::max(1.0, static_cast<double>(problem.pairs))));
}

}  // namespace

cost ba_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  return tree_cost(problem, static_cast<double>(problem.left_rows) / 16, share_in_reach(problem), on);
}

cost sfa_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  return tree_cost(problem, static_cast<double>(problem.left_rows), share_in_reach(problem), on);
}

cost dfa_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  // pairs of leaves that are met before the bound has risen
  const double share = static_cast<double>(problem.k) / std::max(1.0, static_cast<double>(problem.pairs));
  return node_pair_cost(problem, std::min(1.0, 10 * std::sqrt(share)), 1, on);
}

cost rj_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  // the best of 16 or of 256 scores on both sides; their order costs as much again
  const double share =
      std::min(1.0, static_cast<double>(problem.k) / std::max(1.0, static_cast<double>(problem.pairs)));
  return node_pair_cost(problem, std::min(2.0, 512 * share), std::min(1.0, 65536 * share), on);
}

}  // namespace spatial_join_detail

decision decide(const spatial_join_problem& problem, const machine& on) {
  return detail::decide(spatial_join_detail::choices, problem, on.devices(), "auto");
}
decision decide(const top_k_spatial_join_problem& problem, const machine& on) {
  return detail::decide(spatial_join_detail::top_k_choices, problem, on.devices(), "auto");
}

cost spatial_join_cost(std::string_view name, const spatial_join_problem& problem, const device_profile& on) {
  for (const auto& one : spatial_join_detail::strategies) {
    if (one.name == name) return one.model(problem, on);
  }
  throw error(error_code::invalid_argument,
              "spatial_join_cost: strategy is '" + std::string{name} + "'; the strategy with a cost model is: grid");
}
cost top_k_spatial_join_cost(std::string_view name, const top_k_spatial_join_problem& problem,
                             const device_profile& on) {
  for (const auto& one : spatial_join_detail::top_k_strategies) {
    if (one.name == name) return one.model(problem, on);
  }
  throw error(error_code::invalid_argument,
              "top_k_spatial_join_cost: strategy is '" + std::string{name} +
                  "'; the strategies with a cost model are: threshold_first, full, ba, sfa, dfa, rj");
}

}  // namespace zenith
