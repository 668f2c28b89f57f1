#include <perf/study/series.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <perf/study/executors.hpp>

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

bool same_settings(const zenith::executor& a, const zenith::executor& b) {
  return a.threads() == b.threads() && a.isa() == b.isa() && a.device() == b.device();
}

}  // namespace

std::vector<series> list_series(const series_choice& choice, const sweep_options& options,
                                std::vector<std::string>& notes) {
  auto executors = options.backends.empty() ? usable_backends(choice, notes) : options.backends;
  for (auto& one : executors) one = with_threads(one, options.threads);
  std::vector<series> found;
  for (const auto& offered : offered_strategies(choice.operation, executors, options.strategies)) {
    const auto on = zenith::make_executor(offered.executor);
    series one;
    one.executor = offered.executor;
    one.on = on;
    one.strategy = offered.strategy;
    one.label = offered.label();
    one.detail = describe(on);
    one.is_default =
        same_settings(on, zenith::make_executor(fmt::format("{}{}", on.backend(),
                                                            on.device() == 0 ? "" : fmt::format(":{}", on.device()))));
    one.resident = offered.on_device;
    found.push_back(one);
    if (!one.resident || !choice.host_and_device) continue;
    one.resident = false;
    one.label += " from host";
    found.push_back(std::move(one));
  }
  return found;
}

}  // namespace zenith_study
