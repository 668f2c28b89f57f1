/// \file
/// The suite of the device context (tests/device/suite.hpp) on a GPU. The compiler is always asked; the program runs
/// where there is one.

#include <cstdio>
#include <cstdlib>

#include <tests/cuda/device_context.hpp>
#include <zenith/cuda.hpp>
#include <zenith/error.hpp>

int main(int count, char** arguments) {
  try {
    static_cast<void>(zenith::cuda());
  } catch (const zenith::error& why) {
    std::printf("zenith: skipped: %s\n", why.what());
    return 0;
  }
  const std::uint64_t seed = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1;
  bool is_right = true;
  for (const auto run : {launches_on_cuda, operations_on_cuda, team_sizes_on_cuda}) {
    for (const auto& fault : run(seed)) {
      std::printf("%s\n", fault.c_str());
      is_right = false;
    }
  }
  return is_right ? 0 : 1;
}
