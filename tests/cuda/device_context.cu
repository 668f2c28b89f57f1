/// \file
/// The suite of the device context (tests/device/suite.hpp) on a GPU. The compiler is always asked; the program runs
/// where there is one.

#include <cstdio>
#include <cstdlib>
#include <memory>

#include <backends/cuda/context.hpp>
#include <tests/device/suite.hpp>
#include <zenith/cuda.hpp>
#include <zenith/error.hpp>

int main(int count, char** arguments) {
  try {
    static_cast<void>(zenith::cuda());
  } catch (const zenith::error& why) {
    std::printf("zenith: skipped: %s\n", why.what());
    return 0;
  }
  const zenith::execution on{};
  const std::uint64_t seed = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1;
  const auto faults = zenith::device_suite::run_suite(
      [&] { return std::make_unique<zenith::cuda_backend::context>(on); }, {.seed = seed});
  for (const auto& fault : faults) std::printf("%s\n", fault.c_str());
  return faults.empty() ? 0 : 1;
}
