#pragma once

/// \file
/// Scratch memory of one call: requested buffer by buffer, allocated at once, freed in stream order whatever happens.

#include <cstddef>
#include <utility>
#include <vector>

#include <backends/cuda/simt/vocabulary.hpp>
#include <zenith/backend.hpp>
#include <zenith/cuda.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

inline CUstream_st* stream_of(const execution& on) { return static_cast<CUstream_st*>(on.stream); }

/// From the caller's memory resource, or from one of the device's pools.
inline void* allocate_scratch(const execution& on, std::size_t bytes, CUstream_st* stream) {
  if (on.memory != nullptr) return static_cast<cuda_memory_resource*>(on.memory)->allocate(bytes, stream);
  return simt::allocate(bytes, stream);
}
inline void* allocate_lasting(const execution& on, std::size_t bytes, CUstream_st* stream) {
  if (on.memory != nullptr) return static_cast<cuda_memory_resource*>(on.memory)->allocate(bytes, stream);
  return simt::allocate_lasting(bytes, stream);
}

inline void deallocate(const execution& on, void* pointer, std::size_t bytes, CUstream_st* stream) noexcept {
  if (on.memory != nullptr) {
    static_cast<cuda_memory_resource*>(on.memory)->deallocate(pointer, bytes, stream);
  } else {
    simt::deallocate(pointer, bytes, stream);
  }
}

/// A stream's kept words, if it has any: see simt::take_words. They are not the caller's memory resource's.
class kept_words {
 public:
  kept_words(const execution& on, CUstream_st* stream)
      : at_(on.memory == nullptr ? simt::take_words(stream) : nullptr) {}
  ~kept_words() {
    if (at_ != nullptr) simt::give_words(at_);
  }
  kept_words(const kept_words&) = delete;
  kept_words& operator=(const kept_words&) = delete;
  [[nodiscard]] void* get() const noexcept { return at_; }

 private:
  void* at_;
};

/// `request` notes where a buffer's address is to go, `allocate` fetches the memory and fills the addresses in.
class scratch {
 public:
  scratch(const execution& on, CUstream_st* stream) : on_(on), stream_(stream) {}
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    for (const auto& [pointer, bytes] : owned_) cuda_backend::deallocate(on_, pointer, bytes, stream_);
  }

  [[nodiscard]] const execution& on() const noexcept { return on_; }
  [[nodiscard]] CUstream_st* stream() const noexcept { return stream_; }

  template <class T>
  void request(T*& to, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    // one type-erased store for any pointer type
    requests_.push_back(
        {[](void* place, void* address) { *static_cast<T**>(place) = static_cast<T*>(address); }, &to, bytes});
  }

  void allocate() {
    if (simt::guards_each_buffer) {
      for (const auto& one : requests_) one.fill(one.place, one.bytes == 0 ? nullptr : own(one.bytes));
    } else {
      std::size_t total = 0;
      for (const auto& one : requests_) total += rounded(one.bytes);
      auto* next = total == 0 ? nullptr : static_cast<std::byte*>(own(total));
      for (const auto& one : requests_) {
        one.fill(one.place, next);
        next += rounded(one.bytes);
      }
    }
    requests_.clear();
  }

 private:
  struct wanted {
    void (*fill)(void* place, void* address);
    void* place;
    std::size_t bytes;
  };

  static constexpr std::size_t alignment = 256;
  static std::size_t rounded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

  void* own(std::size_t bytes) {
    owned_.reserve(owned_.size() + 1);
    void* pointer = allocate_scratch(on_, bytes, stream_);
    owned_.emplace_back(pointer, bytes);
    return pointer;
  }

  const execution& on_;
  CUstream_st* stream_;
  std::vector<wanted> requests_;
  std::vector<std::pair<void*, std::size_t>> owned_;
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
