#pragma once

/// \file
/// The atomics of the vocabulary under nvcc. See vocabulary.hpp for the contract.

#include <backends/cuda/simt/common.hpp>

namespace zenith::simt::inline ZENITH_SIMT_PLATFORM {

namespace detail {

// CUDA's 64-bit atomics take unsigned long long; std::uint64_t is unsigned long here and there.
template <class T>
using atomic_word =
    std::conditional_t<sizeof(T) == 8, unsigned long long, std::conditional_t<std::is_signed_v<T>, int, unsigned int>>;

template <class T>
ZENITH_DEVICE atomic_word<T>* atomic_at(T* at) {
  static_assert(std::is_integral_v<T> && (sizeof(T) == 4 || (sizeof(T) == 8 && std::is_unsigned_v<T>)));
  return reinterpret_cast<atomic_word<T>*>(at);
}

}  // namespace detail

#define ZENITH_SIMT_ATOMIC(name, intrinsic)                                                       \
  template <scope S = scope::device, class T>                                                     \
  ZENITH_DEVICE T name(T* at, std::type_identity_t<T> value) {                                    \
    using word = detail::atomic_word<T>;                                                          \
    if constexpr (S == scope::block) {                                                            \
      return static_cast<T>(intrinsic##_block(detail::atomic_at(at), static_cast<word>(value)));  \
    } else if constexpr (S == scope::system) {                                                    \
      return static_cast<T>(intrinsic##_system(detail::atomic_at(at), static_cast<word>(value))); \
    } else {                                                                                      \
      return static_cast<T>(intrinsic(detail::atomic_at(at), static_cast<word>(value)));          \
    }                                                                                             \
  }

// Each returns the value from before.
ZENITH_SIMT_ATOMIC(atomic_add, atomicAdd)
ZENITH_SIMT_ATOMIC(atomic_max, atomicMax)
ZENITH_SIMT_ATOMIC(atomic_min, atomicMin)
ZENITH_SIMT_ATOMIC(atomic_exchange, atomicExch)

#undef ZENITH_SIMT_ATOMIC

/// Writes `desired` where `expected` stands; returns what stood there.
template <scope S = scope::device, class T>
ZENITH_DEVICE T atomic_compare_exchange(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  using word = detail::atomic_word<T>;
  if constexpr (S == scope::block) {
    return static_cast<T>(
        atomicCAS_block(detail::atomic_at(at), static_cast<word>(expected), static_cast<word>(desired)));
  } else if constexpr (S == scope::system) {
    return static_cast<T>(
        atomicCAS_system(detail::atomic_at(at), static_cast<word>(expected), static_cast<word>(desired)));
  } else {
    return static_cast<T>(atomicCAS(detail::atomic_at(at), static_cast<word>(expected), static_cast<word>(desired)));
  }
}

// PTX defines a volatile access as a relaxed one at system scope, which serves the narrower scopes too.
template <scope S = scope::device, class T>
ZENITH_DEVICE T atomic_load(const T* at) {
  return *static_cast<const volatile T*>(at);
}

template <scope S = scope::device, class T>
ZENITH_DEVICE void atomic_store(T* at, std::type_identity_t<T> value) {
  *static_cast<volatile T*>(at) = value;
}

template <scope S = scope::device>
ZENITH_DEVICE void fence() {
  if constexpr (S == scope::block) {
    __threadfence_block();
  } else if constexpr (S == scope::system) {
    __threadfence_system();
  } else {
    __threadfence();
  }
}

}  // namespace zenith::simt::inline ZENITH_SIMT_PLATFORM
