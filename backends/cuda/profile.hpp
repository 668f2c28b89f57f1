#pragma once

/// \file
/// What the cost models know of a CUDA device: shipped numbers, and measured ones.

#include <zenith/backend.hpp>
#include <zenith/machine.hpp>

namespace zenith::cuda_backend {

[[nodiscard]] device_profile default_profile(const execution& on);
[[nodiscard]] device_profile measure(const execution& on, const progress_function& progress);

/// CUDA's code for whether this build's kernels can be loaded on `device`.
[[nodiscard]] int probe_kernel_image(int device);

}  // namespace zenith::cuda_backend
