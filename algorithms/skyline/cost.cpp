#include <algorithm>
#include <cmath>
#include <string>

#include <algorithms/skyline/choices.hpp>
#include <algorithms/skyline/family.hpp>
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
  // Rows that none of a number of pivots dominates, as measured: with more rows, the pivots dominate a smaller share of
  // those that are dominated at all. With more pivots that share is larger.
  [[nodiscard]] double rows_left(double share_of_exponent = 1) const {
    const double exponent = share_of_exponent * std::min(0.5, (0.7 + 0.5 * worth) / columns);
    const double times = std::max(1.0, std::pow(rows / 1000, exponent));
    return rows * (1 - std::pow(1 - skyline / std::max(rows, 1.0), times));
  }
};

// Launches for a region of a call that wakes so many workers: they sleep, and wake as late whether they are few or
// many.
double region(int workers, const device_profile& on) {
  return workers > 1 ? 3 * std::log2(on.cores) / std::log2(workers) : 0;
}

double values_of(const estimate& of) { return of.rows * of.columns; }

// The vectors of a host hold half as many values of 8 bytes.
double twice_if_wide(const skyline_problem& problem) { return size_of(problem.type) == 8 ? 2 : 1; }

bool is_host(const device_profile& on) { return on.kind == device_kind::cpu; }

// The estimates are of a core that computes with 64 bytes at once, for which vectors take .63 of the time of other work
// beside the estimates'; with fewer it takes longer, but not for everything.
double by_shorter_vectors(const device_profile& on) {
  constexpr double of_64_bytes = 0.63;
  const double measured = on.rate("core.vector", 0) / on.rate("core.estimate", 1);
  return std::sqrt(measured > 0 ? std::max(1.0, measured / of_64_bytes) : 64.0 / std::clamp(on.simd_bytes, 16, 64));
}

void add_transfers(cost& to, const skyline_problem& problem, const device_profile& on, const estimate& of) {
  if (problem.space != memory_space::host || on.host_to_device <= 0) return;
  to.to_device_bytes = values_of(of) * static_cast<double>(size_of(problem.type));
  to.to_host_bytes = of.skyline * 8;
}

// Whether a host takes a table's values four at a time: of one row side by side, as most tables have them.
bool goes_by_fours(const skyline_problem& problem) { return problem.columns % 4 == 0 && size_of(problem.type) == 4; }

// Rows that the best pivot leaves, as measured: more where few are left by all of them than there are of these.
double rows_screened(const estimate& of) { return std::sqrt(of.left * of.rows); }

// What all strategies do on a host but for `salsa` and `skyalign_padded`: pivots, and rows that none dominates. Fitted
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
  // the skyline by its flags, which are left out where those side by side are all the same
  const double listed = std::min(of.rows, 32 * of.left);
  all.phases.push_back({"compact",
                        {},
                        {{"skyline.rows.row", 0.006 * of.rows + 0.1 * listed, 4.6e-9}},
                        region(cores_for(32 * of.rows, on), on),
                        cores_for(32 * of.rows, on)});
  return all;
}

// How the workers of a host share the rounds of a strategy.
struct shared_rounds {
  double blocks = 1;    ///< or windows
  double moves = 0;     ///< of a row of the skyline
  double launches = 0;  ///< that wake workers
  double busy = 1;      ///< workers that have something to do, on average
};

// Adds up launches of a filter, whose teams have `team` candidates each.
class round_sharing {
 public:
  round_sharing(const device_profile& on, double team, double bytes_of_row, double bytes_of_pair)
      : cores_(on.cores),
        grain_(std::max(1.0, static_cast<double>(on.grain_bytes))),
        team_(team),
        bytes_of_row_(bytes_of_row),
        bytes_of_pair_(bytes_of_pair) {}

  // Rows that are compared with others: the teams take alike.
  void add_others(double rows, double window) { add(rows, rows * window, false); }
  // Rows that are compared with those before them: each team takes longer than the one before it, and when the last
  // ones end, other workers have had nothing to do for long.
  void add_itself(double rows) { add(rows, rows * rows / 2, true); }

