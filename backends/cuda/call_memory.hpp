#pragma once

/// \file
/// Scratch of a call that asks for its buffers one by one: in stream order, from the executor's memory resource or the
/// device's pool, and given back whatever happens.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <backends/cuda/scratch.hpp>
#include <backends/cuda/tuning.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

class call_memory {
 public:
  explicit call_memory(const execution& on) : on_(on) {}
  call_memory(const call_memory&) = delete;
  call_memory& operator=(const call_memory&) = delete;
  ~call_memory() {
    for (const auto& [pointer, bytes] : owned_) deallocate(on_, pointer, bytes, stream());
  }

  [[nodiscard]] const execution& on() const noexcept { return on_; }
  [[nodiscard]] CUstream_st* stream() const noexcept { return stream_of(on_); }

  /// Aligned to 256 bytes.
  [[nodiscard]] void* allocate(std::size_t bytes) {
    if (simt::guards_each_buffer) return own(bytes);
    const std::size_t piece = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    if (piece > tuning::most_piece_bytes) return own(piece);
    if (piece > left_) {
      next_ = static_cast<std::byte*>(own(tuning::slab_bytes));
      left_ = tuning::slab_bytes;
    }
    void* const at = next_;
    next_ += piece;
    left_ -= piece;
    return at;
  }
  template <class T>
  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(allocate(count * sizeof(T)));
  }

 private:
  static constexpr std::size_t alignment = 256;

  void* own(std::size_t bytes) {
    // the note first: what was allocated must not be lost because there is no memory for its note
    if (owned_.size() == owned_.capacity()) owned_.reserve(2 * owned_.size() + 16);
    void* const at = allocate_scratch(on_, bytes, stream());
    owned_.emplace_back(at, bytes);
    return at;
  }

  const execution& on_;
  std::vector<std::pair<void*, std::size_t>> owned_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
