#pragma once

/// \file
/// Bits of words, as instructions that every device has.

#include <core/device/function.hpp>

namespace zenith::device {

/// The number of the lowest bit that is set; the word is not 0.
ZENITH_FN u32 lowest_bit(u32 word) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return static_cast<u32>(__ffs(static_cast<int>(word)) - 1);
#else
  return static_cast<u32>(__builtin_ctz(word));
#endif
}
ZENITH_FN u32 lowest_bit(u64 word) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return static_cast<u32>(__ffsll(static_cast<long long>(word)) - 1);
#else
  return static_cast<u32>(__builtin_ctzll(word));
#endif
}

/// How many bits are set.
ZENITH_FN u32 bits_of(u32 word) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return static_cast<u32>(__popc(word));
#else
  return static_cast<u32>(__builtin_popcount(word));
#endif
}
ZENITH_FN u32 bits_of(u64 word) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return static_cast<u32>(__popcll(word));
#else
  return static_cast<u32>(__builtin_popcountll(word));
#endif
}

}  // namespace zenith::device
