// Strategies and scores of a program's own on the context of CUDA, emulated.

#include <backends/cuda/context.hpp>
#include <catch.hpp>
#include <settings.hpp>
#include <tests/strategies/suite.hpp>

namespace {

struct emulated {
  static constexpr std::string_view name = "emulated";
  static constexpr zenith::memory_space memory = zenith::memory_space::device;

  template <class Kernels, class Body>
  void run(const Body& body) const {
    const zenith::execution settings;
    zenith::cuda_backend::context on(settings);
    body(on);
  }
};

}  // namespace

TEST_CASE("strategies and scores of one's own run on CUDA's context, emulated") {
  const auto seed = zenith_test::seed_of("simt.strategies", 0);
  for (const auto& fault : own_suite::run_floats(emulated{}, 700, seed)) FAIL_CHECK(fault);
  for (const auto& fault : own_suite::run_others(emulated{}, 700, seed)) FAIL_CHECK(fault);
  for (const auto& fault : own_suite::run_strategy(emulated{}, 700, seed)) FAIL_CHECK(fault);
}
