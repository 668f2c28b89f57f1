// An executor's threads: what the models are told of its device.

#include <array>
#include <string>
#include <vector>

#include <catch.hpp>

#include <core/choose.hpp>
#include <core/decide.hpp>
#include <zenith/backend.hpp>
#include <zenith/cost.hpp>
#include <zenith/top_k.hpp>
#include "scenes.hpp"

using namespace zenith;
using zenith_test::environment;

namespace {

constexpr int wide_cores = 8;

// A backend of eight cores with one operation, which the library's families do not know.
device_profile wide_profile(const execution& /*on*/) {
  device_profile made;
  made.name = "wide";
  made.cores = wide_cores;
  made.grain_bytes = 1000;
  made.levels = {{"L2", 8000, 8e9, 8e9, 8e9}, {"memory", 1'000'000'000, 4e9, 2e9, 2e9}};
  made.launch_overhead = 3e-6;
  return made;
}

void run_nothing(const execution& /*on*/, const void* /*call*/) {}

constexpr std::array wide_kernels{kernel{"loop", "alone", run_nothing}, kernel{"loop", "shared", run_nothing}};
constexpr backend wide{.name = "wide",
                       .description = "has eight cores",
                       .needs = "nothing",
                       .kernels = wide_kernels,
                       .default_profile = wide_profile};

execution wide_with(int threads) {
  [[maybe_unused]] static const bool done = (register_backend(wide), true);
  execution on;
  on.target = &find_backend("wide");
  on.threads = threads;
  return on;
}

struct loop_problem {
  memory_space space = memory_space::host;

  [[nodiscard]] bool operator==(const loop_problem&) const = default;
};

// 4 ms of one core, and 12 ms that any number of cores share.
cost alone(const loop_problem& /*problem*/, const device_profile& /*on*/) {
  cost all;
  all.phases.push_back({"loop", {}, {{"loop.alone", 1, 4e-3}}, 0, 1});
  return all;
}
cost shared(const loop_problem& /*problem*/, const device_profile& /*on*/) {
  cost all;
  all.phases.push_back({"loop", {}, {{"loop.shared", 1, 12e-3}}, 1, 0});
  return all;
}

constexpr std::array loops{detail::modelled_strategy<loop_problem>{"alone", alone},
                           detail::modelled_strategy<loop_problem>{"shared", shared}};
constexpr detail::choosable<loop_problem> family{"loop", "loop", "the loop lies", loops};

bool is(double seconds, double wanted) { return seconds > wanted * (1 - 1e-9) && seconds < wanted * (1 + 1e-9); }

}  // namespace

TEST_CASE("a host with some of its cores is as fast as a phase that has them", "[threads]") {
  auto all = wide_profile({});
  SECTION("whose cores do not slow each other") {}
  SECTION("whose cores slow each other") {
    all.rates["core.all_busy"] = 1.7;
    all.rates["core.own_levels"] = 1;
  }
  SECTION("one of which has more than its part of the memory's bandwidth") {
    all.rates["core.own_levels"] = 1;
    all.rates["core.shared_alone"] = 3;
  }
  for (const int threads : {2, 3, 8}) {
    const auto some = all.with_threads(threads);
    CHECK(some.cores == threads);
    for (const std::uint64_t working_set : {100U, 900U, 1100U, 7000U, 100'000U}) {
      phase of{"pass", {{working_set, 1e6, 1e5}}, {{"work", 1000, 1e-9}}, 2, threads};
      const double wanted = seconds(of, all);
      INFO(threads << " threads, " << working_set << " bytes");
      CHECK(is(seconds(of, some), wanted));
      of.cores = 0;
      CHECK(is(seconds(of, some), wanted));
      of.cores = 1;
      CHECK(is(seconds(of, some), seconds(of, all)));
    }
  }
  // nobody is woken
  const auto one = all.with_threads(1);
  CHECK(is(seconds({"pass", {{100'000, 1e6, 0}}, {}, 2, 0}, one), 1e6 / (4e9 / 8 * all.rate("core.shared_alone", 1))));
}

TEST_CASE("few cores reach more than their part of what all share, and all of its cache", "[threads]") {
  auto all = wide_profile({});
  all.levels.insert(all.levels.begin() + 1, {"L3", 20'000, 6e9, 3e9, 3e9});
  all.rates["core.own_levels"] = 1;
  all.rates["core.shared_alone"] = 2.5;
  const auto read = [](const device_profile& by, std::uint64_t working_set) {
    return seconds({"pass", {{working_set, 1e6, 0}}, {}, 0, 0}, by);
  };
  // a core's own cache is an eighth
  CHECK(is(read(all.with_threads(1), 1000), 1e6 / 1e9));
  CHECK(is(read(all.with_threads(1), 1001), 1e6 / (6e9 * 2.5 / 8)));
  CHECK(is(read(all.with_threads(1), 20'000), 1e6 / (6e9 * 2.5 / 8)));
  CHECK(is(read(all.with_threads(2), 20'001), 1e6 / (4e9 * 2.5 / 4)));
  // four of eight would reach more than there is
  CHECK(is(read(all.with_threads(4), 20'001), 1e6 / 4e9));
  CHECK(is(read(all, 20'001), 1e6 / 4e9));
}

TEST_CASE("a strategy is chosen for the threads that the executor has", "[threads]") {
  const environment none("ZENITH_PROFILE", "/nonexistent/zenith-profile.json");
  const auto strategy_with = [](int threads) {
    return detail::choose(family, wide_with(threads), loop_problem{}, "auto").strategy;
  };
  // of 12 ms a third or more is 4 ms or longer
  CHECK(strategy_with(1) == "alone");
  CHECK(strategy_with(2) == "alone");
  CHECK(strategy_with(4) == "shared");
  CHECK(strategy_with(wide_cores) == "shared");
  // the remembered choice is of other threads
  CHECK(strategy_with(1) == "alone");
  // as many as there are, where the executor does not say and where it has more
  CHECK(strategy_with(0) == "shared");
  CHECK(strategy_with(64) == "shared");
}

TEST_CASE("what is known of an executor's device stays where it is", "[threads]") {
  const environment none("ZENITH_PROFILE", "/nonexistent/zenith-profile.json");
  const auto* two = detail::local_profile(wide_with(2));
  REQUIRE(two != nullptr);
  CHECK(two->cores == 2);
  CHECK(two->backend == "wide");
  CHECK(detail::local_profile(wide_with(2)) == two);
  const auto* all = detail::local_profile(wide_with(wide_cores));
  CHECK(all == machine::local().find("wide"));
  CHECK(detail::local_profile(wide_with(0)) == all);
  machine::reload_local();
  CHECK(two->cores == 2);
  CHECK(detail::local_profile(wide_with(2)) != two);
}

TEST_CASE("workers of the filter find what they share out in no cache of their own", "[cost]") {
  device_profile on;
  on.cores = 8;
  on.grain_bytes = 1 << 19;
  on.kind = device_kind::cpu;
  on.levels = {{"L2", 16 << 20, 800e9, 800e9, 800e9}, {"L3", 128 << 20, 200e9, 200e9, 200e9}};
  const auto scan = [&](std::uint64_t count) {
    for (const auto& one : top_k_cost("filter", {count, 1, key_type::float32}, on).phases) {
      if (one.name == "scan") return seconds(one, on);
    }
    return 0.0;
  };
  const std::uint64_t alone = 1 << 17;
  const std::uint64_t shared = 1 << 21;
  on.rates["top_k.filter.scan/4"] = 1e-15;
  on.rates["top_k.filter.append/4"] = on.rates["top_k.filter.take/4"] = on.rates["top_k.filter.select/4"] = 1e-15;
  CHECK(scan(alone) == Approx(4.0 * alone / 100e9).epsilon(0.05));
  CHECK(scan(shared) == Approx(4.0 * shared / 800e9).epsilon(0.05));
  on.rates["core.own_levels"] = 1;
  CHECK(scan(alone) == Approx(4.0 * alone / 100e9).epsilon(0.05));
  CHECK(scan(shared) == Approx(4.0 * shared / 200e9).epsilon(0.05));
}
