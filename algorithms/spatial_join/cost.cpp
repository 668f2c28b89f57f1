#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include <algorithms/spatial_join/choices.hpp>
#include <algorithms/spatial_join/placed_rows.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace spatial_join_detail {
namespace {

bool is_gpu(const device_profile& on) { return on.kind == device_kind::gpu; }

// One side's rows that take part, in cells: a count, a place, a copy of every column, all of them scattered.
phase placing(double rows, const spatial_join_problem& problem, const device_profile& on,
              std::string_view name = "place") {
  const double bytes = rows * (problem.dimensions + 1) * static_cast<double>(size_of(problem.type));
  return {name,
          {{static_cast<std::uint64_t>(2 * bytes), 3 * bytes, 2 * bytes}},
          {{"spatial_join.place", rows, 12e-9}},
          5,
          on.grain_bytes > 0 ? cores_for(bytes * 4, on) : 0};
}

// Pairs of points in neighbouring cells, which are as wide as the distance: 9 squares around a circle, 27 cubes around
// a ball. Where points crowd there are more.
double tests_of(const spatial_join_problem& problem) {
  const double times = problem.dimensions == 3 ? 6.5 : 3;
  return std::max(times * static_cast<double>(problem.pairs), static_cast<double>(problem.tests));
}

// A walk through the pairs of neighbouring cells. A host's core reaches several tests at a time; of a GPU's threads
// that run together the longest decides, and each test waits for the place of a point.
phase walking(std::string_view name, double left, double pairs, double tests, double written_bytes,
              const device_profile& on) {
  const double bytes = left * 64 + pairs * 8;
  phase walk{name,
             {{static_cast<std::uint64_t>(bytes), 0, pairs * written_bytes}},
             {{"spatial_join.probe", left, 20e-9}, {"spatial_join.test", tests, is_gpu(on) ? 5.3e-9 : 1.5e-9}},
             1,
             on.grain_bytes > 0 ? cores_for(bytes, on) : 0};
  if (is_gpu(on)) {
    // offsets of what is written, or the pool
    walk.launches = 4;
    // all threads wait at the same time, whatever their count
    const double of_a_row = tests / std::max(1.0, left);
    walk.operations.push_back({"spatial_join.chain", of_a_row * on.cores, 0.7e-6});
  }
  return walk;
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

// What a GPU's call pays besides its launches: scratch, and values that the host waits for.
void add_waits(cost& to, double waits, const device_profile& on) {
  if (!is_gpu(on)) return;
  to.phases.push_back(
      {"wait", {}, {{"spatial_join.call", 1, 20e-6}, {"spatial_join.wait", waits, on.link_latency}}, 0, 1});
}

// Seconds of one copy of so many bytes, when the one before it has been queued.
double copy_seconds(double bytes, bool is_back, const device_profile& on) {
  cost copied;
  (is_back ? copied.to_host_bytes : copied.to_device_bytes) = bytes;
  return bytes > 0 ? seconds(copied, on) - on.link_latency : 0;
}

// Each column is a copy of its own, which begins as slowly as a short one does, and no kernel runs before the last has
// arrived. Of the results, each column is a copy as well, into memory that the host has filled with zeros.
void add_transfers(cost& to, const spatial_join_problem& problem, unsigned columns, double pairs,
                   unsigned result_columns, const device_profile& on) {
  if (problem.space != memory_space::host || on.host_to_device <= 0) return;
  const auto value = static_cast<double>(size_of(problem.type));
  const double left = copy_seconds(static_cast<double>(problem.left_rows) * value, false, on);
  const double right = copy_seconds(static_cast<double>(problem.right_rows) * value, false, on);
  // the rate is a factor: the copies' seconds are known of the link
  to.phases.push_back({"columns",
                       {},
                       {{"spatial_join.wait", 1, on.link_latency}, {"spatial_join.copy", columns * (left + right), 1}},
                       2.0 * columns,
                       1});
  const double bytes = pairs * 4;
  const double others = result_columns - 1;
  to.phases.push_back({"results",
                       {},
                       {{"spatial_join.zero", bytes * result_columns, 0.08e-9},
                        {"spatial_join.copy", others * copy_seconds(bytes, true, on), 1}},
                       others,
                       1});
  to.to_host_bytes = bytes;
}

// Of so many items, those whose comparisons a core's branch predictor does not remember from the last call.
double unpredicted(double items) {
  constexpr double remembered = 4096;
  return std::max(0.0, items - remembered);
}

// Pairs with their scores: a selection of the k best, and their order.
phase selecting(double pairs, double k, const device_profile& on) {
  phase select{"select",
               {{static_cast<std::uint64_t>(pairs * 24), pairs * 24, pairs * 16}},
               {{"spatial_join.select", pairs, 4e-9}, {"spatial_join.order", k * std::log2(k + 2), 4e-9}},
               8,
               on.grain_bytes > 0 ? 1 : 0};
  if (!is_gpu(on)) select.operations.push_back({"spatial_join.select_unpredicted", unpredicted(pairs), 16e-9});
  return select;
}

// On a GPU, the k best of more pairs are found first, and those that tie with the last: both counts go to the host.
void add_keeping(cost& to, const device_profile& on) {
  if (is_gpu(on)) to.phases.push_back({"keep", {}, {{"spatial_join.wait", 2, on.link_latency}}, 12, 1});
}

}  // namespace

namespace {

// What a device's join does with the left rows, in groups (`group_sizes`): it counts their partners, and writes them.
// Where rows have many candidates they are taken in the order of cells, and where these are more still, the rows of a
// cell share them: each then lists as many as there are cells around it, whatever their points. Fitted to 2^20 points
// and 3 to 512 partners in two and three dimensions (perf/notes/spatial-join.md).
void add_groups(cost& to, const spatial_join_problem& problem, const device_profile& on) {
  const auto left = static_cast<double>(problem.left_rows);
  const auto pairs = static_cast<double>(problem.pairs);
  const double tests = tests_of(problem);
  const double of_a_row = tests / std::max(1.0, left);
  const double cells = problem.dimensions == 3 ? 27 : 9;
  constexpr auto sizes = spatial_join_family::sizes_of_groups<void>;
  const bool is_ordered = left >= sizes.groups && of_a_row > sizes.few;
  const double candidate_bytes = 4 + problem.dimensions * static_cast<double>(size_of(problem.type));
  const double most_shared = sizes.together / candidate_bytes * sizes.eighths / 8;
  if (is_ordered) to.phases.push_back(placing(left, problem, on, "order"));
  for (const bool writes : {false, true}) {
    const bool shares =
        is_ordered && of_a_row >= (writes ? sizes.crowded * cells : sizes.many) && of_a_row <= most_shared;
    phase walk{writes ? "write" : "count",
               {{static_cast<std::uint64_t>(left * 64 + pairs * 8), 0, writes ? pairs * 8 : 0}},
               {{"spatial_join.group_row", left, is_ordered ? 14e-9 : 4e-9},
                {"spatial_join.listed", shares ? left * cells : 0, writes ? 4.4e-9 : 2.2e-9},
                // a lane tests some candidates, one after the other, and all lanes wait at the same time
                {"spatial_join.chain", std::min(of_a_row, double{sizes.some}) * on.cores, 0.7e-6}},
               4,
               0};
    if (shares) {
      walk.operations.push_back({"spatial_join.shared_test", tests, 0.2e-9});
    } else if (is_ordered) {
      walk.operations.push_back({"spatial_join.ordered_test", tests, 0.34e-9});
    } else {
      walk.operations.push_back({"spatial_join.group_test", tests, 0.6e-9});
    }
    to.phases.push_back(std::move(walk));
  }
}

// Workers who scatter and gather rows of the same memory take its lines from each other, with each doubling of their
// number as much again.
work taken_lines(double rows, int workers) {
  return {"spatial_join.taken_lines", rows * std::log2(std::max(1, workers)), 5e-9};
}

// What a host's join does with the left rows: it moves them to buckets, lists the partners of 256 at a time and sorts
// them, and writes them by rows. Where a group has too many candidates its partners are only counted, and where lists
// have no space for all, or are not made, partners are looked for again when they are written, by a worker for a part
// of the rows. Fitted to 2^16 to 2^22 points of 3 to 98 partners (perf/notes/spatial-join.md).
void add_lists(cost& to, const spatial_join_problem& problem, const device_profile& on) {
  constexpr double kept_partners = spatial_join_family::kept_partners;
  constexpr double space = 32;  // candidates of a row in a group's lists
  const auto left = static_cast<double>(problem.left_rows);
  const auto pairs = static_cast<double>(problem.pairs);
  const double tests = tests_of(problem);
  const double rows = std::max(1.0, left);
  const double partners = pairs / rows;
  const double tests_of_row = tests / rows;
  const double parts = std::clamp(std::floor(left / 8192), 1.0, std::max(64.0, 4.0 * on.cores));
  const double groups = std::ceil(left / 256);
  const auto cores_of = [&](double items, double item_bytes) {
    return on.grain_bytes > 0 ? cores_for(items * item_bytes, on) : 0;
  };
  const auto set = static_cast<std::uint64_t>(left * 64 + pairs * 8);
  // more than kept_partners are sorted by comparisons
  const double sorted = pairs * std::log2(partners + 2);
  const double sorted_lists = std::clamp((partners - kept_partners / 2) / kept_partners, 0.0, 1.0);
  const double in_group = std::min(1.0, space / tests_of_row);
  to.phases.push_back(
      {"buckets", {{set, left * 16, left * 12}}, {{"spatial_join.bucket", left, 7e-9}}, 2, cores_of(parts, 1 << 19)});
  to.phases.push_back({"list",
                       {{set, 0, std::min(pairs, left * kept_partners) * 4}},
                       {{"spatial_join.probe", left, 12e-9},
                        {"spatial_join.listed_test", tests * in_group, 1.5e-9},
                        {"spatial_join.counted_test", in_group < 1 ? tests : 0, 3.8e-9},
                        {"spatial_join.listed_row", left, 18e-9},
                        {"spatial_join.sorted", sorted * sorted_lists * in_group, 5e-9},
                        taken_lines(left, cores_of(groups, 256 * 512))},
                       1,
                       cores_of(groups, 256 * 512)});
  const double again = in_group < 1 ? 1 : 1 - std::min(1.0, kept_partners / partners);
  to.phases.push_back({"write",
                       {{set, 0, pairs * 8}},
                       {{"spatial_join.written_row", left, 7e-9},
                        {"spatial_join.written", pairs, 1.5e-9},
                        {"spatial_join.probe", left * again, 12e-9},
                        {"spatial_join.counted_test", tests * again, 3.8e-9},
                        {"spatial_join.sorted", sorted * again, 4e-9}},
                       2,
                       cores_of(parts, 1 << 19)});
}

// Memory for the pairs, in vectors that are new: the system clears pages of 4 KiB, or large ones where there are whole
// ones, and their owner fills them with zeros. Of many workers, few gain by each other.
void add_pages(cost& to, double pairs, const device_profile& on) {
  constexpr double kept_bytes = 1 << 18;
  constexpr double short_bytes = 4 << 20;
  constexpr int most_workers = 3;
  const double bytes = std::max(0.0, pairs * 8 - kept_bytes);
  to.phases.push_back({"pages",
                       {},
                       {{"spatial_join.fresh_byte", std::min(bytes, short_bytes), 0.36e-9},
                        {"spatial_join.large_page_byte", std::max(0.0, bytes - short_bytes), 0.13e-9}},
                       2,
                       std::min(most_workers, cores_for(bytes, on))});
}

}  // namespace

cost grid_cost(const spatial_join_problem& problem, const device_profile& on) {
  const auto pairs = static_cast<double>(problem.pairs);
  cost all;
  all.phases.push_back(reading(problem, problem.dimensions, on));
  // only the right side goes to cells
  all.phases.push_back(placing(static_cast<double>(problem.right_rows), problem, on));
  if (is_gpu(on)) {
    add_groups(all, problem, on);
  } else {
    auto& place = all.phases.back();
    place.operations.push_back(taken_lines(static_cast<double>(problem.right_rows), place.cores));
    add_lists(all, problem, on);
  }
  if (on.grain_bytes > 0) add_pages(all, pairs, on);
  // the columns' extremes, and how many pairs there are
  add_waits(all, 2, on);
  add_transfers(all, problem, problem.dimensions, pairs, 2, on);
  return all;
}

cost full_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  const auto left = static_cast<double>(problem.left_rows);
  const auto pairs = static_cast<double>(problem.pairs);
  const double k = std::min(static_cast<double>(problem.k), pairs);
  cost all;
  if (!is_gpu(on)) all.phases.push_back({"call", {}, {{"spatial_join.host_call", 1, 4e-6}}, 0, 1});
  all.phases.push_back(reading(problem, problem.dimensions + 1, on));
  all.phases.push_back(placing(static_cast<double>(problem.right_rows), problem, on));
  all.phases.push_back(placing(left, problem, on));
  all.phases.push_back(walking("count", left, pairs, tests_of(problem), 0, on));
  all.phases.push_back(walking("append", left, pairs, tests_of(problem), 16, on));
  all.phases.push_back(selecting(pairs, k, on));
  if (k < pairs) add_keeping(all, on);
  // the columns' extremes, how many pairs there are and the most of a row, and how many the pool holds
  add_waits(all, 4, on);
  add_transfers(all, problem, problem.dimensions + 1, k, 3, on);
  return all;
}

