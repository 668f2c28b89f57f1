#pragma once

/// \file
/// What the vocabulary's two meanings share: the shapes of launches and of wide values.

#include <cstddef>
#include <cstdint>
#include <type_traits>

struct CUstream_st;

#if defined(ZENITH_SIMT_EMULATION)
#define ZENITH_SIMT_PLATFORM emulation
#define ZENITH_DEVICE inline
#define ZENITH_UNROLL
#define ZENITH_UNROLL_BY(times)
#else
#define ZENITH_SIMT_PLATFORM hardware
#define ZENITH_DEVICE __device__ __forceinline__
#define ZENITH_UNROLL _Pragma("unroll")
#define ZENITH_PRAGMA(text) _Pragma(#text)
#define ZENITH_UNROLL_BY(times) ZENITH_PRAGMA(unroll times)
#endif

namespace zenith::simt::inline ZENITH_SIMT_PLATFORM {

inline constexpr unsigned warp_size = 32;
inline constexpr std::uint32_t full_warp = 0xffffffffU;

/// Who sees an atomic operation or a fence: the block, the device, or the host and other devices as well.
enum class scope : std::uint8_t { block, device, system };

/// How a kernel is launched; the threads of a block are the kernel's own constant.
struct launch_shape {
  unsigned grid = 1;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory of each block
  CUstream_st* stream = nullptr;
  bool waits_within = false;  ///< blocks wait for each other: all are on the device at once, or the launch fails
};

/// What the order of launches needs to know of the current device.
struct device_limits {
  int multiprocessors = 1;
  std::size_t shared_bytes_per_block = 48 * 1024;  ///< static and dynamic together, what a kernel may ask for at most
};

/// N values that move in one access.
template <class T, unsigned N>
struct alignas(sizeof(T) * N) vector {
  static_assert(sizeof(T) * N <= 16 && (N & (N - 1)) == 0);
  T value[N];
};

/// What a kernel struct must be.
template <class Kernel>
concept kernel_struct = std::is_trivially_copyable_v<Kernel> && Kernel::block_size % warp_size == 0 &&
                        Kernel::block_size >= warp_size&& Kernel::block_size <= 1024;

}  // namespace zenith::simt::inline ZENITH_SIMT_PLATFORM
