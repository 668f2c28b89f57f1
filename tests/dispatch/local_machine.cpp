#include <algorithm>
#include <fstream>
#include <thread>
#include <vector>

#include <catch.hpp>

#include <zenith/error.hpp>
#include <zenith/top_k.hpp>
#include "scenes.hpp"

using namespace zenith;
using zenith_test::environment;

TEST_CASE("the profile's place follows the environment") {
  const environment file("ZENITH_PROFILE", "/some/where.json");
  CHECK(machine::profile_path() == "/some/where.json");
  const environment no_file("ZENITH_PROFILE", "");
  const environment cache("XDG_CACHE_HOME", "/cache");
  CHECK(machine::profile_path() == "/cache/zenith/profile.json");
  const environment relative("XDG_CACHE_HOME", "not/absolute");
  const environment home("HOME", "/home/someone");
  CHECK(machine::profile_path() == "/home/someone/.cache/zenith/profile.json");
  const environment nowhere("HOME", "");
  CHECK(machine::profile_path().empty());
  CHECK_FALSE(machine::local().devices().empty());
}

TEST_CASE("this machine has the devices of its usable backends, and what their kernels offer") {
  const environment none("ZENITH_PROFILE", "/nonexistent/zenith-profile.json");
  const auto& here = machine::local();
  REQUIRE(here.find("cpu") != nullptr);
  const auto& cpu = *here.find("cpu");
  CHECK(cpu.origin == "probed");
  CHECK(cpu.cores >= 1);
  CHECK(cpu.offers_kernel("top_k", "filter"));
  CHECK_FALSE(cpu.offers_kernel("top_k", "sort"));
  CHECK(here.find("reference") == nullptr);
  CHECK(here.find("cpu", 7) == nullptr);
  CHECK(&here == &machine::local());
}

TEST_CASE("a probe sees bandwidths, and leaves the rest as it is shipped") {
  const environment none("ZENITH_PROFILE", "/nonexistent/zenith-profile.json");
  const auto shipped = machine::defaults();
  CHECK(shipped.find("cpu")->origin == "default");
  const auto& cpu = *machine::local().find("cpu");
  CHECK(cpu.name == shipped.find("cpu")->name);
  CHECK(cpu.offers == shipped.find("cpu")->offers);
  CHECK(cpu.rate("core.estimate", 0) > 0);
  CHECK(cpu.launch_overhead >= 0);
  CHECK(cpu.rate("core.all_busy", 0) >= 1);
  CHECK(cpu.rate("core.all_busy", 0) <= 2);
  CHECK(cpu.rate("core.vector", 0) > 0);
  // no core clears 2 MiB in less: memory that was written before would take less
  CHECK(cpu.rate("core.huge_page", 1) > 5e-6);
  REQUIRE(cpu.levels.size() >= 3);
  std::uint64_t bytes = 0;
  for (const auto& level : cpu.levels) {
    CHECK(level.bytes > bytes);
    CHECK(level.read > 1e6);
    bytes = level.bytes;
  }
  CHECK(bytes >= shipped.find("cpu")->levels.back().bytes);
  // what was probed can be written and read like any profile
  CHECK(machine::parse(machine::local().to_json()).find("cpu")->levels.size() == cpu.levels.size());
}

TEST_CASE("a backend of plainer code is expected to take longer than the estimates say, on this core") {
  const environment none("ZENITH_PROFILE", "/nonexistent/zenith-profile.json");
  static constexpr kernel kernels[] = {{"top_k", "filter", [](const execution&, const void*) {}}};
  static constexpr backend plainer{.name = "plainer",
                                   .description = "is not vectorised",
                                   .needs = "nothing",
                                   .kernels = kernels,
                                   .default_profile = [](const execution&) {
                                     device_profile one;
                                     one.name = "a chip";
                                     one.levels = {{"memory", 1, 1, 1, 1}};
                                     one.rates["core.estimate"] = 3;
                                     return one;
                                   }};
  register_backend(plainer);
  const double of_the_core = machine::local().find("cpu")->rate("core.estimate", 0);
  CHECK(machine::local().find("plainer")->rate("core.estimate", 0) == Approx(3 * of_the_core));
  // read again, it is not multiplied once more
  machine::reload_local();
  CHECK(machine::local().find("plainer")->rate("core.estimate", 0) == Approx(3 * of_the_core));
}

