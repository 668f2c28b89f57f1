#pragma once

#include <zenith/backend.hpp>
#include <zenith/machine.hpp>

namespace zenith::kokkos_backend {

/// What a space of this kind and width typically does. Starts no Kokkos.
[[nodiscard]] device_profile default_profile(const execution& on);

/// The default profile with measured bandwidths, for working sets of three sizes, and the time of a parallel region.
[[nodiscard]] device_profile measure(const execution& on, const progress_function& progress);

}  // namespace zenith::kokkos_backend
