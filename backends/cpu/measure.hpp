#pragma once

#include <zenith/backend.hpp>
#include <zenith/machine.hpp>

namespace zenith::cpu_backend {

/// The default profile with measured bandwidths, for working sets of a few sizes, and the time of a parallel region.
[[nodiscard]] device_profile measure(const execution& on, const progress_function& progress);

/// The default profile with the bandwidths of fewer sizes, each seen for a moment: 0.1 to 0.3 seconds. The default
/// profile itself where there is no memory for that.
[[nodiscard]] device_profile probe(const execution& on);

}  // namespace zenith::cpu_backend
