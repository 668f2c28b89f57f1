#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include <algorithms/spatial_join/choices.hpp>
#include <algorithms/spatial_join/cost_parts.hpp>
#include <algorithms/spatial_join/goal.hpp>
#include <core/core_speed.hpp>
#include <core/message.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace spatial_join_detail {

using spatial_join_family::most_held;
using spatial_join_family::pairs_to_find;

namespace {

// A walk through the pairs of neighbouring cells. A host's core reaches several tests at a time; of a GPU's threads
// that run together the longest decides, and each test waits for the place of a point. A host wakes a worker for so
// many bytes as the kernel says that a row is worth.
phase walking(std::string_view name, double left, double pairs, double tests, double written_bytes, double row_bytes,
              const device_profile& on) {
  const double bytes = left * 64 + pairs * 8;
  phase walk{name,
             {{static_cast<std::uint64_t>(bytes), 0, pairs * written_bytes}},
             {{"spatial_join.probe", left, is_gpu(on) ? 20e-9 : 22e-9},
              {"spatial_join.test", tests, is_gpu(on) ? 5.3e-9 : 0.8e-9}},
             1,
             cores_of(left * row_bytes, on)};
  if (is_gpu(on)) {
    // offsets of what is written, or the pool
    walk.launches = 4;
    // all threads wait at the same time, whatever their count
    const double of_a_row = tests / std::max(1.0, left);
    walk.operations.push_back({"spatial_join.chain", of_a_row * on.cores, 0.7e-6});
  }
  return walk;
}

// The same for rows that are taken one after the other: how many partners each has is a branch.
phase walking_by_rows(std::string_view name, double left, double pairs, double tests, double written_bytes,
                      const device_profile& on) {
  constexpr double row_bytes = 512;
  auto walk = walking(name, left, pairs, tests, written_bytes, row_bytes, on);
  if (!is_gpu(on)) walk.operations.push_back({"spatial_join.partner", unpredicted(pairs, left), 7e-9});
  return walk;
}

// On a GPU, the k best of more pairs are found first, and those that tie with the last: both counts go to the host.
void add_keeping(cost& to, const device_profile& on) {
  if (is_gpu(on)) to.phases.push_back({"keep", {}, {{"spatial_join.wait", 2, on.link_latency}}, 12, 1});
}

// Pairs of points in some cells are counted: all rows are read, and one worker joins the points that are drawn.
void add_cells(cost& to, const top_k_spatial_join_problem& problem, double times, const device_profile& on) {
  const auto rows = static_cast<double>(problem.left_rows + problem.right_rows);
  const int cores = cores_of(rows * problem.dimensions * static_cast<double>(size_of(problem.type)), on);
  to.phases.push_back({"draw", {}, {{"spatial_join.cell_row", times * rows, .5e-9}}, 2, cores});
  to.phases.push_back({"cells", {}, {{"spatial_join.cells", times, 40e-6}}, 0, 1});
}

// Bytes that a row of picked points, and one of a side that is joined with samples, are worth to a host.
constexpr double picked_row_bytes = 128;
constexpr double sampled_row_bytes = 64;

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
                       {{"spatial_join.guess", 1, 6e-6},
                        {"spatial_join.sample", left_scores + right_scores, 7e-9},
                        {"spatial_join.list", listed, 4.5e-9}},
                       launches,
                       on.grain_bytes > 0 ? 1 : 0});
  // For as many places at a time as a register holds; too few for a second worker to gain by them. Of 32 places at a
  // time the sum is added where it is not 0, which is a branch.
  const double of_a_pair = detail::vector_estimate(0.2e-9 + 2e-9 / std::max(4, on.simd_bytes), on);
  const double tested = left * drawn(problem.right_rows, most_places);
  const double near = tested * std::min(1.0, static_cast<double>(problem.pairs) /
                                                 (static_cast<double>(problem.left_rows) *
                                                  static_cast<double>(std::max<std::uint64_t>(1, problem.right_rows))));
  const double sums = tested / 32;
  to.phases.push_back({"near",
                       {},
                       {{"spatial_join.near", tested, of_a_pair},
                        {"spatial_join.near_sum", sums > 0 ? sums * -std::expm1(-near / sums) : 0, 15e-9}},
                       1,
                       on.grain_bytes > 0 ? 1 : 0});
}

