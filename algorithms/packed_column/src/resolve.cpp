#include <algorithms/packed_column/resolve.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <core/resolve.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace packed {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

std::string faster_by(double ratio) {
  char text[48];
  std::snprintf(text, sizeof text, "predicted %.1f times slower", ratio);
  return text;
}

candidate consider(const packed_problem& problem, const device_profile& on) {
  candidate one{on.backend, on.device, std::string{strategy}, never, {}};
  if (!on.offers_kernel(problem.operation, strategy)) {
    one.reason = "not offered by this backend";
  } else if (on.levels.empty()) {
    one.reason = "its profile has no memory level";
  } else if (problem.space == memory_space::device && on.memory != memory_space::device) {
    one.reason = "the column lies in device memory, which this backend cannot read";
  } else {
    one.predicted_seconds = seconds(packed_cost(problem, on), on);
  }
  return one;
}

std::optional<decision> try_decide(const packed_problem& problem, const std::vector<device_profile>& among) {
  std::vector<candidate> all;
  all.reserve(among.size());
  for (const auto& device : among) all.push_back(consider(problem, device));
  std::ranges::stable_sort(all, {}, &candidate::predicted_seconds);
  const auto possible = std::ranges::count_if(all, [](const auto& one) { return one.predicted_seconds < never; });
  if (possible == 0) return std::nullopt;
  for (auto& one : all) {
    if (one.reason.empty()) one.reason = faster_by(one.predicted_seconds / all.front().predicted_seconds);
  }
  decision found{all.front().backend, all.front().device, all.front().strategy, all.front().predicted_seconds, {}, {}};
  found.why = possible == 1 ? "the only one that can run" : "the fastest predicted of " + std::to_string(possible);
  all.erase(all.begin());
  found.rejected = std::move(all);
  return found;
}

}  // namespace

execution resolve(const executor& on, const packed_problem& problem) {
  execution found = on.settings();
  if (on.is_automatic()) {
    if (const auto forced = detail::forced_backend(); !forced.empty()) {
      found = make_executor(forced).settings();
    } else {
      const auto decided = decide(problem, machine::local());
      found.target = &find_backend(decided.backend);
      found.device = decided.device;
      found = detail::resolve(std::move(found));
    }
  }
  if (find_kernel(*found.target, problem.operation, strategy) == nullptr) {
    throw error(error_code::unsupported, std::string{problem.operation} + " is not offered by this backend",
                found.target->name);
  }
  if (problem.space == memory_space::device && found.target->memory != memory_space::device) {
    throw error(
        error_code::invalid_argument,
        std::string{problem.operation} + ": the column lies in device memory, but this backend works on host memory",
        found.target->name);
  }
  return found;
}

void run_kernel(const execution& on, std::string_view operation, const void* call) {
  find_kernel(*on.target, operation, strategy)->run(on, call);
}

}  // namespace packed

decision decide(const packed_problem& problem, const machine& on) {
  if (auto found = packed::try_decide(problem, on.devices())) return *std::move(found);
  throw error(error_code::unsupported, std::string{problem.operation} + ": no device of this machine can run it");
}

}  // namespace zenith
