#pragma once

/// \file
/// Identity, barriers, memory and bits of the vocabulary, emulated. See <backends/cuda/simt/vocabulary.hpp>.

#include <bit>
#include <source_location>
#include <type_traits>

#include <backends/cuda/simt/common.hpp>
#include <tests/simt/engine/kernel_words.hpp>

namespace zenith::simt::inline ZENITH_SIMT_PLATFORM {

namespace engine = ::zenith::simt_engine;

// ---- identity

inline unsigned thread_index() { return engine::thread_index(); }
inline unsigned block_index() { return engine::block_index(); }
inline unsigned block_size() { return engine::block_size(); }
inline unsigned grid_size() { return engine::grid_size(); }
inline unsigned lane_index() { return thread_index() % warp_size; }
inline unsigned warp_index() { return thread_index() / warp_size; }

// ---- barriers of the block

inline void block_barrier(std::source_location where = std::source_location::current()) {
  engine::block_barrier(false, where);
}
inline bool block_barrier_or(bool predicate, std::source_location where = std::source_location::current()) {
  return engine::block_barrier(predicate, where) != 0;
}
inline bool block_barrier_and(bool predicate, std::source_location where = std::source_location::current()) {
  return engine::block_barrier(predicate, where) == block_size();
}
inline unsigned block_barrier_count(bool predicate, std::source_location where = std::source_location::current()) {
  return engine::block_barrier(predicate, where);
}

// ---- global memory

namespace detail {

template <class T>
T read_as(const void* from, engine::access how, const std::source_location& where) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  engine::read_memory(&value, from, sizeof(T), how, where);
  return value;
}

}  // namespace detail

template <class T>
T load(const T* from, std::source_location where = std::source_location::current()) {
  return detail::read_as<T>(from, engine::access::read, where);
}

template <class T>
void store(T* to, const std::type_identity_t<T>& value, std::source_location where = std::source_location::current()) {
  engine::write_memory(to, &value, sizeof(T), engine::access::write, where);
}

template <unsigned N, class T>
vector<T, N> load_vector(const T* from, std::source_location where = std::source_location::current()) {
  return detail::read_as<vector<T, N>>(from, engine::access::read, where);
}

template <unsigned N, class T>
void store_vector(T* to, const vector<T, N>& value, std::source_location where = std::source_location::current()) {
  engine::write_memory(to, &value, sizeof(value), engine::access::write, where);
}

template <unsigned N, class T>
vector<T, N> load_vector_streaming(const T* from, std::source_location where = std::source_location::current()) {
  return detail::read_as<vector<T, N>>(from, engine::access::streaming_read, where);
}

template <class T>
T load_streaming(const T* from, std::source_location where = std::source_location::current()) {
  return detail::read_as<T>(from, engine::access::streaming_read, where);
}

// ---- shared memory

template <class T>
class shared_span {
 public:
  shared_span() = default;
  shared_span(T* data, unsigned count) : data_(data), count_(count) {}

  T read(unsigned at, std::source_location where = std::source_location::current()) const {
    engine::require_element(at, count_, where);
    return detail::read_as<T>(data_ + at, engine::access::read, where);
  }
  void write(unsigned at, const T& value, std::source_location where = std::source_location::current()) const {
    engine::require_element(at, count_, where);
    engine::write_memory(data_ + at, &value, sizeof(T), engine::access::write, where);
  }
  T* pointer(unsigned at, std::source_location where = std::source_location::current()) const {
    engine::require_element(at, count_, where);
    return data_ + at;
  }
  shared_span subspan(unsigned offset, unsigned count,
                      std::source_location where = std::source_location::current()) const {
    engine::require_element(std::size_t{offset} + count, std::size_t{count_} + 1, where);
    return {data_ + offset, count};
  }

 private:
  T* data_ = nullptr;
  unsigned count_ = 0;
};

