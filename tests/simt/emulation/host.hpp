#pragma once

/// \file
/// The host half of the vocabulary, emulated: work runs when it is enqueued. See <backends/cuda/simt/vocabulary.hpp>.

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>

#include <backends/cuda/simt/common.hpp>
#include <core/device/pieces.hpp>
#include <tests/simt/engine/kernel_words.hpp>

namespace zenith::simt::inline ZENITH_SIMT_PLATFORM {

inline constexpr bool guards_each_buffer = true;

/// So small that small host inputs take several chunks.
inline constexpr std::size_t host_chunk_bytes = 16 << 10;

class device_guard {
 public:
  explicit device_guard(int device);
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;
};

class own_stream {
 public:
  own_stream() = default;
  own_stream(const own_stream&) = delete;
  own_stream& operator=(const own_stream&) = delete;
  /// Never nullptr, and never dereferenced: a name for the stream.
  [[nodiscard]] CUstream_st* get() const noexcept;
};

class event {
 public:
  event() = default;
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  void record(CUstream_st* /*stream*/) noexcept {}
  void hold(CUstream_st* /*stream*/) const noexcept {}
  void wait() const noexcept {}
};

[[nodiscard]] device_limits limits();

[[nodiscard]] void* allocate(std::size_t bytes, CUstream_st* stream);
[[nodiscard]] void* allocate_lasting(std::size_t bytes, CUstream_st* stream);
void deallocate(void* pointer, std::size_t bytes, CUstream_st* stream) noexcept;

/// The same words for every stream: work runs when it is enqueued.
inline constexpr std::size_t kept_words_bytes = std::size_t{64} << 10;
[[nodiscard]] void* take_words(CUstream_st* stream);
void give_words(void* at) noexcept;

void copy(void* to, const void* from, std::size_t bytes, CUstream_st* stream);
void copy_pieces(std::span<const device::fetched_array> arrays, std::span<const std::uint32_t> begins,
                 std::uint64_t length, CUstream_st* stream);
void fill_zero(void* at, std::size_t bytes, CUstream_st* stream);
void synchronize(CUstream_st* stream);
void settle(CUstream_st* stream) noexcept;

/// Memory of the emulated device, so that each page has its guards and its reads are checked.
class host_page {
 public:
  explicit host_page(std::size_t bytes) : at_(allocate(bytes, nullptr)), bytes_(bytes) {}
  ~host_page() { deallocate(at_, bytes_, nullptr); }
  host_page(const host_page&) = delete;
  host_page& operator=(const host_page&) = delete;
  [[nodiscard]] void* get() const noexcept { return at_; }
  void read(void* to, std::size_t offset, std::size_t bytes) const {
    copy(to, static_cast<const std::byte*>(at_) + offset, bytes, nullptr);
  }

 private:
  void* at_;
  std::size_t bytes_;
};

namespace detail {

// "… [with Kernel = name]": the engine takes what stands behind the last '='.
template <class Kernel>
[[nodiscard]] const char* spelled_name() {
  return __PRETTY_FUNCTION__;
}

}  // namespace detail

template <kernel_struct Kernel>
void launch(const Kernel& kernel, const launch_shape& shape,
            std::source_location where = std::source_location::current()) {
  ::zenith::simt_engine::launch({.kernel_name = detail::spelled_name<Kernel>(),
                                 .grid = shape.grid,
                                 .block = Kernel::block_size,
                                 .shared_bytes = shape.shared_bytes,
                                 .kernel = &kernel,
                                 .kernel_bytes = sizeof(Kernel),
                                 .run_thread = [](const void* at) { (*static_cast<const Kernel*>(at))(); },
                                 .waits_within = shape.waits_within},
                                where);
}

/// A small number, so that small tests go through loops over the grid.
template <kernel_struct Kernel>
[[nodiscard]] int resident_blocks(std::size_t shared_bytes = 0) {
  return shared_bytes > ::zenith::simt_engine::device_shared_bytes ? 0 : Kernel::block_size > 512 ? 1 : 2;
}

}  // namespace zenith::simt::inline ZENITH_SIMT_PLATFORM
