#pragma once

// The instruction set that a unit is compiled for, from the ZENITH_ISA_<NAME> that it is given: its namespace
// ZENITH_ISA, and in there what xsimd and the statistics call it. The first header of a unit: what is included from the
// rest of Zenith is forced inline.

#define ZENITH_FN [[gnu::always_inline]] inline

#include <immintrin.h>
#include <xsimd/xsimd.hpp>

#if defined(ZENITH_ISA_AVX512VBMI)
#define ZENITH_ISA_AVX512
#define ZENITH_ISA avx512vbmi
#define ZENITH_ISA_ARCH avx512bw
#define ZENITH_ISA_TEXT "avx512 with vbmi"
#elif defined(ZENITH_ISA_AVX512)
#define ZENITH_ISA avx512
#define ZENITH_ISA_ARCH avx512bw
#define ZENITH_ISA_TEXT "avx512"
#elif defined(ZENITH_ISA_AVX2)
#define ZENITH_ISA avx2
#define ZENITH_ISA_ARCH avx2
#define ZENITH_ISA_TEXT "avx2"
#else
#define ZENITH_ISA sse2
#define ZENITH_ISA_ARCH sse2
#define ZENITH_ISA_TEXT "sse2"
#endif

namespace zenith::cpu_backend::ZENITH_ISA {
namespace {

using arch = xsimd::ZENITH_ISA_ARCH;
constexpr const char* name = ZENITH_ISA_TEXT;

/// Integers of a register as others of the same size. `xsimd::bitwise_cast` names its result in another way from
/// version 11 on.
template <class To, class From>
ZENITH_FN To same_bits(const From& of) {
  return To(static_cast<typename From::register_type>(of));
}

}  // namespace
}  // namespace zenith::cpu_backend::ZENITH_ISA
