#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <algorithms/skyline/choices.hpp>
#include <algorithms/skyline/cost_parts.hpp>
#include <algorithms/skyline/family.hpp>
#include <core/message.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace skyline_detail {
namespace {

// What all strategies do on a host but for `salsa`: pivots, and rows that none dominates. Fitted
// to c/i/a, 2 to 16 columns, 10^3 to 10^6 rows (perf/notes/skyline.md), as all that follows.
cost prefiltered(const skyline_problem& problem, const device_profile& on, const estimate& of) {
  const double bytes = values_of(of) * static_cast<double>(size_of(problem.type));
  cost all;
  // the launches of a small call, which wake nobody, and what is done for each pivot
  const double pivots = skyline_family::pivots_for(problem.rows, problem.columns);
  const double samples = std::clamp(of.rows / 8, 32.0, 256.0);
  all.phases.push_back({"call",
                        {},
                        {{"skyline.rows.call", 1, 2e-6},
                         {"skyline.rows.gather", pivots * (of.columns + 10), 6e-9},
                         {"skyline.rows.scale", samples * of.columns, 3e-9}},
                        0,
                        1});
  const double values = values_of(of);
  const bool by_fours = goes_by_fours(problem);
  all.phases.push_back({"pivots",
                        {{static_cast<std::uint64_t>(bytes), bytes, 0}},
                        {{"skyline.rows.row", (by_fours ? 0.04 : 0.3) * of.rows, 4.6e-9},
                         {"skyline.rows.prefilter", (by_fours ? 0.2 : 0.3) * values, 0.87e-9}},
                        region(cores_for(16 * values, on), on),
                        cores_for(16 * values, on)});
  // by fours, images are made of what one pivot leaves
  const double tested = by_fours ? rows_screened(of) : of.rows;
  // where hardly any row is left, those that are not are marked while the pivots are found
  const bool is_marked = by_fours && of.rows > 64 * 1024 && tested < of.rows / 32;
  const bool is_by_pivot = by_fours && !is_marked;
  all.phases.push_back(
      {"prefilter",
       {{static_cast<std::uint64_t>(bytes), is_marked ? of.rows : bytes, 0}},
       {{"skyline.rows.row", (by_fours ? 4 : 0.5) * tested, 4.6e-9},
        {"skyline.rows.prefilter", (is_by_pivot ? 0.15 * values : 0.0) + 0.7 * tested * of.columns, 0.87e-9},
        // a row that is left has met all pivots
        {"skyline.rows.pivot", of.left * of.columns * pivots / 64, 3e-9}},
       region(cores_for(32 * values, on), on),
       cores_for(32 * values, on)});
  add_compaction(all, on, of);
  return all;
}

// The first 1024 rows that are left are compared with all that are left.
shared_rounds in_windows(round_sharing all, const estimate& of) {
  constexpr double window = 1024;
  double blocks = 0;
  for (double left = of.left; left > 0 && blocks < most_blocks; ++blocks) {
    if (left > window) {
      // in one launch, those of the window too
      all.add_others(left - window / 2, window);
    } else {
      all.add_itself(left);
    }
    left = std::min(left, of.skyline - blocks * window) - window;
  }
  blocks = std::max({1.0, blocks, of.skyline / window});
  // what is left behind a window is moved
  return all.all(blocks, (blocks - 1) / 2);
}

// A strategy on a host.
cost on_host(const skyline_problem& problem, const device_profile& on, const estimate& of, const row_ordering& order,
             const shared_rounds& shared, std::vector<work> more) {
  auto all = prefiltered(problem, on, of);
  add_rounds(all, on, of, order, shared, std::move(more));
  return all;
}

// A strategy goes on with what is left of large groups.
void add_rest(cost& to, const skyline_problem& problem, const device_profile& on, const estimate& of, model ungrouped) {
  if (of.rows / of.groups <= skyline_family::most_settled_rows) return;
  auto rest = problem;
  rest.rows = static_cast<std::uint64_t>(std::min(of.rows, 1.5 * of.skyline));
  for (auto& phase : ungrouped(rest, on).phases) to.phases.push_back(std::move(phase));
}

// Many groups, on a host.
cost in_groups_on_host(const skyline_problem& problem, const device_profile& on, const estimate& of, model ungrouped) {
  auto all = groups_on_host(problem, on, of, of.pairs_in_groups());
  add_rest(all, problem, on, of, ungrouped);
  return all;
}

// The same on a GPU.
cost in_groups_on_gpu(const skyline_problem& problem, const device_profile& on, const estimate& of, model ungrouped) {
  auto few_left = of;
  few_left.left = 1;
  // of 8 bytes, sums have two parts
  const double sorts = of.rows <= 8192 ? 0 : size_of(problem.type) == 8 ? 96 : 64;
  auto all = on_gpu(problem, on, few_left, 60 + of.columns, sorts,
                    {{"skyline.gpu.groups", of.rows, 0.35e-9},
                     {"skyline.gpu.group_pairs", of.pairs_in_groups() * of.columns, 1.5e-12}});
  add_rest(all, problem, on, of, ungrouped);
  return all;
}

// Of tiles of 64 points, masks skip the more the more columns there are, as measured.
cost by_masks(const skyline_problem& problem, const device_profile& on, const estimate& of, double pairs,
              double cell_seconds, double launches, bool is_in_blocks = true) {
  if (!is_host(on)) return by_values_on_gpu(problem, on, of, pairs * (0.3 + 1.6 / std::max(of.columns, 4.0)), launches);
  auto sharing = by_values(on, of);
  if (!is_in_blocks) sharing.add_itself(of.left);
  constexpr double to_cells = 15e-9;
  return on_host(problem, on, of, {to_cells, digits_of_cell}, is_in_blocks ? in_blocks(sharing, of) : sharing.all(1, 0),
                 {{"skyline.rows.cell", of.left * of.columns, cell_seconds - to_cells},
                  {"skyline.rows.sort", of.sorted(), 8.5e-9},
                  {"skyline.rows.masked", pairs * of.columns * twice_if_wide(problem), 0.0073e-9},
                  {"skyline.rows.begin", 1, 4e-6}});
}

// The rows of as many independent columns, uniform in [0, 1], whose least value is not above the least of all rows'
// largest values, which is about the one that a single row's largest is expected to be below. Of a column of preference
// `different` one of the two images is at least half the range, and such a stop leaves hardly any row out.
double rows_before_stop(const skyline_problem& problem, const estimate& of) {
  if (problem.groups > 0) return of.rows;
  const double columns = std::max(1.0, of.worth * of.columns);
  const double stop = std::pow(std::max(of.rows, 1.0), -1 / columns);
  return std::max(of.skyline, of.rows * (1 - std::pow(1 - stop, columns)));
}

}  // namespace

