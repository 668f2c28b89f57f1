#pragma once

#include <zenith/backend.hpp>
#include <zenith/machine.hpp>

namespace zenith_study {

/// Measures every usable device of this machine and returns their profiles: bandwidths and overheads by the backend's
/// own `measure`, then the rates of each strategy's cost model, fitted to runs of that strategy at a few dozen points.
/// Takes some half a minute and up to half a gigabyte. Does not read the calibrated profile, nor write it.
[[nodiscard]] zenith::machine calibrate(const zenith::progress_function& progress);

}  // namespace zenith_study
