#include <tests/simt/tests/device_context.hpp>

TEST_CASE("teams of the sizes that kernels ask for, emulated") {
  check_emulated(
      [](const auto& make, const auto& limits) { return zenith::device_suite::run_team_sizes(make, limits); });
}
