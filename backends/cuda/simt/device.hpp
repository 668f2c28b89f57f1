#pragma once

/// \file
/// The device half of the vocabulary under nvcc: every word is its intrinsic. See vocabulary.hpp for the contract.

#include <cuda_pipeline_primitives.h>

#include <cstring>

#include <backends/cuda/simt/atomics.hpp>
#include <backends/cuda/simt/common.hpp>
#include <backends/cuda/simt/warp.hpp>

namespace zenith::simt::inline ZENITH_SIMT_PLATFORM {

// ---- identity

ZENITH_DEVICE unsigned thread_index() { return threadIdx.x; }
ZENITH_DEVICE unsigned block_index() { return blockIdx.x; }
ZENITH_DEVICE unsigned block_size() { return blockDim.x; }
ZENITH_DEVICE unsigned grid_size() { return gridDim.x; }
ZENITH_DEVICE unsigned lane_index() { return threadIdx.x % warp_size; }
ZENITH_DEVICE unsigned warp_index() { return threadIdx.x / warp_size; }

// ---- barriers of the block

ZENITH_DEVICE void block_barrier() { __syncthreads(); }
ZENITH_DEVICE bool block_barrier_or(bool predicate) { return __syncthreads_or(predicate) != 0; }
ZENITH_DEVICE bool block_barrier_and(bool predicate) { return __syncthreads_and(predicate) != 0; }
ZENITH_DEVICE unsigned block_barrier_count(bool predicate) {
  return static_cast<unsigned>(__syncthreads_count(predicate));
}

// ---- global memory

template <class T>
ZENITH_DEVICE T load(const T* from) {
  return *from;
}

template <class T>
ZENITH_DEVICE void store(T* to, const std::type_identity_t<T>& value) {
  *to = value;
}

template <unsigned N, class T>
ZENITH_DEVICE vector<T, N> load_vector(const T* from) {
  return *reinterpret_cast<const vector<T, N>*>(from);
}

template <unsigned N, class T>
ZENITH_DEVICE void store_vector(T* to, const vector<T, N>& value) {
  *reinterpret_cast<vector<T, N>*>(to) = value;
}

/// Data that is read once: it is not to push other data out of the caches.
template <unsigned N, class T>
ZENITH_DEVICE vector<T, N> load_vector_streaming(const T* from) {
  vector<T, N> result;
  if constexpr (sizeof(result) == 16) {
    const uint4 words = __ldcs(reinterpret_cast<const uint4*>(from));
    std::memcpy(&result, &words, 16);
  } else if constexpr (sizeof(result) == 8) {
    const uint2 words = __ldcs(reinterpret_cast<const uint2*>(from));
    std::memcpy(&result, &words, 8);
  } else {
    static_assert(sizeof(result) == 4);
    const unsigned word = __ldcs(reinterpret_cast<const unsigned*>(from));
    std::memcpy(&result, &word, 4);
  }
  return result;
}

template <class T>
ZENITH_DEVICE T load_streaming(const T* from) {
  return load_vector_streaming<1>(from).value[0];
}

// ---- shared memory

/// `count` elements of the block's shared memory. The count is for the emulation; here it vanishes.
template <class T>
class shared_span {
 public:
  shared_span() = default;
  ZENITH_DEVICE shared_span(T* data, unsigned /*count*/) : data_(data) {}

  ZENITH_DEVICE T read(unsigned at) const { return data_[at]; }
  ZENITH_DEVICE void write(unsigned at, const T& value) const { data_[at] = value; }
  ZENITH_DEVICE T* pointer(unsigned at) const { return data_ + at; }
  ZENITH_DEVICE shared_span subspan(unsigned offset, unsigned count) const { return {data_ + offset, count}; }

