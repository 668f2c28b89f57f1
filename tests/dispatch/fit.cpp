#include <catch.hpp>
#include <cmath>
#include <vector>

#include <perf/study/better_of.hpp>
#include <perf/study/fit.hpp>
#include "scenes.hpp"

using namespace zenith;

namespace {

constexpr std::string_view item = "item";
constexpr std::string_view comparison = "comparison";
constexpr std::string_view call = "call";

device_profile two_cores() {
  device_profile made;
  made.cores = 2;
  made.launch_overhead = 1e-6;
  made.levels = {{"memory", std::uint64_t{1} << 40, 1e10, 1e10, 1e10}};
  return made;
}

// A call, n items read or worked on by two cores, and n log2 n comparisons on one.
cost of(double n) {
  return {{{"call", {}, {{call, 1, 1e-6}}, 0, 1},
           {"scan", {{1, 4 * n, 0}}, {{item, n, 1e-9}}, 1, 2},
           {"sort", {}, {{comparison, n * std::log2(n), 1e-9}}, 0, 1}}};
}

void fit(const std::vector<zenith_study::measured_cost>& points, device_profile& profile) {
  zenith_study::rate_names known;
  zenith_study::fit_rates(points, profile, known);
}

}  // namespace

TEST_CASE("fitted rates predict what was measured, though they start far away") {
  auto truth = two_cores();
  truth.rates = {{"call", 3e-5}, {"item", 2e-8}, {"comparison", 2e-10}};
  std::vector<zenith_study::measured_cost> points;
  for (double n = 64; n < 1e8; n *= 1.2) points.push_back({of(n), seconds(of(n), truth)});
  auto fitted = two_cores();
  fit(points, fitted);
  CHECK(fitted.rates.size() == 3);
  for (const auto& point : points) CHECK(seconds(point.of, fitted) == Approx(point.seconds).epsilon(0.06));
}

TEST_CASE("a rate that the points leave open stays at its estimate, as this core does such work") {
  std::vector<zenith_study::measured_cost> points;
  // reading decides, and is a tenth faster than was measured; a call of any length does not make up for that
  for (double n = 1e5; n < 1e8; n *= 3) {
    points.push_back(
        {{{{"call", {}, {{call, 1, 2e-6}}, 0, 1}, {"scan", {{1, 4 * n, 0}}, {}, 0, 2}}}, 0.9 * 4 * n / 1e10});
  }
  auto fitted = two_cores();
  fitted.rates["core.estimate"] = 0.5;
  fit(points, fitted);
  CHECK(fitted.rate("call", 0) > 0.7e-6);
  CHECK(fitted.rate("call", 0) < 1.1e-6);
}

TEST_CASE("a rate that points have told stays as it is where another operation shares it") {
  auto truth = two_cores();
  truth.rates = {{"call", 3e-5}, {"item", 2e-8}, {"comparison", 2e-10}};
  std::vector<zenith_study::measured_cost> points;
  std::vector<zenith_study::measured_cost> others;
  for (double n = 64; n < 1e8; n *= 1.2) {
    points.push_back({of(n), seconds(of(n), truth)});
    // the model of the other is wrong: it takes three times as long for each item
    auto other = of(n);
    other.phases.push_back({"more", {}, {{"other", 1, 1e-6}}, 0, 1});
    others.push_back({other, 3 * seconds(of(n), truth)});
  }
  auto fitted = two_cores();
  zenith_study::rate_names known;
  zenith_study::fit_rates(points, fitted, known);
  const auto before = fitted.rates;
  CHECK(known == zenith_study::rate_names{"call", "item", "comparison"});
  zenith_study::fit_rates(others, fitted, known);
  for (const auto& [name, seconds] : before) CHECK(fitted.rate(name, 0) == seconds);
  CHECK(fitted.rate("other", 0) > 1e-6);
  CHECK(known.contains("other"));
}

TEST_CASE("a disturbed measurement does not bend the fit") {
  auto truth = two_cores();
  truth.rates = {{"call", 3e-5}, {"item", 2e-8}, {"comparison", 2e-10}};
  std::vector<zenith_study::measured_cost> points;
  for (double n = 64; n < 1e8; n *= 1.2) points.push_back({of(n), seconds(of(n), truth)});
  points[7].seconds *= 20;
  auto fitted = two_cores();
  fit(points, fitted);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i != 7) CHECK(seconds(points[i].of, fitted) == Approx(points[i].seconds).epsilon(0.25));
  }
}

TEST_CASE("of two measurements the faster counts, number by number") {
  auto first = two_cores();
  first.rates = {{"core.shared_alone", 1.2}, {"core.own_levels", 2}, {"core.all_busy", 1.5}, {"core.vector", 0.4}};
  auto second = first;
  second.launch_overhead = 5e-6;
  second.levels.back().read *= 2;
  second.levels.back().write /= 2;
  second.rates = {{"core.shared_alone", 1.1}, {"core.own_levels", 2}, {"core.all_busy", 1.1}, {"core.vector", 0.6}};
  const auto better = zenith_study::better_of(first, second);
  CHECK(better.launch_overhead == 1e-6);
  CHECK(better.levels.back().read == 2e10);
  CHECK(better.levels.back().write == 1e10);
  CHECK(better.rate("core.shared_alone", 0) == 1.1);  // it goes with the faster memory
  CHECK(better.rate("core.own_levels", 0) == 2);
  CHECK(better.rate("core.all_busy", 0) == 1.1);
  CHECK(better.rate("core.vector", 0) == 0.4);
  CHECK(zenith_study::better_of(second, first).rate("core.shared_alone", 0) == 1.1);
  // sizes that do not match are left alone
  second.levels.clear();
  CHECK(zenith_study::better_of(first, second).levels.back().read == 1e10);
}
