#pragma once

/// \file
/// What the instantiation files define, one class a strategy and key type. No CUDA in here.

#include <backends/cuda/simt/common.hpp>
#include <zenith/backend.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

struct bitonic_strategy;
struct filter_strategy;

/// A call by a strategy over keys of T: call.hpp.
template <class T, class Strategy>
struct top_k_runner {
  static void run(const execution& on, const top_k_call& call);
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
