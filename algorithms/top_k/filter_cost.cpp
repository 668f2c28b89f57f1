#include <algorithms/top_k/filter_cost.hpp>

#include <algorithms/top_k/cost_terms.hpp>
#include <algorithms/top_k/filter.hpp>

namespace zenith::top_k_detail {
namespace {

constexpr std::string_view call_rate = "top_k.filter.call";
constexpr rate_names sample_rate{"top_k.filter.sample/4", "top_k.filter.sample/8"};
constexpr rate_names scan_rate{"top_k.filter.scan/4", "top_k.filter.scan/8"};
constexpr rate_names append_rate{"top_k.filter.append/4", "top_k.filter.append/8"};
constexpr rate_names take_rate{"top_k.filter.take/4", "top_k.filter.take/8"};
constexpr rate_names select_rate{"top_k.filter.select/4", "top_k.filter.select/8"};
constexpr rate_names sort_rate{"top_k.filter.sort/4", "top_k.filter.sort/8"};
constexpr rate_names emit_rate{"top_k.filter.emit/4", "top_k.filter.emit/8"};

// Seconds for one unit, on one core at about 3 GHz, or on one multiprocessor, whose lanes share such work out.
struct estimates {
  double call, sample, scan, append, take, select, sort, emit;

  // For keys of eight bytes: between the same and twice as long.
  [[nodiscard]] estimates widened() const {
    constexpr double by = 1.6;
    return {call, by * sample, by * scan, by * append, by * take, by * select, by * sort, by * emit};
  }
};
constexpr estimates of_a_core{0.5e-6, 18e-9, 0.05e-9, 0.6e-9, 0.2e-9, 3e-9, 2.4e-9, 1e-9};
constexpr estimates of_a_multiprocessor{0, 4e-9, 0.02e-9, 0.5e-9, 0.5e-9, 0.2e-9, 0.05e-9, 0.5e-9};

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

}  // namespace

cost filter_cost(const top_k_problem& problem, const device_profile& on) {
  const auto type = problem.type;
  const auto n = static_cast<double>(problem.count);
  const auto k = static_cast<double>(problem.k);
  const auto w = static_cast<double>(size_of(type));
  const double e = entry_bytes(type);
  const bool is_gpu = on.kind == device_kind::gpu;
  const auto& narrow = is_gpu ? of_a_multiprocessor : of_a_core;
  const auto typical = size_of(type) == 4 ? narrow : narrow.widened();

  const auto plan = plan_filter(problem.count, problem.k);
  const auto samples = static_cast<double>(plan.samples);
  const int workers = is_gpu ? on.cores : cores_for(n * w, on);
  // a GPU's workers share one buffer, those of a CPU have their own
  const double buffers = is_gpu ? 1 : workers;
  const auto each = collect(n / buffers, k, std::min(1.0, plan.expected_survivors / n));
  const double survivors = buffers * (each.taken + each.appended);
  const double held = buffers * each.held;
  const auto data_bytes = static_cast<std::uint64_t>(n * w);
  const auto held_bytes = static_cast<std::uint64_t>(held * e);

  cost total;
  total.phases.reserve(4);
  total.phases.push_back({"call", {}, {{call_rate, 1, typical.call}}, 0, 1});
  if (samples > 0) {
    // each sample lies alone in its line of memory
    constexpr double line_bytes = 64;
    total.phases.push_back({"sample",
                            {{data_bytes, samples * line_bytes, 0}},
                            {{sample_rate(type), samples, typical.sample}},
                            is_gpu ? 1.0 : 0.0,
                            1});
  }
  total.phases.push_back({"scan",
                          {{data_bytes, n * w, 0}, {held_bytes, 0, survivors * e}},
                          {{scan_rate(type), n, typical.scan},
                           {append_rate(type), buffers * each.appended, typical.append},
                           {take_rate(type), buffers * each.taken, typical.take}},
                          is_gpu || workers > 1 ? 1.0 : 0.0,
                          workers});
  // on the caller's core: its own buffer whenever it was full, and all that is held at the end
  const double selected = each.selected + (held > k ? held : 0);
  phase finish{"finish",
               {{held_bytes, held * e, k * (w + 8)}},
               {{select_rate(type), selected, typical.select}, {emit_rate(type), k, typical.emit}},
               is_gpu ? 2.0 : 0.0,
               1};
  if (problem.order == ordering::sorted) {
    finish.operations.push_back({sort_rate(type), sort_comparisons(k), typical.sort});
  }
  total.phases.push_back(std::move(finish));
  add_transfers(total, problem, on);
  return total;
}

}  // namespace zenith::top_k_detail
