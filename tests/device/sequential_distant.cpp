// The suite of the device context on a sequential one that cannot be moved and has memory of its own.

#include <memory>

#include <catch.hpp>
#include <settings.hpp>
#include <tests/device/listing_context.hpp>
#include <tests/device/suite.hpp>

TEST_CASE("the suite takes contexts that cannot be moved or lie elsewhere, and small limits") {
  using distant = zenith::device_suite::distant_context<zenith::device_suite::kernels>;
  const auto faults =
      zenith::device_suite::run_suite([] { return std::make_unique<distant>(); },
                                      {.most_items = 5000, .seed = zenith_test::seed_of("device", 1), .brief = true});
  for (const auto& fault : faults) FAIL_CHECK(fault);
  CHECK(faults.empty());
}
