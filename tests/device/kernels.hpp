#pragma once

/// \file
/// Every kernel that the suite launches. Light: it is compiled once for each instruction set, and by nvcc.

#include <core/device/list.hpp>
#include <tests/device/item_kernels.hpp>
#include <tests/device/queue_kernels.hpp>
#include <tests/device/team_kernels.hpp>
#include <tests/device/tile_kernels.hpp>

namespace zenith::device_suite {

using kernels = device::concat<item_kernels, team_kernels, tile_kernels, queue_kernels>;

}  // namespace zenith::device_suite
