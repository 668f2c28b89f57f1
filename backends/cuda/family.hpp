#pragma once

/// \file
/// How the kernel table reaches the strategies of families. No CUDA in here.

#include <backends/cuda/simt/common.hpp>
#include <zenith/backend.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Runs a strategy of a family here. Defined in the family's unit (family_unit.hpp).
template <class Strategy>
struct runner {
  static void run(const execution& on, const typename Strategy::call_type& call);
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
