#include <string>

#include <algorithms/predicated_top_k/choices.hpp>
#include <algorithms/top_k/filter_cost.hpp>
#include <core/message.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace predicated_top_k_detail {

cost fused_cost(const predicated_top_k_problem& problem, const device_profile& on) {
  const bool is_in_place = problem.space == memory_space::device || on.host_to_device <= 0;
  const auto n = static_cast<double>(problem.count);
  const double key_bytes = n * static_cast<double>(size_of(problem.type));
  const double column_bytes = n * problem.bits_per_value / 8;
  const double bitmap_bytes = n / 8;
  auto of = top_k_detail::filter_cost(
      {problem.count, problem.k, problem.type, ordering::sorted, is_in_place ? problem.space : memory_space::device},
      on);
  // a core tests several rows at a time
  constexpr double typical_test = 0.15e-9;
  constexpr double typical_selection = 0.25e-9;
  for (auto& one : of.phases) {
    if (one.name != "scan") continue;
    const double bytes = key_bytes + (problem.is_packed ? bitmap_bytes : column_bytes);
    one.memory.front() = {static_cast<std::uint64_t>(bytes), bytes, 0};
    one.operations.push_back({"predicated_top_k.plain", n, typical_test});
    if (on.grain_bytes > 0) one.cores = cores_for(bytes, on);
  }
  if (problem.is_packed) {
    const int cores = on.grain_bytes > 0 ? cores_for(column_bytes, on) : 0;
    const traffic moved{static_cast<std::uint64_t>(column_bytes), column_bytes, bitmap_bytes};
    const work selection{"predicated_top_k.packed", n, typical_selection};
    of.phases.insert(of.phases.begin(), {"select", {moved}, {selection}, cores == 1 ? 0.0 : 1.0, cores});
  }
  if (!is_in_place) {
    of.to_device_bytes = key_bytes + column_bytes;
    of.pieces = 2;
    of.to_host_bytes = static_cast<double>(problem.k) * 16;
  }
  return of;
}

}  // namespace predicated_top_k_detail

decision decide(const predicated_top_k_problem& problem, const machine& on) {
  return detail::decide(predicated_top_k_detail::choices, problem, on.devices(), "auto");
}

cost predicated_top_k_cost(std::string_view name, const predicated_top_k_problem& problem, const device_profile& on) {
  for (const auto& one : predicated_top_k_detail::strategies) {
    if (one.name == name) return one.model(problem, on);
  }
  throw error(error_code::invalid_argument, "predicated_top_k_cost: strategy is '" + detail::shown(name) +
                                                "'; the only one with a cost model is: fused");
}

}  // namespace zenith
