#pragma once

/// \file
/// The atomics of the vocabulary, emulated. See <backends/cuda/simt/vocabulary.hpp>.
///
/// Threads change only where the engine says, so a read followed by a write is one step.

#include <algorithm>
#include <source_location>
#include <type_traits>

#include <backends/cuda/simt/common.hpp>
#include <tests/simt/engine/kernel_words.hpp>

namespace zenith::simt::inline ZENITH_SIMT_PLATFORM {

namespace detail {

template <scope S>
inline constexpr auto atomic_read_at =
    S == scope::block ? ::zenith::simt_engine::access::block_atomic_read : ::zenith::simt_engine::access::atomic_read;
template <scope S>
inline constexpr auto atomic_write_at =
    S == scope::block ? ::zenith::simt_engine::access::block_atomic_write : ::zenith::simt_engine::access::atomic_write;

// Replaces what stands at `at` by function(it); returns what stood there.
template <scope S, class T, class Function>
T atomic_change(T* at, const std::source_location& where, const Function& function) {
  static_assert(std::is_integral_v<T> && (sizeof(T) == 4 || (sizeof(T) == 8 && std::is_unsigned_v<T>)));
  ::zenith::simt_engine::before_atomic();
  T before;
  ::zenith::simt_engine::read_memory(&before, at, sizeof(T), atomic_read_at<S>, where);
  const T after = function(before);
  ::zenith::simt_engine::write_memory(at, &after, sizeof(T), atomic_write_at<S>, where);
  return before;
}

// The sum modulo 2^n, which is what the device computes for signed numbers too.
template <class T>
T wrapping_sum(T a, T b) {
  using bits = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<bits>(a) + static_cast<bits>(b));
}

}  // namespace detail

template <scope S = scope::device, class T>
T atomic_add(T* at, std::type_identity_t<T> value, std::source_location where = std::source_location::current()) {
  return detail::atomic_change<S>(at, where, [&](T before) { return detail::wrapping_sum(before, value); });
}

template <scope S = scope::device, class T>
T atomic_max(T* at, std::type_identity_t<T> value, std::source_location where = std::source_location::current()) {
  return detail::atomic_change<S>(at, where, [&](T before) { return std::max(before, value); });
}

template <scope S = scope::device, class T>
T atomic_min(T* at, std::type_identity_t<T> value, std::source_location where = std::source_location::current()) {
  return detail::atomic_change<S>(at, where, [&](T before) { return std::min(before, value); });
}

template <scope S = scope::device, class T>
T atomic_exchange(T* at, std::type_identity_t<T> value, std::source_location where = std::source_location::current()) {
  return detail::atomic_change<S>(at, where, [&](T) { return value; });
}

template <scope S = scope::device, class T>
T atomic_compare_exchange(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> desired,
                          std::source_location where = std::source_location::current()) {
  return detail::atomic_change<S>(at, where, [&](T before) { return before == expected ? desired : before; });
}

template <scope S = scope::device, class T>
T atomic_load(const T* at, std::source_location where = std::source_location::current()) {
  ::zenith::simt_engine::before_atomic();
  T value;
  ::zenith::simt_engine::read_memory(&value, at, sizeof(T), detail::atomic_read_at<S>, where);
  return value;
}

template <scope S = scope::device, class T>
void atomic_store(T* at, std::type_identity_t<T> value, std::source_location where = std::source_location::current()) {
  ::zenith::simt_engine::before_atomic();
  ::zenith::simt_engine::write_memory(at, &value, sizeof(T), detail::atomic_write_at<S>, where);
}

template <scope S = scope::device>
void fence() {
  using ::zenith::simt_engine::fence_scope;
  ::zenith::simt_engine::memory_fence(S == scope::block ? fence_scope::block : fence_scope::device);
}

}  // namespace zenith::simt::inline ZENITH_SIMT_PLATFORM