TEST_CASE("a probe is asked once, where no calibrated profile is kept") {
  const environment none("ZENITH_PROFILE", "/nonexistent/zenith-profile.json");
  static int probes = 0;
  static constexpr kernel kernels[] = {{"top_k", "filter", [](const execution&, const void*) {}}};
  static constexpr auto shipped = [](const execution&) {
    device_profile one;
    one.name = "a chip";
    one.levels = {{"memory", 1, 1, 1, 1}};
    return one;
  };
  static constexpr backend probing{.name = "probing",
                                   .description = "has a probe",
                                   .needs = "nothing",
                                   .kernels = kernels,
                                   .default_profile = shipped,
                                   .probe = [](const execution& on) {
                                     ++probes;
                                     auto one = shipped(on);
                                     one.levels.front().read = 2;
                                     return one;
                                   }};
  register_backend(probing);
  for (int i = 0; i < 2; ++i) {
    const auto* found = machine::local().find("probing");
    REQUIRE(found != nullptr);
    CHECK(found->levels.front().read == 2);
    CHECK(found->offers == std::vector<std::string>{"top_k/filter"});
    CHECK(found->origin == "probed");
    machine::reload_local();
  }
  CHECK(probes == 1);
}

TEST_CASE("a backend that is registered later is seen") {
  const environment none("ZENITH_PROFILE", "/nonexistent/zenith-profile.json");
  static constexpr kernel kernels[] = {{"top_k", "filter", [](const execution&, const void*) {}}, {"top_k", "bitonic"}};
  static constexpr backend late{.name = "late",
                                .description = "comes late",
                                .needs = "nothing",
                                .kernels = kernels,
                                .default_profile = [](const execution&) {
                                  device_profile one;
                                  one.name = "late chip";
                                  one.levels = {{"memory", 1, 1, 1, 1}};
                                  return one;
                                }};
  const auto& before = machine::local();
  CHECK(before.find("late") == nullptr);
  register_backend(late);
  const auto* found = machine::local().find("late");
  REQUIRE(found != nullptr);
  CHECK(found->offers == std::vector<std::string>{"top_k/filter"});
  CHECK(before.find("late") == nullptr);
  CHECK(before.find("cpu") != nullptr);
}

TEST_CASE("a calibrated profile stands for the chip that it was measured on") {
  const zenith_test::temporary_folder folder;
  const auto file = folder.file("profile.json");
  const environment place("ZENITH_PROFILE", file.string());
  CHECK(machine::local().find("cpu")->origin == "probed");

  auto measured = machine::defaults().devices();
  for (auto& one : measured) {
    one.origin = "calibrated";
    one.offers = {"top_k/nonesuch"};
    one.rates["a rate"] = 0.25;
  }
  machine{measured}.write(file);
  CHECK(machine::local().find("cpu")->origin == "probed");  // what was read is kept ...
  machine::reload_local();                                  // ... until someone asks for the file again
  const auto& cpu = *machine::local().find("cpu");
  CHECK(cpu.origin == "calibrated");
  CHECK(cpu.rate("a rate", 0) == 0.25);
  CHECK(cpu.offers_kernel("top_k", "filter"));
  CHECK_FALSE(cpu.offers_kernel("top_k", "nonesuch"));

  for (auto& one : measured) one.name = "another chip";
  machine{measured}.write(file);
  machine::reload_local();
  CHECK(machine::local().find("cpu")->origin == "probed");
  CHECK(cpu.origin == "calibrated");  // a reference from before is still good
}

TEST_CASE("a damaged file is reported by its name, and the defaults are still to be had") {
  const zenith_test::temporary_folder folder;
  const auto file = folder.file("profile.json");
  std::ofstream(file) << "not a profile";
  const environment place("ZENITH_PROFILE", file.string());
  for (int i = 0; i < 2; ++i) {
    try {
      (void)machine::local();
      FAIL("a damaged profile was accepted");
    } catch (const error& fault) {
      CHECK(fault.code() == error_code::corrupt_data);
      CHECK(std::string{fault.what()}.find(file.string()) != std::string::npos);
    }
  }
  CHECK(machine::defaults().find("cpu") != nullptr);
  CHECK_FALSE(backends().empty());
  std::filesystem::remove(file);
  CHECK(machine::local().find("cpu") != nullptr);
}

TEST_CASE("any number of threads may look at the machine while it is read again") {
  const environment none("ZENITH_PROFILE", "/nonexistent/zenith-profile.json");
  std::vector<std::thread> threads;
  std::vector<std::size_t> found(4);
  for (std::size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&found, i] {
      for (int round = 0; round < 50; ++round) {
        if (i == 0) machine::reload_local();
        const auto& here = machine::local();
        const auto is_cpu = [](const device_profile& one) { return one.backend == "cpu"; };
        found[i] += static_cast<std::size_t>(std::ranges::count_if(here.devices(), is_cpu));
      }
    });
  }
  for (auto& one : threads) one.join();
  for (const auto count : found) CHECK(count == 50);
}
