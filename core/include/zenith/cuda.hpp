#pragma once

#include <cstddef>

#include <zenith/executor.hpp>

struct CUstream_st;

namespace zenith {

/// Stream-ordered device memory that a caller can provide. Pointers must be valid for work that is enqueued on `stream`
/// after `allocate` returns, and stay valid for what was enqueued before `deallocate`.
class cuda_memory_resource {
 public:
  cuda_memory_resource() = default;
  cuda_memory_resource(const cuda_memory_resource&) = delete;
  cuda_memory_resource& operator=(const cuda_memory_resource&) = delete;
  virtual ~cuda_memory_resource() = default;

  /// At least `bytes` bytes aligned to 256; throws `zenith::error` (out_of_memory) when there are none.
  virtual void* allocate(std::size_t bytes, CUstream_st* stream) = 0;
  virtual void deallocate(void* pointer, std::size_t bytes, CUstream_st* stream) noexcept = 0;
};

/// An NVIDIA GPU. All work goes on `stream` (nullptr: the default stream), arrays and scratch come from `memory`
/// (nullptr: stream-ordered pools of the library's own); both are borrowed. No CUDA header is needed: `CUstream_st*` is
/// `cudaStream_t`. Throws `backend_unavailable` when CUDA was not built or the device is not there.
[[nodiscard]] executor cuda(int device = 0, CUstream_st* stream = nullptr, cuda_memory_resource* memory = nullptr);

}  // namespace zenith
