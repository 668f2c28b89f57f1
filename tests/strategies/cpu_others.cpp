// A strategy of a program's own, and scores of columns of other types than float, on the CPU's.

#include <catch.hpp>
#include <settings.hpp>
#include <tests/strategies/suite.hpp>
#include <zenith/strategies/cpu.hpp>

TEST_CASE("strategies and scores of one's own run on the CPU") {
  for (const char* executor : {"cpu:threads=1", "cpu:threads=3,isa=sse2"}) {
    const auto here = zenith::strategies::cpu(zenith::make_executor(executor));
    const auto seed = zenith_test::seed_of("strategies", 20011);
    for (const auto& fault : own_suite::run_others(here, 20011, seed)) FAIL_CHECK(fault);
    for (const auto& fault : own_suite::run_strategy(here, 20011, seed)) FAIL_CHECK(fault);
  }
}
