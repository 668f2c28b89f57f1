#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <zenith/executor.hpp>
#include <zenith/no_overload.hpp>
#include <zenith/span.hpp>

namespace zenith {

namespace detail {

// Owns bytes where an executor says: the host's memory or the device's.
class raw_array {
 public:
  raw_array() = default;
  raw_array(const executor& on, std::size_t bytes);
  raw_array(raw_array&& other) noexcept;
  raw_array& operator=(raw_array&& other) noexcept;
  raw_array(const raw_array&) = delete;
  raw_array& operator=(const raw_array&) = delete;
  ~raw_array();

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] memory_space space() const noexcept { return space_; }
  // Whether `on` would allocate the same memory, in the same order.
  [[nodiscard]] bool is_of(const execution& on) const noexcept;
  // Throws invalid_argument when the array lies elsewhere.
  void require(memory_space space) const;
  void write(const void* from);
  void read(void* to) const { read(to, bytes_); }
  // The first `bytes` of them.
  void read(void* to, std::size_t bytes) const;

 private:
  execution on_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  memory_space space_ = memory_space::host;
};

// The bytes of so many elements; throws out_of_memory when they are more than can be counted.
[[nodiscard]] std::size_t bytes_of(std::size_t count, std::size_t element);
// Throws invalid_argument, which names the argument and what it must be as long as, when the lengths differ.
void require_same_length(std::string_view argument, std::size_t has, std::string_view other, std::size_t needs);

}  // namespace detail

/// `size()` elements in the memory of an executor: the device's for a GPU executor, the host's otherwise, also for
/// "auto". Moves, does not copy. The contents are unspecified until written. The executor's stream and memory resource
/// must outlive it.
template <class T>
class array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  array() = default;
  /// Memory for `count` elements; throws `out_of_memory`.
  array(const executor& on, std::size_t count) : raw_(on, detail::bytes_of(count, sizeof(T))) {}
  /// A copy of `values`.
  array(const executor& on, std::span<const T> values) : array(on, values.size()) { copy_from(values); }
  ZENITH_NO_CONSTRUCTOR(array);

  [[nodiscard]] std::size_t size() const noexcept { return raw_.bytes() / sizeof(T); }
  [[nodiscard]] memory_space space() const noexcept { return raw_.space(); }

  /// The elements as host memory; throws `invalid_argument` when they lie on a device.
  [[nodiscard]] std::span<T> host() { return raw_.require(memory_space::host), std::span<T>(pointer(), size()); }
  [[nodiscard]] std::span<const T> host() const {
    return raw_.require(memory_space::host), std::span<const T>(pointer(), size());
  }
  /// The elements as device memory; throws `invalid_argument` when they lie on the host.
  [[nodiscard]] device_span<T> device() {
    return raw_.require(memory_space::device), device_span<T>(pointer(), size());
  }
  [[nodiscard]] device_span<const T> device() const {
    return raw_.require(memory_space::device), device_span<const T>(pointer(), size());
  }

  /// Writes all elements from host memory of the same length; synchronises.
  void copy_from(std::span<const T> values) {
    detail::require_same_length("array: values", values.size(), "the array", size());
    raw_.write(values.data());
  }
  /// Reads all elements into host memory of the same length; synchronises.
  void copy_to(std::span<T> values) const {
    detail::require_same_length("array: values", values.size(), "the array", size());
    raw_.read(values.data());
  }
  ZENITH_NO_OVERLOAD(copy_from);
  ZENITH_NO_CONST_OVERLOAD(copy_to);

 private:
  [[nodiscard]] T* pointer() const noexcept { return static_cast<T*>(raw_.data()); }

  detail::raw_array raw_;
};

}  // namespace zenith
