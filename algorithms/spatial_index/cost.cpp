#include <algorithm>
#include <cmath>

#include <algorithms/spatial_index/choices.hpp>

namespace zenith {
namespace spatial_index_detail {
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

// The order of the left side's blocks, and descents of the items that can reach the bound: of scores that are
// independent, a share of about the root of 2 k of all pairs in reach, which are taken for four an item.
cost joined(const top_k_index_join_problem& problem, const device_profile& on, double blocks, double read_share) {
  const auto left = static_cast<double>(problem.left_items);
  const auto k = static_cast<double>(problem.k);
  const double share = std::min(1.0, std::sqrt(2 * k / (4 * left + 1)));
  const double bytes = left * read_share * 256;
  const int cores = on.grain_bytes > 0 ? cores_for(bytes, on) : 0;
  cost all;
  all.phases.push_back({"order", {}, {{"spatial_index.order", blocks, 50e-9}}, 6, cores});
  const double rounds = 1 + std::log2(1 + left * read_share / 1024) / 2;
  all.phases.push_back({"descend",
                        {{static_cast<std::uint64_t>(bytes), 0, 0}},
                        {{"spatial_index.item", left * read_share, 10e-9},
                         {"spatial_index.descent", left * share, 700e-9},
                         {"spatial_index.round", rounds, 5e-6}},
                        12 * rounds,
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
  // a leaf of 16 has one item in reach far more often than an item is
  const double share = std::min(1.0, 16 * std::sqrt(2 * static_cast<double>(problem.k) / (4 * left + 1)));
  return joined(problem, on, left / 16, share);
}

cost sfa_cost(const top_k_index_join_problem& problem, const device_profile& on) {
  const auto left = static_cast<double>(problem.left_items);
  const double share = std::min(1.0, std::sqrt(2 * static_cast<double>(problem.k) / (4 * left + 1)));
  return joined(problem, on, left, share);
}

cost dfa_cost(const top_k_index_join_problem& problem, const device_profile& on) { return opened(problem, on, 1, 1); }

cost rj_cost(const top_k_index_join_problem& problem, const device_profile& on) {
  // the best of 16 or of 256 scores on both sides
  const double share =
      std::min(1.0, static_cast<double>(problem.k) / (4 * static_cast<double>(problem.left_items) + 1));
  // their order costs as much again
  return opened(problem, on, std::min(2.0, 512 * share), std::min(1.0, 65536 * share));
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
