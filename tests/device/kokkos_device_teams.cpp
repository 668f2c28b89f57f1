// The same with teams as a device has them, on whatever space there is. Barriers of a host's threads take long: few
// items.

#include <tests/device/kokkos_suite.hpp>

TEST_CASE("every word of the device context on Kokkos with a device's teams") {
  check_words<zenith::kokkos_backend::device_teams>(
      {.most_items = 5000, .seed = zenith_test::seed_of("device.kokkos", 1), .brief = true});
}
