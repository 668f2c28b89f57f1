#pragma once

#include <algorithms/predicated_top_k/family.hpp>
#include <backends/cuda/simt/common.hpp>
#include <zenith/backend.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Strategy "fused". What a packed column says of the rows is found first, by the tiles of "packed_select".
void predicated_top_k(const execution& on, const predicated_top_k_call& call);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
