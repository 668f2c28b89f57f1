#pragma once

#include <zenith/backend.hpp>
#include <zenith/packed_call.hpp>

namespace zenith::kokkos_backend {

/// What the shared text of packed columns (algorithms/packed_column/strategies.hpp) does not have.
void pack(const execution& on, const pack_call& call);
void packed_top_k(const execution& on, const packed_top_k_call& call);

}  // namespace zenith::kokkos_backend
