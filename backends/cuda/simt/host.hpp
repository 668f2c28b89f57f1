#pragma once

/// \file
/// The host half of the vocabulary under nvcc: launches, stream-ordered memory, copies, events. Every CUDA code is
/// checked; a failure is thrown as zenith::error. See vocabulary.hpp for the contract.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <backends/cuda/simt/common.hpp>
#include <core/device/pieces.hpp>

namespace zenith::simt::inline ZENITH_SIMT_PLATFORM {

/// The emulation allocates each scratch buffer on its own; here one allocation serves a call.
inline constexpr bool guards_each_buffer = false;

/// How much of the caller's host memory a call copies at a time: long enough to hide the launches beside the copy.
inline constexpr std::size_t host_chunk_bytes = std::size_t{64} << 20;

/// Makes `device` the calling thread's current one for a scope.
class device_guard {
 public:
  explicit device_guard(int device);
  ~device_guard();
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;

 private:
  int before_ = -1;
};

/// The same as far as it can be, for what may not throw.
class quiet_device_guard {
 public:
  explicit quiet_device_guard(int device) noexcept;
  ~quiet_device_guard();
  quiet_device_guard(const quiet_device_guard&) = delete;
  quiet_device_guard& operator=(const quiet_device_guard&) = delete;

 private:
  int before_ = -1;
};

/// A stream of the call's own, beside the caller's. Non-blocking.
class own_stream {
 public:
  own_stream();
  ~own_stream();
  own_stream(const own_stream&) = delete;
  own_stream& operator=(const own_stream&) = delete;
  [[nodiscard]] CUstream_st* get() const noexcept { return stream_; }

 private:
  CUstream_st* stream_ = nullptr;
};

/// A point in a stream that other streams, or the host, can wait for.
class event {
 public:
  event();
  ~event();
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  void record(CUstream_st* stream);
  /// Makes `stream` wait for the latest record; none so far: does nothing.
  void hold(CUstream_st* stream) const;
  /// Makes the calling thread wait for it.
  void wait() const;

 private:
  void* event_ = nullptr;
};

/// Of the current device.
[[nodiscard]] device_limits limits();

/// Memory of a stream-ordered pool on the current device, aligned to 256 bytes; throws out_of_memory. `allocate` is for
/// what a call gives back before it returns.
[[nodiscard]] void* allocate(std::size_t bytes, CUstream_st* stream);
[[nodiscard]] void* allocate_lasting(std::size_t bytes, CUstream_st* stream);
void deallocate(void* pointer, std::size_t bytes, CUstream_st* stream) noexcept;

/// Words on the current device that go from launch to launch of a stream as each leaves them, zeros at first, so that a
/// short call needs no memset. They are one call's alone until it gives them back, which it may once it has enqueued
/// its launches. Who takes them leaves zeros, but for what all users can begin with. nullptr: there are none for this
/// stream, or now.
inline constexpr std::size_t kept_words_bytes = std::size_t{64} << 10;
[[nodiscard]] void* take_words(CUstream_st* stream);
void give_words(void* at) noexcept;

/// Between any two places, host or device; asynchronous as far as the host memory is pinned. Long copies of pageable
/// memory are staged by several threads: see staging.hpp.
void copy(void* to, const void* from, std::size_t bytes, CUstream_st* stream);

/// Enqueues the pieces of `length` items of arrays in the host's memory that begin at `begins`, in the order of
/// `stream`; the arrays are read before it returns.
void copy_pieces(std::span<const device::fetched_array> arrays, std::span<const std::uint32_t> begins,
                 std::uint64_t length, CUstream_st* stream);
void fill_zero(void* at, std::size_t bytes, CUstream_st* stream);
/// Waits for the stream; throws the fault that its work ended in.
void synchronize(CUstream_st* stream);
/// The same where nothing can be thrown.
void settle(CUstream_st* stream) noexcept;

/// Memory of the host that kernels on any device write to, and one call's alone while it is held. Throws out_of_memory.
class host_page {
 public:
  explicit host_page(std::size_t bytes);
  ~host_page();
  host_page(const host_page&) = delete;
  host_page& operator=(const host_page&) = delete;
  [[nodiscard]] void* get() const noexcept { return at_; }
  /// What kernels wrote there, once their stream was waited for.
  void read(void* to, std::size_t offset, std::size_t bytes) const {
    std::memcpy(to, static_cast<const std::byte*>(at_) + offset, bytes);
  }

 private:
  void* at_;
  std::size_t bytes_;  ///< that it has, perhaps more than were asked for
};

namespace detail {

void launch(const void* function, unsigned block, const launch_shape& shape, void** arguments);
int resident_blocks(const void* function, unsigned block, std::size_t shared_bytes);

}  // namespace detail

#if defined(__CUDACC__)

namespace detail {

// How many blocks a multiprocessor is to hold at once, where a kernel says so: the compiler saves registers for them.
template <class Kernel>
constexpr unsigned wanted_blocks() {
  if constexpr (requires { Kernel::wanted_blocks; }) {
    return Kernel::wanted_blocks;
  } else {
    return 1;
  }
}

// From compute capability 9.0 on the blocks of a kernel are brought to the multiprocessors while the kernel before
// still runs, and wait there until its memory can be seen: what lies between two kernels is a fraction of a launch.
// Every kernel waits first, so what holds between two of them in a row holds along the whole stream.
template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_size, wanted_blocks<Kernel>())
    run(const __grid_constant__ Kernel kernel) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  kernel();
}

}  // namespace detail

template <kernel_struct Kernel>
void launch(const Kernel& kernel, const launch_shape& shape) {
  void* arguments[] = {const_cast<Kernel*>(&kernel)};
  detail::launch(reinterpret_cast<const void*>(&detail::run<Kernel>), Kernel::block_size, shape, arguments);
}

/// How many blocks of a kernel one multiprocessor holds at once.
template <kernel_struct Kernel>
[[nodiscard]] int resident_blocks(std::size_t shared_bytes = 0) {
  return detail::resident_blocks(reinterpret_cast<const void*>(&detail::run<Kernel>), Kernel::block_size, shared_bytes);
}

#endif

}  // namespace zenith::simt::inline ZENITH_SIMT_PLATFORM
