// The roofline: what a phase takes on a device.

#include <limits>

#include <catch.hpp>
#include <zenith/cost.hpp>

namespace {

// Four cores that read 4e9 bytes a second together, and 1e9 alone; memory for which one core is enough has 1000 bytes.
zenith::device_profile host() {
  zenith::device_profile made;
  made.cores = 4;
  made.grain_bytes = 1000;
  made.levels = {{"L1", 100, 8e9, 8e9, 8e9}, {"memory", 1'000'000'000, 4e9, 2e9, 2e9}};
  made.launch_overhead = 1e-3;
  made.rates["work"] = 1e-6;
  return made;
}

zenith::device_profile device() {
  auto made = host();
  made.grain_bytes = 0;
  return made;
}

bool is(double seconds, double wanted) { return seconds > wanted * (1 - 1e-9) && seconds < wanted * (1 + 1e-9); }

}  // namespace

TEST_CASE("a parallel region costs what waking its cores does, and nothing where the caller works alone", "[cost]") {
  const zenith::phase alone{"alone", {}, {{"work", 1000}}, 3, 1};
  CHECK(is(zenith::seconds(alone, host()), 1e-3));
  auto shared = alone;
  shared.cores = 2;
  // three regions; those woken wake others, so that two cores take half of what four do
  CHECK(is(zenith::seconds(shared, host()), 0.5e-3 + 1.5e-3));
  shared.cores = 0;
  CHECK(is(zenith::seconds(shared, host()), 0.25e-3 + 3e-3));
  // a launch on a device is one, however small
  CHECK(is(zenith::seconds(alone, device()), 1e-3 + 3e-3));
}

TEST_CASE("the first 4 MiB of a copy over the link have a speed of their own", "[cost]") {
  auto gpu = device();
  gpu.host_to_device = 4e9;
  gpu.device_to_host = 2e9;
  gpu.link_latency = 1e-6;
  constexpr double first = 4 << 20;
  zenith::cost copied;
  copied.to_device_bytes = first + 4e9;
  CHECK(is(zenith::seconds(copied, gpu), 1e-6 + (first + 4e9) / 4e9));
  gpu.rates["link.short_copy"] = 1e-9;
  CHECK(is(zenith::seconds(copied, gpu), 1e-6 + first * 1e-9 + 1));
  copied.to_device_bytes = 1e6;
  CHECK(is(zenith::seconds(copied, gpu), 1e-6 + 1e-3));
  // never faster than long copies
  gpu.rates["link.short_copy"] = 1e-12;
  CHECK(is(zenith::seconds(copied, gpu), 1e-6 + 0.25e-3));
  zenith::cost back;
  back.to_host_bytes = 1e6;
  CHECK(is(zenith::seconds(back, gpu), 1e-6 + 0.5e-3));
}

TEST_CASE("estimates count for the speed of the core, rates that were measured do not", "[cost]") {
  auto fast = host();
  fast.rates["core.estimate"] = 0.5;
  const zenith::phase guessed{"guessed", {}, {{"no rate of the profile", 1000, 1e-6}}, 0, 1};
  const zenith::phase measured{"measured", {}, {{"work", 1000, 1}}, 0, 1};
  CHECK(is(zenith::seconds(guessed, host()), 1e-3));
  CHECK(is(zenith::seconds(guessed, fast), 0.5e-3));
  CHECK(is(zenith::seconds(measured, fast), 1e-3));
}

TEST_CASE("the slowest resource of a phase decides", "[cost]") {
  zenith::phase both{"both", {{1'000'000, 4e6, 0}}, {{"work", 100}}, 0, 0};
  CHECK(is(zenith::seconds(both, host()), 1e-3));
  both.memory[0].written = 2e6;
  CHECK(is(zenith::seconds(both, host()), 2e-3));
  both.operations[0].count = 20'000;
  CHECK(is(zenith::seconds(both, host()), 5e-3));
  both.operations.push_back({"no rate of the profile", 1000, 4e-5});
  CHECK(is(zenith::seconds(both, host()), 15e-3));
}

TEST_CASE("fewer cores have a share of the bandwidth, and of their own caches", "[cost]") {
  auto on = host();
  on.rates["core.own_levels"] = 1;
  zenith::phase read{"read", {{1'000'000, 4e6, 0}}, {}, 0, 1};
  CHECK(is(zenith::seconds(read, on), 4e-3));
  // 100 bytes fit the caches of all cores; those of one core hold a quarter
  read.memory[0] = {100, 8e6, 0};
  CHECK(is(zenith::seconds(read, on), 8e-3));
  read.memory[0].working_set = 25;
  CHECK(is(zenith::seconds(read, on), 4e-3));
  // a cache that all share is one core's, too
  on.rates["core.own_levels"] = 0;
  read.memory[0].working_set = 100;
  CHECK(is(zenith::seconds(read, on), 4e-3));
}

TEST_CASE("cores that all work slow each other, and own caches are as fast alone as they are measured together",
          "[cost]") {
  auto on = host();
  on.rates["core.all_busy"] = 1.6;
  zenith::phase work{"work", {}, {{"work", 1000}}, 0, 1};
  CHECK(is(zenith::seconds(work, on), 1e-3));
  work.cores = 0;
  CHECK(is(zenith::seconds(work, on), 1.6 * 0.25e-3));
  work.cores = 2;  // a third of the way from one core to four
  CHECK(is(zenith::seconds(work, on), 1.2 * 0.5e-3));
  zenith::phase read{"read", {{100, 8e6, 0}}, {}, 0, 0};
  CHECK(is(zenith::seconds(read, on), 1e-3));
  read.memory[0].working_set = 25;
  read.cores = 1;
  CHECK(is(zenith::seconds(read, on), 4e-3));
  on.rates["core.own_levels"] = 1;
  CHECK(is(zenith::seconds(read, on), 4e-3 / 1.6));
  // memory is nobody's own
  read.memory[0] = {1'000'000, 4e6, 0};
  CHECK(is(zenith::seconds(read, on), 4e-3));
}

TEST_CASE("what several workers share out lies in no cache of their own", "[cost]") {
  auto on = host();
  CHECK(zenith::set_beyond_own_caches(4, on) == 0);
  on.rates["core.own_levels"] = 1;
  CHECK(zenith::set_beyond_own_caches(1, on) == 0);
  for (const int workers : {2, 4}) {
    INFO(workers << " workers");
    const zenith::phase read{"read", {{zenith::set_beyond_own_caches(workers, on), 4e6, 0}}, {}, 0, workers};
    CHECK(is(zenith::seconds(read, on), 1e-3 * 4 / workers));
  }
  on.rates["core.own_levels"] = 2;  // there is no level beyond
  CHECK(zenith::set_beyond_own_caches(4, on) == 0);
}

TEST_CASE("a rate that is no number is never hidden by another", "[cost]") {
  auto broken = host();
  broken.rates["work"] = std::numeric_limits<double>::quiet_NaN();
  const zenith::phase both{"both", {{1'000'000, 4e6, 0}}, {{"work", 100}}, 0, 0};
  CHECK(zenith::seconds(both, broken) == std::numeric_limits<double>::infinity());
}
