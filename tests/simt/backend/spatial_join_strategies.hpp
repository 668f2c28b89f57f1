#pragma once

/// \file
/// The strategies of spatial joins for the emulation: groups of so few rows, and places for so few partners, that small
/// joins have several groups, rows that several lanes share, and rows whose partners are too many to be sorted.

#include <algorithms/spatial_join/strategies.hpp>
#include <backends/cuda/context.hpp>

namespace zenith::spatial_join_family {

template <>
inline constexpr group_sizes sizes_of_groups<cuda_backend::context>{4, 8, 3, 6, 2, 12, 1, 32, 8, 896, 1000, 8, 1};

}  // namespace zenith::spatial_join_family
