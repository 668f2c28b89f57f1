#include <algorithm>
#include <cmath>
#include <string>

#include <algorithms/skyline/choices.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace skyline_detail {
namespace {

// The models' sizes are asked for by every strategy in turn: the last is kept.
double skyline_of(double rows, double columns) {
  struct known {
    double rows = -1;
    double columns = -1;
    double size = 0;
  };
  static thread_local known last;
  if (last.rows != rows || last.columns != columns) last = {rows, columns, expected_skyline(rows, columns)};
  return last.size;
}

// The size of a skyline is known only afterwards. What is expected is that of so many independent columns as a sample
// says, or as there are.
struct estimate {
  double rows;
  double columns;
  double worth;  ///< of a column: below 1 of correlated ones, above of anticorrelated ones
  double skyline;
  double left;   ///< by the prefilter
  double pairs;  ///< of a row that is left and a row of the skyline that is compared with it

  explicit estimate(const skyline_problem& problem)
      : rows(static_cast<double>(problem.rows)),
        columns(problem.columns),
        worth(problem.independent_columns > 0 ? problem.independent_columns / columns : 1),
        skyline(skyline_of(rows, worth * columns)),
        left(rows_left()),
        // a row that is dominated is so by one of the first rows in the order
        pairs(skyline * skyline / 2 + (left - skyline) * skyline * 0.15) {}

  [[nodiscard]] double sorted() const { return left * std::log2(std::max(left, 2.0)); }

 private:
  // Rows that none of a number of pivots dominates, as measured: with more rows, the pivots dominate a smaller share of
  // those that are dominated at all.
  [[nodiscard]] double rows_left() const {
    const double exponent = std::min(0.5, (0.7 + 0.5 * worth) / columns);
    const double times = std::max(1.0, std::pow(rows / 1000, exponent));
    return rows * (1 - std::pow(1 - skyline / std::max(rows, 1.0), times));
  }
};

double values_of(const estimate& of) { return of.rows * of.columns; }

// The vectors of a host hold half as many values of 8 bytes.
double twice_if_wide(const skyline_problem& problem) { return size_of(problem.type) == 8 ? 2 : 1; }

bool is_host(const device_profile& on) { return on.kind == device_kind::cpu; }

// The estimates are of vectors of 64 bytes; shorter ones take longer, but not for everything.
double by_shorter_vectors(const device_profile& on) { return std::sqrt(64.0 / std::clamp(on.simd_bytes, 16, 64)); }

void add_transfers(cost& to, const skyline_problem& problem, const device_profile& on, const estimate& of) {
  if (problem.space != memory_space::host || on.host_to_device <= 0) return;
  to.to_device_bytes = values_of(of) * static_cast<double>(size_of(problem.type));
  to.to_host_bytes = of.skyline * 8;
}

// What all strategies do on a host but for `salsa` and `skyalign_padded`: pivots, and rows that none dominates. Fitted
// to c/i/a, 2 to 16 columns, 10^3 to 10^6 rows (perf/notes/skyline.md), as all that follows.
cost prefiltered(const skyline_problem& problem, const device_profile& on, const estimate& of) {
  const double bytes = values_of(of) * static_cast<double>(size_of(problem.type));
  cost all;
  // the launches of a small call, which wake nobody, and what is done for each pivot
  constexpr double pivots = 64;
  all.phases.push_back(
      {"call", {}, {{"skyline.rows.call", 1.4, 3e-6}, {"skyline.rows.gather", pivots * of.columns, 6e-9}}, 0, 1});
  all.phases.push_back({"prefilter",
                        {{static_cast<std::uint64_t>(bytes), bytes, 0}},
                        {{"skyline.rows.row", of.rows, 2.6e-9},
                         {"skyline.rows.prefilter", values_of(of), 0.95e-9},
                         // where columns are worth more, a row meets more pivots until one dominates it
                         {"skyline.rows.pivot", values_of(of) * std::max(0.0, of.worth - 1), 3e-9},
                         {"skyline.rows.scale", std::min(of.rows, 256.0) * of.columns, 3e-9}},
                        4,
                        cores_for(bytes, on)});
  return all;
}

// Rounds of blocks that grow from 1024 to 8192 rows, of about nine launches each.
void add_rounds(cost& to, const device_profile& on, const estimate& of, std::vector<work> operations) {
  const double rounds = std::min(4.0, std::log2(of.left / 1024 + 1)) + of.left / 8192 + 1;
  double seconds = 0;
  for (auto& one : operations) {
    one.default_seconds *= by_shorter_vectors(on);
    seconds += one.count * one.default_seconds;
  }
  // a worker is worth waking for as long as it takes to read a grain, some 50 us
  const int worth = static_cast<int>(std::min(1024.0, seconds / rounds / 50e-6)) + 1;
  to.phases.push_back({"rounds", {}, std::move(operations), 9 * rounds, std::min(on.cores, worth)});
}

// A strategy on a host: what it does beside the prefilter.
cost on_host(const skyline_problem& problem, const device_profile& on, const estimate& of, std::vector<work> more) {
  auto all = prefiltered(problem, on, of);
  add_rounds(all, on, of, std::move(more));
  return all;
}

// Rounds of a GPU, whose blocks grow from 2^15 to 2^20 rows.
double gpu_rounds(const estimate& of) {
  return std::min(3.0, std::log2(of.left / 32768 + 1) / 2) + of.left / (1 << 20) + 1;
}

// A strategy on a GPU: `launches` without the rounds, which are what few rows take, and `more` than the prefilter and
// the sort.
cost on_gpu(const skyline_problem& problem, const device_profile& on, const estimate& of, double launches,
            std::vector<work> more) {
  const double bytes = values_of(of) * static_cast<double>(size_of(problem.type));
  const auto set = static_cast<std::uint64_t>(2 * bytes);
  cost all;
  all.phases.push_back(
      {"prefilter", {{set, 2 * bytes, 0}}, {{"skyline.gpu.prefilter", values_of(of), 1.6e-9}}, launches, 0});
  all.phases.push_back({"order",
                        {{set, of.left * of.columns * 12, of.left * of.columns * 8}},
                        {{"skyline.gpu.order", of.left, 40e-9}},
                        of.left > 8192 ? 32.0 : 0.0,  // a sort by digits
                        0});
  all.phases.push_back({"rounds", {}, std::move(more), 40 * (gpu_rounds(of) - 1), 0});
  add_transfers(all, problem, on, of);
  return all;
}

// On a GPU, values of all pairs, and images of all rows.
cost by_values_on_gpu(const skyline_problem& problem, const device_profile& on, const estimate& of, double pairs,
                      double launches) {
  return on_gpu(problem, on, of, launches + of.columns,
                {{"skyline.gpu.image", values_of(of), 1e-9},
                 {"skyline.gpu.pairs", pairs * of.columns * twice_if_wide(problem), 0.06e-9}});
}

// Of tiles of 64 points, masks skip the more the more columns there are, as measured.
cost by_masks(const skyline_problem& problem, const device_profile& on, const estimate& of, double pairs,
              double cell_seconds, double launches) {
  if (!is_host(on)) return by_values_on_gpu(problem, on, of, pairs * (0.3 + 1.6 / std::max(of.columns, 4.0)), launches);
  return on_host(problem, on, of,
                 {{"skyline.rows.cell", of.left * of.columns, cell_seconds},
                  {"skyline.rows.sort", of.sorted(), 10e-9},
                  {"skyline.rows.masked", pairs * of.columns * twice_if_wide(problem), 0.0073e-9},
                  {"skyline.rows.begin", 1, 4e-6}});
}

}  // namespace

