#include <perf/study/series.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <zenith/backend.hpp>
#include <zenith/error.hpp>

namespace zenith_study {
namespace {

bool takes_threads(const zenith::backend& one) {
  return std::ranges::find(one.options, std::string_view{"threads"}) != one.options.end();
}

std::string with_threads(std::string_view executor, int threads) {
  const auto name = executor.substr(0, executor.find(':'));
  if (threads == 0 || executor.find("threads=") != std::string_view::npos ||
      !takes_threads(zenith::find_backend(name))) {
    return std::string{executor};
  }
  return fmt::format("{}{}threads={}", executor, name.size() == executor.size() ? ':' : ',', threads);
}

std::vector<std::string> usable_backends(const series_choice& choice, std::vector<std::string>& notes) {
  std::vector<std::string> names;
  for (const auto& one : zenith::backends()) {
    if (!one.usable) {
      notes.push_back(fmt::format("{} is left out: {} ({})", one.name, one.why_not, one.remedy));
    } else if (one.name != "reference" || choice.why_no_reference.empty()) {
      names.push_back(one.name);
    } else if (choice.why_no_reference != "-") {
      notes.push_back(
          fmt::format("reference is left out: {} (--backend reference brings it back)", choice.why_no_reference));
    }
  }
  return names;
}

std::string describe(const zenith::executor& on) {
  const auto& backend = *on.settings().target;
  std::string text;
  if (backend.devices != nullptr) {
    for (const auto& device : backend.devices()) {
      if (device.ordinal == on.device())
        text = device.detail.empty() ? device.name : device.name + ", " + device.detail;
    }
  }
  if (!on.isa().empty()) text += fmt::format("{}runs {}", text.empty() ? "" : "; ", on.isa());
  if (on.threads() > 0) {
    text += fmt::format("{}{} thread{}", text.empty() ? "" : ", ", on.threads(), on.threads() == 1 ? "" : "s");
  }
  return text;
}

// Whether a profile says what an executor has, which it does of any number of threads.
bool is_profiled(const zenith::executor& on) {
  const std::string place = on.device() == 0 ? "" : fmt::format(":{}", on.device());
  return on.isa() == zenith::make_executor(fmt::format("{}{}", on.backend(), place)).isa();
}

// Throws for a strategy that is named and not among those that are offered, and says which are.
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

}  // namespace

std::vector<series> list_series(const series_choice& choice, const sweep_options& options,
                                std::vector<std::string>& notes) {
  auto executors = options.backends.empty() ? usable_backends(choice, notes) : options.backends;
  std::vector<series> found;
  std::vector<std::string> offered;
  const auto named = choice.every_strategy ? std::vector<std::string>{} : options.strategies;
  for (const auto& name : executors) {
    series one;
    one.executor = with_threads(name, options.threads);
    one.on = zenith::make_executor(one.executor);
    if (one.on.is_automatic()) {
      throw zenith::error(zenith::error_code::invalid_argument,
                          "--backend is 'auto'; the study measures every backend by itself: name one, or none for all");
    }
    const auto& backend = *one.on.settings().target;
    one.detail = describe(one.on);
    one.is_profiled = is_profiled(one.on);
    for (const auto& kernel : backend.kernels) {
      if (kernel.operation != choice.operation) continue;
      offered.emplace_back(kernel.strategy);
      if (!named.empty() && std::ranges::find(named, kernel.strategy) == named.end()) continue;
      one.strategy = kernel.strategy;
      one.label = one.executor + "/" + one.strategy;
      one.resident = backend.memory == zenith::memory_space::device;
      found.push_back(one);
      if (!one.resident || !choice.host_and_device) continue;
      found.push_back(one);
      found.back().resident = false;
      found.back().label += " from host";
    }
  }
  require_offered(named, offered);
  if (found.empty()) {
    throw zenith::error(zenith::error_code::unsupported,
                        fmt::format("no usable backend of this run offers {}", choice.operation));
  }
  return found;
}

std::vector<std::string> compared_backends() {
  std::vector<std::string> all{"cpu:threads=1", "cpu"};
  for (const auto& one : zenith::backends()) {
    if (one.usable && one.name == "cuda") all.emplace_back("cuda");
  }
  return all;
}

}  // namespace zenith_study