cost by_groups(const skyline_problem& problem, const device_profile& on, model ungrouped) {
  if (are_incomparable(problem)) return incomparable_cost(problem, on);
  const estimate of(problem);
  if (!goes_by_groups(of)) return ungrouped(problem, on);
  if (is_host(on)) return in_groups_on_host(problem, on, of, ungrouped);
  return ungrouped == bitmap_tiles_cost ? in_groups_on_gpu(problem, on, of, ungrouped) : ungrouped(problem, on);
}

cost layers_by_groups(const skyline_problem& problem, const device_profile& on, model ungrouped) {
  if (are_incomparable(problem)) return incomparable_cost(problem, on);
  const estimate of(problem);
  const double of_group = of.rows / of.groups;
  if (!is_host(on) || !goes_by_groups(of) || of_group > skyline_family::most_settled_rows) {
    return ungrouped(problem, on);
  }
  return groups_on_host(problem, on, of, of.rows * of_group / 2);  // a row meets all before it
}

cost sfs_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  if (!is_host(on)) return by_values_on_gpu(problem, on, of, of.pairs, 60);
  return on_host(problem, on, of, {}, in_blocks(by_values(on, of), of),
                 {{"skyline.rows.sort", of.sorted(), 8.5e-9},
                  {"skyline.rows.pairs", of.pairs * of.columns * twice_if_wide(problem), 0.036e-9},
                  {"skyline.rows.begin", 1, 0.5e-6}});
}

