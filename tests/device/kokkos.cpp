// The suite of the device context on Kokkos, as its space runs teams.

#include <tests/device/kokkos_suite.hpp>

using namespace zenith;

TEST_CASE("every word of the device context on Kokkos") {
  using kokkos_backend::is_host_space;
  check_words<std::conditional_t<is_host_space, kokkos_backend::host_teams, kokkos_backend::device_teams>>(
      {.seed = zenith_test::seed_of("device.kokkos", 0),
       .share = zenith_test::share_of_cases(),
       .brief = zenith_test::scale() < 1});
}

TEST_CASE("Kokkos says where it runs") {
  const kokkos_backend::context here(execution{});
  CHECK(here.variant() == kokkos_backend::space::name());
  CHECK(here.runs_on_host == kokkos_backend::is_host_space);
  CHECK(here.threads() == (kokkos_backend::is_host_space ? kokkos_backend::concurrency() : 0));
}
