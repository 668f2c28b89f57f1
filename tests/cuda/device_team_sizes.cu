#include <memory>

#include <backends/cuda/context.hpp>
#include <tests/cuda/device_context.hpp>
#include <tests/device/suite.hpp>

std::vector<std::string> team_sizes_on_cuda(std::uint64_t seed) {
  const zenith::execution on{};
  return zenith::device_suite::run_team_sizes([&] { return std::make_unique<zenith::cuda_backend::context>(on); },
                                              {.seed = seed});
}
