#pragma once

#include <zenith/backend.hpp>
#include <zenith/packed_layout.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::cpu_backend {

/// Strategy "filter": algorithms/top_k/filter_tile.hpp.
void top_k_filter(const execution& on, const top_k_call& call);

/// The filter over the values of a packed column from block `first_block` on; `call.keys` is not looked at.
void top_k_filter(const execution& on, const top_k_call& call, const packed_layout& column, std::uint64_t first_block);

/// Strategy "bitonic": algorithms/top_k/bitonic.hpp.
void top_k_bitonic(const execution& on, const top_k_call& call);

}  // namespace zenith::cpu_backend
