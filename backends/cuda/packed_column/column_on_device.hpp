#pragma once

/// \file
/// A packed column where kernels read it. No kernels in here.

#include <cstddef>

#include <backends/cuda/scratch.hpp>
#include <zenith/packed_layout.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Waits, on whatever way the call is left, for work that uses the caller's or the call's own host memory.
class settled_at_end {
 public:
  explicit settled_at_end(CUstream_st* stream) : stream_(stream) {}
  settled_at_end(const settled_at_end&) = delete;
  settled_at_end& operator=(const settled_at_end&) = delete;
  ~settled_at_end() {
    if (!is_settled_) simt::settle(stream_);
  }

  /// Waits now, and throws what the work ended in. Nothing is enqueued any more.
  void now() {
    simt::synchronize(stream_);
    is_settled_ = true;
  }

 private:
  CUstream_st* stream_;
  bool is_settled_ = false;
};

/// A column that a kernel can read: where it lies, or a copy of its packed bytes in the call's scratch memory.
class column_on_device {
 public:
  column_on_device(scratch& workspace, const packed_layout& column, memory_space space) : column_(column) {
    if (space == memory_space::host) workspace.request(copy_, column.total_bytes);
  }
  column_on_device(const column_on_device&) = delete;
  column_on_device& operator=(const column_on_device&) = delete;

  /// Once the scratch is allocated: enqueues the copy, if it takes one.
  [[nodiscard]] packed_layout enqueue(CUstream_st* stream) const {
    packed_layout result = column_;
    if (copy_ != nullptr) {
      simt::copy(copy_, column_.bytes, column_.total_bytes, stream);
      result.bytes = copy_;
    }
    return result;
  }

 private:
  const packed_layout& column_;
  std::byte* copy_ = nullptr;
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
