#include <perf/study/executors.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <zenith/backend.hpp>
#include <zenith/error.hpp>
#include <zenith/executor.hpp>

namespace zenith_study {

void require_offered(const std::vector<std::string>& named, std::vector<std::string> offered) {
  std::ranges::sort(offered);
  const auto repeated = std::ranges::unique(offered);
  offered.erase(repeated.begin(), repeated.end());
  for (const auto& one : named) {
    if (std::ranges::find(offered, one) != offered.end()) continue;
    throw zenith::error(zenith::error_code::unsupported,
                        fmt::format("--strategy is '{}', which no backend of this run offers; there are: {}", one,
                                    fmt::join(offered, ", ")));
  }
}

std::vector<offered_strategy> offered_strategies(std::string_view operation, const std::vector<std::string>& executors,
                                                 const std::vector<std::string>& strategies) {
  std::vector<std::string> names = executors;
  if (names.empty()) {
    for (const auto& one : zenith::backends()) {
      if (one.usable && one.name != "reference") names.push_back(one.name);
    }
  }
  std::vector<offered_strategy> found;
  std::vector<std::string> offered;
  for (const auto& name : names) {
    const auto on = zenith::make_executor(name);
    if (on.is_automatic()) {
      throw zenith::error(zenith::error_code::invalid_argument,
                          "--backend is 'auto'; the study measures every backend by itself: name one, or none for all");
    }
    const auto& backend = *on.settings().target;
    for (const auto& kernel : backend.kernels) {
      if (kernel.operation != operation) continue;
      offered.emplace_back(kernel.strategy);
      if (!strategies.empty() && std::ranges::find(strategies, kernel.strategy) == strategies.end()) continue;
      found.push_back({name, std::string{kernel.strategy}, backend.memory == zenith::memory_space::device});
    }
  }
  require_offered(strategies, offered);
  if (found.empty()) {
    throw zenith::error(zenith::error_code::unsupported,
                        fmt::format("no usable backend of this run offers {}", operation));
  }
  return found;
}

}  // namespace zenith_study
