#include <algorithm>
#include <cmath>
#include <numbers>

#include <algorithms/spatial_index/choices.hpp>
#include <algorithms/spatial_join/cost_parts.hpp>

namespace zenith {
namespace spatial_index_detail {

using spatial_join_detail::opposing_share;

namespace {

// How many bytes of an index take part: boxes, scores and ids.
double bytes_of(double items, key_type type) { return items * (4 * static_cast<double>(size_of(type)) + 4); }

void add_transfers(cost& to, double items, double results, key_type type, memory_space space,
                   const device_profile& on) {
  if (space != memory_space::host || on.host_to_device <= 0) return;
  to.to_device_bytes = bytes_of(items, type);
  to.pieces = 16;
  to.to_host_bytes = results * 16;
}

double pairs_of(const top_k_index_join_problem& problem) {
  return problem.pairs > 0 ? static_cast<double>(problem.pairs) : 4 * static_cast<double>(problem.left_items) + 1;
}

double share_in_reach(const top_k_index_join_problem& problem) {
  const auto k = static_cast<double>(problem.k);
  // those with the best scores are each other's partners
  if (problem.scores_agree) return std::min(1.0, k / pairs_of(problem));
  return spatial_join_detail::share_in_reach(k, pairs_of(problem));
}

// On a host, the order of so many blocks of the left side, and descents of a share of its items, which take longer
// where they have partners. Fitted to calls of one thread: 10^4 and 2 * 10^5 points, .2 to 60 partners a point.
cost descents(const top_k_index_join_problem& problem, const device_profile& on, double blocks, double share) {
  const auto left = static_cast<double>(problem.left_items);
  const double pairs = pairs_of(problem);
  const double descended = left * share;
  const double bytes = descended * 256;
  const int cores = cores_for(bytes, on);
  const double rounds = 1 + std::log2(1 + descended / 1024) / 2;
  cost all;
  all.phases.push_back({"order", {}, {{"spatial_index.order", blocks, 30e-9}}, 6, cores});
  all.phases.push_back({"descend",
                        {{static_cast<std::uint64_t>(bytes), 0, 0}},
                        {{"spatial_index.host_descent", descended, 450e-9},
                         {"spatial_index.partner", descended * std::min(4.0, pairs / std::max(1.0, left)), 100e-9},
                         {"spatial_index.found", share * pairs, 5e-9},
                         {"spatial_index.round", rounds, 5e-6}},
                        12 * rounds,
                        cores});
  return all;
}

// The same of pairs of near leaves, and of nodes above them. Leaves of 16 points are squares of a side w; of those on
// the other side that lie within the distance d there are (2 + 2 d / w)^2, where a point has pi 16 (d / w)^2 partners.
cost openings(const top_k_index_join_problem& problem, const device_profile& on, double leaf_share, double node_share) {
  const auto left = static_cast<double>(problem.left_items);
  const double reach = std::sqrt(pairs_of(problem) / std::max(1.0, left) / std::numbers::pi) / 4;
  const double of_a_leaf = (2 + 2 * reach) * (2 + 2 * reach);
  const double nodes = left / 16 * of_a_leaf * leaf_share + left / 256 * 6 * node_share;
  const double rounds = 8 + std::log2(nodes + 1);
  cost all;
  all.phases.push_back({"open",
                        {},
                        {{"spatial_index.host_open", nodes, 460e-9}, {"spatial_index.round", rounds, 20e-6}},
                        12 * rounds,
                        cores_for(nodes * 512, on)});
  return all;
}

// Where many tie for the best score no bound keeps pairs of nodes out.
double least_share(const top_k_index_join_problem& problem) {
  if (problem.tied > 4 * problem.k) return 1;
  return problem.scores_oppose ? opposing_share : 0;
}

bool is_host(const device_profile& on) { return on.kind != device_kind::gpu; }

// On a GPU, the order of the left side's blocks, and descents of the items that can reach the bound. An H200 takes .25
// ms besides, and 60 us a round.
cost joined(const top_k_index_join_problem& problem, const device_profile& on, double blocks, double read_share) {
  const auto left = static_cast<double>(problem.left_items);
  const auto k = static_cast<double>(problem.k);
  const double share = share_in_reach(problem);
  const double bytes = left * read_share * 256;
  const int cores = on.grain_bytes > 0 ? cores_for(bytes, on) : 0;
  cost all;
  all.phases.push_back({"order", {}, {{"spatial_index.order", blocks, 50e-9}}, 60, cores});
  const double rounds = 1 + std::log2(1 + left * read_share / 32768) / 2;
  all.phases.push_back({"descend",
                        {{static_cast<std::uint64_t>(bytes), 0, 0}},
                        {{"spatial_index.item", left * read_share, 10e-9},
                         {"spatial_index.descent", left * share, 700e-9},
                         {"spatial_index.round", rounds, 5e-6}},
                        20 * rounds,
                        cores});
  add_transfers(all, left + static_cast<double>(problem.right_items), k, problem.type, problem.space, on);
  return all;
}

// Pairs of near leaves, about six of a left leaf, and of nodes above them; of both, the shares that are opened.
cost opened(const top_k_index_join_problem& problem, const device_profile& on, double leaf_share, double node_share) {
  const auto left = static_cast<double>(problem.left_items);
  const auto k = static_cast<double>(problem.k);
  const double leaves = left / 16 * 6 * leaf_share;
  const double nodes = left / 256 * 6 * node_share;
  const double bytes = (leaves + nodes) * 512;
  const int cores = on.grain_bytes > 0 ? cores_for(bytes, on) : 0;
  const double rounds = 8 + std::log2(leaves + nodes + 1);
  cost all;
  all.phases.push_back({"open",
                        {{static_cast<std::uint64_t>(bytes), 0, 0}},
                        {{"spatial_index.open", leaves + nodes, 290e-9},
                         {"spatial_index.found", std::min(left * leaf_share, 4 * left) + k, 8e-9},
                         {"spatial_index.round", rounds, 20e-6}},
                        12 * rounds,
                        cores});
  add_transfers(all, left + static_cast<double>(problem.right_items), k, problem.type, problem.space, on);
  return all;
}

}  // namespace

// Fitted to points: 18 ns an item of some ten thousand, 36 of a million, on one thread of a host; an H200 takes about
// 25 launches a level.
void add_build(cost& to, std::uint64_t items, int indexes, const device_profile& on) {
  const auto count = static_cast<double>(items);
  const double levels = std::max(1.0, std::log2(count / indexes) / 4);
  if (is_host(on)) {
    const double misses = std::max(1.0, levels - 3);
    // as many as build it, of which 16 work as well as four
    const double workers = std::clamp(count / indexes / 16384, 1.0, std::max(1.0, static_cast<double>(on.cores)));
    const double busy = 1 + (workers - 1) / 5;
    to.phases.push_back({"build", {}, {{"spatial_index.host_build", count * misses / busy, 18e-9}}, 0, 1});
  } else {
    to.phases.push_back({"build", {}, {{"spatial_index.build", count, .12e-9}}, 25 * levels * indexes, 0});
  }
}

cost descent_cost(const top_k_range_problem& problem, const device_profile& on) {
  const auto k = static_cast<double>(std::min(problem.k, problem.items));
  const double levels = 1 + std::log2(static_cast<double>(problem.items) + 1) / 4;
  cost all;
  all.phases.push_back({"descent",
                        {},
                        {{"spatial_index.level", levels, 2e-6}, {"spatial_index.entry", 16 * levels * (k + 16), 4e-9}},
                        8 * levels,
                        1});
  add_transfers(all, static_cast<double>(problem.items), k, problem.type, problem.space, on);
  return all;
}

cost index_nested_loop_cost(const index_join_problem& problem, const device_profile& on) {
  const auto left = static_cast<double>(problem.left_items);
  const auto right = static_cast<double>(problem.right_items);
  const double levels = 1 + std::log2(right + 1) / 4;
  const double bytes = left * 512;
  cost all;
  // four partners an item
  all.phases.push_back({"descend",
                        {{static_cast<std::uint64_t>(bytes), 0, 0}},
                        {{"spatial_index.node", left * levels * 2, 20e-9}, {"spatial_index.found", 4 * left, 10e-9}},
                        4,
                        on.grain_bytes > 0 ? cores_for(bytes, on) : 0});
  add_transfers(all, left + right, 4 * left, problem.type, problem.space, on);
  return all;
}

cost ba_cost(const top_k_index_join_problem& problem, const device_profile& on) {
  const auto left = static_cast<double>(problem.left_items);
  const double share = share_in_reach(problem);
  if (is_host(on)) {
    // the best item of a block takes the others along, unless they are as good
    if (problem.scores_agree) return descents(problem, on, left / 16, share);
    return descents(problem, on, left / 16, problem.scores_oppose ? opposing_share : std::min(1.0, 2 * share));
  }
  // a leaf of 16 has one item in reach far more often than an item is
  return joined(problem, on, left / 16, std::min(1.0, 16 * share));
}

cost sfa_cost(const top_k_index_join_problem& problem, const device_profile& on) {
  const auto left = static_cast<double>(problem.left_items);
  const double share = share_in_reach(problem);
  if (is_host(on)) return descents(problem, on, left, problem.scores_oppose ? std::max(opposing_share, share) : share);
  return joined(problem, on, left, share);
}

cost dfa_cost(const top_k_index_join_problem& problem, const device_profile& on) {
  if (!is_host(on)) return opened(problem, on, 1, 1);
  // pairs of leaves that are met before the bound has risen
  const double share = 10 * std::sqrt(static_cast<double>(problem.k) / pairs_of(problem));
  return openings(problem, on, std::clamp(share, least_share(problem), 1.0), 1);
}

cost rj_cost(const top_k_index_join_problem& problem, const device_profile& on) {
  // the best of 16 or of 256 scores on both sides
  const double share = std::min(1.0, static_cast<double>(problem.k) / pairs_of(problem));
  if (problem.scores_agree && is_host(on)) {
    return openings(problem, on, std::max(share, least_share(problem)), std::min(1.0, 16 * share));
  }
  // their order costs as much again
  const double leaves = std::min(2.0, 512 * share);
  const double nodes = std::min(1.0, 65536 * share);
  return is_host(on) ? openings(problem, on, std::max(leaves, least_share(problem)), nodes)
                     : opened(problem, on, leaves, nodes);
}

}  // namespace spatial_index_detail

decision decide(const index_join_problem& problem, const machine& on) {
  return detail::decide(spatial_index_detail::all_pairs_choices, problem, on.devices(), "auto");
}
decision decide(const top_k_range_problem& problem, const machine& on) {
  return detail::decide(spatial_index_detail::range_choices, problem, on.devices(), "auto");
}
decision decide(const top_k_index_join_problem& problem, const machine& on) {
  return detail::decide(spatial_index_detail::join_choices, problem, on.devices(), "auto");
}

}  // namespace zenith
