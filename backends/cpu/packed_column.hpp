#pragma once

#include <zenith/backend.hpp>
#include <zenith/packed_call.hpp>

/// \file
/// Packed columns on the CPU; the calls say what is computed.

namespace zenith::cpu_backend {

void unpack(const execution& on, const unpack_call& call);
void packed_sum(const execution& on, const packed_sum_call& call);
void packed_extremes(const execution& on, const packed_extremes_call& call);
void packed_select(const execution& on, const packed_select_call& call);
void packed_top_k(const execution& on, const packed_top_k_call& call);
void pack(const execution& on, const pack_call& call);

}  // namespace zenith::cpu_backend
