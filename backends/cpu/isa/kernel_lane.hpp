#pragma once

// The lane of a formula source on the CPU: one SIMD register. Included by a unit that is compiled for one instruction
// set, after arch.hpp.

#include <backends/cpu/isa/arch.hpp>

#include <cstdint>
#include <type_traits>

#include <backends/cpu/isa/prefetch.hpp>
#include <core/device/function.hpp>

namespace zenith::cpu_backend::ZENITH_ISA {
namespace {

template <class T>
using lane_of = xsimd::batch<T, arch>;

/// As many integers as a register holds doubles, each converted exactly.
ZENITH_FN lane_of<double> load_converted(const std::int32_t* from) {
#if defined(ZENITH_ISA_AVX512)
  return _mm512_cvtepi32_pd(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#elif defined(ZENITH_ISA_AVX2)
  return _mm256_cvtepi32_pd(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#else
  return _mm_cvtepi32_pd(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
#endif
}
ZENITH_FN lane_of<double> load_converted(const std::uint32_t* from) {
#if defined(ZENITH_ISA_AVX512)
  return _mm512_cvtepu32_pd(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#else
  // shifted into the range of signed integers and back: both steps are exact
  constexpr double middle = 2147483648.0;
#if defined(ZENITH_ISA_AVX2)
  const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  const __m256d shifted = _mm256_cvtepi32_pd(_mm_xor_si128(words, _mm_set1_epi32(INT32_MIN)));
#else
  const __m128i words = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  const __m128d shifted = _mm_cvtepi32_pd(_mm_xor_si128(words, _mm_set1_epi32(INT32_MIN)));
#endif
  return lane_of<double>(shifted) + lane_of<double>(middle);
#endif
}

/// Lane `first` … of each column. `Key` is the source's key: it says how many items a lane has.
template <class Key>
struct register_load {
  std::uint64_t first;

  template <class T>
  ZENITH_FN lane_of<T> operator()(const T* column) const {
    static_assert(sizeof(T) == sizeof(Key), "a lane has as many items as a register has keys");
    ask_ahead(column);
    return lane_of<T>::load_unaligned(column + first);
  }
  template <class S, class T>
  ZENITH_FN lane_of<S> as(const T* column) const {
    static_assert(sizeof(S) == sizeof(Key));
    if constexpr (std::is_same_v<S, T>) {
      return (*this)(column);
    } else {
      ask_ahead(column);
      return load_converted(column + first);
    }
  }

 private:
  template <class T>
  ZENITH_FN void ask_ahead(const T* column) const {
    constexpr std::uint64_t items_of_a_line = 64 / sizeof(T);
    // once a line: lanes that are narrower than a line ask for it together
    if (lane_of<Key>::size >= items_of_a_line || first % items_of_a_line == 0) {
      prefetch_ahead(column + first);
    }
  }
};

}  // namespace
}  // namespace zenith::cpu_backend::ZENITH_ISA
