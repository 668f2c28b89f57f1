#include <algorithms/top_k/filter_cost.hpp>

#include <bit>
#include <cmath>
#include <iterator>

#include <algorithms/top_k/bitonic_cost.hpp>
#include <algorithms/top_k/cost_terms.hpp>
#include <algorithms/top_k/filter_tile.hpp>

namespace zenith::top_k_detail {
namespace {

// entries that workers look through together before one of them does
constexpr double least_gathered_together = 16384;
// each sample lies alone in its line of memory
constexpr double line_bytes = 64;

constexpr std::string_view call_rate = "top_k.filter.call";
constexpr rate_names sample_rate{"top_k.filter.sample/4", "top_k.filter.sample/8"};
constexpr rate_names lone_sample_rate{"top_k.filter.lone_sample/4", "top_k.filter.lone_sample/8"};
constexpr rate_names choice_rate{"top_k.filter.choose/4", "top_k.filter.choose/8"};
constexpr rate_names scan_rate{"top_k.filter.scan/4", "top_k.filter.scan/8"};
constexpr rate_names append_rate{"top_k.filter.append/4", "top_k.filter.append/8"};
constexpr rate_names take_rate{"top_k.filter.take/4", "top_k.filter.take/8"};
constexpr rate_names select_rate{"top_k.filter.select/4", "top_k.filter.select/8"};
constexpr rate_names fetch_rate{"top_k.filter.fetch/4", "top_k.filter.fetch/8"};
constexpr rate_names sort_rate{"top_k.filter.sort/4", "top_k.filter.sort/8"};
constexpr rate_names emit_rate{"top_k.filter.emit/4", "top_k.filter.emit/8"};
constexpr rate_names group_sample_rate{"top_k.filter.group_sample/4", "top_k.filter.group_sample/8"};
constexpr std::string_view wait_rate = "top_k.filter.wait";
constexpr rate_names rank_rate{"top_k.filter.rank/4", "top_k.filter.rank/8"};

// Seconds for one unit, on one core at about 3 GHz.
struct estimates {
  double call, sample, scan, append, take, select, fetch, sort, emit;