 private:
  T* data_;
};

template <class T>
ZENITH_DEVICE shared_span<T> dynamic_shared(unsigned byte_offset, unsigned count) {
  extern __shared__ __align__(16) unsigned char zenith_dynamic_shared[];
  return {reinterpret_cast<T*>(zenith_dynamic_shared + byte_offset), count};
}

#define ZENITH_STATIC_SHARED(type, name, count)    \
  __shared__ type zenith_storage_of_##name[count]; \
  const ::zenith::simt::shared_span<type> name { zenith_storage_of_##name, count }

// ---- asynchronous copies to shared memory

template <unsigned N, class T>
ZENITH_DEVICE void async_copy(const shared_span<T>& to, unsigned at, const T* from) {
  static_assert(N * sizeof(T) == 4 || N * sizeof(T) == 8 || N * sizeof(T) == 16);
  __pipeline_memcpy_async(to.pointer(at), from, N * sizeof(T));
}

ZENITH_DEVICE void async_commit() { __pipeline_commit(); }

template <unsigned Pending>
ZENITH_DEVICE void async_wait() {
  __pipeline_wait_prior(Pending);
}

// ---- bits

ZENITH_DEVICE unsigned popcount(std::uint32_t bits) { return static_cast<unsigned>(__popc(bits)); }
ZENITH_DEVICE unsigned popcount(std::uint64_t bits) { return static_cast<unsigned>(__popcll(bits)); }
ZENITH_DEVICE unsigned find_first_set(std::uint32_t bits) {
  return static_cast<unsigned>(__ffs(static_cast<int>(bits)));
}
ZENITH_DEVICE unsigned find_first_set(std::uint64_t bits) {
  return static_cast<unsigned>(__ffsll(static_cast<long long>(bits)));
}
ZENITH_DEVICE unsigned count_leading_zeros(std::uint32_t bits) {
  return static_cast<unsigned>(__clz(static_cast<int>(bits)));
}
ZENITH_DEVICE unsigned count_leading_zeros(std::uint64_t bits) {
  return static_cast<unsigned>(__clzll(static_cast<long long>(bits)));
}
ZENITH_DEVICE std::uint32_t funnel_shift_left(std::uint32_t low, std::uint32_t high, unsigned shift) {
  return __funnelshift_l(low, high, shift);
}
ZENITH_DEVICE std::uint32_t funnel_shift_right(std::uint32_t low, std::uint32_t high, unsigned shift) {
  return __funnelshift_r(low, high, shift);
}
ZENITH_DEVICE std::uint32_t funnel_shift_right_clamped(std::uint32_t low, std::uint32_t high, unsigned shift) {
  return __funnelshift_rc(low, high, shift);
}

ZENITH_DEVICE std::uint32_t dot_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t sum) { return __dp4a(a, b, sum); }
ZENITH_DEVICE std::uint32_t dot_halves(std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
  return __dp2a_lo(a, b, sum);
}
ZENITH_DEVICE std::uint32_t pick_bytes(std::uint32_t low, std::uint32_t high, std::uint32_t which) {
  return __byte_perm(low, high, which);
}

// ---- numbers

template <class T>
ZENITH_DEVICE T larger(T a, T b) {
  static_assert(std::is_floating_point_v<T>);
  if constexpr (sizeof(T) == 4) {
    return fmaxf(a, b);
  } else {
    return b > a ? b : a;  // fmax, which minds a NaN on both sides, takes twice the instructions
  }
}

template <class T>
ZENITH_DEVICE T smaller(T a, T b) {
  static_assert(std::is_floating_point_v<T>);
  if constexpr (sizeof(T) == 4) {
    return fminf(a, b);
  } else {
    return b < a ? b : a;
  }
}

// ---- the compiler

template <class T>
ZENITH_DEVICE T opaque(T value) {
  if constexpr (std::is_same_v<T, float>) {
    asm("" : "+f"(value));
  } else if constexpr (std::is_same_v<T, double>) {
    asm("" : "+d"(value));
  } else if constexpr (sizeof(T) == 8) {
    asm("" : "+l"(value));
  } else {
    static_assert(sizeof(T) == 4);
    asm("" : "+r"(value));
  }
  return value;
}

}  // namespace zenith::simt::inline ZENITH_SIMT_PLATFORM
