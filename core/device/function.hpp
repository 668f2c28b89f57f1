#pragma once

/// \file
/// How the text of kernels is marked, beside ZENITH_FN, which marks functions (zenith/function.hpp).
///
///   ZENITH_BODY      behind the parameters of a lambda inside a kernel: g++ inlines it always. A unit for one
///                    instruction set must not leave it as a symbol, and a hot loop must not call it.
///   ZENITH_UNROLLED  before a loop over registers: an array that is indexed by a running number lies in memory.

#include <cstdint>

#include <zenith/function.hpp>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define ZENITH_BODY
// The host's half of such a compilation runs no kernel, and its compiler does not know the word.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define ZENITH_UNROLLED _Pragma("unroll")
#define ZENITH_UNROLLED_BY_4 _Pragma("unroll 4")
#else
#define ZENITH_UNROLLED
#define ZENITH_UNROLLED_BY_4
#endif
#elif defined(__clang__)
#define ZENITH_BODY __attribute__((always_inline))
#define ZENITH_UNROLLED _Pragma("clang loop unroll(full)")
#define ZENITH_UNROLLED_BY_4
#else
#define ZENITH_BODY __attribute__((always_inline))
#define ZENITH_UNROLLED _Pragma("GCC unroll 32")
#define ZENITH_UNROLLED_BY_4
#endif

namespace zenith::device {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

}  // namespace zenith::device
