#pragma once

/// \file
/// CUDA's codes as zenith::error. For .cpp and .cu files of the hardware platform only.

#include <cuda_runtime_api.h>

#include <string_view>

#include <zenith/error.hpp>

namespace zenith::cuda_backend {

/// Throws for `code`: out_of_memory or device_failure, with CUDA's own number, name and text.
[[noreturn]] void fail(cudaError_t code, std::string_view what, source_location where = source_location::current());

/// Throws when `code` is a failure; `what` names the call.
inline void check(cudaError_t code, std::string_view what, source_location where = source_location::current()) {
  if (code != cudaSuccess) fail(code, what, where);
}

}  // namespace zenith::cuda_backend
