#include <backends/cuda/device.hpp>

#include <cuda_runtime_api.h>

#include <string>

#include <backends/cuda/profile.hpp>
#include <backends/cuda/scratch.hpp>
#include <backends/cuda/simt/check.hpp>
#include <zenith/error.hpp>

namespace zenith::cuda_backend {
namespace {

std::string version(int number) { return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10); }

std::string capability(const cudaDeviceProp& of) { return std::to_string(of.major) + "." + std::to_string(of.minor); }

cudaDeviceProp properties(int device) {
  cudaDeviceProp of{};
  check(cudaGetDeviceProperties(&of, device), "cudaGetDeviceProperties");
  return of;
}

std::string describe(cudaError_t code) {
  (void)cudaGetLastError();
  return std::string{cudaGetErrorString(code)} + " (" + cudaGetErrorName(code) + ")";
}

// Whether this build's kernels run on `device`; no reason when they do.
availability kernels_run(int device) {
  const auto code = static_cast<cudaError_t>(probe_kernel_image(device));
  if (code == cudaSuccess) return {true, {}, {}};
  const auto of = properties(device);
  const std::string name =
      "device " + std::to_string(device) + " (" + of.name + ", compute capability " + capability(of) + ")";
  if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction ||
      code == cudaErrorUnsupportedPtxVersion) {
    (void)cudaGetLastError();
    return {false, "this build has no kernels for " + name,
            "build Zenith with CMAKE_CUDA_ARCHITECTURES=" + std::to_string(of.major * 10 + of.minor)};
  }
  return {false, name + " does not run kernels: " + describe(code),
          "see whether nvidia-smi lists the device as healthy and free"};
}

}  // namespace

availability available() {
  int driver = 0;
  int runtime = 0;
  (void)cudaRuntimeGetVersion(&runtime);
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    (void)cudaGetLastError();
    return {false, "no NVIDIA driver is loaded on this machine", "install the NVIDIA driver of a machine with a GPU"};
  }
  int count = 0;
  const auto code = cudaGetDeviceCount(&count);
  if (code == cudaErrorInsufficientDriver) {
    (void)cudaGetLastError();
    return {false,
            "the NVIDIA driver is too old: it offers CUDA " + version(driver) + ", and Zenith was built with CUDA " +
                version(runtime),
            "update the NVIDIA driver, or build Zenith with an older toolkit"};
  }
  if (code == cudaErrorNoDevice || (code == cudaSuccess && count == 0)) {
    (void)cudaGetLastError();
    return {false, "the NVIDIA driver finds no device", "see whether nvidia-smi lists one, and CUDA_VISIBLE_DEVICES"};
  }
  if (code != cudaSuccess) {
    return {false, "the NVIDIA driver reports: " + describe(code), "see whether nvidia-smi works"};
  }
  // the first reason of several: a machine rarely mixes generations
  availability first;
  for (int device = 0; device < count; ++device) {
    auto state = kernels_run(device);
    if (state.usable) return state;
    if (first.why_not.empty()) first = std::move(state);
  }
  return first;
}

std::vector<device_info> devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();
    return {};
  }
  std::vector<device_info> result;
  for (int device = 0; device < count; ++device) {
    const auto of = properties(device);
    result.push_back(
        {device, of.name,
         "compute capability " + capability(of) + ", " + std::to_string(of.multiProcessorCount) + " multiprocessors",
         of.totalGlobalMem});
  }
  return result;
}

void configure(execution& settings) {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  if (settings.device < 0 || settings.device >= count) {
    throw error(error_code::backend_unavailable,
                "device " + std::to_string(settings.device) + " is not there; this machine has " +
                    std::to_string(count) + (count == 1 ? " CUDA device: 0" : " CUDA devices, from 0 on"),
                "cuda");
  }
  if (const auto state = kernels_run(settings.device); !state.usable) {
    throw error(error_code::backend_unavailable, state.why_not + "; " + state.remedy, "cuda");
  }
  settings.threads = 1;
}

void* allocate(const execution& on, std::size_t bytes) {
  const simt::device_guard current(on.device);
  return allocate_lasting(on, bytes, stream_of(on));
}

void deallocate(const execution& on, void* pointer, std::size_t bytes) noexcept {
  const simt::quiet_device_guard current(on.device);
  deallocate(on, pointer, bytes, stream_of(on));
}

void copy(const execution& on, void* to, memory_space /*to_space*/, const void* from, memory_space /*from_space*/,
          std::size_t bytes) {
  const simt::device_guard current(on.device);
  simt::copy(to, from, bytes, stream_of(on));
}

void synchronize(const execution& on) {
  const simt::device_guard current(on.device);
  simt::synchronize(stream_of(on));
}

}  // namespace zenith::cuda_backend
