#pragma once

/// \file
/// The warp operations of the vocabulary under nvcc. See vocabulary.hpp for the contract.

#include <cstring>

#include <backends/cuda/simt/common.hpp>

namespace zenith::simt::inline ZENITH_SIMT_PLATFORM {

namespace detail {

// Moves a value of several words by moving each of its words.
template <class T, class Move>
ZENITH_DEVICE T by_words(const T& value, const Move& move) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0);
  std::uint32_t words[sizeof(T) / 4];
  std::memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned i = 0; i < sizeof(T) / 4; ++i) words[i] = move(words[i]);
  T result;
  std::memcpy(&result, words, sizeof(T));
  return result;
}

}  // namespace detail

ZENITH_DEVICE void warp_barrier(std::uint32_t mask) { __syncwarp(mask); }

template <class T>
ZENITH_DEVICE T shuffle(std::uint32_t mask, const T& value, unsigned source) {
  return detail::by_words(value, [&](std::uint32_t word) { return __shfl_sync(mask, word, static_cast<int>(source)); });
}

template <class T>
ZENITH_DEVICE T shuffle_up(std::uint32_t mask, const T& value, unsigned distance) {
  return detail::by_words(value, [&](std::uint32_t word) { return __shfl_up_sync(mask, word, distance); });
}

template <class T>
ZENITH_DEVICE T shuffle_down(std::uint32_t mask, const T& value, unsigned distance) {
  return detail::by_words(value, [&](std::uint32_t word) { return __shfl_down_sync(mask, word, distance); });
}

template <class T>
ZENITH_DEVICE T shuffle_xor(std::uint32_t mask, const T& value, unsigned lanes) {
  return detail::by_words(value,
                          [&](std::uint32_t word) { return __shfl_xor_sync(mask, word, static_cast<int>(lanes)); });
}

ZENITH_DEVICE std::uint32_t ballot(std::uint32_t mask, bool predicate) { return __ballot_sync(mask, predicate); }
ZENITH_DEVICE bool any(std::uint32_t mask, bool predicate) { return __any_sync(mask, predicate) != 0; }
ZENITH_DEVICE bool all(std::uint32_t mask, bool predicate) { return __all_sync(mask, predicate) != 0; }

ZENITH_DEVICE std::uint32_t match_any(std::uint32_t mask, std::uint32_t value) { return __match_any_sync(mask, value); }
ZENITH_DEVICE std::uint32_t match_any(std::uint32_t mask, std::uint64_t value) {
  return __match_any_sync(mask, static_cast<unsigned long long>(value));
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

ZENITH_DEVICE std::uint32_t reduce_add(std::uint32_t mask, std::uint32_t value) {
  return __reduce_add_sync(mask, value);
}
ZENITH_DEVICE std::uint32_t reduce_min(std::uint32_t mask, std::uint32_t value) {
  return __reduce_min_sync(mask, value);
}
ZENITH_DEVICE std::uint32_t reduce_max(std::uint32_t mask, std::uint32_t value) {
  return __reduce_max_sync(mask, value);
}

#else

namespace detail {

// Turing has no reduction: every lane of the mask walks over the lanes of the mask.
template <class Combine>
ZENITH_DEVICE std::uint32_t reduce_by_shuffle(std::uint32_t mask, std::uint32_t value, const Combine& combine) {
  std::uint32_t result = value;
  const std::uint32_t own = 1U << (threadIdx.x % warp_size);
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const int lane = __ffs(static_cast<int>(left)) - 1;
    const std::uint32_t other = __shfl_sync(mask, value, lane);
    if ((own >> lane) != 1U) result = combine(result, other);
  }
  return result;
}

}  // namespace detail

ZENITH_DEVICE std::uint32_t reduce_add(std::uint32_t mask, std::uint32_t value) {
  return detail::reduce_by_shuffle(mask, value, [](std::uint32_t a, std::uint32_t b) { return a + b; });
}
ZENITH_DEVICE std::uint32_t reduce_min(std::uint32_t mask, std::uint32_t value) {
  return detail::reduce_by_shuffle(mask, value, [](std::uint32_t a, std::uint32_t b) { return a < b ? a : b; });
}
ZENITH_DEVICE std::uint32_t reduce_max(std::uint32_t mask, std::uint32_t value) {
  return detail::reduce_by_shuffle(mask, value, [](std::uint32_t a, std::uint32_t b) { return a > b ? a : b; });
}

#endif

}  // namespace zenith::simt::inline ZENITH_SIMT_PLATFORM
