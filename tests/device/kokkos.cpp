// The suite of the device context on Kokkos: as its space runs teams, and as a device would.

#include <backends/kokkos/context.hpp>
#include <catch.hpp>
#include <core/device/sequential.hpp>
#include <settings.hpp>
#include <tests/device/suite.hpp>

namespace {

using namespace zenith;

template <class Teams>
void check_words(const device_suite::suite_limits& limits) {
  const auto faults = device_suite::run_suite([] { return kokkos_backend::context_on<Teams>(execution{}); }, limits);
  for (const auto& fault : faults) FAIL_CHECK(fault);
  CHECK(faults.empty());
}

}  // namespace

TEST_CASE("every word of the device context on Kokkos") {
  using kokkos_backend::is_host_space;
  check_words<std::conditional_t<is_host_space, kokkos_backend::host_teams, kokkos_backend::device_teams>>(
      {.seed = zenith_test::seed_of("device.kokkos", 0)});
}

// Barriers of a host's threads take long: few items.
TEST_CASE("every word of the device context on Kokkos with a device's teams") {
  check_words<kokkos_backend::device_teams>(
      {.most_items = 5000, .seed = zenith_test::seed_of("device.kokkos", 1), .brief = true});
}

TEST_CASE("Kokkos says where it runs") {
  const kokkos_backend::context here(execution{});
  CHECK(here.variant() == kokkos_backend::space::name());
  CHECK(here.threads() == (kokkos_backend::is_host_space ? kokkos_backend::concurrency() : 0));
}
