#pragma once

/// \file
/// Memory of the space that a call owns, and copies between it and the host's. Raw pointers: kernels hold structs that
/// know no Kokkos, and g++ 12 miscompiles views that are assigned after they were made (kokkos#8187).

#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include <backends/kokkos/space.hpp>

namespace zenith::kokkos_backend {

/// A block of the space's memory, at least one byte, aligned to 64.
class block {
 public:
  block() = default;
  explicit block(std::uint64_t bytes)
      : at_(allocating("scratch", [&] {
          return Kokkos::kokkos_malloc<memory>("zenith::scratch", static_cast<std::size_t>(bytes > 0 ? bytes : 1));
        })) {}
  block(block&& other) noexcept : at_(std::exchange(other.at_, nullptr)) {}
  block& operator=(block&& other) noexcept {
    std::swap(at_, other.at_);
    return *this;
  }
  ~block() {
    if (at_ != nullptr) Kokkos::kokkos_free<memory>(at_);
  }

  [[nodiscard]] void* at() const { return at_; }

 private:
  void* at_ = nullptr;
};

/// How many bytes `count` T are; nothing has so many when that cannot be said.
template <class T>
[[nodiscard]] std::uint64_t bytes_of(std::uint64_t count) {
  constexpr std::uint64_t most = std::numeric_limits<std::ptrdiff_t>::max();
  if (count > most / sizeof(T))
    throw error(error_code::out_of_memory, "no memory for " + std::to_string(count) + " elements", "kokkos");
  return count * sizeof(T);
}

/// Waits for everything that was enqueued.
inline void wait() { space{}.fence(); }

template <class T>
[[nodiscard]] auto bytes_at(T* at, std::uint64_t count) {
  using byte = std::conditional_t<std::is_const_v<T>, const unsigned char, unsigned char>;
  return std::pair{reinterpret_cast<byte*>(at), static_cast<std::size_t>(count * sizeof(T))};
}

/// In order with what is enqueued, within the space.
template <class T>
void copy_within(T* to, const T* from, std::uint64_t count) {
  if (count == 0) return;
  const auto [target, size] = bytes_at(to, count);
  const auto [source, same] = bytes_at(from, count);
  if constexpr (is_host_space) {
    wait();
    std::memcpy(target, source, size);
  } else {
    Kokkos::deep_copy(space{}, borrowed<unsigned char>(target, size), borrowed<const unsigned char>(source, same));
  }
}
template <class T>
void zero(T* at, std::uint64_t count) {
  if (count == 0) return;
  const auto [target, size] = bytes_at(at, count);
  if constexpr (is_host_space) {
    wait();
    std::memset(target, 0, size);
  } else {
    Kokkos::deep_copy(space{}, borrowed<unsigned char>(target, size), static_cast<unsigned char>(0));
  }
}

/// Between the space and the host, after everything that was enqueued.
template <class T>
void copy_to_host(T* to, const T* from, std::uint64_t count) {
  wait();
  if (count == 0) return;
  const auto [target, size] = bytes_at(to, count);
  const auto [source, same] = bytes_at(from, count);
  Kokkos::deep_copy(host_view<unsigned char>(target, size), borrowed<const unsigned char>(source, same));
}
template <class T>
void copy_from_host(T* to, const T* from, std::uint64_t count) {
  wait();
  if (count == 0) return;
  const auto [target, size] = bytes_at(to, count);
  const auto [source, same] = bytes_at(from, count);
  Kokkos::deep_copy(borrowed<unsigned char>(target, size), host_view<const unsigned char>(source, same));
}

/// An array of the space in the hands of the host's library: itself where the host can touch it, else a copy, which
/// `give_back` returns.
template <class T>
class on_host {
  using value = std::remove_const_t<T>;

 public:
  on_host(T* at, std::uint64_t count) : at_(at), count_(count) {
    if constexpr (is_host_space) {
      wait();
    } else {
      copy_ = std::make_unique_for_overwrite<value[]>(static_cast<std::size_t>(count));
      copy_to_host<value>(copy_.get(), at, count);
    }
  }

  [[nodiscard]] T* begin() const {
    if constexpr (is_host_space) {
      return at_;
    } else {
      return copy_.get();
    }
  }
  [[nodiscard]] T* end() const { return begin() + count_; }
  [[nodiscard]] T& operator[](std::uint64_t i) const { return begin()[i]; }

  void give_back() const { give_back(count_); }
  /// The first `count` of them.
  void give_back(std::uint64_t count) const {
    if constexpr (!is_host_space) copy_from_host<value>(at_, copy_.get(), count);
  }

 private:
  T* at_;
  std::uint64_t count_;
  std::unique_ptr<value[]> copy_;
};

}  // namespace zenith::kokkos_backend
