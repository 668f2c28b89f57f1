// The suite of the device context on the CPU's, with every instruction set and several numbers of threads.

#include <backends/cpu/context.hpp>
#include <catch.hpp>
#include <settings.hpp>
#include <targets.hpp>
#include <tests/device/suite.hpp>

namespace zenith::cpu_backend {

namespace sse2::device_suite {
extern const kernel_entry* const family_kernels;
}
namespace avx2::device_suite {
extern const kernel_entry* const family_kernels;
}
#if defined(ZENITH_TEST_AVX512)
namespace avx512::device_suite {
extern const kernel_entry* const family_kernels;
}
#endif

}  // namespace zenith::cpu_backend

namespace {

using namespace zenith;
using suite_context = cpu_backend::context<device_suite::kernels>;

suite_context make_context(const execution& on) {
  return {on, cpu_backend::by_isa(on.isa, {
            cpu_backend::sse2::device_suite::family_kernels, cpu_backend::avx2::device_suite::family_kernels,
#if defined(ZENITH_TEST_AVX512)
                cpu_backend::avx512::device_suite::family_kernels
#endif
          })};
}

}  // namespace

static_assert(device::device_context<suite_context>);

TEST_CASE("every word of the device context on the CPU's") {
  std::uint64_t number = 0;
  const auto run = [&](const zenith_test::target& target, bool brief) {
    const auto faults = device_suite::run_suite([&] { return make_context(target.on.settings()); },
                                                {.seed = zenith_test::seed_of("device.cpu", number++), .brief = brief});
    for (const auto& fault : faults) FAIL_CHECK(target.executor_string + ": " + fault);
    CHECK(faults.empty());
  };
  const auto executors = zenith_test::executors("top_k", {"cpu"});
  for (const auto& target : executors) run(target, true);
  if (zenith_test::scale() >= 1 && !executors.empty()) run(executors.back(), false);
}
