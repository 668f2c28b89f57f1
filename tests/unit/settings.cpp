// Which cases of long tests a run takes.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <catch.hpp>
#include <settings.hpp>

TEST_CASE("a seed draws the share of the cases that the scale leaves") {
  const double share = zenith_test::share_of_cases();
  CHECK(share == std::sqrt(std::min(1.0, zenith_test::scale())));
  constexpr std::uint64_t cases = 10'000;
  for (const std::string test : {"one test", "another"}) {
    std::uint64_t drawn = 0;
    for (std::uint64_t number = 0; number < cases; ++number) {
      drawn += zenith_test::is_drawn(test, number) ? 1 : 0;
    }
    INFO("seed " << zenith_test::seed());
    // seven standard deviations
    CHECK(std::abs(static_cast<double>(drawn) - share * cases) <= 7 * std::sqrt(share * (1 - share) * cases));
  }
}
