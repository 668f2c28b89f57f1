#pragma once

/// \file
/// Atomic operations that every kernel may use on memory of its device: relaxed, visible to all teams of a launch.
/// Each returns the value from before. T: std::uint32_t, std::uint64_t; add also std::int32_t.
///
/// atomic_publish stores, and atomic_observe loads, such that whoever observes what was published can read all that the
/// publisher wrote or could read before. wait_until(test) returns once test() is true: other teams that run already
/// must make it so, and it must observe what they publish.

#include <sched.h>

#include <cstdint>
#include <type_traits>

#include <core/device/function.hpp>

// A platform whose threads are not the machine's brings its own (a test tool that runs kernels lane by lane).
#if defined(ZENITH_DEVICE_ATOMICS_HEADER)
#include ZENITH_DEVICE_ATOMICS_HEADER
#else

namespace zenith::device {

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)

namespace detail {

// The device's 64-bit atomics take unsigned long long; std::uint64_t is unsigned long here and there.
template <class T>
using atomic_word =
    std::conditional_t<sizeof(T) == 8, unsigned long long, std::conditional_t<std::is_signed_v<T>, int, unsigned int> >;

template <class T>
ZENITH_FN atomic_word<T>* atomic_at(T* at) {
  return reinterpret_cast<atomic_word<T>*>(at);
}

}  // namespace detail

template <class T>
ZENITH_FN T atomic_add(T* at, std::type_identity_t<T> value) {
  return static_cast<T>(atomicAdd(detail::atomic_at(at), static_cast<detail::atomic_word<T> >(value)));
}
template <class T>
ZENITH_FN T atomic_max(T* at, std::type_identity_t<T> value) {
  return static_cast<T>(atomicMax(detail::atomic_at(at), static_cast<detail::atomic_word<T> >(value)));
}
template <class T>
ZENITH_FN T atomic_min(T* at, std::type_identity_t<T> value) {
  return static_cast<T>(atomicMin(detail::atomic_at(at), static_cast<detail::atomic_word<T> >(value)));
}
template <class T>
ZENITH_FN T atomic_or(T* at, std::type_identity_t<T> value) {
  return static_cast<T>(atomicOr(detail::atomic_at(at), static_cast<detail::atomic_word<T> >(value)));
}
template <class T>
ZENITH_FN T atomic_load(const T* at) {
  return *static_cast<const volatile T*>(at);
}
template <class T>
ZENITH_FN void atomic_store(T* at, std::type_identity_t<T> value) {
  *static_cast<volatile T*>(at) = value;
}
template <class T>
ZENITH_FN void atomic_publish(T* at, std::type_identity_t<T> value) {
  __threadfence();
  atomic_store(at, value);
}
template <class T>
ZENITH_FN T atomic_observe(const T* at) {
  const T value = atomic_load(at);
  __threadfence();
  return value;
}
template <class Test>
ZENITH_FN void wait_until(const Test& test) {
  while (!test()) {
#if defined(__CUDA_ARCH__)
    __nanosleep(100);
#endif
  }
}

#else

template <class T>
ZENITH_FN T atomic_add(T* at, std::type_identity_t<T> value) {
  return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
template <class T>
ZENITH_FN T atomic_max(T* at, std::type_identity_t<T> value) {
  T seen = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (seen < value && !__atomic_compare_exchange_n(at, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return seen;
}
template <class T>
ZENITH_FN T atomic_min(T* at, std::type_identity_t<T> value) {
  T seen = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (value < seen && !__atomic_compare_exchange_n(at, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return seen;
}
template <class T>
ZENITH_FN T atomic_or(T* at, std::type_identity_t<T> value) {
  return __atomic_fetch_or(at, value, __ATOMIC_RELAXED);
}
template <class T>
ZENITH_FN T atomic_load(const T* at) {
  return __atomic_load_n(at, __ATOMIC_RELAXED);
}
template <class T>
ZENITH_FN void atomic_store(T* at, std::type_identity_t<T> value) {
  __atomic_store_n(at, value, __ATOMIC_RELAXED);
}
template <class T>
ZENITH_FN void atomic_publish(T* at, std::type_identity_t<T> value) {
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
}
template <class T>
ZENITH_FN T atomic_observe(const T* at) {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}
template <class Test>
ZENITH_FN void wait_until(const Test& test) {
  while (!test()) sched_yield();
}

#endif

}  // namespace zenith::device

#endif