// Where a host reads columns it lists the rows that reach a limit, and copies them.
phase picking(const top_k_spatial_join_problem& problem, double picked, const device_profile& on) {
  const auto rows = static_cast<double>(problem.left_rows + problem.right_rows);
  const double bytes = rows * (problem.dimensions + 1) * static_cast<double>(size_of(problem.type));
  return {"pick",
          {},
          {{"spatial_join.read_row", rows, 0.3e-9}, {"spatial_join.pick", picked, 4e-9}},
          0,
          cores_of(bytes, on)};
}

}  // namespace

cost full_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  const auto left = static_cast<double>(problem.left_rows);
  const auto pairs = static_cast<double>(problem.pairs);
  const double k = std::min(static_cast<double>(problem.k), pairs);
  cost all;
  add_call(all, true, on);
  if (problem.may_hide_pairs && !is_gpu(on)) {
    // Not work of this strategy: more pairs may take many times as long. A little more than what threshold_first takes
    // to ask for them, so that this one is chosen.
    cost asking;
    add_guess(asking, problem, pairs_to_find(problem.k), 1, on);
    asking.phases.push_back(picking(problem, 0, on));
    add_cells(asking, problem, 2, on);
    all.phases.push_back({"pairs that may hide", {}, {{"spatial_join.hidden", seconds(asking, on), 1}}, 0, 1});
  }
  all.phases.push_back(reading(problem, problem.dimensions + 1, on));
  all.phases.push_back(placing(static_cast<double>(problem.right_rows), problem, on));
  all.phases.push_back(placing(left, problem, on));
  all.phases.push_back(walking_by_rows("count", left, pairs, tests_of(problem), 0, on));
  all.phases.push_back(walking_by_rows("append", left, pairs, tests_of(problem), 16, on));
  all.phases.push_back(selecting(pairs, left, k, on));
  if (k < pairs) add_keeping(all, on);
  // the columns' extremes, how many pairs there are and the most of a row, and how many the pool holds
  add_waits(all, 4, on);
  add_transfers(all, problem, problem.dimensions + 1, k, 3, on);
  return all;
}

namespace {

// Where scores oppose each other no row is spared, but on a host the pairs of the smaller side with samples of the
// other say the bound: all rows are picked and joined once, and few pairs are kept.
cost sampled_rounds_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  const auto left = static_cast<double>(problem.left_rows);
  const auto right = static_cast<double>(problem.right_rows);
  const double goal = std::min(static_cast<double>(problem.pairs), pairs_to_find(problem.k));
  cost all;
  all.phases.push_back(reading(problem, problem.dimensions + 1, on));
  add_guess(all, problem, goal, 0, on);
  // A sample has as many partners as any row of its side; where they lie is a branch.
  constexpr double samples = 512;
  const double rows = std::min(left, right);
  const double partners = static_cast<double>(problem.pairs) * std::min(1.0, samples / std::max(left, right));
  all.phases.push_back({"samples",
                        {},
                        {{"spatial_join.sampled_row", rows, 11e-9}, {"spatial_join.sampled", partners, 57e-9}},
                        1,
                        cores_of(rows * sampled_row_bytes, on)});
  all.phases.push_back(picking(problem, left + right, on));
  all.phases.push_back(placing(right, problem, on));
  all.phases.push_back(walking("append", left, goal, tests_of(problem), 16, picked_row_bytes, on));
  all.phases.push_back(selecting(goal, left, std::min(goal, static_cast<double>(problem.k)), on));
  return all;
}

// Where more pairs have the best score than a pool holds, a host finds them all, counts them and takes them in batches.
cost tied_rounds_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  const auto tied = static_cast<double>(problem.tied);
  const double part = std::min(1.0, tied / std::max(1.0, static_cast<double>(problem.pairs)));
  const double left = static_cast<double>(problem.left_rows) * std::sqrt(part);
  const double right = static_cast<double>(problem.right_rows) * std::sqrt(part);
  cost all;
  all.phases.push_back(reading(problem, problem.dimensions + 1, on));
  add_guess(all, problem, pairs_to_find(problem.k), 0, on);
  all.phases.push_back(picking(problem, left + right, on));
  all.phases.push_back(placing(right, problem, on));
  all.phases.push_back(walking("append", left, tied, tests_of(problem) * part, 16, picked_row_bytes, on));
  for (const auto* const again : {"count", "batches"}) {
    all.phases.push_back(walking_by_rows(again, left, tied, tests_of(problem) * part, 16, on));
  }
  all.phases.push_back(selecting(tied, left, std::min(tied, static_cast<double>(problem.k)), on));
  return all;
}

}  // namespace

