#pragma once

/// \file
/// A wide register of images: for kernels of hosts, where compilers do not find the loop over lanes by themselves.
/// ZENITH_SKYLINE_PLAIN_LANES: there is none, and kernels go lane by lane.

#include <algorithms/skyline/points.hpp>

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(ZENITH_SIMT_EMULATION)
#define ZENITH_SKYLINE_PLAIN_LANES
#elif defined(__AVX2__)
#include <immintrin.h>
#endif

namespace zenith::skyline_family {

#if defined(ZENITH_SKYLINE_PLAIN_LANES) || !defined(__AVX2__)
inline constexpr u32 lane_bytes = 16;
#elif defined(__AVX512F__)
inline constexpr u32 lane_bytes = 64;
#else
inline constexpr u32 lane_bytes = 32;
#endif

template <class Image>
struct image_lanes {
  static constexpr u32 count = lane_bytes / sizeof(Image);
#if !defined(ZENITH_SKYLINE_PLAIN_LANES)
  typedef Image vector __attribute__((vector_size(lane_bytes)));  // `using` would drop the attribute
#endif
};

#if !defined(ZENITH_SKYLINE_PLAIN_LANES)
template <class Vector>
ZENITH_FN bool has_bits(const Vector& lanes) {
#if defined(__AVX512F__)
  return _mm512_test_epi64_mask((__m512i)lanes, (__m512i)lanes) != 0;
#elif defined(__AVX2__)
  return _mm256_testz_si256((__m256i)lanes, (__m256i)lanes) == 0;
#else
  u64 words[2];
  __builtin_memcpy(words, &lanes, sizeof(words));
  return (words[0] | words[1]) != 0;
#endif
}
#endif

}  // namespace zenith::skyline_family
