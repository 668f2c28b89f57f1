#pragma once

/// \file
/// The exchange of core/device, emulated as its other atomics are (device_atomics.hpp). ZENITH_DEVICE_EXCHANGE_HEADER
/// names this file.

#include <tests/simt/emulation/device_atomics.hpp>

namespace zenith::device {

template <class T>
ZENITH_FN T atomic_exchange(T* at, std::type_identity_t<T> value,
                            std::source_location where = std::source_location::current()) {
  if (simt_engine::is_in_kernel()) return simt::atomic_exchange(at, value, where);
  return detail::change_alone(at, [&](T /*before*/) { return static_cast<T>(value); });
}

}  // namespace zenith::device
