#pragma once

#include <backends/kokkos/space.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::kokkos_backend {

/// Strategy "bitonic" for keys of type T. Kokkos runs, and nobody else is inside it.
template <class T>
void run_bitonic(const top_k_call& call, top_k_statistics& statistics);

}  // namespace zenith::kokkos_backend
