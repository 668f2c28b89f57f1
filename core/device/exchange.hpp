#pragma once

/// \file
/// atomic_exchange, beside the operations of atomics.hpp: stores a value and returns the one from before. Relaxed,
/// visible to all teams of a launch. T: std::uint32_t, std::uint64_t.

#include <core/device/atomics.hpp>

// As in atomics.hpp.
#if defined(ZENITH_DEVICE_EXCHANGE_HEADER)
#include ZENITH_DEVICE_EXCHANGE_HEADER
#else

namespace zenith::device {

template <class T>
ZENITH_FN T atomic_exchange(T* at, std::type_identity_t<T> value) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return static_cast<T>(atomicExch(detail::atomic_at(at), static_cast<detail::atomic_word<T> >(value)));
#else
  return __atomic_exchange_n(at, value, __ATOMIC_RELAXED);
#endif
}

}  // namespace zenith::device

#endif
