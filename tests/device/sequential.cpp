// The suite of the device context, on the sequential one: what passes here is the meaning of every word.

#include <catch.hpp>
#include <settings.hpp>
#include <tests/device/listing_context.hpp>
#include <tests/device/suite.hpp>

namespace {

using context = zenith::device_suite::listing_context<zenith::device_suite::kernels>;
using zenith::device_suite::run_suite;

template <template <class> class Is, class... Kernels>
constexpr bool all_are(zenith::device::list<Kernels...> /*all*/) {
  return (Is<Kernels>::value && ...);
}
template <class K>
using is_item_kernel = std::bool_constant<zenith::device::item_kernel<K> && !zenith::device::team_kernel<K> &&
                                          !zenith::device::tile_kernel<K>>;
template <class K>
using is_team_kernel = std::bool_constant<!zenith::device::item_kernel<K> && zenith::device::team_kernel<K> &&
                                          !zenith::device::tile_kernel<K>>;
template <class K>
using is_tile_kernel = std::bool_constant<!zenith::device::item_kernel<K> && !zenith::device::team_kernel<K> &&
                                          zenith::device::tile_kernel<K>>;
static_assert(all_are<is_item_kernel>(zenith::device_suite::item_kernels{}));
static_assert(all_are<is_team_kernel>(zenith::device_suite::team_kernels{}));
static_assert(all_are<is_tile_kernel>(zenith::device_suite::tile_kernels{}));

void report(const std::vector<std::string>& faults) {
  for (const auto& fault : faults) FAIL_CHECK(fault);
  CHECK(faults.empty());
}

}  // namespace

TEST_CASE("every word of the device context on the sequential one") {
  report(run_suite([] { return context{}; }, {.seed = zenith_test::seed_of("device", 0),
                                              .share = zenith_test::share_of_cases(),
                                              .brief = zenith_test::scale() < 1}));
}

TEST_CASE("the sequential context as a device") {
  using zenith::device_suite::device_like;
  static_assert(zenith::device::device_context<device_like>);
  static_assert(context::runs_on_host && !device_like::runs_on_host);
  CHECK(device_like{}.threads() == 0);
}

TEST_CASE("waiting for a team that does not run is a fault, not a standstill") {
  context on;
  zenith::device::u32 never = 0;
  CHECK_THROWS_AS(on.for_teams(2, zenith::device_suite::wait_for_word{&never}), std::logic_error);
}

TEST_CASE("the suite reports what a context throws") {
  struct refusing : context {
    void finish() { throw std::runtime_error("no more"); }
  };
  const auto make = [] { return refusing{}; };
  zenith::device_suite::examiner see(make, {.most_items = 100, .seed = 1, .brief = true});
  check_memory(see);
  const auto& faults = see.faults();
  REQUIRE(!faults.empty());
  CHECK(faults.front() == "buffer: threw: no more");
}
