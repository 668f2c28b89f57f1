#pragma once

/// \file
/// Sorts of no more than tuning::most_sorted_in_block items, by one block each.

#include <cstdint>

#include <backends/cuda/call_memory.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library {

template <class Key, class Value>
void sort_in_block(call_memory& memory, Key* keys, Value* values, std::uint64_t n, int bits);
void sort_falling_in_block(call_memory& memory, std::uint64_t* keys, std::uint64_t n);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library
