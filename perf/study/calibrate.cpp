#include <perf/study/calibrate.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <perf/study/better_of.hpp>
#include <perf/study/clock.hpp>
#include <perf/study/fit.hpp>
#include <perf/study/subject.hpp>
#include <zenith/executor.hpp>
#include <zenith/version.hpp>

namespace zenith_study {
namespace {

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[32];
  std::tm parts{};
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts))};
}

// Progress of a part of the whole.
zenith::progress_function part_of(const zenith::progress_function& whole, double begin, double share) {
  return [=](double done, std::string_view what) {
    if (whole) whole(begin + share * done, what);
  };
}

zenith::device_profile measure_device(const zenith::device_profile& shipped, const zenith::executor& on,
                                      const zenith::progress_function& progress) {
  const auto* backend = on.settings().target;
  if (backend->measure == nullptr) return shipped;
  auto measured = backend->measure(on.settings(), progress);
  measured.backend = shipped.backend;
  measured.device = shipped.device;
  measured.memory = shipped.memory;
  measured.offers = shipped.offers;
  return measured;
}

// Goes up a ladder with one strategy until a call takes too long to be worth it: up to `rungs` times, which becomes how
// often it was. What was measured before counts where it was faster: cores are slower while others use them.
void measure_ladder(const zenith::device_profile& profile, const placement& at, const ladder& up, std::size_t& rungs,
                    std::vector<measured_cost>& points) {
  constexpr double too_long = 0.008;
  constexpr time_limits limits{.least_repeats = 3, .most_repeats = 200, .enough_seconds = 0.006};
  const bool is_first = points.empty();
  std::size_t next = 0;
  std::size_t rung = 0;
  for (double longest = 0; rung < rungs && (longest <= too_long || !is_first); ++rung) {
    const auto& asked = up.rungs[rung];
    const varied_input from(asked);
    for (const auto& one : from.place(at)) {
      const auto cost = from.first().cost(asked.point, one.operation, at, profile);
      if (!cost) continue;
      const double seconds = lower_quartile_seconds(one.call, limits);
      longest = std::max(longest, seconds);
      if (is_first) {
        points.push_back({*cost, seconds});
      } else {
        points[next].seconds = std::min(points[next].seconds, seconds);
        ++next;
      }
    }
  }
  rungs = rung;
}

/// What is fitted together.
using point_group = std::vector<measured_cost>;

// Measures a family's strategies. Points of all ladders of a strategy are a group, since they share what a call costs,
// and those of all strategies where these share their rates.
void measure_subject(const zenith::device_profile& profile, const std::string& spec, subject& of,
                     const zenith::progress_function& progress, std::vector<point_group>& groups) {
  constexpr int rounds = 2;
  struct measured_ladder {
    std::size_t rungs = 0;
    std::vector<measured_cost> points;
  };
  const auto on = zenith::make_executor(spec);
  const auto ladders = of.ladders();
  const auto strategies = of.strategies();
  const auto operations = of.operations();
  double done = 0;
  point_group points;
  const auto end_group = [&] {
    if (!points.empty()) groups.push_back(std::exchange(points, {}));
  };
  for (const auto strategy : strategies) {
    const auto offered = [&](std::string_view operation) { return profile.offers_kernel(operation, strategy); };
    if (std::ranges::none_of(operations, offered)) continue;
    const placement at{spec, on, std::string{strategy}, on.settings().target->memory == zenith::memory_space::device};
    std::vector<measured_ladder> measured;
    for (const auto& up : ladders) measured.push_back({up.rungs.size(), {}});
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < ladders.size(); ++i) {
        progress(done++ / static_cast<double>(strategies.size() * ladders.size() * rounds),
                 std::string{of.name()} + "/" + at.strategy + ", " + ladders[i].title);
        measure_ladder(profile, at, ladders[i], measured[i].rungs, measured[i].points);
      }
    }
    for (auto& one : measured) std::ranges::move(one.points, std::back_inserter(points));
    if (!of.shares_rates()) end_group();
  }
  end_group();
}

}  // namespace

zenith::machine calibrate(const zenith::progress_function& progress) {
  const auto all = subjects();
  auto devices = zenith::machine::defaults().devices();
  // of each device: itself, each subject and itself again
  const double part = 1.0 / static_cast<double>(devices.size() * (all.size() + 2));
  double at = 0;
  for (auto& device : devices) {
    const auto spec = device.backend + (device.device > 0 ? ":" + std::to_string(device.device) : "");
    const auto on = zenith::make_executor(spec);
    device = measure_device(device, on, part_of(progress, at, part));
    device.origin = "calibrated";
    device.date = today();
    device.version = std::to_string(ZENITH_VERSION_MAJOR) + "." + std::to_string(ZENITH_VERSION_MINOR) + "." +
                     std::to_string(ZENITH_VERSION_PATCH);

    // rates are fitted beside bandwidths, so these are measured again some time later: neighbours take a part of them
    std::vector<point_group> groups;
    for (const auto& one : all) measure_subject(device, spec, *one, part_of(progress, at += part, part), groups);
    device = better_of(std::move(device), measure_device(device, on, part_of(progress, at += part, part)));
    rate_names known;
    for (const auto& points : groups) fit_rates(points, device, known);
    at += part;
  }
  if (progress) progress(1, "done");
  return zenith::machine{std::move(devices)};
}

}  // namespace zenith_study
