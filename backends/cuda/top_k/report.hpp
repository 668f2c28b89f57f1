#pragma once

#include <cstdint>

#include <backends/cuda/simt/common.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// What the device counts of a run, for top_k_statistics.
struct run_report {
  std::uint32_t reads;      ///< whole reads of the keys, the most of any chunk
  std::uint32_t survivors;  ///< of all chunks together
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
