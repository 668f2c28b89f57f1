#pragma once

#include <zenith/machine.hpp>

namespace zenith_study {

/// The better of two measurements of a device, number by number: what disturbs one only ever makes it slower. What is a
/// relation of two numbers stays with the one whose memory was faster. Bandwidths of other sets of sizes are not
/// compared.
[[nodiscard]] zenith::device_profile better_of(zenith::device_profile one, const zenith::device_profile& other);

}  // namespace zenith_study
