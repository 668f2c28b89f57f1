#pragma once

/// \file
/// Where strategy "bitonic" takes its keys: memory of the space.

#include <cstdint>

#include <backends/kokkos/space.hpp>

namespace zenith::kokkos_backend {

template <class T>
struct plain_keys {
  using key = T;

  borrowed<const T> keys;

  [[nodiscard]] KOKKOS_FUNCTION T operator()(std::uint64_t i) const { return keys(static_cast<std::size_t>(i)); }
};

}  // namespace zenith::kokkos_backend
