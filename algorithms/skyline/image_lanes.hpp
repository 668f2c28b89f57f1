#pragma once

/// \file
/// A wide register of images: for kernels of hosts, where compilers do not find the loop over lanes by themselves.
/// ZENITH_SKYLINE_PLAIN_LANES: there is none, and kernels go lane by lane.

#include <type_traits>

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

/// Some lanes of a register of images.
template <class Image>
class lane_set {
 public:
  static constexpr u32 lanes = image_lanes<Image>::count;

  /// Those whose flag is 0.
  ZENITH_FN explicit lane_set(const u8* flags) {
#if defined(__AVX512F__)
    const __m128i bytes = lanes == 16 ? _mm_loadu_si128(reinterpret_cast<const __m128i*>(flags))
                                      : _mm_loadl_epi64(reinterpret_cast<const __m128i*>(flags));
    set_ = static_cast<set>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())));
#else
    for (u32 lane = 0; lane < lanes; ++lane) set_[lane] = flags[lane] == 0 ? static_cast<Image>(~Image{0}) : Image{0};
#endif
  }
  ZENITH_FN bool is_empty() const {
#if defined(__AVX512F__)
    return set_ == 0;
#else
    return !has_bits(set_);
#endif
  }
  /// Keeps those whose value is `least` or more.
  ZENITH_FN void keep_from(const Image* values, Image least) { keep(from(values, least)); }
  /// The same of four columns, `stride` values apart: their comparisons do not wait for each other.
  ZENITH_FN void keep_from_four(const Image* values, u64 stride, const Image* least) {
    const set first = from(values, least[0]);
    const set second = from(values + stride, least[1]);
    const set third = from(values + 2 * stride, least[2]);
    const set fourth = from(values + 3 * stride, least[3]);
    keep(static_cast<set>((first & second) & (third & fourth)));
  }
  /// Takes out those whose value is another than `same`; returns them.
  ZENITH_FN lane_set take_different(const Image* values, Image same) {
    lane_set taken = *this;
#if defined(__AVX512F__)
    const __m512i value = _mm512_loadu_si512(values);
    if constexpr (sizeof(Image) == 4) {
      taken.set_ = _mm512_mask_cmpneq_epu32_mask(set_, value, _mm512_set1_epi32(static_cast<int>(same)));
    } else {
      taken.set_ = _mm512_mask_cmpneq_epu64_mask(set_, value, _mm512_set1_epi64(static_cast<long long>(same)));
    }
#else
    taken.set_ &= (set)(load(values) != (set_ ^ set_) + same);
#endif
    remove(taken);
    return taken;
  }
  /// Takes out the lanes up to this one.
  ZENITH_FN void keep_behind(u32 last) {
#if defined(__AVX512F__)
    set_ = static_cast<set>(set_ & ~((2U << last) - 1));
#else
    for (u32 lane = 0; lane <= last; ++lane) set_[lane] = 0;
#endif
  }
  ZENITH_FN void remove(const lane_set& others) { set_ = static_cast<set>(set_ & ~others.set_); }
  template <class Use>
  ZENITH_FN void for_each_lane(const Use& use) const {
#if defined(__AVX512F__)
    for (u32 rest = set_; rest != 0; rest &= rest - 1) use(static_cast<u32>(__builtin_ctz(rest)));
#else
    for (u32 lane = 0; lane < lanes; ++lane) {
      if (set_[lane] != 0) use(lane);
    }
#endif
  }
  /// Raises the counts of its lanes by one; returns those that then have `most`.
  ZENITH_FN lane_set raise(u32* counts, u32 most) const {
    lane_set full = *this;
    full.remove(*this);
    for_each_lane([&](u32 lane) {
      if (++counts[lane] >= most) full.add(lane);
    });
    return full;
  }
  /// Flags of 1 for lanes that are not in the set, and of 0 for those that are.
  ZENITH_FN void mark_others(u8* flags) const {
#if defined(__AVX512F__)
    const auto others = static_cast<set>(~set_);
    if constexpr (lanes == 16) {
      const __m128i bytes = _mm512_cvtepi32_epi8(_mm512_maskz_set1_epi32(others, 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(flags), bytes);
    } else {
      const __m128i bytes = _mm512_cvtepi64_epi8(_mm512_maskz_set1_epi64(others, 1));
      _mm_storel_epi64(reinterpret_cast<__m128i*>(flags), bytes);
    }
#else
    for (u32 lane = 0; lane < lanes; ++lane) flags[lane] = set_[lane] == 0 ? 1 : 0;
#endif
  }

 private:
#if defined(__AVX512F__)
  using set = std::conditional_t<sizeof(Image) == 4, __mmask16, __mmask8>;
#else
  using set = typename image_lanes<Image>::vector;

  ZENITH_FN static set load(const Image* values) {
    set value;
    __builtin_memcpy(&value, values, sizeof(value));
    return value;
  }
#endif
  ZENITH_FN static set from(const Image* values, Image least) {
#if !defined(__AVX512F__)
    const set value = load(values);
    return (set)(value >= (value ^ value) + least);
#else
    const __m512i value = _mm512_loadu_si512(values);
    if constexpr (sizeof(Image) == 4) {
      return _mm512_cmpge_epu32_mask(value, _mm512_set1_epi32(static_cast<int>(least)));
    } else {
      return _mm512_cmpge_epu64_mask(value, _mm512_set1_epi64(static_cast<long long>(least)));
    }
#endif
  }
  ZENITH_FN void add(u32 lane) {
#if defined(__AVX512F__)
    set_ = static_cast<set>(set_ | 1U << lane);
#else
    set_[lane] = static_cast<Image>(~Image{0});
#endif
  }
  ZENITH_FN void keep(set others) { set_ = static_cast<set>(set_ & others); }

  set set_{};
};
#endif

}  // namespace zenith::skyline_family