namespace {

// Up to 1024 rows of each side are drawn and sorted by score, and the places of 512 are compared with each other. A
// bound is found in the sorted scores.
void add_guess(cost& to, const spatial_join_problem& problem, double goal, double share, const device_profile& on) {
  constexpr double launches = 6;
  if (is_gpu(on)) {
    to.phases.push_back({"guess", {}, {{"spatial_join.guess", 1, 50e-6}}, launches, 1});
    return;
  }
  const auto drawn = [](std::uint64_t rows, std::uint64_t most) { return static_cast<double>(std::min(rows, most)); };
  constexpr std::uint64_t most_scores = 1024;
  constexpr std::uint64_t most_places = 512;
  const double left_scores = drawn(problem.left_rows, most_scores);
  const double right_scores = drawn(problem.right_rows, most_scores);
  const double left = drawn(problem.left_rows, most_places);
  // Of the best pairs of samples as many as are of all pairs' best; of many, every second sample or fewer stand for
  // all. Pairs with a product of ranks of no more are listed.
  constexpr double most_wanted = 512;
  const double taken = goal / std::max(1.0, static_cast<double>(problem.pairs)) * left_scores * right_scores;
  const double step = std::ceil(std::sqrt(std::max(1.0, taken / most_wanted)));
  const double wanted = std::clamp(taken / (step * step), 4.0, most_wanted);
  // where most of all pairs are wanted there is no bound
  const double listed = share < 1 ? wanted * (1 + std::log(wanted)) : 0;
  to.phases.push_back({"guess",
                       {},
                       {{"spatial_join.guess", 1, 8e-6},
                        {"spatial_join.sample", left_scores + right_scores, 20e-9},
                        {"spatial_join.list", listed, 15e-9}},
                       launches,
                       on.grain_bytes > 0 ? 1 : 0});
  // as many places at a time as a register holds; too few for a second worker to gain by them
  const double of_a_pair = 21e-9 / std::max(4, on.simd_bytes);
  to.phases.push_back({"near",
                       {},
                       {{"spatial_join.near", left * drawn(problem.right_rows, most_places), of_a_pair}},
                       1,
                       on.grain_bytes > 0 ? 1 : 0});
}

// Where scores oppose each other no row is spared, but on a host the pairs of the smaller side with samples of the
// other say the bound: all rows are picked and joined once, and few pairs are kept.
cost sampled_rounds_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  const auto left = static_cast<double>(problem.left_rows);
  const auto right = static_cast<double>(problem.right_rows);
  const double goal = std::min(static_cast<double>(problem.pairs), 1.5 * static_cast<double>(problem.k) + 16);
  cost all;
  all.phases.push_back(reading(problem, problem.dimensions + 1, on));
  add_guess(all, problem, goal, 0, on);
  auto samples = walking("samples", std::min(left, right), 0, 0, 0, on);
  samples.operations.push_back({"spatial_join.sampled", std::min(left, right), 14e-9});
  all.phases.push_back(std::move(samples));
  auto pick = reading(problem, problem.dimensions + 1, on);
  pick.name = "pick";
  pick.operations.push_back({"spatial_join.pick", left + right, 16e-9});
  all.phases.push_back(std::move(pick));
  all.phases.push_back(placing(right, problem, on));
  all.phases.push_back(walking("append", left, goal, tests_of(problem), 16, on));
  all.phases.push_back(selecting(goal, goal, on));
  return all;
}

}  // namespace

