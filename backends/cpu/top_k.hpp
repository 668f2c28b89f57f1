#pragma once

#include <zenith/backend.hpp>
#include <zenith/packed_layout.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::cpu_backend {

/// Strategy "filter" over keys of T: algorithms/top_k/filter_tile.hpp.
template <class T>
struct top_k_filter {
  static void run(const execution& on, const top_k_call& call);
};

/// The filter over the values of a packed column from block `first_block` on; `call.keys` is not looked at.
void filter_packed(const execution& on, const top_k_call& call, const packed_layout& column, std::uint64_t first_block);

/// Strategy "bitonic" over keys of T: algorithms/top_k/bitonic.hpp.
template <class T>
struct top_k_bitonic {
  static void run(const execution& on, const top_k_call& call);
};

}  // namespace zenith::cpu_backend
