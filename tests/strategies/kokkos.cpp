// Scores of a program's own over columns of float on Kokkos.

#include <catch.hpp>
#include <settings.hpp>
#include <targets.hpp>
#include <tests/strategies/suite.hpp>
#include <zenith/strategies/kokkos.hpp>

TEST_CASE("scores of one's own over float run on Kokkos") {
  for (const auto& target : zenith_test::executors("top_k", {"kokkos"})) {
    const zenith::strategies::kokkos here(target.on);
    const auto seed = zenith_test::seed_of("strategies.kokkos", 0);
    for (const auto& fault : own_suite::run_floats(here, 20011, seed)) FAIL_CHECK(fault);
    // a device's first round takes more blocks than these rows have
    if (here.memory == zenith::memory_space::device) continue;
    CHECK(own_suite::rows_evaluated(here, 20011, seed) < 20011 / 4);
  }
}
