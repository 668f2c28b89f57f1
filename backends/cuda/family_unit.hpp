#pragma once

/// \file
/// The strategies of one family on CUDA, or a part of them. The build makes a unit of it for each, on the device and
/// emulated: ZENITH_FAMILY_STRATEGIES is their list, ZENITH_FAMILY_HEADER the header of their texts.

#include ZENITH_FAMILY_HEADER

#include <backends/cuda/context.hpp>
#include <backends/cuda/family.hpp>
#include <core/device/family.hpp>
#include <core/device/for_devices.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class Strategy>
void runner<Strategy>::run(const execution& on, const typename Strategy::call_type& call) {
  context here(on);
  Strategy::run(here, call);
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

template struct zenith::device::keep<zenith::cuda_backend::runner,
                                     zenith::device::for_devices<zenith::ZENITH_FAMILY_STRATEGIES>>;
