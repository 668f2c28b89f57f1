#include <algorithm>
#include <cmath>

#include <algorithms/spatial_join/choices.hpp>
#include <algorithms/spatial_join/cost_parts.hpp>

namespace zenith::spatial_join_detail {
namespace {

// Comparisons of a host's sort of so many: of more it sorts by digits.
double compared(double items, const device_profile& on) {
  constexpr double by_digits = 512;
  return is_gpu(on) || items >= by_digits ? 0 : items * std::log2(items + 1);
}

// Trees over both sides: a sort of places on a curve, a scattered copy, levels of nodes.
cost making_trees(const spatial_join_problem& problem, const device_profile& on) {
  const auto left = static_cast<double>(problem.left_rows);
  const auto right = static_cast<double>(problem.right_rows);
  const double rows = left + right;
  const double bytes = rows * 64;
  cost all;
  add_call(all, true, on);
  all.phases.push_back(reading(problem, problem.dimensions + 1, on));
  all.phases.push_back({"trees",
                        {{static_cast<std::uint64_t>(bytes), bytes, bytes}},
                        {{"spatial_join.tree", rows, is_gpu(on) ? 100e-9 : 20e-9},
                         {"spatial_join.compared", compared(left, on) + compared(right, on), 5e-9}},
                        40,
                        cores_of(bytes, on)});
  return all;
}

// The choice of the best of some pairs that were found, and their way.
void finish(cost& all, const top_k_spatial_join_problem& problem, double found, const device_profile& on) {
  const double k = std::min(static_cast<double>(problem.k), static_cast<double>(problem.pairs));
  all.phases.push_back(selecting(found, static_cast<double>(problem.left_rows), k, on));
  // the columns' extremes, and what the first round, the last and the choice find
  add_waits(all, 4, on);
  add_transfers(all, problem, problem.dimensions + 1, k, 3, on);
}

// The left side's blocks by score, and a descent for each item that takes part.
cost tree_cost(const top_k_spatial_join_problem& problem, double blocks, double share, const device_profile& on) {
  const auto left = static_cast<double>(problem.left_rows);
  const auto pairs = static_cast<double>(problem.pairs);
  const double bytes = static_cast<double>(problem.left_rows + problem.right_rows) * 64;
  const int cores = cores_of(bytes, on);
  auto all = making_trees(problem, on);
  all.phases.push_back({"order",
                        {},
                        {{"spatial_join.block", blocks, is_gpu(on) ? 50e-9 : 8e-9},
                         {"spatial_join.compared", compared(blocks, on), 5e-9}},
                        6,
                        cores});
  all.phases.push_back({"descend",
                        {},
                        {{"spatial_join.descent", left * share, is_gpu(on) ? 700e-9 : 300e-9},
                         {"spatial_join.found", share * pairs, is_gpu(on) ? 10e-9 : 4e-9}},
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
                        cores_of(opened * 512, on)});
  finish(all, problem, pairs * std::min(1.0, leaf_share), on);
  return all;
}

double share_in_reach(const top_k_spatial_join_problem& problem) {
  return spatial_join_detail::share_in_reach(static_cast<double>(problem.k), static_cast<double>(problem.pairs));
}

double least_share(const top_k_spatial_join_problem& problem, const device_profile& on) {
  return !is_gpu(on) && problem.scores_oppose ? opposing_share : 0;
}

}  // namespace

// Trees by tiles, a sort for each axis; then each left item descends, counts its partners and keeps the first few.
// Where it has more it descends again, and sorts them.
cost index_nested_loop_cost(const spatial_join_problem& problem, const device_profile& on) {
  constexpr double kept_partners = 8;
  const auto left = static_cast<double>(problem.left_rows);
  const auto pairs = static_cast<double>(problem.pairs);
  const double partners = pairs / std::max(1.0, left);
  const double levels = 1 + std::log2(static_cast<double>(problem.right_rows) + 1) / 4;
  const double again = 1 - std::min(1.0, kept_partners / std::max(1.0, partners));
  const double descents = left * (1 + again);
  const double found = pairs * (1 + again);
  // that a ball meets, with as many items each
  const double leaves = std::pow(1 + std::pow(partners / 16, 1.0 / problem.dimensions), problem.dimensions);
  const double bytes = left * 1024;
  const int cores = cores_of(bytes, on);
  auto all = making_trees(problem, on);
  auto& trees = all.phases.back();
  for (auto& one : trees.operations) one.count *= 1 + problem.dimensions;
  if (is_gpu(on)) trees.launches *= 2;
  phase descend{"descend", {{static_cast<std::uint64_t>(bytes), 0, left * 40}}, {}, 4, cores};
  if (is_gpu(on)) {
    descend.operations = {{"spatial_join.node", descents * levels * 2, 20e-9}, {"spatial_join.found", found, 4e-9}};
  } else {
    // where partners lie in a leaf is a branch, until there are many of them
    descend.operations = {{"spatial_join.node", descents * (levels - 1 + leaves), 12.7e-9},
                          {"spatial_join.partner", found, 7e-9},
                          {"spatial_join.sought", std::min(found, 2 * leaves * descents), 28e-9}};
  }
  all.phases.push_back(std::move(descend));
  all.phases.push_back({"write",
                        {{static_cast<std::uint64_t>(pairs * 8), 0, pairs * 8}},
                        {{"spatial_join.written", pairs, 3e-9},
                         {"spatial_join.sorted", again * pairs * std::log2(partners + 2), 4.9e-9}},
                        4,
                        cores});
  add_waits(all, 3, on);
  add_transfers(all, problem, problem.dimensions, pairs, 2, on);
  return all;
}

cost ba_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  double share = share_in_reach(problem);
  // the best item of a block takes the others along
  if (!is_gpu(on)) share = problem.scores_oppose ? opposing_share : std::min(1.0, 2 * share);
  return tree_cost(problem, static_cast<double>(problem.left_rows) / 16, share, on);
}

cost sfa_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  const double share = std::max(share_in_reach(problem), least_share(problem, on));
  return tree_cost(problem, static_cast<double>(problem.left_rows), share, on);
}

cost dfa_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  // pairs of leaves that are met before the bound has risen
  const double share = static_cast<double>(problem.k) / std::max(1.0, static_cast<double>(problem.pairs));
  return node_pair_cost(problem, std::clamp(10 * std::sqrt(share), least_share(problem, on), 1.0), 1, on);
}

cost rj_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  // the best of 16 or of 256 scores on both sides; their order costs as much again
  const double share =
      std::min(1.0, static_cast<double>(problem.k) / std::max(1.0, static_cast<double>(problem.pairs)));
  return node_pair_cost(problem, std::clamp(512 * share, least_share(problem, on), 2.0), std::min(1.0, 65536 * share),
                        on);
}

}  // namespace zenith::spatial_join_detail
