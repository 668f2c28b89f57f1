#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <vector>

#include <backends/cuda/device.hpp>
#include <backends/cuda/simt/check.hpp>
#include <backends/cuda/simt/host.hpp>

namespace zenith::cuda_backend {
namespace {

/// Host memory that kernels read. A piece is pinned once, however often it is asked for.
struct mapping {
  const void* at = nullptr;  ///< what the caller has
  std::size_t bytes = 0;
  int device = 0;
  void* pinned = nullptr;  ///< `at`, or a copy of it
  void* seen = nullptr;    ///< by kernels
  int uses = 1;
};

// Neighbours share pages, and a page can be pinned once: little memory is copied.
constexpr std::size_t least_pinned = std::size_t{1} << 20;

struct mapping_list {
  std::mutex mutex;
  std::vector<mapping> all;
};
mapping_list& mappings() {
  static mapping_list list;
  return list;
}

void pin(mapping& of) {
  if (of.bytes >= least_pinned) {
    // of a constant pointer: kernels do not write there
    void* const at = const_cast<void*>(of.at);
    const auto code = cudaHostRegister(at, of.bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
    if (code == cudaSuccess) {
      of.pinned = at;
      return;
    }
    (void)cudaGetLastError();  // memory of a file, or pinned by someone else
  }
  check(cudaHostAlloc(&of.pinned, of.bytes, cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
  std::memcpy(of.pinned, of.at, of.bytes);
}

void unpin(const mapping& of) noexcept {
  if (of.pinned == of.at) {
    (void)cudaHostUnregister(of.pinned);
  } else {
    (void)cudaFreeHost(of.pinned);
  }
}

}  // namespace

const void* map_host(const execution& on, const void* at, std::size_t bytes) {
  const simt::device_guard current(on.device);
  auto& [mutex, all] = mappings();
  const std::scoped_lock lock(mutex);
  const auto found = std::find_if(all.begin(), all.end(), [&](const mapping& one) {
    return one.at == at && one.bytes == bytes && one.device == on.device;
  });
  if (found != all.end()) {
    ++found->uses;
    return found->seen;
  }
  all.reserve(all.size() + 1);
  mapping made{at, bytes, on.device};
  pin(made);
  const auto code = cudaHostGetDevicePointer(&made.seen, made.pinned, 0);
  if (code != cudaSuccess) unpin(made);
  check(code, "cudaHostGetDevicePointer");
  all.push_back(made);
  return made.seen;
}

void unmap_host(const execution& on, const void* seen) noexcept {
  const simt::quiet_device_guard current(on.device);
  (void)cudaDeviceSynchronize();
  auto& [mutex, all] = mappings();
  const std::scoped_lock lock(mutex);
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const mapping& one) { return one.seen == seen && one.device == on.device; });
  if (found == all.end() || --found->uses > 0) return;
  unpin(*found);
  *found = all.back();
  all.pop_back();
}

}  // namespace zenith::cuda_backend
