#pragma once

/// \file
/// Extremes of numbers in kernels.

#include <type_traits>

#include <zenith/function.hpp>

namespace zenith::device {

/// The greater of a value and a number: a NaN does not count. One instruction of a GPU for floats.
template <class T>
[[nodiscard]] ZENITH_FN T greater_number(T value, T number) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float>) return fmaxf(value, number);
#endif
  return value > number ? value : number;
}

/// The lesser one.
template <class T>
[[nodiscard]] ZENITH_FN T lesser_number(T value, T number) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float>) return fminf(value, number);
#endif
  return value < number ? value : number;
}

}  // namespace zenith::device
