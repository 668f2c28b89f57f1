#pragma once

#include <backends/cuda/top_k/call.hpp>
#include <backends/cuda/top_k/filter.hpp>
#include <backends/cuda/top_k/strategies.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class T>
void run_filter(const execution& on, const top_k_call& call) {
  run_top_k<T, filter_strategy>(on, call);
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
