#pragma once

/// \file
/// The texts of all strategies, and every kernel that they launch.

#include <tests/toy_family/reduce.hpp>
#include <tests/toy_family/sort.hpp>

namespace zenith::toy_family {

using kernels = device::concat<reduce_kernels, sort_kernels>;

}  // namespace zenith::toy_family
