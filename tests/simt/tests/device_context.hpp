#pragma once

#include <catch.hpp>

#include <memory>

#include <backends/cuda/context.hpp>
#include <settings.hpp>
#include <tests/device/suite.hpp>
#include <tests/simt/emulation/with_seeds.hpp>
#include <tests/simt/engine/memory.hpp>

/// A part of the suite of the device context (tests/device/suite.hpp), run(make, limits), on the CUDA context, lane by
/// lane.
template <class Run>
void check_emulated(const Run& run) {
  const unsigned seeds = zenith_test::scaled(2);
  const zenith::execution on{};
  const auto held = zenith::simt_engine::device_memory::instance().live_allocations();
  zenith::simt_engine::with_seeds(seeds, [&](std::uint64_t seed) {
    const auto faults =
        run([&] { return std::make_unique<zenith::cuda_backend::context>(on); },
            zenith::device_suite::suite_limits{
                .most_items = 5000, .seed = seed, .share = zenith_test::share_of_cases(), .brief = true});
    INFO("seed " << seed);
    for (const auto& fault : faults) FAIL_CHECK(fault);
    CHECK(faults.empty());
  });
  CHECK(zenith::simt_engine::device_memory::instance().live_allocations() == held);
}
