// Scores of a program's own over columns of float on the CPU's.

#include <catch.hpp>
#include <settings.hpp>
#include <tests/strategies/suite.hpp>
#include <zenith/strategies/cpu.hpp>

TEST_CASE("scores of one's own over float run on the CPU") {
  for (const char* executor : {"cpu:threads=1", "cpu:threads=3,isa=sse2"}) {
    const auto here = zenith::strategies::cpu(zenith::make_executor(executor));
    const auto seed = zenith_test::seed_of("strategies", 20011);
    for (const auto& fault : own_suite::run_floats(here, 20011, seed)) FAIL_CHECK(fault);
    CHECK(own_suite::rows_evaluated(here, 20011, seed) < 20011 / 4);
  }
}
