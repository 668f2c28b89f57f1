// A strategy of a program's own, and scores of columns of other types than float, on Kokkos.

#include <catch.hpp>
#include <settings.hpp>
#include <targets.hpp>
#include <tests/strategies/suite.hpp>
#include <zenith/strategies/kokkos.hpp>

TEST_CASE("strategies and scores of one's own run on Kokkos") {
  for (const auto& target : zenith_test::executors("top_k", {"kokkos"})) {
    const zenith::strategies::kokkos here(target.on);
    const auto seed = zenith_test::seed_of("strategies.kokkos", 0);
    for (const auto& fault : own_suite::run_others(here, 20011, seed)) FAIL_CHECK(fault);
    for (const auto& fault : own_suite::run_strategy(here, 20011, seed)) FAIL_CHECK(fault);
  }
}
