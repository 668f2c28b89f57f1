#include <zenith/backend.hpp>

#include <backends/cuda/device.hpp>
#include <backends/cuda/kernel_table.hpp>
#include <backends/cuda/profile.hpp>

namespace zenith::cuda_backend {
namespace {

constexpr std::string_view options[] = {"device"};

}  // namespace

extern constinit const backend descriptor;
constinit const backend descriptor{
    .name = "cuda",
    .description = "NVIDIA GPUs: CUDA kernels on thread-block and warp tiles",
    .needs = "a CUDA toolkit to build; an NVIDIA driver and a GPU to run",
    .memory = memory_space::device,
    .options = options,
    .kernels = kernel_table,
    .available = available,
    .devices = devices,
    .configure = configure,
    .allocate = allocate,
    .deallocate = deallocate,
    .copy = copy,
    .map_host = map_host,
    .unmap_host = unmap_host,
    .synchronize = synchronize,
    .default_profile = default_profile,
    .measure = measure,
};

}  // namespace zenith::cuda_backend
