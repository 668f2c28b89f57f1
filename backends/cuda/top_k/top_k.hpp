#pragma once

/// \file
/// The kernel table's entries for "top_k".

#include <array>

#include <backends/cuda/top_k/strategies.hpp>
#include <core/kernel_by_type.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class T>
using bitonic_runner = top_k_runner<T, bitonic_strategy>;
template <class T>
using filter_runner = top_k_runner<T, filter_strategy>;

inline constexpr kernel top_k_bitonic = detail::make_kernel_by_type<top_k_call, bitonic_runner>("bitonic");
inline constexpr kernel top_k_filter = detail::make_kernel_by_type<top_k_call, filter_runner>("filter");

/// What the descriptor lists, and the emulated one of the tests with it.
inline constexpr std::array top_k_kernels{top_k_bitonic, top_k_filter};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
