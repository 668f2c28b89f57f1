// The toy family on a backend that the build names: TOY_BACKEND, whose runner is in TOY_RUNNER.

#include TOY_RUNNER

#include <catch.hpp>
#include <core/device/family.hpp>
#include <targets.hpp>
#include <tests/toy_family/cases.hpp>

namespace {

using namespace zenith;

#define TOY_NAMESPACE_(backend) backend##_backend
#define TOY_NAMESPACE(backend) TOY_NAMESPACE_(backend)
#define TOY_TEXT_(word) #word
#define TOY_TEXT(word) TOY_TEXT_(word)

constexpr auto table = device::kernel_entries<TOY_NAMESPACE(TOY_BACKEND)::runner>(toy_family::strategies{});

}  // namespace

TEMPLATE_TEST_CASE("every strategy of the toy family finds what two loops find", "", float, std::uint64_t) {
  for (const auto& target : zenith_test::executors("top_k", {TOY_TEXT(TOY_BACKEND)})) {
    for (const auto& fault : toy_family::faults_of<TestType>(table, target.on.settings())) {
      FAIL_CHECK(target.executor_string + ": " + fault);
    }
  }
  CHECK(table.size() == 2);
}
