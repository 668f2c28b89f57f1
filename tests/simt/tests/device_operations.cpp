#include <tests/simt/tests/device_context.hpp>

TEST_CASE("collections, operations and control of the device context, emulated") {
  check_emulated(
      [](const auto& make, const auto& limits) { return zenith::device_suite::run_operations(make, limits); });
}
