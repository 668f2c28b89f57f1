#include <algorithm>
#include <cmath>
#include <string>

#include <algorithms/scored_top_k/choices.hpp>
#include <algorithms/top_k/filter_cost.hpp>
#include <core/message.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace scored_top_k_detail {
namespace {

constexpr std::string_view score_rate = "scored_top_k.score";
constexpr std::string_view store_rate = "scored_top_k.store";
constexpr std::string_view idle_launch_rate = "scored_top_k.idle_launch";

key_type score_type(key_type type) { return type == key_type::float32 ? type : key_type::float64; }

// The filter over the scores, which lie where the strategy leaves them.
cost filter_of_scores(const scored_top_k_problem& problem, const device_profile& on) {
  const bool is_in_place = problem.space == memory_space::device || on.host_to_device <= 0;
  auto of = top_k_detail::filter_cost({problem.count, problem.k, score_type(problem.type), ordering::sorted,
                                       is_in_place ? problem.space : memory_space::device},
                                      on);
  if (!is_in_place) {
    of.to_device_bytes = static_cast<double>(problem.count * problem.columns * size_of(problem.type));
    of.pieces = static_cast<double>(problem.columns);
    of.to_host_bytes = static_cast<double>(problem.k) * 16;
  }
  return of;
}

double column_bytes(const scored_top_k_problem& problem) {
  return static_cast<double>(problem.count) * static_cast<double>(size_of(problem.type));
}

work scoring(const scored_top_k_problem& problem) {
  // a product and a sum a column and row, several rows at a time
  constexpr double typical_seconds = 0.08e-9;
  return {score_rate, static_cast<double>(problem.count * problem.columns), typical_seconds};
}

// A call on a device's memory does not ask the host whether the sample misled: the launches that would find a better
// bound are enqueued in any case, and return at once. Four for each digit of an entry, and four around them.
phase refinement(const scored_top_k_problem& problem) {
  constexpr double digits_of_index = 3;
  constexpr double typical_seconds = 4e-6;
  const double digits = digits_of_index + (size_of(score_type(problem.type)) == 4 ? 3 : 6);
  return {"refine, if need be", {}, {{idle_launch_rate, 4 * digits + 4, typical_seconds}}, 0, 1};
}

}  // namespace

cost scan_cost(const scored_top_k_problem& problem, const device_profile& on) {
  auto of = filter_of_scores(problem, on);
  const double bytes = column_bytes(problem) * static_cast<double>(problem.columns);
  for (auto& one : of.phases) {
    if (one.name != "scan") continue;
    // the filter reads scores; this reads the columns instead
    one.memory.front() = {static_cast<std::uint64_t>(bytes), bytes, 0};
    one.operations.push_back(scoring(problem));
    if (on.grain_bytes > 0) one.cores = cores_for(bytes, on);
  }
  if (on.kind == device_kind::gpu && problem.space == memory_space::device) of.phases.push_back(refinement(problem));
  return of;
}

cost full_cost(const scored_top_k_problem& problem, const device_profile& on) {
  auto of = filter_of_scores(problem, on);
  const double bytes = column_bytes(problem) * static_cast<double>(problem.columns);
  const double scores = static_cast<double>(problem.count) * static_cast<double>(size_of(score_type(problem.type)));
  phase store{"scores",
              {{static_cast<std::uint64_t>(bytes + scores), bytes, scores}},
              {scoring(problem)},
              1,
              on.grain_bytes > 0 ? cores_for(bytes, on) : 0};
  // a core scores and stores a row at a time
  constexpr double typical_store = 3e-9;
  if (on.kind == device_kind::cpu) {
    store.operations.push_back({store_rate, static_cast<double>(problem.count), typical_store});
  }
  of.phases.insert(of.phases.begin(), std::move(store));
  return of;
}

}  // namespace scored_top_k_detail

decision decide(const scored_top_k_problem& problem, const machine& on) {
  return detail::decide(scored_top_k_detail::choices, problem, on.devices(), "auto");
}

cost scored_top_k_cost(std::string_view name, const scored_top_k_problem& problem, const device_profile& on) {
  for (const auto& one : scored_top_k_detail::strategies) {
    if (one.name == name) return one.model(problem, on);
  }
  throw error(error_code::invalid_argument, "scored_top_k_cost: strategy is '" + detail::shown(name) +
                                                "'; the strategies with a cost model are: scan, full");
}

}  // namespace zenith
