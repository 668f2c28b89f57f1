#pragma once

#include <backends/cuda/top_k/bitonic.hpp>
#include <backends/cuda/top_k/call.hpp>
#include <backends/cuda/top_k/strategies.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class T>
void run_bitonic(const execution& on, const top_k_call& call) {
  run_top_k<T, bitonic_strategy>(on, call);
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
