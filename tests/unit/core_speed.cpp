// How fast a core is, by moments of which some are disturbed.

#include <catch.hpp>

#include <core/core_speed.hpp>

using namespace zenith;

TEST_CASE("a core is as fast as it is in the middle of several moments") {
  constexpr double typical = detail::core_speed::typical_seconds;
  detail::core_speed speed;
  CHECK(speed.factor() == 1);
  CHECK_FALSE(speed.is_known());
  for (const double times : {1.5, 1.6, 9.0, 0.9, 1.4}) speed.add(times * typical);
  CHECK(speed.factor() == Approx(1.5));
  // two more, one with another program and one without any, leave the middle where it is
  for (const double times : {40.0, 0.1}) speed.add(times * typical);
  CHECK(speed.factor() == Approx(1.5));

  detail::core_speed here;
  here.probe(5);
  CHECK(here.is_known());
  CHECK(here.factor() > 0);
  CHECK(here.factor() < 1000);
}
