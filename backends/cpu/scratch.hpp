#pragma once

#include <cstddef>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>

#include <backends/cpu/kept_memory.hpp>
#include <zenith/backend.hpp>
#include <zenith/error.hpp>

namespace zenith::cpu_backend {

/// The resource that an executor's scratch comes from.
[[nodiscard]] inline std::pmr::memory_resource& scratch_resource(const execution& on) {
  return on.memory != nullptr ? *static_cast<std::pmr::memory_resource*>(on.memory) : usual_scratch_resource();
}

/// Uninitialised memory for a call's intermediate results. Pages that are never touched cost nothing.
template <class T>
class scratch {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  scratch() = default;
  scratch(std::pmr::memory_resource& from, std::size_t count) : from_(&from), count_(count) {
    if (count == 0) return;
    try {
      data_ = static_cast<T*>(from.allocate(count * sizeof(T), alignment));
    } catch (const std::bad_alloc&) {
      throw error(error_code::out_of_memory, std::to_string(count * sizeof(T)) + " bytes of scratch are not to be had",
                  "cpu");
    }
  }
  scratch(scratch&& other) noexcept
      : from_(other.from_), data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  scratch& operator=(scratch&& other) noexcept {
    std::swap(from_, other.from_);
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    if (data_ != nullptr) from_->deallocate(data_, count_ * sizeof(T), alignment);
  }

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] T& operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  static constexpr std::size_t alignment = 64;

  std::pmr::memory_resource* from_ = nullptr;
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace zenith::cpu_backend
