// A strategy of a program's own, and scores of columns of other types than float, on the sequential context.

#include <catch.hpp>
#include <settings.hpp>
#include <tests/strategies/suite.hpp>
#include <zenith/strategies/sequential.hpp>

TEST_CASE("strategies and scores of one's own run sequentially") {
  const zenith::strategies::sequential here;
  const auto seed = zenith_test::seed_of("strategies", 2001);
  for (const auto& fault : own_suite::run_others(here, 2001, seed)) FAIL_CHECK(fault);
  for (const auto& fault : own_suite::run_strategy(here, 2001, seed)) FAIL_CHECK(fault);
}
