#pragma once

/// \file
/// The kernel table's entries for "top_k".

#include <array>

#include <backends/cuda/simt/common.hpp>
#include <zenith/backend.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

void top_k_bitonic(const execution& on, const top_k_call& call);
void top_k_filter(const execution& on, const top_k_call& call);

/// What the descriptor lists, and the emulated one of the tests with it.
inline constexpr std::array top_k_kernels{
    make_kernel<top_k_call, top_k_bitonic>("bitonic"),
    make_kernel<top_k_call, top_k_filter>("filter"),
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
