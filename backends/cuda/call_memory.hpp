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
    for (const auto& one : owned_) deallocate(on_, one.at, one.bytes, stream());
  }

  [[nodiscard]] const execution& on() const noexcept { return on_; }
  [[nodiscard]] CUstream_st* stream() const noexcept { return stream_of(on_); }

  /// Aligned to 256 bytes.
  [[nodiscard]] void* allocate(std::size_t bytes) {
    if (simt::guards_each_buffer) return own(bytes);
    const std::size_t piece = rounded(bytes, alignment);
    if (const auto at = pieces_.take(piece)) return at;
    const std::size_t bytes_of_slab = has_slab_ ? tuning::slab_bytes : tuning::first_slab_bytes;
    if (piece > bytes_of_slab / tuning::slab_pieces) return own(piece);
    has_slab_ = true;
    pieces_ = {static_cast<std::byte*>(own(bytes_of_slab)), bytes_of_slab};
    owned_.back().is_slab = true;
    return pieces_.take(piece);
  }
  template <class T>
  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(allocate(count * sizeof(T)));
  }
  /// The same of zeros. Few small ones take one operation together.
  template <class T>
  [[nodiscard]] T* allocate_zeroed(std::size_t count) {
    constexpr std::size_t zeros_alignment = 64;
    const std::size_t piece = rounded(count * sizeof(T), zeros_alignment);
    if (!simt::guards_each_buffer && piece <= tuning::most_zeroed_piece_bytes) {
      if (const auto at = zeros_.take(piece)) return static_cast<T*>(at);
      zeros_ = {static_cast<std::byte*>(allocate(tuning::zeroed_slab_bytes)), tuning::zeroed_slab_bytes};
      // a piece at its beginning is no block of its own
      if (owned_.back().at == zeros_.next) owned_.back().is_slab = true;
      simt::fill_zero(zeros_.next, zeros_.left, stream());
      return static_cast<T*>(zeros_.take(piece));
    }
    T* const at = allocate<T>(count);
    if (count > 0) simt::fill_zero(at, count * sizeof(T), stream());
    return at;
  }

  /// Gives back what was allocated there. A piece of a slab stays: it is little.
  void release(const void* at) noexcept {
    const auto found = std::ranges::find_if(owned_, [at](const block& one) { return one.at == at && !one.is_slab; });
    if (found == owned_.end()) return;
    deallocate(on_, found->at, found->bytes, stream());
    owned_.erase(found);
  }

 private:
  static constexpr std::size_t alignment = 256;

  struct block {
    void* at;
    std::size_t bytes;
    bool is_slab = false;
  };
  struct slab {
    std::byte* next = nullptr;
    std::size_t left = 0;

    /// nullptr: there is not as much left.
    void* take(std::size_t piece) {
      if (piece > left) return nullptr;
      left -= piece;
      return std::exchange(next, next + piece);
    }
  };

  static std::size_t rounded(std::size_t bytes, std::size_t to) {
    return (std::max<std::size_t>(bytes, 1) + to - 1) / to * to;
  }

  void* own(std::size_t bytes) {
    // the note first: what was allocated must not be lost because there is no memory for its note
    if (owned_.size() == owned_.capacity()) owned_.reserve(2 * owned_.size() + 16);
    void* const at = allocate_scratch(on_, bytes, stream());
    owned_.push_back({at, bytes});
    return at;
  }

  const execution& on_;
  std::vector<block> owned_;
  slab pieces_;
  slab zeros_;
  bool has_slab_ = false;
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
