#pragma once

/// \file
/// What the instantiation files define, one function a strategy and key type. No CUDA in here.

#include <backends/cuda/simt/common.hpp>
#include <zenith/backend.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class T>
void run_bitonic(const execution& on, const top_k_call& call);

template <class T>
void run_filter(const execution& on, const top_k_call& call);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
