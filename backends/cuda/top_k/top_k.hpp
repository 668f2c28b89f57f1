#pragma once

/// \file
/// The kernel table's entries for "top_k".

#include <backends/cuda/simt/common.hpp>
#include <zenith/backend.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

void top_k_bitonic(const execution& on, const top_k_call& call);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
