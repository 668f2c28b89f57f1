#include <perf/study/measure_skyline.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <perf/study/clock.hpp>
#include <perf/study/statistics.hpp>
#include <zenith/array.hpp>
#include <zenith/error.hpp>
#include <zenith/skyline.hpp>

namespace zenith_study {
namespace {

std::vector<std::string> executors_of(const skyline_sweep_options& options) {
  if (!options.backends.empty()) return options.backends;
  std::vector<std::string> found;
  for (const auto& one : zenith::backends()) {
    if (one.usable && one.name != "reference") found.push_back(one.name);
  }
  return found;
}

std::optional<double> prediction(const skyline_line& line, const zenith::skyline_problem& problem) {
  const auto on = zenith::make_executor(line.executor);
  // settings other than the profile's are not what it describes
  if (line.executor != on.backend()) return {};
  const auto* profile = zenith::machine::local().find(on.backend(), on.device());
  if (profile == nullptr || line.strategy == "bnl") return {};
  return zenith::seconds(zenith::skyline_cost(line.strategy, problem, *profile), *profile);
}

template <class Points>
std::vector<std::uint32_t> timed_skyline(skyline_measurement& of, const zenith::executor& on, const Points& points,
                                         const skyline_line& line, int repeat) {
  zenith::skyline_result<std::uint32_t> found;
  std::vector<double> times;
  for (int i = 0; i <= repeat; ++i) {
    const double taken =
        seconds_of([&] { found = zenith::skyline<std::uint32_t>(on, points, {.strategy = line.strategy}); });
    if (i > 0 || repeat == 0) times.push_back(taken);
  }
  of.seconds = median(times);
  zenith::skyline_statistics statistics;
  found = zenith::skyline<std::uint32_t>(on, points, {.strategy = line.strategy, .statistics = &statistics});
  of.dominance_tests = statistics.dominance_tests;
  of.mask_tests = statistics.mask_tests;
  return std::move(found.ids);
}

}  // namespace

std::vector<skyline_line> skyline_lines(const skyline_sweep_options& options) {
  std::vector<skyline_line> lines;
  std::vector<std::string> offered;
  for (const auto& executor : executors_of(options)) {
    const auto on = zenith::make_executor(executor);
    if (on.is_automatic()) {
      throw zenith::error(zenith::error_code::invalid_argument,
                          "--backend is 'auto'; the study measures every backend by itself: name one, or none for all");
    }
    for (const auto& kernel : on.settings().target->kernels) {
      if (kernel.operation != zenith::skyline_call::operation) continue;
      const std::string strategy{kernel.strategy};
      offered.push_back(strategy);
      if (!options.strategies.empty() && std::ranges::find(options.strategies, strategy) == options.strategies.end()) {
        continue;
      }
      const auto label = fmt::format("{}/{}", executor, strategy);
      if (on.settings().target->memory == zenith::memory_space::device) {
        lines.push_back({label, executor, strategy, true});
        lines.push_back({label + " from host", executor, strategy});
      } else {
        lines.push_back({label, executor, strategy});
      }
    }
  }
  for (const auto& asked : options.strategies) {
    if (std::ranges::find(offered, asked) != offered.end()) continue;
    std::ranges::sort(offered);
    const auto repeated = std::ranges::unique(offered);
    offered.erase(repeated.begin(), repeated.end());
    throw zenith::error(zenith::error_code::unsupported,
                        fmt::format("--strategy is '{}', which no backend of this run offers; there are: {}", asked,
                                    fmt::join(offered, ", ")));
  }
  if (lines.empty()) {
    throw zenith::error(zenith::error_code::unsupported, "no usable backend of this run offers the skyline");
  }
  return lines;
}

std::vector<skyline_measurement> measure_skyline(std::span<const float> points, std::uint64_t rows, unsigned columns,
                                                 std::vector<skyline_line>& lines,
                                                 const skyline_sweep_options& options) {
  const zenith::skyline_problem problem{rows, columns, zenith::key_type::float32};
  const auto choice = zenith::decide(problem, zenith::machine::local());
  std::vector<skyline_measurement> all;
  std::vector<std::uint32_t> expected;
  for (auto& line : lines) {
    if (line.too_slow) continue;
    skyline_measurement one;
    one.label = line.label;
    one.rows = rows;
    one.columns = columns;
    auto asked = problem;
    if (line.resident) asked.space = zenith::memory_space::device;
    one.predicted = prediction(line, asked);
    one.is_chosen = !line.resident && line.executor == choice.backend && line.strategy == choice.strategy;
    const auto on = zenith::make_executor(line.executor);
    std::vector<std::uint32_t> ids;
    if (line.resident) {
      const zenith::array<float> there(on, points);
      ids = timed_skyline(one, on, zenith::device_matrix_view<const float>::row_major(there.device(), rows, columns),
                          line, options.repeat);
    } else {
      ids = timed_skyline(one, on, zenith::matrix_view<const float>::row_major(points, rows, columns), line,
                          options.repeat);
    }
    one.skyline = ids.size();
    if (all.empty()) expected = ids;
    one.is_wrong = ids != expected;
    line.too_slow = one.seconds > options.patience;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace zenith_study
