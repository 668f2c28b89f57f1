#pragma once

/// \file
/// Numbers of columns that the filters by values are compiled for. A point with fewer is padded with zeros.

#include <type_traits>

#include <core/device/function.hpp>

namespace zenith::skyline_family::detail {

/// Calls use(std::integral_constant) with the least number of compiled columns that is enough.
template <class Use>
void with_padded(device::u32 columns, const Use& use) {
  if (columns <= 4) return use(std::integral_constant<unsigned, 4>{});
  if (columns <= 8) return use(std::integral_constant<unsigned, 8>{});
  if (columns <= 12) return use(std::integral_constant<unsigned, 12>{});
  if (columns <= 16) return use(std::integral_constant<unsigned, 16>{});
  if (columns <= 24) return use(std::integral_constant<unsigned, 24>{});
  if (columns <= 32) return use(std::integral_constant<unsigned, 32>{});
  use(std::integral_constant<unsigned, 64>{});
}

[[nodiscard]] inline device::u32 padded_columns(device::u32 columns) {
  device::u32 padded = 0;
  with_padded(columns, [&](auto width) { padded = width; });
  return padded;
}

}  // namespace zenith::skyline_family::detail
