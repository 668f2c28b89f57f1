#pragma once

/// \file
/// The kernel table's entries for packed columns.

#include <array>

#include <backends/cuda/simt/common.hpp>
#include <zenith/backend.hpp>
#include <zenith/packed_call.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

void pack(const execution& on, const pack_call& call);
void pack_on_device(const execution& on, const device_pack_call& call);
void unpack(const execution& on, const unpack_call& call);
void packed_sum(const execution& on, const packed_sum_call& call);
void packed_extremes(const execution& on, const packed_extremes_call& call);
void packed_select(const execution& on, const packed_select_call& call);
void packed_top_k(const execution& on, const packed_top_k_call& call);

/// What the descriptor lists, and the emulated one of the tests with it.
inline constexpr std::array packed_column_kernels{
    make_kernel<pack_call, pack>("group_encode"),
    make_kernel<device_pack_call, pack_on_device>("group_encode"),
    make_kernel<packed_extremes_call, packed_extremes>("fused_reduce"),
    make_kernel<packed_select_call, packed_select>("fused_bitmap"),
    make_kernel<packed_sum_call, packed_sum>("fused_reduce"),
    make_kernel<packed_top_k_call, packed_top_k>("filter"),
    make_kernel<unpack_call, unpack>("block_decode"),
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
