#include <perf/study/series.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <perf/study/executors.hpp>
#include <perf/study/quantity.hpp>
#include <zenith/error.hpp>
#include <zenith/top_k.hpp>

namespace zenith_study {
namespace {

// The reference sorts all positions: beyond this count it would take the whole time of the study.
constexpr std::uint64_t reference_limit = std::uint64_t{1} << 20;

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

std::vector<std::string> usable_backends(const sweep_options& options, std::vector<std::string>& notes) {
  std::vector<std::string> names;
  for (const auto& one : zenith::backends()) {
    if (!one.usable) {
      notes.push_back(fmt::format("{} is left out: {} ({})", one.name, one.why_not, one.remedy));
    } else if (one.name == "reference" && options.count > reference_limit) {
      notes.push_back(
          fmt::format("reference is left out: it sorts everything, which takes too long for more than {} items "
                      "(--backend reference brings it back)",
                      with_commas(reference_limit)));
    } else {
      names.push_back(one.name);
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

std::vector<series> list_series(const sweep_options& options, std::vector<std::string>& notes) {
  std::vector<series> found;
  std::vector<std::string> offered;
  for (const auto& name : options.backends.empty() ? usable_backends(options, notes) : options.backends) {
    const auto executor = with_threads(name, options.threads);
    const auto on = zenith::make_executor(executor);
    if (on.is_automatic()) {
      throw zenith::error(zenith::error_code::invalid_argument,
                          "--backend is 'auto'; the study measures every backend by itself: name one, or none for all");
    }
    const auto& backend = *on.settings().target;
    const std::string spec{executor.substr(0, executor.find(':')) == executor ? backend.name
                                                                              : std::string_view{executor}};
    for (const auto& kernel : backend.kernels) {
      if (kernel.operation != zenith::top_k_call::operation) continue;
      offered.emplace_back(kernel.strategy);
      if (!options.strategies.empty() &&
          std::ranges::find(options.strategies, kernel.strategy) == options.strategies.end()) {
        continue;
      }
      series one;
      one.executor = executor;
      one.strategy = kernel.strategy;
      one.detail = describe(on);
      one.on = on;
      one.is_default =
          same_settings(on, zenith::make_executor(fmt::format(
                                "{}{}", backend.name, on.device() == 0 ? "" : fmt::format(":{}", on.device()))));
      one.label = fmt::format("{}/{}", spec, kernel.strategy);
      if (backend.memory == zenith::memory_space::device) {
        one.resident = true;
        found.push_back(one);
        one.resident = false;
        one.label += " from host";
      }
      found.push_back(std::move(one));
    }
  }
  require_offered(options.strategies, offered);
  if (found.empty()) {
    throw zenith::error(zenith::error_code::unsupported, "no usable backend of this run offers top_k");
  }
  return found;
}

}  // namespace zenith_study
