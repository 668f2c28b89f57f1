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

template <class Image>
struct image_lanes {
  static constexpr u32 count = 64 / sizeof(Image);
#if !defined(ZENITH_SKYLINE_PLAIN_LANES)
  typedef Image vector __attribute__((vector_size(64)));  // `using` would drop the attribute
#endif
};

#if !defined(ZENITH_SKYLINE_PLAIN_LANES)
template <class Vector>
ZENITH_FN bool has_bits(const Vector& lanes) {
#if defined(__AVX512F__)
  const __m512i all = (__m512i)lanes;
  return _mm512_test_epi64_mask(all, all) != 0;
#elif defined(__AVX2__)
  __m256i halves[2];
  __builtin_memcpy(halves, &lanes, sizeof(halves));
  const __m256i some = _mm256_or_si256(halves[0], halves[1]);
  return _mm256_testz_si256(some, some) == 0;
#else
  u64 words[8];
  __builtin_memcpy(words, &lanes, sizeof(words));
  return (((words[0] | words[1]) | (words[2] | words[3])) | ((words[4] | words[5]) | (words[6] | words[7]))) != 0;
#endif
}
#endif

}  // namespace zenith::skyline_family
