#pragma once

/// \file
/// The strategies of the skyline for the emulation: blocks of so few points that a small table has several.

#include <algorithms/skyline/strategies.hpp>
#include <backends/cuda/context.hpp>

namespace zenith::skyline_family {

template <>
inline constexpr u64 device_block<cuda_backend::context> = 64;

}  // namespace zenith::skyline_family
