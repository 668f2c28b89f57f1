// The toy family on the sequential context, through a kernel table as every backend makes it.

#include <catch.hpp>
#include <core/device/family.hpp>
#include <tests/device/listing_context.hpp>
#include <tests/toy_family/cases.hpp>
#include <tests/toy_family/strategies.hpp>

namespace {

using namespace zenith;

template <class Strategy>
struct runner {
  static void run(const execution& where, const typename Strategy::call_type& call) {
    device_suite::distant_context<toy_family::kernels> on(where);
    Strategy::run(on, call);
  }
};

constexpr auto table = device::kernel_entries<runner>(toy_family::strategies{});
static_assert(table.size() == 2);

}  // namespace

TEMPLATE_TEST_CASE("every strategy of the toy family finds what two loops find", "", float, std::uint64_t) {
  for (const auto& fault : toy_family::faults_of<TestType>(table, execution{})) FAIL_CHECK(fault);
  CHECK(table.size() == 2);
}
