#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include <zenith/no_overload.hpp>

namespace zenith {

/// A borrowed, contiguous range in the memory of an executor's device. It does not convert from or to `std::span`, so
/// that host memory handed over as device memory, or the reverse, does not compile. Copying is free; it owns nothing.
template <class T>
class device_span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  constexpr device_span() noexcept = default;
  /// `count` elements from `data`, a pointer that is valid on the device.
  constexpr device_span(T* data, std::size_t count) noexcept : data_(data), count_(count) {}
  /// Adds const, as `std::span` does.
  template <class U>
  requires(std::is_same_v<const U, T>) constexpr device_span(device_span<U> other) noexcept
      : data_(other.data()), count_(other.size()) {}
  ZENITH_NO_CONSTRUCTOR(device_span);

  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }
  [[nodiscard]] constexpr std::size_t size_bytes() const noexcept { return count_ * sizeof(T); }
  [[nodiscard]] constexpr bool empty() const noexcept { return count_ == 0; }

  [[nodiscard]] constexpr device_span first(std::size_t count) const noexcept { return {data_, count}; }
  [[nodiscard]] constexpr device_span subspan(std::size_t offset, std::size_t count) const noexcept {
    return {data_ + offset, count};
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

template <class T>
device_span(T*, std::size_t) -> device_span<T>;

}  // namespace zenith
