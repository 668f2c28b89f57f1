#pragma once

#include <algorithms/predicated_top_k/family.hpp>
#include <zenith/backend.hpp>

namespace zenith::cpu_backend {

/// Strategy "fused". What a packed column says of the rows is found first, by the decoders of the instruction set.
void predicated_top_k(const execution& on, const predicated_top_k_call& call);

}  // namespace zenith::cpu_backend
