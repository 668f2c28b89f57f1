#pragma once

#include <zenith/backend.hpp>
#include <zenith/packed_call.hpp>

namespace zenith::kokkos_backend {

/// The kernels over packed columns.
void pack(const execution& on, const pack_call& call);
void unpack(const execution& on, const unpack_call& call);
void packed_sum(const execution& on, const packed_sum_call& call);
void packed_extremes(const execution& on, const packed_extremes_call& call);
void packed_select(const execution& on, const packed_select_call& call);
void packed_top_k(const execution& on, const packed_top_k_call& call);

}  // namespace zenith::kokkos_backend