// A row is compared with rows that are themselves dominated, and what is left is moved once a window of 1024.
cost ggs_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  const double window = of.left * std::min(of.left, 1024.0);
  if (!is_host(on)) return by_values_on_gpu(problem, on, of, of.pairs + window, 42);
  return on_host(problem, on, of, {}, in_windows(by_values(on, of), of),
                 {{"skyline.rows.sort", of.sorted(), 5e-9},
                  {"skyline.rows.pairs", of.pairs * of.columns * twice_if_wide(problem), 0.032e-9},
                  {"skyline.rows.window", window, 0.085e-9}});
}

// All rows are ordered, and by what says less of which row dominates many; those up to the stop point are compared.
cost salsa_cost(const skyline_problem& problem, const device_profile& on) {
  if (are_incomparable(problem)) return incomparable_cost(problem, on);
  estimate of(problem);
  const double read = rows_before_stop(problem, of);
  of.left = of.rows;
  of.pairs = of.skyline * of.skyline / 2 + (read - of.skyline) * (0.15 * of.skyline + std::min(40.0, of.skyline / 2));
  if (!is_host(on)) return by_values_on_gpu(problem, on, of, 1.5 * of.pairs, 66);
  // the row that dominates another comes sooner or later, which no branch predictor knows
  const double compared = of.pairs * (of.columns + 14) - 14 * of.skyline * of.skyline / 2;
  auto before_stop = of;
  before_stop.left = read;
  auto all = on_host(problem, on, of, {}, in_blocks(by_values(on, of), before_stop),
                     {{"skyline.rows.least", of.sorted(), 0.2e-9},
                      {"skyline.rows.read", read, 17e-9},
                      // rows of one group come one behind the other: a block of them meets none of its group before it
                      {"skyline.rows.grouped", read * (1 - 1 / of.groups), 250e-9},
                      {"skyline.rows.read_unpredicted", before_stop.sorted(), 3e-9},
                      compared_keys(of.rows),
                      {"skyline.rows.pairs", compared * twice_if_wide(problem), 0.040e-9}});
  // no pivots, and none that are left by them: images alone
  all.phases.erase(all.phases.begin() + 1);
  all.phases[0].operations.resize(1);
  all.phases[0].operations.front().count = 1;
  all.phases[1].operations.resize(2);
  all.phases[1].operations[0].count = 0.5 * of.rows;
  all.phases[1].operations[1].count = 0.7 * values_of(of);
  return all;
}

cost skyalign_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  return by_masks(problem, on, of, of.pairs, 39e-9, 66);
}

cost no_quartile_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  return by_masks(problem, on, of, 1.02 * of.pairs, 39e-9, 70);
}

cost padded_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  return by_masks(problem, on, of, of.pairs, 65e-9, 80);
}

// Every row is compared with all before it, until one dominates it: mostly one of the first.
cost no_sync_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  return by_masks(problem, on, of, of.pairs * (1 + 0.1 * (of.left / std::max(of.skyline, 1.0) - 1)), 39e-9, 48, false);
}

// Masks are tested row by row, values with those that neither level tells apart: the fewer the more columns.
cost hybrid_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  if (!is_host(on)) return by_values_on_gpu(problem, on, of, 4 * of.pairs, 80);
  return on_host(problem, on, of, {15e-9, digits_of_cell}, in_blocks(by_values(on, of), of),
                 {{"skyline.rows.cell", of.left * of.columns, 31e-9},
                  {"skyline.rows.sort", of.sorted(), 18.5e-9},
                  {"skyline.rows.pivots", of.pairs * (of.columns + 6) * twice_if_wide(problem), 0.037e-9},
                  {"skyline.rows.begin", 1, 3e-6}});
}