cost sfs_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  if (!is_host(on)) return by_values_on_gpu(problem, on, of, of.pairs, 60);
  return on_host(problem, on, of,
                 {{"skyline.rows.sort", of.sorted(), 16e-9},
                  {"skyline.rows.pairs", of.pairs * of.columns * twice_if_wide(problem), 0.036e-9},
                  {"skyline.rows.begin", 1, 0.5e-6}});
}

// A row is compared with rows that are themselves dominated, and what is left is moved once a window of 1024.
cost ggs_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  const double window = of.left * std::min(of.left, 1024.0);
  if (!is_host(on)) return by_values_on_gpu(problem, on, of, of.pairs + window, 42);
  return on_host(problem, on, of,
                 {{"skyline.rows.sort", of.sorted(), 7.6e-9},
                  {"skyline.rows.pairs", of.pairs * of.columns * twice_if_wide(problem), 0.032e-9},
                  {"skyline.rows.window", window, 0.085e-9}});
}

// All rows are ordered, and by what says less of which row dominates many.
cost salsa_cost(const skyline_problem& problem, const device_profile& on) {
  estimate of(problem);
  of.left = of.rows;
  of.pairs += of.rows * std::min(40.0, of.rows / 2);
  if (!is_host(on)) return by_values_on_gpu(problem, on, of, 1.5 * of.pairs, 66);
  auto all = on_host(problem, on, of,
                     {{"skyline.rows.least", of.sorted(), 3e-9},
                      // comparisons that no branch predictor remembers from the last call
                      {"skyline.rows.least_unpredicted", std::max(0.0, of.sorted() - 2048), 5e-9},
                      {"skyline.rows.pairs", of.pairs * (of.columns + 10) * twice_if_wide(problem), 0.040e-9}});
  // no pivots
  all.phases[0].operations.resize(1);
  all.phases[0].operations.front().count = 1;
  all.phases[1].operations.resize(2);
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
  auto all = by_masks(problem, on, of, of.pairs, 65e-9, 80);
  if (is_host(on)) all.phases.push_back({"images", {}, {{"skyline.rows.image", values_of(of), 0.7e-9}}, 2, 1});
  return all;
}

