#pragma once

namespace zenith_test {

/// Adds the backend "cuda-emulated": the CUDA backend's kernels and its order of launches, lane by lane on the host.
/// Its memory is the emulated device's. May be called more than once.
void register_emulated_cuda();

}  // namespace zenith_test