cost threshold_first_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  if (problem.scores_oppose && !is_gpu(on)) return sampled_rounds_cost(problem, on);
  // a first bound lets too few pairs through; those that follow spare hardly a row, or all are joined
  if (problem.scores_oppose) {
    auto all = full_cost(problem, on);
    for (int rounds = 0; rounds < 3; ++rounds) all.phases.push_back(reading(problem, problem.dimensions + 1, on));
    add_waits(all, 6, on);
    return all;
  }
  const auto pairs = std::max(1.0, static_cast<double>(problem.pairs));
  const double goal = 1.5 * static_cast<double>(problem.k) + 16;
  // scores that are independent: of a sum, a share s of all pairs is made of a share of about the root of 2 s of both
  const double share = std::sqrt(std::min(1.0, 2 * goal / pairs));
  const double left = static_cast<double>(problem.left_rows) * share;
  const double right = static_cast<double>(problem.right_rows) * share;
  const double rounds = share < 1 ? 1 : 2;
  cost all;
  all.phases.push_back(reading(problem, problem.dimensions + 1, on));
  add_guess(all, problem, goal, share, on);
  auto pick = reading(problem, 1, on);
  pick.name = "pick";
  all.phases.push_back(std::move(pick));
  all.phases.push_back(placing(right * rounds, problem, on));
  all.phases.push_back(placing(left * rounds, problem, on));
  const double part = share * share * rounds;
  all.phases.push_back(walking("append", left * rounds, pairs * part, tests_of(problem) * part, 16, on));
  all.phases.push_back(selecting(std::min(pairs, goal), std::min(pairs, goal), on));
  if (is_gpu(on)) {
    // all of it in one launch, then the choice and the order; one answer says how many pairs there are
    const double all_launches = problem.k > 1024 ? 15 : 3;  // of more, a sort
    for (auto& one : all.phases) one.launches = 0;
    all.phases.front().launches = all_launches;
  }
  add_waits(all, 1, on);
  add_transfers(all, problem, problem.dimensions + 1, std::min(pairs, static_cast<double>(problem.k)), 3, on);
  return all;
}

