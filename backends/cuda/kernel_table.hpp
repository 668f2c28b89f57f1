#pragma once

/// \file
/// All that the backend offers: what the descriptor lists, and the emulated one of the tests with it. The families'
/// strategies stand behind what the backend has of its own.

#include <zenith_families.hpp>

#include <algorithm>
#include <array>

#include <backends/cuda/family.hpp>
#include <backends/cuda/packed_column/packed_column.hpp>
#include <backends/cuda/predicated_top_k.hpp>
#include <backends/cuda/top_k/top_k.hpp>
#include <core/device/family.hpp>
#include <core/device/for_devices.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// What runs a family's strategy: the context alone, or text of this backend's around it.
template <class Strategy>
struct entry : runner<Strategy> {};
template <>
struct entry<predicated_top_k_family::fused> {
  static void run(const execution& on, const predicated_top_k_call& call) { predicated_top_k(on, call); }
};

inline constexpr auto kernel_table = [] {
  constexpr auto families = device::kernel_entries<entry>(device::for_devices<device::all_strategies>{});
  std::array<kernel, top_k_kernels.size() + packed_column_kernels.size() + families.size()> all{};
  auto* next = std::copy(top_k_kernels.begin(), top_k_kernels.end(), all.data());
  next = std::copy(packed_column_kernels.begin(), packed_column_kernels.end(), next);
  std::copy(families.begin(), families.end(), next);
  return all;
}();

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
