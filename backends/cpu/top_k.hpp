#pragma once

#include <zenith/backend.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::cpu_backend {

/// Strategy "filter": algorithms/top_k/filter.hpp.
void top_k_filter(const execution& on, const top_k_call& call);

/// Strategy "bitonic": algorithms/top_k/bitonic.hpp.
void top_k_bitonic(const execution& on, const top_k_call& call);

}  // namespace zenith::cpu_backend
