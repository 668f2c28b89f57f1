/// \file
/// The suite of the device context (tests/device/suite.hpp) on the CUDA context, lane by lane.

#include <catch.hpp>

#include <memory>

#include <backends/cuda/context.hpp>
#include <settings.hpp>
#include <tests/device/suite.hpp>
#include <tests/simt/emulation/with_seeds.hpp>
#include <tests/simt/engine/memory.hpp>

namespace {

using zenith::cuda_backend::context;

constexpr unsigned seeds = 2;

}  // namespace

TEST_CASE("every word of the device context, emulated") {
  const zenith::execution on{};
  const auto held = zenith::simt_engine::device_memory::instance().live_allocations();
  zenith::simt_engine::with_seeds(seeds, [&](std::uint64_t seed) {
    const auto faults = zenith::device_suite::run_suite([&] { return std::make_unique<context>(on); },
                                                        {.most_items = 5000, .seed = seed, .brief = true});
    INFO("seed " << seed);
    for (const auto& fault : faults) FAIL_CHECK(fault);
    CHECK(faults.empty());
  });
  CHECK(zenith::simt_engine::device_memory::instance().live_allocations() == held);
}
