#pragma once

#include <zenith/backend.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::kokkos_backend {

/// Strategy "bitonic" of operation "top_k".
void top_k_bitonic(const execution& on, const top_k_call& call);

}  // namespace zenith::kokkos_backend
