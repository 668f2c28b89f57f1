#include <perf/study/measure_skyline.hpp>

#include <utility>

#include <perf/study/clock.hpp>
#include <perf/study/executors.hpp>
#include <perf/study/statistics.hpp>
#include <zenith/array.hpp>
#include <zenith/skyline.hpp>

namespace zenith_study {
namespace {

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
  for (const auto& one : offered_strategies(zenith::skyline_call::operation, options.backends, options.strategies)) {
    if (one.on_device) lines.push_back({one.label(), one.executor, one.strategy, true});
    lines.push_back({one.label() + (one.on_device ? " from host" : ""), one.executor, one.strategy});
  }
  return lines;
}

std::vector<skyline_measurement> measure_skyline(std::span<const float> points, std::uint64_t rows, unsigned columns,
                                                 std::vector<skyline_line>& lines,
                                                 const skyline_sweep_options& options) {
  const auto problem = zenith::skyline_problem_of(zenith::matrix_view<const float>::row_major(points, rows, columns));
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
    line.too_slow = one.seconds > options.time_limit;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace zenith_study