  // For keys of eight bytes: between the same and twice as long.
  [[nodiscard]] estimates widened() const {
    constexpr double by = 1.6;
    return {call, by * sample, by * scan, by * append, by * take, by * select, by * fetch, by * sort, by * emit};
  }
};
constexpr estimates of_a_core{0.35e-6, 8.3e-9, 0.035e-9, 0.42e-9, 0.14e-9, 1.5e-9, 1.5e-9, 0.76e-9, 1.4e-9};

// What one worker's buffer sees.
struct collection {
  double taken = 0;     // while nothing was known: appended without a comparison
  double appended = 0;  // because they reached the threshold
  double selected = 0;  // entries that went through a selection because the buffer was full
  double held = 0;      // at the end
};

// A buffer takes k entries and k more (1024 for small k) before it selects; from then on the threshold is the worst of
// the k best of the m items seen so far, which one item in m / k reaches when the order is not adversarial.
collection collect(double items, double k, double pass_share) {
  const double spare = std::min(std::max(items - k, 0.0), std::max(k, 1024.0));
  const double full = k + spare;
  collection sum;
  double& first = pass_share < 1 ? sum.appended : sum.taken;
  double seen = full / pass_share;
  if (seen >= items || spare <= 0) {
    first = sum.held = items * pass_share;
    return sum;
  }
  first = sum.selected = full;
  const double growth = 1 + spare / k;
  for (; seen * growth < items; seen *= growth) {
    sum.appended += spare;
    sum.selected += full;
  }
  const double last = (items - seen) * k / seen;
  sum.appended += last;
  sum.held = k + last;
  return sum;
}

cost cpu_cost(const top_k_problem& problem, const device_profile& on) {
  const auto type = problem.type;
  const auto n = static_cast<double>(problem.count);
  const auto k = static_cast<double>(problem.k);
  const auto w = static_cast<double>(size_of(type));
  const double e = entry_bytes(type);
  const auto typical = size_of(type) == 4 ? of_a_core : of_a_core.widened();

  const auto plan = plan_filter(problem.count, problem.k);
  const auto samples = static_cast<double>(plan.samples);
  const int workers = cores_for(n * w, on);
  const auto each = collect(n / workers, k, std::min(1.0, plan.expected_survivors / n));
  const double survivors = workers * (each.taken + each.appended);
  // several workers keep no more than k each, and then bring together what they hold
  const double kept = workers > 1 ? std::min(each.held, k) : each.held;
  const double of_a_worker = each.selected + (kept < each.held ? each.held : 0);
  const double held = workers * each.held;
  const auto data_bytes = static_cast<std::uint64_t>(n * w);
  const auto held_bytes = static_cast<std::uint64_t>(held * e);
  // workers take one chunk after the other, and at each call other ones
  const auto scanned = std::max(data_bytes, set_beyond_own_caches(workers, on));

  cost total;
  total.phases.reserve(4);
  total.phases.push_back({"call", {}, {{call_rate, 1, typical.call}}, 0, 1});
  if (samples > 0) {
    total.phases.push_back(
        {"sample", {{data_bytes, samples * line_bytes, 0}}, {{sample_rate(type), samples, typical.sample}}, 0, 1});
  }
  total.phases.push_back({"scan",
                          {{scanned, n * w, 0}, {held_bytes, 0, survivors * e}},
                          {{scan_rate(type), n, typical.scan},
                           {append_rate(type), workers * each.appended, typical.append},
                           {take_rate(type), workers * each.taken, typical.take},
                           {select_rate(type), workers > 1 ? workers * of_a_worker : 0, typical.select}},
                          workers > 1 ? 1.0 : 0.0,
                          workers});
  double gathered = workers * kept;
  if (workers > 1 && gathered >= least_gathered_together) {
    // each finds its share of the k best, and what cannot be among these is dropped
    total.phases.push_back(
        {"gather", {{held_bytes, gathered * e, 0}}, {{select_rate(type), gathered, typical.select}}, 3, workers});
    gathered = std::min(gathered, 1.5 * k);
  }
  // on the caller's core: its own buffer whenever it was full, and what all hold at the end
  const double selected = (workers > 1 ? 0 : each.selected) + (gathered > k ? gathered : 0);
  // the lines of others' caches come one after the other
  const double fetched = gathered - gathered / workers;
  phase finish{"finish",
               {{held_bytes, held * e, k * (w + 8)}},
               {{select_rate(type), selected, typical.select},
                {fetch_rate(type), fetched, typical.fetch},
                {emit_rate(type), k, typical.emit}},
               0,
               1};
  if (problem.order == ordering::sorted) {
    finish.operations.push_back({sort_rate(type), sort_comparisons(k), typical.sort});
  }
  total.phases.push_back(std::move(finish));
  return total;
}

// A GPU's filter in one launch. Between its phases the blocks wait for one, which chooses the threshold; all rank the
// survivors.
cost launched_filter_cost(const top_k_problem& problem, const group_plan& plan, const device_profile& on) {
  const auto type = problem.type;
  const auto n = static_cast<double>(problem.count);
  const auto k = static_cast<double>(problem.k);
  const auto w = static_cast<double>(size_of(type));
  const double wider = size_of(type) == 4 ? 1 : 1.6;
  // of one multiprocessor, on an H200
  constexpr double typical_call = 12e-6;
  constexpr double typical_wait = 4e-6;
  constexpr double typical_choice = 0.15e-6;  // a bit of the threshold
  const double typical_sample = wider * 0.1e-9;
  const double typical_scan = wider * 0.035e-9;
  const double typical_append = wider * 5e-9;
  const double typical_rank = wider * 0.045e-9;  // a comparison
  constexpr double typical_emission = 10e-9;
  const auto data_bytes = static_cast<std::uint64_t>(n * w);
  const int all = on.cores;
  const double survivors = plan.expected_survivors;
  double waits = 2;
  double ranked = survivors;
  cost total;
  total.phases.push_back({"call", {}, {{call_rate, 1, typical_call}}, 0, 1});
  if (plan.groups == 0) {
    total.phases.push_back(
        {"rank", {{data_bytes, n * w, k * (w + 8)}}, {{rank_rate(type), n * n, typical_rank}}, 0, all});
    return total;
  }
  // which tiles hold survivors is known of keys that were all read for the threshold; of a sample's all are read again
  constexpr double tile_bytes = group_plan::tile_chunks * group_plan::chunk_bytes;
  const double again = plan.reads_all ? std::fmin(survivors * tile_bytes, n * w) : 0;
  if (!plan.reads_all) {
    const double bytes = static_cast<double>(plan.chunks()) * group_plan::chunk_bytes;
    total.phases.push_back(
        {"sample", {{data_bytes, bytes, 0}}, {{group_sample_rate(type), bytes / w, typical_sample}}, 0, all});
  }
  total.phases.push_back({"choose", {}, {{choice_rate(type), 8 * w, typical_choice}}, 0, 1});
  total.phases.push_back(
      {"scan",
       {{data_bytes, n * w + again, 0},
        {static_cast<std::uint64_t>(survivors * entry_bytes(type)), 0, survivors * entry_bytes(type)}},
       {{scan_rate(type), n + again / w, typical_scan}, {append_rate(type), survivors, typical_append}},
       0,
       all});
  if (survivors > group_plan::most_ranked(size_of(type))) {
    total.phases.push_back({"narrow", {}, {{choice_rate(type), 8 * w, typical_choice}}, 0, 1});
    ranked = 1.2 * k;
    waits += 2;
  }
  total.phases.push_back({"wait", {}, {{wait_rate, waits, typical_wait}}, 0, 1});
  total.phases.push_back(
      {"rank", {{data_bytes, 0, k * (w + 8)}}, {{rank_rate(type), ranked * ranked, typical_rank}}, 0, all});
  total.phases.push_back({"emit", {}, {{emit_rate(type), k, typical_emission}}, 0, 1});
  return total;
}

// A GPU keeps the sample's threshold to the end, so that the survivors are what the plan expects. For a large k one
// block chooses the threshold; a kernel for what hardly ever happens is launched all the same.
cost gpu_cost(const top_k_problem& problem, const device_profile& on) {
  const auto type = problem.type;
  const auto launched = group_plan::of(problem.count, problem.k, size_of(type), on.cores);
  if (launched.is_suitable()) return launched_filter_cost(problem, launched, on);
  const auto n = static_cast<double>(problem.count);
  const auto k = static_cast<double>(problem.k);
  const auto w = static_cast<double>(size_of(type));
  const double e = entry_bytes(type);
  const double bits = 8 * w;
  // Of one multiprocessor, whose lanes share such work out; on an H200.
  const double wider = size_of(type) == 4 ? 1 : 1.6;
  constexpr double typical_call = 12e-6;
  // gathered by one block, which waits for memory most of the time, or by many
  const double typical_sample = wider * 5e-9;
  const double typical_lone_sample = wider * 1.2e-9;
  constexpr double typical_choice = 0.15e-6;  // a bit of the threshold
  const double typical_scan = wider * 0.035e-9;
  const double typical_append = wider * 5e-9;

  const auto plan = plan_broad_filter(problem.count, problem.k);
  cost total;
  total.phases.push_back({"call", {}, {{call_rate, 1, typical_call}}, 0, 1});
  const auto add_bitonic = [&](std::uint64_t items) {
    auto kernels = bitonic_on_gpu({items, problem.k, type});
    std::ranges::move(kernels.phases, std::back_inserter(total.phases));
  };
  if (plan.samples == 0) {
    add_bitonic(problem.count);
    return total;
  }
  const auto samples = static_cast<double>(plan.samples);
  const double survivors = plan.expected_survivors;
  const auto data_bytes = static_cast<std::uint64_t>(n * w);
  const auto survivor_bytes = static_cast<std::uint64_t>(survivors * e);
  const int all = on.cores;
  const bool has_many_blocks = plan.samples > most_samples;

  if (has_many_blocks) {
    total.phases.push_back(
        {"sample", {{data_bytes, samples * line_bytes, 0}}, {{sample_rate(type), samples, typical_sample}}, 1, all});
  } else {
    total.phases.push_back({"sample", {}, {{lone_sample_rate(type), samples, typical_lone_sample}}, 0, 1});
  }
  total.phases.push_back({"choose", {}, {{choice_rate(type), bits, typical_choice}}, 1, 1});
  total.phases.push_back({"scan",
                          {{data_bytes, n * w, 0}, {survivor_bytes, 0, survivors * e}},
                          {{scan_rate(type), n, typical_scan}, {append_rate(type), survivors, typical_append}},
                          1,
                          all});
  total.phases.push_back({"repeat, if need be", {}, {}, 1, all});
  // the host does not know how many survived, so the kernels go over the whole capacity
  add_bitonic(static_cast<std::uint64_t>(std::min(n, survivors * (1 + 8 / std::sqrt(plan.rank))) + k));
  return total;
}

}  // namespace

cost filter_cost(const top_k_problem& problem, const device_profile& on) {
  cost total = on.kind == device_kind::gpu ? gpu_cost(problem, on) : cpu_cost(problem, on);
  add_transfers(total, problem, on);
  return total;
}

}  // namespace zenith::top_k_detail
