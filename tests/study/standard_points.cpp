#include <perf/study/standard_points.hpp>

#include <catch.hpp>
#include <cstdlib>
#include <span>

#include <zenith/zenith.hpp>

using zenith_study::correlation;
using zenith_study::standard_points;

namespace {

std::size_t skyline_of_a_million(correlation of, unsigned columns) {
  constexpr std::uint64_t rows = 1000000;
  const auto points = standard_points(of, rows, columns, 7);
  return zenith::skyline(zenith::make_executor("cpu"),
                         zenith::matrix_view<const float>::row_major(std::span(points), rows, columns))
      .ids.size();
}

}  // namespace

#ifdef __GLIBC__
TEST_CASE("standard points: the random numbers are those of the C library") {
  for (const std::uint32_t seed : {0U, 1U, 7U, 12345U, 2147483647U, 4000000000U}) {
    std::srand(seed);
    for (const float value : standard_points(correlation::independent, 100, 5, seed)) {
      REQUIRE(value == static_cast<float>(std::rand() / 2147483647.0));
    }
  }
}
#endif

// The sizes of the published sets of points, of which SkyAlign's evaluation and others report.
TEST_CASE("standard points: a million points with seed 7 have the skylines that are known") {
  CHECK(skyline_of_a_million(correlation::correlated, 4) == 27);
  CHECK(skyline_of_a_million(correlation::anticorrelated, 4) == 7984);
  CHECK(skyline_of_a_million(correlation::independent, 8) == 31328);
}

TEST_CASE("standard points: values are in [0, 1], and a seed repeats them") {
  for (const auto of : {correlation::correlated, correlation::independent, correlation::anticorrelated}) {
    for (const unsigned columns : {1U, 2U, 17U}) {
      const auto points = standard_points(of, 1000, columns, 3);
      REQUIRE(points.size() == 1000U * columns);
      for (const float value : points) REQUIRE((value >= 0 && value <= 1));
      CHECK(points == standard_points(of, 1000, columns, 3));
      CHECK(points != standard_points(of, 1000, columns, 4));
    }
  }
  CHECK(standard_points(correlation::independent, 0, 3, 1).empty());
}
