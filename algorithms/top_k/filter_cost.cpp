#include <algorithms/top_k/filter_cost.hpp>

#include <algorithms/top_k/cost_terms.hpp>
#include <algorithms/top_k/filter.hpp>

namespace zenith::top_k_detail {
namespace {

constexpr std::uint32_t most_samples = 16384;

constexpr rate_names call_rate{"top_k.filter.call", "top_k.filter.call"};
constexpr rate_names sample_rate{"top_k.filter.sample/4", "top_k.filter.sample/8"};
constexpr rate_names scan_rate{"top_k.filter.scan/4", "top_k.filter.scan/8"};
constexpr rate_names append_rate{"top_k.filter.append/4", "top_k.filter.append/8"};
constexpr rate_names select_rate{"top_k.filter.select/4", "top_k.filter.select/8"};
constexpr rate_names sort_rate{"top_k.filter.sort/4", "top_k.filter.sort/8"};

// The estimates hold for one core at about 3 GHz, or for one multiprocessor, whose lanes share such work out.
struct estimates {
  double call, sample, scan, append, select, sort;
};
constexpr estimates of_a_core{1e-6, 12e-9, 0.15e-9, 2e-9, 6e-9, 3e-9};
constexpr estimates of_a_multiprocessor{0, 4e-9, 0.02e-9, 0.5e-9, 0.5e-9, 0.5e-9};

}  // namespace

cost filter_cost(const top_k_problem& problem, const device_profile& on) {
  const auto n = static_cast<double>(problem.count);
  const auto k = static_cast<double>(problem.k);
  const auto w = static_cast<double>(size_of(problem.type));
  const auto type = problem.type;
  const bool is_gpu = on.kind == device_kind::gpu;
  const auto& typical = is_gpu ? of_a_multiprocessor : of_a_core;
  const auto plan = plan_filter(problem.count, problem.k, most_samples);
  const double survivors = std::max(k, plan.expected_survivors);
  const int scanning = is_gpu ? 0 : cores_for(n * w, on);
  const double launch = is_gpu || scanning > 1 ? 1 : 0;
  const auto data = static_cast<std::uint64_t>(n * w);
  const auto kept = static_cast<std::uint64_t>(survivors * entry_bytes(type));
  // a sample lies alone in its line of memory
  constexpr double line_bytes = 64;

  cost total;
  total.phases.push_back({"call", {}, {{call_rate(type), 1, typical.call}}, 0, 1});
  if (plan.samples > 0) {
    total.phases.push_back({"sample",
                            {{data, plan.samples * line_bytes, 0}},
                            {{sample_rate(type), static_cast<double>(plan.samples), typical.sample}},
                            is_gpu ? 1.0 : 0.0,
                            1});
  }
  total.phases.push_back({"scan",
                          {{data, n * w, 0}, {kept, 0, survivors * entry_bytes(type)}},
                          {{scan_rate(type), n, typical.scan}, {append_rate(type), survivors, typical.append}},
                          launch,
                          scanning});
  phase finish{"finish",
               {{kept, survivors * entry_bytes(type), k * (w + 8)}},
               {{select_rate(type), survivors, typical.select}},
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
