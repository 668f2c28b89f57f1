#pragma once

/// \file
/// The suite of the device context: every word of core/device/context.hpp and of the team and tile vocabulary, on any
/// context. `make()` returns a fresh one, or a unique_ptr of one. Returns what was wrong, a line each.
///
///     device_suite::run_suite([] { return device::sequential_context{}; }, {.seed = 7})
///
/// A context that must know its kernels beforehand takes `device_suite::kernels`.

#include <tests/device/collections.hpp>
#include <tests/device/control.hpp>
#include <tests/device/launches.hpp>
#include <tests/device/operations.hpp>
#include <tests/device/queues.hpp>
#include <tests/device/support.hpp>
#include <tests/device/teams.hpp>
#include <tests/device/tiles.hpp>
#include <tests/device/turns.hpp>

namespace zenith::device_suite {

/// Memory, launches, teams and tiles.
template <class Make>
std::vector<std::string> run_launches(const Make& make, const suite_limits& limits) {
  examiner<Make> see(make, limits);
  check_memory(see);
  check_for_each(see);
  check_shared_state(see);
  check_counters(see);
  check_teams(see);
  check_turns(see);
  check_tiles(see);
  return see.faults();
}

/// Collections, queues, operations on arrays, and control.
template <class Make>
std::vector<std::string> run_operations(const Make& make, const suite_limits& limits) {
  examiner<Make> see(make, limits);
  check_collections(see);
  check_queues(see);
  check_operations(see);
  check_control(see);
  return see.faults();
}

/// Teams of the sizes that kernels ask for (`team_lanes`), of contexts where that matters.
template <class Make>
std::vector<std::string> run_team_sizes(const Make& make, const suite_limits& limits) {
  examiner<Make> see(make, limits);
  check_teams_of<32>(see);
  check_teams_of<96>(see);
  return see.faults();
}

/// Launches and operations. A unit that compiles slowly has one of them.
template <class Make>
std::vector<std::string> run_suite(const Make& make, const suite_limits& limits) {
  auto faults = run_launches(make, limits);
  for (auto& fault : run_operations(make, limits)) faults.push_back(std::move(fault));
  return faults;
}

}  // namespace zenith::device_suite
