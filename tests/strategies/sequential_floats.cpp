// Scores of a program's own over columns of float on the sequential context.

#include <catch.hpp>
#include <settings.hpp>
#include <tests/strategies/suite.hpp>
#include <zenith/strategies/sequential.hpp>

TEST_CASE("scores of one's own over float run sequentially") {
  const zenith::strategies::sequential here;
  const auto seed = zenith_test::seed_of("strategies", 2001);
  for (const auto& fault : own_suite::run_floats(here, 2001, seed)) FAIL_CHECK(fault);
  CHECK(own_suite::rows_evaluated(here, 2001, seed) < 2001 / 4);
}
