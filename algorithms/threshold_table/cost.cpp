#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <algorithms/threshold_table/choices.hpp>
#include <algorithms/threshold_table/first_blocks.hpp>
#include <algorithms/top_k/filter_plan.hpp>
#include <core/core_speed.hpp>

namespace zenith::threshold_table_detail {
namespace {

constexpr std::string_view score_rate = "threshold_table.score";
constexpr std::string_view call_rate = "threshold_table.call";
constexpr std::string_view round_rate = "threshold_table.round";
constexpr std::string_view merge_rate = "threshold_table.merge";
// a product and a sum of one row, several rows at a time
constexpr double typical_score = 0.11e-9;
constexpr double typical_call = 4e-6;
constexpr double typical_host_call = 2.3e-6;
// selecting, listing and looking between two launches
constexpr double typical_round = 6e-6;
// a host selects and looks without a launch
constexpr double typical_host_round = 1.8e-6;
constexpr double typical_merge = 0.5e-9;
// an entry that a host writes and selects among
constexpr double typical_host_merge = 1.05e-9;
// beyond it, teams that walk partitions scan
constexpr std::uint64_t most_walked = 512;
// up to it, a device opens blocks without asking the host
constexpr std::uint64_t most_without_rounds = 128;
// a row that is sampled, or reaches the threshold and is ranked
constexpr std::string_view keep_rate = "threshold_table.keep";
constexpr double typical_keep = 20e-9;
constexpr double typical_host_keep = 1.5e-9;
// what a sample takes whatever its size
constexpr std::string_view sampled_rate = "threshold_table.sampled";
constexpr double typical_sampled = 1.2e-6;
// a row that is taken while no sample says what the threshold is, and an entry of another worker's
constexpr std::string_view take_rate = "threshold_table.take";
constexpr double typical_take = 2.8e-9;
constexpr std::string_view fetch_rate = "threshold_table.fetch";
constexpr double typical_fetch = 2.5e-9;
// an entry among the k best so far, in each round
constexpr std::string_view rank_rate = "threshold_table.rank";
constexpr double typical_rank = 10e-9;

// a row of a block that a device opens, a value of it, and a kernel that waits for the one before it, which few rows
// keep busy no longer; an entry among the k best there
constexpr std::string_view opened_row_rate = "threshold_table.opened_row";
constexpr double typical_opened_row = 1.3e-9;
constexpr std::string_view opened_value_rate = "threshold_table.opened_value";
constexpr double typical_opened_value = 0.22e-9;
constexpr std::string_view opened_rank_rate = "threshold_table.opened_rank";
constexpr double typical_opened_rank = 0.03e-9;
constexpr std::string_view round_row_rate = "threshold_table.round_row";
constexpr double typical_round_row = 10e-9;
constexpr std::string_view round_rank_rate = "threshold_table.round_rank";
constexpr double typical_round_rank = 0.08e-6;
constexpr std::string_view kernel_rate = "threshold_table.kernel";
constexpr double typical_kernel = 5.6e-6;  // results may be fetched behind the last
constexpr std::string_view device_rank_rate = "threshold_table.device_rank";
constexpr double typical_device_rank = 0.15e-6;
// a scan on a device, whatever its rows; teams that wait for one another's rows, once and for each doubling of k; and a
// row among theirs
constexpr std::string_view device_scan_rate = "threshold_table.device_scan";
constexpr double typical_device_scan = 20e-6;
constexpr std::string_view device_walk_rate = "threshold_table.device_walk";
constexpr double typical_device_walk = 20e-6;
constexpr std::string_view walked_row_rate = "threshold_table.walked_row";
constexpr double typical_walked_row = 8e-9;

// of the seconds that the link's copies should take
constexpr std::string_view copy_rate = "threshold_table.copy";
// threads gather blocks before they are copied
constexpr std::string_view gather_rate = "threshold_table.gather";
constexpr double typical_gather = 1.7;
constexpr std::string_view wait_rate = "threshold_table.wait";

// a device ranks more entries than these in several launches, and each of them
constexpr std::uint64_t most_ranked_at_once = 16384;
constexpr std::string_view device_select_rate = "threshold_table.device_select";
constexpr double typical_device_select = 100e-6;
constexpr std::string_view device_merge_rate = "threshold_table.device_merge";
constexpr double typical_device_merge = 16e-9;

// a host's call that needs neither a plan nor a sample, and its sort of the k best
constexpr std::string_view full_call_rate = "threshold_table.full_call";
constexpr double typical_full_call = 1.6e-6;
constexpr std::string_view sort_rate = "threshold_table.sort";
constexpr double typical_sort = 0.95e-9;
// an entry that is told from as many others which it is better or worse than
constexpr std::string_view part_rate = "threshold_table.part";
constexpr double typical_part = 4.7e-9;

// where a host opens by falling bound: a group, a block or the bounds of a group's blocks, and a value of either
constexpr std::string_view first_rate = "threshold_table.first";
constexpr double typical_first = 0.6e-6;  // a first threshold
constexpr std::string_view place_rate = "threshold_table.place";
constexpr double typical_place = 0.73e-9;  // a block among which the next one of the first is sought
constexpr std::string_view group_rate = "threshold_table.group";
constexpr double typical_group = 3e-9;
constexpr std::string_view block_rate = "threshold_table.block";
constexpr double typical_block = 38e-9;
constexpr std::string_view value_rate = "threshold_table.value";
constexpr double typical_value = 0.068e-9;  // several rows at a time
// a line of a block that no cache of a core's own has; the next ones are on their way
constexpr std::string_view line_rate = "threshold_table.line";
constexpr double typical_line = 1.5e-9;
// a level of the heap of the k best so far, for a row that comes to be among them; and such a row where workers change
// the heap one after the other, each on its own core
constexpr std::string_view heap_level_rate = "threshold_table.heap_level";
constexpr double typical_heap_level = 2.7e-9;
constexpr std::string_view shared_insert_rate = "threshold_table.shared_insert";
constexpr double typical_shared_insert = 0.3e-6;

// what a row costs a host besides its score where blocks are opened one by one, and where partitions keep their best
constexpr std::string_view open_rate = "threshold_table.open";
constexpr double typical_open = 2.2e-9;
constexpr std::string_view walk_rate = "threshold_table.walk";
constexpr double typical_walk = 3e-9;
constexpr std::string_view walk_call_rate = "threshold_table.walk_call";
constexpr double typical_walk_call = 1.2e-6;  // it needs no plan
constexpr std::string_view walk_keep_rate = "threshold_table.walk_keep";
constexpr double typical_walk_keep = 20e-9;

double share_of(const threshold_table_problem& problem) { return std::exp2(-0.125 * problem.share_eighths); }

/// Rows that "blocks" evaluates on a device, where many teams open blocks for a first threshold.
double opened_on_device(const threshold_table_problem& problem) {
  constexpr double of_first_thresholds = 16384;
  const auto rows = static_cast<double>(problem.count);
  return std::min(rows, std::max(static_cast<double>(problem.k), share_of(problem) * rows + of_first_thresholds));
}

/// Rows that are among the k best so far when they are looked at: as many as in data without an order.
double kept_of(double rows, double k) { return k * (1 + std::log(std::max(rows / std::max(k, 1.0), 1.0))); }

double sort_comparisons(double count) { return count * (std::log2(std::max(count, 2.0)) + 3); }

/// The k best of some rows on a host: told from the others, and sorted.
std::vector<work> best_of(double k, double rows) {
  return {{part_rate, std::min(k, rows - k), typical_part}, {sort_rate, sort_comparisons(k), typical_sort}};
}

/// Evaluating `rows` rows, in so many launches.
phase evaluated(std::string_view name, const threshold_table_problem& problem, const device_profile& on, double rows,
                double launches) {
  const double values = rows * static_cast<double>(problem.columns);
  const double bytes = values * static_cast<double>(size_of(problem.type));
  const auto set = static_cast<std::uint64_t>(static_cast<double>(problem.count) *
                                              static_cast<double>(problem.columns * size_of(problem.type)));
  const int cores = on.grain_bytes > 0 ? cores_for(bytes, on) : 0;
  // a host runs what is small on the thread that asks
  return {name,
          {{set, bytes, 0}},
          {{score_rate, values, detail::vector_estimate(typical_score, on)}},
          on.kind == device_kind::gpu ? launches
          : cores > 1                 ? 1.0
                                      : 0.0,
          cores};
}

bool travels(const threshold_table_problem& problem, const device_profile& on) {
  return problem.space == memory_space::host && on.host_to_device > 0;
}

/// Each column, the ids and the positions are copies of their own, which begin as slowly as short ones do; few kernels
/// run before the last has arrived.
phase copied(const threshold_table_problem& problem, const device_profile& on) {
  const auto seconds_of = [&](double bytes) {
    cost copy;
    copy.to_device_bytes = bytes;
    return seconds(copy, on) - on.link_latency;
  };
  const auto rows = static_cast<double>(problem.count);
  const auto columns = static_cast<double>(problem.columns);
  const double all = columns * seconds_of(rows * static_cast<double>(size_of(problem.type))) + 2 * seconds_of(rows * 4);
  // the rates are factors of what is known of the link; the copies are queued, and the host waits once
  return {"columns", {}, {{copy_rate, all, 1}, {wait_rate, on.link_latency, 1}}, columns + 2, 1};
}

/// What every query pays.
cost begun(const threshold_table_problem& problem, const device_profile& on) {
  cost all;
  const bool is_gpu = on.kind == device_kind::gpu;
  all.phases.push_back(
      {"call", {}, {{call_rate, 1, is_gpu ? typical_call : typical_host_call}}, is_gpu ? 4.0 : 0.0, 1});
  if (travels(problem, on)) {
    if (problem.count > 0) all.phases.push_back(copied(problem, on));
    all.to_host_bytes = static_cast<double>(problem.k) * 16;
  }
  return all;
}

/// Launches of the rounds of "blocks" beyond the two that every query has. A host's threads share a round of 512 blocks
/// or more, and rounds grow by half there.
double launches_of(double rounds, double blocks, const device_profile& on) {
  if (on.kind == device_kind::gpu) return 12 * rounds;
  return on.grain_bytes > 0 && blocks > 512 ? 1 + 1.7 * std::log2(blocks / 512) : 0.0;
}

cost walked(const threshold_table_problem& problem, const device_profile& on, double share) {
  auto all = begun(problem, on);
  const double rows = std::min(1.0, share) * static_cast<double>(problem.count);
  auto walk = evaluated("walk", problem, on, rows, 4);
  if (on.kind == device_kind::gpu) {
    walk.operations.push_back({walked_row_rate, rows, typical_walked_row});
    const double doublings = std::log2(2 * static_cast<double>(problem.k));
    all.phases.push_back({"wait", {}, {{device_walk_rate, 4 + doublings, typical_device_walk}}, 0, 1});
  } else {
    all.phases.front().operations = {{walk_call_rate, 1, typical_walk_call}};
    // While rows are merged no others are read: a phase of its own, which no slow memory hides.
    const double kept = kept_of(rows, static_cast<double>(problem.k));
    all.phases.push_back(
        {"merge", {}, {{walk_rate, rows, typical_walk}, {walk_keep_rate, kept, typical_walk_keep}}, 0, walk.cores});
    // lists of the k best are brought together
    all.phases.push_back(
        {"sort", {}, {{sort_rate, sort_comparisons(static_cast<double>(problem.k)), 2 * typical_sort}}, 0, 1});
  }
  all.phases.push_back(std::move(walk));
  return all;
}

// Whether the caches of one core hold so much, as far as is known.
bool is_near(double bytes, const device_profile& on) {
  const auto own = std::min(static_cast<std::size_t>(on.rate("core.own_levels", 0)), on.levels.size());
  return own == 0 || bytes * on.cores <= static_cast<double>(on.levels[own - 1].bytes);
}

/// How many times as long as a scan a core of a host reads what lies in blocks: each block's columns begin anew, and no
/// core foresees them. Measured 1.7 to 2.8 in caches, where all rows are evaluated. Whatever the bandwidth, so that
/// opening all blocks is never predicted to take as long as the scan.
double times_apart(std::uint64_t set, const device_profile& on) {
  constexpr double in_caches = 1.75;
  constexpr double in_memory = 4;
  return &on.level_for(set) == &on.levels.back() ? in_memory : in_caches;
}

/// A level of the heap for each row that comes to be among the k best. The ways through a small heap are foreseen,
/// those through a large one hardly: measured 3 to 8 ns a level with 16 to 1500 rows.
work heap_levels(double inserts, double k) {
  constexpr double foreseen = 512;
  return {heap_level_rate, inserts * std::log2(k + 1) * (1 + k / foreseen), typical_heap_level};
}

/// Groups whose blocks' bounds are evaluated: their share goes with the root of the share of the rows, as measured on
/// 206 queries of 2^18 to 2^24 rows, to within a factor of two.
double opened_groups(const threshold_table_problem& problem, double groups) {
  constexpr double of_root = 1.3;
  return groups * std::min(1.0, of_root * std::sqrt(share_of(problem)));
}

/// As how many workers those of a host are that open blocks: about so many times the share of the rows is that of the
/// groups which reach the first threshold. More than four take rows from each other: 16 are worth six. Where most
/// rows are evaluated, two take as long as one. Measured on 16 cores.
int workers_of_walk(const threshold_table_problem& problem, const device_profile& on, double groups) {
  constexpr double groups_of_share = 10;
  constexpr double most_rows = 0.25;
  constexpr int free_workers = 4;
  constexpr int of_each_further = 6;
  const double share = share_of(problem);
  if (share > most_rows) return 1;
  const auto listed = static_cast<std::uint32_t>(groups * std::min(1.0, groups_of_share * share));
  const int further = std::max(0, on.cores - free_workers) / of_each_further;
  const auto threads = static_cast<std::uint32_t>(std::clamp(on.cores, 1, free_workers) + further);
  return static_cast<int>(
      threshold_table_family::teams_of_walk(listed, static_cast<std::uint32_t>(problem.columns), threads));
}

/// A host opens groups and blocks by falling bound.
cost best_first_cost(const threshold_table_problem& problem, const device_profile& on) {
  auto all = begun(problem, on);
  const auto k = static_cast<double>(problem.k);
  const double block_rows = problem.block_rows;
  const double blocks = std::ceil(static_cast<double>(problem.count) / block_rows);
  const double opened = std::max(share_of(problem) * static_cast<double>(problem.count), k);
  // the best blocks come first: of more columns fewer rows are kept than in data without an order
  const double inserts = kept_of(opened, k) * std::min(1.0, 1.25 / std::sqrt(static_cast<double>(problem.columns)));
  // the first blocks are sought in the best four groups, one after the other
  const double groups = std::ceil(blocks / 64);
  const double sought = std::min(blocks, 256.0) *
                        static_cast<double>(threshold_table_family::first_blocks(problem.k, problem.block_rows));
  all.phases.push_back(
      {"groups",
       {},
       {{first_rate, 1, typical_first}, {place_rate, sought, typical_place}, {group_rate, groups, typical_group}},
       0,
       1});
  // Of a group that is opened all bounds are evaluated, as rows of a block are. Past its caches a core waits for lines.
  const double groups_opened = opened_groups(problem, groups);
  const double bounds = 64 * groups_opened;
  const double row_bytes = static_cast<double>(problem.columns * size_of(problem.type));
  const double set_bytes = static_cast<double>(problem.count) * row_bytes;
  const auto set = static_cast<std::uint64_t>(set_bytes);
  constexpr double line_bytes = 64;
  const auto lines = [&](double rows, double of) { return is_near(of, on) ? 0 : rows * row_bytes / line_bytes; };
  const int workers = workers_of_walk(problem, on, groups);
  all.phases.push_back({"open",
                        {{set, times_apart(set, on) * opened * row_bytes, 0}},
                        {{block_rate, std::ceil(opened / block_rows) + groups_opened, typical_block},
                         {value_rate, (opened + bounds) * static_cast<double>(problem.columns),
                          detail::vector_estimate(typical_value, on)},
                         {line_rate, lines(opened, set_bytes) + lines(bounds, set_bytes / block_rows), typical_line}},
                        workers > 1 ? 1.0 : 0.0,
                        workers});
  const work keep = workers > 1 ? work{shared_insert_rate, inserts, typical_shared_insert} : heap_levels(inserts, k);
  all.phases.push_back({"keep", {}, {keep, {sort_rate, sort_comparisons(k), typical_sort}}, 0, 1});
  return all;
}

}  // namespace

cost blocks_cost(const threshold_table_problem& problem, const device_profile& on) {
  using namespace threshold_table_family;
  if (needs_nearly_all_blocks(problem.k, problem.count)) return scan_cost(problem, on);
  if (on.kind != device_kind::gpu && first_blocks(problem.k, problem.block_rows) <= most_first_blocks) {
    return best_first_cost(problem, on);
  }
  auto all = begun(problem, on);
  const auto rows = static_cast<double>(problem.count);
  const bool is_gpu = on.kind == device_kind::gpu;
  const double opened =
      is_gpu ? opened_on_device(problem) : std::max(share_of(problem) * rows, static_cast<double>(problem.k));
  const double share = opened / rows;
  const double blocks = rows / problem.block_rows;
  // a group has a bound, and of the groups that are opened, all blocks
  all.phases.push_back(
      evaluated("bounds", problem, on, blocks / 64 + blocks * std::min(1.0, 4 * share), is_gpu ? 0 : 2));
  if (travels(problem, on)) {
    // of blocks and of groups, a copy for each column and one of ids, and where blocks begin: short ones
    const auto copies = 2 * (static_cast<double>(problem.columns) + 1) + 1;
    all.phases.push_back({"bounds' columns", {}, {}, copies, 1});
  }
  if (is_gpu && problem.k <= most_without_rounds) {
    // a block is a line of each column, far from the last one's; of more wanted rows more reach the threshold
    const auto k = static_cast<double>(problem.k);
    auto open = evaluated("open", problem, on, opened, 0);
    open.operations.push_back({opened_row_rate, opened, typical_opened_row});
    open.operations.push_back({opened_value_rate, opened * static_cast<double>(problem.columns), typical_opened_value});
    open.operations.push_back({opened_rank_rate, opened * k, typical_opened_rank});
    all.phases.push_back(std::move(open));
    // three launches, of which each waits for the one before it, and one answer
    all.phases.push_back(
        {"kernels", {}, {{kernel_rate, 3, typical_kernel}, {device_rank_rate, k, typical_device_rank}}, 0, 1});
    return all;
  }
  const double first = std::max(4.0, 1.5 * static_cast<double>(problem.k) / problem.block_rows);  // round's blocks
  const double doublings = std::max(0.0, std::log2(opened / problem.block_rows / first));
  // a device opens four times as many blocks in each round
  const double rounds = is_gpu ? 1 + doublings / 2 : 2 + doublings;
  auto open = evaluated("open", problem, on, opened, is_gpu ? 0 : 2);
  // rounds are too short for more workers than one to gain by them
  if (on.grain_bytes > 0) open.cores = 1;
  // beside the reads: a block is a line or two of each column, far from the last one's
  if (is_gpu) {
    open.operations.push_back({round_row_rate, opened, typical_round_row});
    all.phases.push_back({"rank", {}, {{round_rank_rate, static_cast<double>(problem.k), typical_round_rank}}, 0, 1});
  } else {
    auto& read = open.memory.front();
    read.read *= times_apart(read.working_set, on);
    // an entry for each row, twice as large unless scores are floats
    const double halves = problem.type == key_type::float32 ? 1 : 2;
    all.phases.push_back({"blocks", {}, {{open_rate, opened * halves, typical_open}}, 0, open.cores});
    all.phases.push_back({"rank", {}, {{rank_rate, rounds * static_cast<double>(problem.k), typical_rank}}, 0, 1});
  }
  open.launches += launches_of(rounds, opened / problem.block_rows, on);
  all.phases.push_back(std::move(open));
  all.phases.push_back({"rounds", {}, {{round_rate, rounds, is_gpu ? typical_round : typical_host_round}}, 0, 1});
  return all;
}

cost scan_cost(const threshold_table_problem& problem, const device_profile& on) {
  auto all = begun(problem, on);
  const auto rows = static_cast<double>(problem.count);
  all.phases.push_back(evaluated("scan", problem, on, rows, 8));
  // several workers are woken to sample, to scan and to bring together what they hold
  auto& scan = all.phases.back();
  const int workers = scan.cores;
  if (workers > 1) {
    scan.launches = 2.5;
    // they take other pieces at each call: what they read is in no cache of their own
    scan.memory.front().working_set = std::max(scan.memory.front().working_set, set_beyond_own_caches(workers, on));
  }
  // As many rows are kept as in data without an order, where the threshold soon rises.
  const auto k = static_cast<double>(problem.k);
  const auto samples = static_cast<double>(top_k_detail::plan_filter(problem.count, problem.k).samples);
  const bool is_gpu = on.kind == device_kind::gpu;
  // without a sample rows are taken, not kept
  const double kept = is_gpu ? std::min(rows, 64 * k) : samples > 0 ? std::min(rows, samples + 2.5 * k) : 0;
  if (is_gpu) {
    all.phases.push_back({"keep", {}, {{keep_rate, kept, typical_keep}}, 0, 0});
    // one launch keeps so many rows; of more wanted ones the host asks several times
    constexpr double most_at_once = 1024;
    const double waits = k > most_at_once && rows > 4 * k ? 4.5 : 1;
    all.phases.push_back({"wait", {}, {{device_scan_rate, waits, typical_device_scan}}, 0, 1});
    return all;
  }
  // each worker holds up to k rows, whose lines come to the one that brings them together
  const double fetched = workers > 1 ? workers * std::min(k, rows / workers) : 0;
  auto best = best_of(k, rows);
  best.push_back({sampled_rate, samples > 0 ? 1.0 : 0.0, typical_sampled});
  best.push_back({keep_rate, kept, typical_host_keep});
  best.push_back({take_rate, samples > 0 ? 0 : rows, typical_take});
  best.push_back({fetch_rate, fetched, typical_fetch});
  all.phases.push_back({"keep", {}, std::move(best), 0, 1});
  return all;
}

cost full_cost(const threshold_table_problem& problem, const device_profile& on) {
  auto all = begun(problem, on);
  const auto rows = static_cast<double>(problem.count);
  all.phases.push_back(evaluated("scan", problem, on, rows, 8));
  // entries of a float's score have 8 bytes, others 16; they are written, and read to select
  const double bytes = rows * (problem.type == key_type::float32 ? 8 : 16);
  auto select = evaluated("select", problem, on, 0, 8);
  select.memory.push_back({static_cast<std::uint64_t>(bytes), 2 * bytes, bytes});
  const bool is_host = on.kind == device_kind::cpu;
  if (is_host) {
    select.operations.push_back({merge_rate, rows, typical_host_merge});
  } else if (problem.count > most_ranked_at_once) {
    all.phases.push_back({"rank", {}, {{device_select_rate, 1, typical_device_select}}, 0, 1});
    select.operations.push_back({device_merge_rate, rows, typical_device_merge});
  } else {
    // so few are ranked by one launch of those of the scores, more by some more
    constexpr double few = 1024;
    select.launches *= std::clamp(std::log2(rows / few) / 3, 0.0, 1.0);
  }
  all.phases.push_back(std::move(select));
  if (is_host) {
    all.phases.front().operations = {{full_call_rate, 1, typical_full_call}};
    all.phases.push_back({"sort", {}, best_of(static_cast<double>(problem.k), rows), 0, 1});
  }
  return all;
}

bool streams_rows(const threshold_table_problem& problem, const device_profile& on) {
  if (!(on.host_to_device > 0)) return false;  // they are there
  auto streamed = problem;
  streamed.space = memory_space::host;
  auto fetched = problem;
  fetched.space = memory_space::device;
  auto blocks = blocks_cost(fetched, on);
  // their ids are fetched with them
  const double row_bytes = static_cast<double>(problem.columns * size_of(problem.type) + sizeof(std::uint32_t));
  cost copy;
  copy.to_device_bytes = share_of(problem) * static_cast<double>(problem.count) * row_bytes;
  blocks.phases.push_back({"fetch", {}, {{gather_rate, seconds(copy, on), typical_gather}}, 0, 1});
  return seconds(scan_cost(streamed, on), on) < seconds(blocks, on);
}

// Measured on 2^22 rows of clusters: a shared threshold evaluates 4 to 30 times as many rows as blocks with bounds of
// their own, and partitions that stop alone at least a tenth of all.
cost gta_shared_cost(const threshold_table_problem& problem, const device_profile& on) {
  if (problem.k > most_walked) return scan_cost(problem, on);
  if (on.kind == device_kind::gpu) {
    return walked(problem, on, 10 * opened_on_device(problem) / static_cast<double>(problem.count));
  }
  return walked(problem, on, 0.02 + 10 * share_of(problem));
}
cost gta_cost(const threshold_table_problem& problem, const device_profile& on) {
  if (problem.k > most_walked) return scan_cost(problem, on);
  return walked(problem, on, 0.1 + 10 * share_of(problem));
}

// Rows are reached one by one. Whether the table has lists the model does not see.
cost ta_cost(const threshold_table_problem& problem, const device_profile& on) {
  auto all = walked(problem, on, 0.02 + 10 * share_of(problem));
  const double entries = static_cast<double>(problem.count) * static_cast<double>(problem.columns);
  auto lists = evaluated("lists", problem, on, static_cast<double>(problem.count), 16);
  lists.operations.push_back({merge_rate, 16 * entries, typical_merge});
  all.phases.push_back(std::move(lists));
  return all;
}

}  // namespace zenith::threshold_table_detail
