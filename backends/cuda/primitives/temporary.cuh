#pragma once

/// \file
/// CUDA's library asks twice: first how much temporary storage it needs, and then with it.

#include <cstddef>

#include <backends/cuda/call_memory.hpp>
#include <backends/cuda/simt/check.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library {

template <class Call>
void with_temporary(call_memory& memory, std::string_view what, const Call& call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes), what);
  check(call(memory.allocate(bytes), bytes), what);
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library
