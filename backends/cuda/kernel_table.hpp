#pragma once

/// \file
/// All that the backend offers: what the descriptor lists, and the emulated one of the tests with it.

#include <algorithm>
#include <array>

#include <backends/cuda/packed_column/packed_column.hpp>
#include <backends/cuda/top_k/top_k.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

inline constexpr auto kernel_table = [] {
  std::array<kernel, top_k_kernels.size() + packed_column_kernels.size()> all{};
  const auto* rest = std::copy(top_k_kernels.begin(), top_k_kernels.end(), all.begin());
  std::copy(packed_column_kernels.begin(), packed_column_kernels.end(), all.begin() + (rest - all.begin()));
  return all;
}();

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