template <class T>
shared_span<T> dynamic_shared(unsigned byte_offset, unsigned count,
                              std::source_location where = std::source_location::current()) {
  return {static_cast<T*>(engine::dynamic_shared(byte_offset, std::size_t{count} * sizeof(T), alignof(T), where)),
          count};
}

namespace detail {

template <class T>
shared_span<T> static_shared(const void* key, unsigned count,
                             std::source_location where = std::source_location::current()) {
  return {static_cast<T*>(engine::static_shared(key, std::size_t{count} * sizeof(T), alignof(T), where)), count};
}

}  // namespace detail

// The key is one object for each place in the text and each instance of the template around it, as a __shared__
// variable is. It is not const: equal constants could be merged.
#define ZENITH_STATIC_SHARED(type, name, count)  \
  static char zenith_key_of_##name = 0;          \
  const ::zenith::simt::shared_span<type> name = \
      ::zenith::simt::detail::static_shared<type>(&zenith_key_of_##name, count)

// ---- asynchronous copies to shared memory

template <unsigned N, class T>
void async_copy(const shared_span<T>& to, unsigned at, const T* from,
                std::source_location where = std::source_location::current()) {
  static_assert(N * sizeof(T) == 4 || N * sizeof(T) == 8 || N * sizeof(T) == 16);
  const auto elements = to.subspan(at, N, where);
  engine::async_copy(elements.pointer(0, where), from, N * sizeof(T), where);
}

inline void async_commit() { engine::async_commit(); }

template <unsigned Pending>
void async_wait(std::source_location where = std::source_location::current()) {
  engine::async_wait(Pending, where);
}

// ---- bits

inline unsigned popcount(std::uint32_t bits) { return static_cast<unsigned>(std::popcount(bits)); }
inline unsigned popcount(std::uint64_t bits) { return static_cast<unsigned>(std::popcount(bits)); }
inline unsigned find_first_set(std::uint32_t bits) {
  return bits == 0 ? 0 : static_cast<unsigned>(std::countr_zero(bits)) + 1;
}
inline unsigned find_first_set(std::uint64_t bits) {
  return bits == 0 ? 0 : static_cast<unsigned>(std::countr_zero(bits)) + 1;
}
inline unsigned count_leading_zeros(std::uint32_t bits) { return static_cast<unsigned>(std::countl_zero(bits)); }
inline unsigned count_leading_zeros(std::uint64_t bits) { return static_cast<unsigned>(std::countl_zero(bits)); }
inline std::uint32_t funnel_shift_left(std::uint32_t low, std::uint32_t high, unsigned shift) {
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  return static_cast<std::uint32_t>(both << (shift % 32) >> 32);
}
inline std::uint32_t funnel_shift_right(std::uint32_t low, std::uint32_t high, unsigned shift) {
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  return static_cast<std::uint32_t>(both >> (shift % 32));
}
inline std::uint32_t funnel_shift_right_clamped(std::uint32_t low, std::uint32_t high, unsigned shift) {
  return shift >= 32 ? high : funnel_shift_right(low, high, shift);
}

inline std::uint32_t dot_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
  for (unsigned shift = 0; shift < 32; shift += 8) sum += (a >> shift & 0xff) * (b >> shift & 0xff);
  return sum;
}

inline std::uint32_t dot_halves(std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
  return sum + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
}

inline std::uint32_t pick_bytes(std::uint32_t low, std::uint32_t high, std::uint32_t which) {
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  std::uint32_t picked = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint64_t byte = both >> 8 * (which >> 4 * i & 7) & 0xff;
    picked |= static_cast<std::uint32_t>(byte) << 8 * i;
  }
  return picked;
}

// ---- numbers

template <class T>
T larger(T a, T b) {
  static_assert(std::is_floating_point_v<T>);
  return b > a ? b : a;
}

template <class T>
T smaller(T a, T b) {
  static_assert(std::is_floating_point_v<T>);
  return b < a ? b : a;
}

// ---- the compiler

template <class T>
T opaque(T value) {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  return value;
}

}  // namespace zenith::simt::inline ZENITH_SIMT_PLATFORM