// Every row is compared with all before it, until one dominates it: mostly one of the first.
cost no_sync_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  return by_masks(problem, on, of, of.pairs * (1 + 0.1 * (of.left / of.skyline - 1)), 39e-9, 48);
}

// Masks are tested row by row, values with those that neither level tells apart: the fewer the more columns.
cost hybrid_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  if (!is_host(on)) return by_values_on_gpu(problem, on, of, 4 * of.pairs, 80);
  return on_host(problem, on, of,
                 {{"skyline.rows.cell", of.left * of.columns, 46e-9},
                  {"skyline.rows.sort", of.sorted(), 20e-9},
                  {"skyline.rows.pivots", of.pairs * (of.columns + 6) * twice_if_wide(problem), 0.037e-9},
                  {"skyline.rows.begin", 1, 3e-6}});
}

// One worker. How many rows of the tree a row is compared with, is measured.
cost bskytree_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  auto all = on_host(problem, on, of,
                     {{"skyline.tree.row", of.left, 100e-9},
                      {"skyline.tree", of.left * std::pow(of.skyline, 0.55) * (of.columns + 19), 0.19e-9}});
  all.phases.back().cores = std::min(all.phases.back().cores, 1);
  return all;
}

// That of a skyline by values without a prefilter. How many rows may dominate a row is not asked: there is one
// strategy, and the devices rank alike.
cost band_cost(const skyline_problem& problem, const device_profile& on) {
  estimate of(problem);
  of.left = of.rows;
  of.pairs = of.skyline * of.skyline + of.rows * of.skyline / 20;
  if (!is_host(on)) return by_values_on_gpu(problem, on, of, of.pairs, 60);
  return on_host(problem, on, of,
                 {{"skyline.rows.sort", of.sorted(), 15e-9},
                  {"skyline.rows.pairs", of.pairs * of.columns * twice_if_wide(problem), 0.0335e-9}});
}

// Masks skip the more tiles the more there are: the exponent is measured, on a host and on a GPU.
cost bitmap_tiles_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  const double cells = of.left * of.columns;
  const double tests = cells * std::pow(of.skyline / (is_host(on) ? 512 : 256) + 1, 0.71);
  // of more than 12 columns, a tile has fewer copies side by side
  if (!is_host(on)) {
    // few rows are compared with each other as soon as they are known
    const bool are_few = of.left <= 4096 && of.columns <= 16;
    return on_gpu(problem, on, of, are_few ? 16 + 0.4 * of.columns : 36 + of.columns,
                  {{"skyline.gpu.tests", tests, of.columns > 12 ? 0.2e-9 : 0.1e-9}});
  }
  const double sample = std::min(of.left, 1024.0);
  auto all = on_host(problem, on, of,
                     {{"skyline.rows.cuts", sample * std::log2(std::max(sample, 2.0)) * of.columns, 1.75e-9},
                      {"skyline.rows.cell", cells, 2.1e-9},
                      {"skyline.rows.sort", of.sorted(), 14e-9},
                      {"skyline.rows.tests", tests, 0.38e-9},
                      {"skyline.rows.begin", 1, 3.5e-6}});
  // a worker takes a tile for some candidates of a block, and waits for the others at its end: 16 are 4.3 to 5.3 times
  // as fast as one (perf/notes/skyline.md)
  const double shares = std::clamp(of.left / 4 / 512, 2.0, 6.0);
  all.phases.back().cores = std::min(all.phases.back().cores, static_cast<int>(shares));
  return all;
}

}  // namespace skyline_detail

decision decide(const skyline_problem& problem, const machine& on) {
  return detail::decide(skyline_detail::choices, problem, on.devices(), "auto");
}

cost skyline_cost(std::string_view name, const skyline_problem& problem, const device_profile& on) {
  for (const auto& one : skyline_detail::strategies) {
    if (one.name == name) return one.model(problem, on);
  }
  std::string names;
  for (const auto& one : skyline_detail::strategies) names += (names.empty() ? "" : ", ") + std::string{one.name};
  throw error(error_code::invalid_argument,
              "skyline_cost: strategy is '" + std::string{name} + "'; the strategies with a cost model are: " + names);
}

}  // namespace zenith