// One worker. How many rows of the tree a row is compared with, is measured.
cost bskytree_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  return on_host(problem, on, of, {0, 0}, {},
                 {{"skyline.tree.row", of.left, 100e-9},
                  {"skyline.tree", of.left * std::pow(of.skyline, 0.55) * (of.columns + 19), 0.19e-9}});
}

// Masks skip the more tiles the more there are: the exponent is measured, on a host and on a GPU.
cost bitmap_tiles_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  if (is_host(on) && of.left <= static_cast<double>(skyline_family::most_rows_by_values(static_cast<int>(on.cores)))) {
    return ggs_cost(problem, on);
  }
  if (is_host(on) && better_columns(problem) <= 2) {
    // where no more than two say which row is better, rows that are left are sorted, and read once
    auto all = prefiltered(problem, on, of);
    all.phases.push_back({"order", {}, {{"skyline.rows.order", of.columns * of.sorted(), 1.5e-9}}, 0, 1});
    return all;
  }
  const double cells = of.left * of.columns;
  const double tests = cells * std::pow(of.skyline / (is_host(on) ? 512 : 256) + 1, 0.71);
  // of more than 12 columns, a tile has fewer copies side by side
  if (!is_host(on)) {
    // few rows are compared with each other as soon as they are known
    const bool are_few = of.left <= 4096 && of.columns <= 16;
    // points whose keys have 32 bits are moved to buckets instead of being sorted
    const bool are_in_buckets = size_of(problem.type) == 4 && of.columns <= 20;
    return on_gpu(problem, on, of, are_few ? 16 + 0.4 * of.columns : 36 + of.columns,
                  are_in_buckets ? 0 : sort_launches(of),
                  {{"skyline.gpu.tests", tests, of.columns > 12 ? 0.2e-9 : 0.1e-9}});
  }
  const double sample = std::min(of.left, std::clamp(of.left / 8, 256.0, 1024.0));
  // teams of 64 candidates or some more; 16 workers are 4.3 to 5.3 times as fast as one, since they share caches that
  // one has for itself (perf/notes/skyline.md)
  auto shared = in_blocks({on, 128, 64 + 16 * of.columns, of.columns / 64}, of);
  shared.busy = std::min(shared.busy, 6.0);
  return on_host(
      problem, on, of,
      {2.1e-9 + 1.75e-9 * sample * std::log2(std::max(sample, 2.0)) / std::max(of.left, 1.0), digits_of_cell}, shared,
      {{"skyline.rows.sort", of.sorted(), 8e-9},
       {"skyline.rows.tests", tests, 0.38e-9},
       {"skyline.rows.begin", 1, 5e-6}});
}

}  // namespace skyline_detail

namespace {

void check_columns(std::string_view function, const skyline_problem& problem) {
  if (problem.columns >= 1 && problem.columns <= most_skyline_columns) return;
  throw error(error_code::invalid_argument, std::string{function} + ": problem.columns is " +
                                                std::to_string(problem.columns) + "; it must be from 1 to " +
                                                std::to_string(most_skyline_columns));
}

}  // namespace

decision decide(const skyline_problem& problem, const machine& on) {
  check_columns("decide", problem);
  return detail::decide(skyline_detail::choices, problem, on.devices(), "auto");
}

cost skyline_cost(std::string_view name, const skyline_problem& problem, const device_profile& on) {
  check_columns("skyline_cost", problem);
  for (const auto& one : skyline_detail::strategies) {
    if (one.name == name) return one.model(problem, on);
  }
  std::string names;
  for (const auto& one : skyline_detail::strategies) names += (names.empty() ? "" : ", ") + std::string{one.name};
  throw error(error_code::invalid_argument, "skyline_cost: strategy is '" + detail::shown(name) +
                                                "'; the strategies with a cost model are: " + names);
}

}  // namespace zenith