  [[nodiscard]] shared_rounds all(double blocks, double moves) const {
    return {blocks, moves, launches_, spent_ > 0 ? pairs_ / spent_ : 1};
  }

 private:
  void add(double rows, double pairs, bool grows) {
    const double teams = std::max(1.0, std::ceil(rows / team_));
    const double worth = (rows * bytes_of_row_ + pairs * bytes_of_pair_) / grain_;
    const double workers = std::floor(std::clamp(worth, 1.0, std::min(cores_, teams)));
    const double last = 2 / teams;
    const double share_of_time = grows ? std::min(1.0, std::max(last, 1 / workers + last * (1 - 1 / workers) / 2))
                                       : std::ceil(teams / workers) / teams;
    pairs_ += pairs;
    spent_ += pairs * share_of_time;
    if (workers > 1) launches_ += 1;
  }

  double cores_;
  double grain_;
  double team_;
  double bytes_of_row_;
  double bytes_of_pair_;
  double launches_ = 0;
  double pairs_ = 0;
  double spent_ = 0;
};

constexpr double most_blocks = 16;  // further ones share as these do

// Blocks that grow from 1024 to 8192 rows: each is compared with the skyline found so far, what is left with itself.
shared_rounds in_blocks(round_sharing all, const estimate& of) {
  constexpr double most = 8192;
  const double share = of.skyline / std::max(of.left, 1.0);
  double size = 1024;
  double blocks = 0;
  for (double at = 0; at < of.left && blocks < most_blocks; at += size, size = std::min(2 * size, most), ++blocks) {
    const double rows = std::min(size, of.left - at);
    if (at > 0) all.add_others(rows, share * at);
    all.add_itself(share * rows);
  }
  return all.all(std::max({1.0, blocks, of.left / most}), 2);
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

// Teams of 128 candidates that are compared by values.
round_sharing by_values(const device_profile& on, const estimate& of) { return {on, 128, 64, of.columns}; }

// How a strategy orders the rows that are left.
struct row_ordering {
  double cell_seconds = 0;  ///< of a value: cuts of the grid, and the cell that a row is in
  double digits = 4;        ///< of a key
};
constexpr double digits_of_cell = 6;

// Few keys are sorted by comparisons, whose outcomes no branch predictor knows.
work compared_keys(double rows) {
  return {"skyline.rows.compared_keys", rows < 512 ? rows * std::log2(std::max(rows, 2.0)) : 0.0, 4e-9};
}

// The keys, and their sort: by digits, of which each is two regions, where every worker has 4096 rows.
void add_order(cost& to, const device_profile& on, const estimate& of, const row_ordering& how) {
  const double values = of.left * of.columns;
  if (how.cell_seconds > 0) {
    const int cores = cores_for(32 * values, on);
    to.phases.push_back({"cells",
                         {},
                         {{"skyline.rows.cell", values, how.cell_seconds * by_shorter_vectors(on)}},
                         3 * region(cores, on),
                         cores});
  }
  const int sorting = static_cast<int>(std::clamp(of.left / 4096, 1.0, static_cast<double>(on.cores)));
  to.phases.push_back({"sort",
                       {},
                       {{"skyline.rows.order", of.sorted(), 1.5e-9}, compared_keys(of.left)},
                       (2 * how.digits + 2) * region(sorting, on),
                       sorting});
}

// What a strategy does on a host behind the prefilter.
void add_rounds(cost& all, const device_profile& on, const estimate& of, const row_ordering& order,
                const shared_rounds& shared, std::vector<work> more) {
  add_order(all, on, of, order);
  const double cores = std::ceil(shared.busy);
  for (auto& one : more) {
    one.default_seconds *= by_shorter_vectors(on);
    one.count *= cores / shared.busy;
  }
  const int workers = static_cast<int>(cores);
  all.phases.push_back({"rounds", {}, std::move(more), shared.launches * region(workers, on), workers});
  // rows are moved by one worker, those of the skyline twice
  all.phases.push_back({"moves",
                        {},
                        {{"skyline.rows.step", shared.blocks, 0.2e-6},
                         {"skyline.rows.move", shared.moves * of.skyline * of.columns, 0.6e-9}},
                        0,
                        1});
}

// A strategy on a host.
cost on_host(const skyline_problem& problem, const device_profile& on, const estimate& of, const row_ordering& order,
             const shared_rounds& shared, std::vector<work> more) {
  auto all = prefiltered(problem, on, of);
  add_rounds(all, on, of, order, shared, std::move(more));
  return all;
}

// Rounds of a GPU, whose blocks grow from 2^15 to 2^20 rows.
double gpu_rounds(const estimate& of) {
  return std::min(3.0, std::log2(of.left / 32768 + 1) / 2) + of.left / (1 << 20) + 1;
}

// The launches of a sort by digits.
double sort_launches(const estimate& of) { return of.left > 8192 ? 32 : 0; }

// A strategy on a GPU: `launches` without those of the sort, `sorting`, and of the rounds, which are what few rows
// take, and `more` than the prefilter and the sort.
cost on_gpu(const skyline_problem& problem, const device_profile& on, const estimate& of, double launches,
            double sorting, std::vector<work> more) {
  const double bytes = values_of(of) * static_cast<double>(size_of(problem.type));
  const auto set = static_cast<std::uint64_t>(2 * bytes);
  cost all;
  all.phases.push_back(
      {"prefilter", {{set, 2 * bytes, 0}}, {{"skyline.gpu.prefilter", values_of(of), 1.6e-9}}, launches, 0});
  all.phases.push_back({"order",
                        {{set, of.left * of.columns * 12, of.left * of.columns * 8}},
                        {{"skyline.gpu.order", of.left, 40e-9}},
                        sorting,
                        0});
  all.phases.push_back({"rounds", {}, std::move(more), 40 * (gpu_rounds(of) - 1), 0});
  add_transfers(all, problem, on, of);
  return all;
}

// On a GPU, values of all pairs, and images of all rows.
cost by_values_on_gpu(const skyline_problem& problem, const device_profile& on, const estimate& of, double pairs,
                      double launches) {
  return on_gpu(problem, on, of, launches + of.columns, sort_launches(of),
                {{"skyline.gpu.image", values_of(of), 1e-9},
                 {"skyline.gpu.pairs", pairs * of.columns * twice_if_wide(problem), 0.06e-9}});
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
// largest values, which is about the one that a single row's largest is expected to be below.
double rows_before_stop(const estimate& of) {
  const double columns = std::max(1.0, of.worth * of.columns);
  const double stop = std::pow(std::max(of.rows, 1.0), -1 / columns);
  return std::max(of.skyline, of.rows * (1 - std::pow(1 - stop, columns)));
}

}  // namespace

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
  estimate of(problem);
  const double read = rows_before_stop(of);
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
  auto all = by_masks(problem, on, of, of.pairs, 65e-9, 80);
  if (is_host(on)) all.phases.push_back({"images", {}, {{"skyline.rows.image", values_of(of), 0.7e-9}}, 2, 1});
  return all;
}

