#pragma once

/// \file
/// What the instantiation files define, one function an operation and width of values. No CUDA in here.

#include <backends/cuda/simt/common.hpp>
#include <zenith/backend.hpp>
#include <zenith/packed_call.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class U>
void run_unpack(const execution& on, const unpack_call& call);
/// Values [first, end) of a column on the device to out[0], out[1], …
template <class U>
void enqueue_values(const packed_layout& column, std::uint64_t first, std::uint64_t end, U* out, CUstream_st* stream);
template <class U>
void run_sum(const execution& on, const packed_sum_call& call);
template <class U>
void run_extremes(const execution& on, const packed_extremes_call& call);
template <class U>
void run_select(const execution& on, const packed_select_call& call);
/// Bit i % 64 of bitmap[i / 64] becomes whether value i of a column on the device, which has some, lies in [low, high].
/// Nobody waits for how many do.
template <class U>
void enqueue_bitmap(const packed_layout& column, U low, U high, std::uint64_t* bitmap, CUstream_st* stream);
template <class U>
void run_packed_top_k(const execution& on, const packed_top_k_call& call);
template <class U>
void run_pack(const execution& on, const pack_call& call, memory_space column_space);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