namespace {

// Trees over both sides: a sort of places on a curve, a scattered copy, levels of nodes.
cost making_trees(const top_k_spatial_join_problem& problem, const device_profile& on) {
  const double rows = static_cast<double>(problem.left_rows + problem.right_rows);
  const double bytes = rows * 64;
  cost all;
  if (!is_gpu(on)) all.phases.push_back({"call", {}, {{"spatial_join.host_call", 1, 4e-6}}, 0, 1});
  all.phases.push_back(reading(problem, problem.dimensions + 1, on));
  all.phases.push_back({"trees",
                        {{static_cast<std::uint64_t>(bytes), bytes, bytes}},
                        {{"spatial_join.tree", rows, is_gpu(on) ? 100e-9 : 42e-9},
                         {"spatial_join.tree_unpredicted", is_gpu(on) ? 0 : unpredicted(2 * rows) / 2, 180e-9}},
                        40,
                        on.grain_bytes > 0 ? cores_for(bytes, on) : 0});
  return all;
}

// The choice of the best of some pairs that were found, and their way.
void finish(cost& all, const top_k_spatial_join_problem& problem, double found, const device_profile& on) {
  const double k = std::min(static_cast<double>(problem.k), static_cast<double>(problem.pairs));
  all.phases.push_back(selecting(found, k, on));
  // the columns' extremes, and what the first round, the last and the choice find
  add_waits(all, 4, on);
  add_transfers(all, problem, problem.dimensions + 1, k, 3, on);
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
                        {{"spatial_join.descent", left * share, is_gpu(on) ? 700e-9 : 300e-9},
                         {"spatial_join.found", share * pairs, 10e-9}},
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