// Every row is compared with all before it, until one dominates it: mostly one of the first.
cost no_sync_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  return by_masks(problem, on, of, of.pairs * (1 + 0.1 * (of.left / of.skyline - 1)), 39e-9, 48, false);
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

// A band of rows that fewer than k others dominate is about k skylines of a k-th of the rows: a row is in one with the
// probability that none of n / k others dominates it, which is near 1 where k of n do so, and near 0 where many more
// do.
estimate estimate_band(const band_problem& problem) {
  estimate of(problem);
  const double most = std::clamp(static_cast<double>(problem.most), 1.0, std::max(of.rows, 1.0));
  of.skyline = std::min(of.rows, most * skyline_of(of.rows / most, of.worth * of.columns));
  of.left = of.rows;
  of.pairs = of.skyline * of.skyline + of.rows * of.skyline / 20;
  return of;
}

// By values without a prefilter. The first block is compared with itself before anything is out, and where some of 64
// rows reach another, each is asked which it is.
cost band_by_sum_cost(const band_problem& problem, const device_profile& on) {
  const auto of = estimate_band(problem);
  if (!is_host(on)) return by_values_on_gpu(problem, on, of, of.pairs, 60);
  const double block = std::min(of.rows, 2048.0);
  const double in_block = std::min(of.skyline, block);
  const double pairs = of.pairs - in_block * in_block;
  // a sample of few rows hardly tells that few are comparable
  const double reached = std::clamp(64 * std::pow(2.0, -0.85 * of.worth * of.columns), 0.1, 1.0);
  cost all;
  const int cores = cores_for(16 * values_of(of), on);
  all.phases.push_back({"images",
                        {},
                        {{"skyline.rows.call", 1, 3e-6}, {"skyline.rows.image", values_of(of), 0.7e-9}},
                        region(cores, on),
                        cores});
  add_rounds(all, on, of, {}, in_blocks(by_values(on, of), of),
             {{"skyline.rows.sort", of.sorted(), 7e-9},
              {"skyline.band.block", block * block / 2, (0.025 * of.columns + 4.5 * reached) * 1e-9},
              {"skyline.rows.pairs", pairs * of.columns * twice_if_wide(problem), 0.0335e-9}});
  return all;
}

