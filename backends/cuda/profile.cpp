#include <backends/cuda/profile.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <string_view>

#include <backends/cuda/simt/check.hpp>
#include <backends/cuda/simt/vocabulary.hpp>
#include <backends/cuda/tuning.hpp>
#include <core/workers.hpp>

namespace zenith::cuda_backend {
namespace {

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

struct known_chip {
  std::string_view name;      ///< part of what the driver calls it; the first that fits counts
  std::uint64_t least_bytes;  ///< of its memory, where one name has several memories
  double memory_bandwidth;    ///< from the data sheet
  double link_bandwidth;      ///< from the data sheet of the bus, one direction
};

// NVIDIA's data sheets: H200 SXM 4.8 TB/s; H100 SXM 3.35, PCIe 2.0, NVL 3.9; A100 80 GB 2.04, 40 GB 1.56. PCIe 5.0 x16
// moves 64 GB/s and PCIe 4.0 x16 32 GB/s each way before its own overheads.
constexpr std::uint64_t gigabyte = 1'000'000'000;
constexpr known_chip known[] = {
    {"H200", 0, 4.8e12, 64e9},  {"H100 NVL", 0, 3.9e12, 64e9},          {"H100 PCIe", 0, 2.0e12, 64e9},
    {"H100", 0, 3.35e12, 64e9}, {"A100", 60 * gigabyte, 2.04e12, 32e9}, {"A100", 0, 1.56e12, 32e9},
};

// Of what a data sheet says, the share that kernels reach; an estimate that calibration replaces.
constexpr double reached_of_memory = 0.92;
constexpr double reached_of_link = 0.8;
// The caller's memory is pageable: threads of the host copy it to pinned pieces, each at a rate of its own. Measured
// beside an H200 with one, two and four: 9.8, 17 and 35 GB/s.
constexpr double staged_bandwidth = 9e9;
// Of back-to-back kernels on one stream; an estimate.
constexpr double typical_launch = 2.5e-6;
// Of pageable memory that the driver copies, beside an H200: 13 us and 13.8 GB/s up to 4 MiB.
constexpr double typical_link_latency = 10e-6;
constexpr double typical_short_copy = 1 / 13e9;

known_chip find_chip(const cudaDeviceProp& of, int device) {
  for (const auto& one : known) {
    if (std::string_view{of.name}.find(one.name) != std::string_view::npos && of.totalGlobalMem >= one.least_bytes) {
      return one;
    }
  }
  // kHz of a double-rate bus
  const double clock = 1e3 * attribute(cudaDevAttrMemoryClockRate, device);
  const double bandwidth = 2 * clock * attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8;
  return {of.name, 0, bandwidth > 0 ? bandwidth : 300e9, 16e9};
}

memory_level level(std::string_view name, std::uint64_t bytes, double bandwidth) {
  return {std::string{name}, bytes, bandwidth, bandwidth, bandwidth};
}

}  // namespace

device_profile default_profile(const execution& on) {
  cudaDeviceProp of{};
  check(cudaGetDeviceProperties(&of, on.device), "cudaGetDeviceProperties");
  const auto chip = find_chip(of, on.device);
  const double clock = 1e3 * attribute(cudaDevAttrClockRate, on.device);
  const double multiprocessors = of.multiProcessorCount;

  device_profile profile;
  profile.backend = "cuda";
  profile.device = on.device;
  profile.name = of.name;
  profile.kind = device_kind::gpu;
  profile.cores = of.multiProcessorCount;
  profile.simd_bytes = 4 * of.warpSize;
  // Shared memory has 32 banks of 4 bytes a clock and multiprocessor. Nobody states the L2's bandwidth: 32 bytes a
  // clock and multiprocessor is an estimate. A level's size is what one tile, or the whole device, can keep in it.
  const auto shared = static_cast<std::uint64_t>(of.sharedMemPerMultiprocessor);
  const auto second = std::max<std::uint64_t>(static_cast<std::uint64_t>(of.l2CacheSize), shared + 1);
  profile.levels = {level("shared", shared, multiprocessors * 128 * clock),
                    level("L2", second, multiprocessors * 32 * clock),
                    level("memory", std::max<std::uint64_t>(of.totalGlobalMem, second + 1),
                          reached_of_memory * chip.memory_bandwidth)};
  profile.launch_overhead = typical_launch;
  const int threads = std::min(detail::hardware_threads(), tuning::most_staging_threads);
  profile.host_to_device = std::min(reached_of_link * chip.link_bandwidth, threads * staged_bandwidth);
  profile.device_to_host = profile.host_to_device;
  profile.link_latency = typical_link_latency;
  profile.rates["link.short_copy"] = typical_short_copy;
  for (const auto& one : on.target->kernels) {
    profile.offers.push_back(std::string{one.operation} + "/" + std::string{one.strategy});
  }
  profile.origin = "default";
  return profile;
}

}  // namespace zenith::cuda_backend