cost threshold_first_cost(const top_k_spatial_join_problem& problem, const device_profile& on) {
  const double pool = most_held(pairs_to_find(problem.k));
  if (static_cast<double>(problem.tied) > pool && !is_gpu(on)) return tied_rounds_cost(problem, on);
  if (problem.scores_oppose && !is_gpu(on)) return sampled_rounds_cost(problem, on);
  // a first bound lets too few pairs through; those that follow spare hardly a row, or all are joined
  if (problem.scores_oppose) {
    auto all = full_cost(problem, on);
    for (int rounds = 0; rounds < 3; ++rounds) all.phases.push_back(reading(problem, problem.dimensions + 1, on));
    add_waits(all, 6, on);
    return all;
  }
  const auto pairs = std::max(1.0, static_cast<double>(problem.pairs));
  const double goal = pairs_to_find(problem.k);
  // scores that are independent: of a sum, a share s of all pairs is made of a share of about the root of 2 s of both
  const double share = std::sqrt(std::min(1.0, 2 * goal / pairs));
  if (share == 1 && !is_gpu(on)) {
    // a host knows from its guess that no bound spares a row, and joins all
    auto known = problem;
    known.may_hide_pairs = false;
    auto all = full_cost(known, on);
    add_guess(all, problem, goal, share, on);
    all.phases.push_back(picking(problem, 0, on));
    if (problem.may_hide_pairs) add_cells(all, problem, 1, on);
    return all;
  }
  const double left = static_cast<double>(problem.left_rows) * share;
  const double right = static_cast<double>(problem.right_rows) * share;
  const double rounds = share < 1 ? 1 : 2;
  cost all;
  all.phases.push_back(reading(problem, problem.dimensions + 1, on));
  add_guess(all, problem, goal, share, on);
  if (problem.may_hide_pairs && !is_gpu(on)) add_cells(all, problem, 1, on);
  if (is_gpu(on)) {
    auto pick = reading(problem, 1, on);
    pick.name = "pick";
    all.phases.push_back(std::move(pick));
  } else {
    // in the same read; left points stay where they are copied to
    all.phases.push_back(picking(problem, (left + right) * rounds, on));
  }
  all.phases.push_back(placing(right * rounds, problem, on));
  if (is_gpu(on)) all.phases.push_back(placing(left * rounds, problem, on));
  const double part = share * share * rounds;
  all.phases.push_back(walking("append", left * rounds, pairs * part, tests_of_some(problem, share, on) * rounds, 16,
                               picked_row_bytes, on));
  const double found = std::min(pairs, goal);
  all.phases.push_back(
      selecting(found, left, is_gpu(on) ? found : std::min(found, static_cast<double>(problem.k)), on));
  if (is_gpu(on)) {
    // all of it in one launch, then the choice and the order; one answer says how many pairs there are
    const double all_launches = problem.k > 1024 ? 15 : 3;  // of more, a sort
    for (auto& one : all.phases) one.launches = 0;
    all.phases.front().launches = all_launches;
    // Pairs that tie for the best score are all found and counted. Of fewer, the rounds of trees cost as much.
    constexpr double many_tied = 1 << 22;
    const auto tied = static_cast<double>(problem.tied);
    if (tied > many_tied) all.phases.push_back({"tied", {}, {{"spatial_join.tied", tied, 1.2e-9}}, 10, 1});
  }
  add_waits(all, 1, on);
  add_transfers(all, problem, problem.dimensions + 1, std::min(pairs, static_cast<double>(problem.k)), 3, on);
  return all;
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
  throw error(error_code::invalid_argument, "spatial_join_cost: strategy is '" + detail::shown(name) +
                                                "'; the strategies with a cost model are: grid, index_nested_loop");
}
cost top_k_spatial_join_cost(std::string_view name, const top_k_spatial_join_problem& problem,
                             const device_profile& on) {
  for (const auto& one : spatial_join_detail::top_k_strategies) {
    if (one.name == name) return one.model(problem, on);
  }
  throw error(error_code::invalid_argument,
              "top_k_spatial_join_cost: strategy is '" + detail::shown(name) +
                  "'; the strategies with a cost model are: threshold_first, full, ba, sfa, dfa, rj");
}

}  // namespace zenith