// What a band's strategy by bitmaps does before its rounds: the best rows are found and put in order, a few corners of
// them are compared with all rows, and the dominators of those that are left are counted among them.
cost band_prefiltered(const band_problem& problem, const device_profile& on, const estimate& of) {
  const double values = values_of(of);
  const double bytes = values * static_cast<double>(size_of(problem.type));
  const double pivots = skyline_family::band_pivots_for(problem.rows, problem.most);
  const double wide = goes_by_fours(problem) ? 1 : 2.2;
  cost all;
  all.phases.push_back(
      {"call", {}, {{"skyline.rows.call", 1, 6e-6}, {"skyline.band.pivot", pivots * (of.columns + 10), 6e-9}}, 0, 1});
  const int cores = cores_for(32 * values, on);
  if (pivots > 0) {
    all.phases.push_back({"pivots",
                          {{static_cast<std::uint64_t>(bytes), 2 * bytes, 0}},
                          {{"skyline.rows.prefilter", wide * values, 1.0e-9}},
                          2 * region(cores, on),
                          cores});
    all.phases.push_back({"count",
                          {},
                          {{"skyline.band.count", rows_screened(of) * of.columns, 1.8e-9 * by_shorter_vectors(on)}},
                          region(cores, on),
                          cores});
  }
  const double listed = std::min(of.rows, 32 * of.left);
  all.phases.push_back({"compact",
                        {},
                        {{"skyline.rows.row", 0.006 * of.rows + 0.1 * listed, 4.6e-9}},
                        region(cores_for(32 * of.rows, on), on),
                        cores_for(32 * of.rows, on)});
  return all;
}

cost band_by_bitmaps_cost(const band_problem& problem, const device_profile& on) {
  auto of = estimate_band(problem);
  if (skyline_family::band_pivots_for(problem.rows, problem.most) > 0)
    of.left = std::max(of.skyline, of.rows_left(0.7));
  const double tiles = std::pow(of.skyline / 512 + 1, 0.72);
  // those of a row that is left, as measured; in most tiles there is none of them
  const double dominators = (0.7 * problem.most + 2) * std::sqrt(1 - of.skyline / std::max(of.rows, 1.0));
  auto all = band_prefiltered(problem, on, of);
  auto shared = in_blocks({on, 128, 64 + 16 * of.columns, of.columns / 64}, of);
  shared.busy = std::min(shared.busy, 6.0);
  const double sample = std::min(of.left, std::clamp(of.left / 8, 256.0, 1024.0));
  add_rounds(all, on, of,
             {2.1e-9 + 1.75e-9 * sample * std::log2(std::max(sample, 2.0)) / std::max(of.left, 1.0), digits_of_cell},
             shared,
             {{"skyline.rows.sort", of.sorted(), 7e-9},
              {"skyline.rows.tests", of.left * of.columns * tiles, 0.5e-9},
              {"skyline.band.reached", of.left * std::min(dominators, tiles), 17e-9},
              {"skyline.band.values", of.left * dominators * twice_if_wide(problem), 3e-9},
              {"skyline.rows.begin", 1, 5e-6}});
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
