/// \file
/// The net under the vocabulary: kernels are compiled with -fsanitize=thread and not linked with its runtime, so that
/// the compiler announces every plain access here, also one through a bare pointer that the vocabulary never saw.
/// This file itself must not be instrumented.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "launch.hpp"

namespace zenith::simt_engine {
namespace {

void announce(const void* at, std::size_t bytes, access how, const void* return_address) {
  thread_context* const self = current_thread();
  if (self == nullptr || self->in_engine || self->body.stack().holds(reinterpret_cast<std::uintptr_t>(at))) return;
  const engine_section section;
  current_launch().check(*self, at, bytes, how, site::of_code(return_address));
}

// Of an alignment that the compiler does not know: a device's compiler makes single bytes of it.
void announce_range(const void* at, std::size_t bytes, access how, const void* return_address) {
  if (reinterpret_cast<std::uintptr_t>(at) % bytes == 0) return announce(at, bytes, how, return_address);
  for (std::size_t i = 0; i < bytes; ++i) announce(static_cast<const char*>(at) + i, 1, how, return_address);
}

}  // namespace
}  // namespace zenith::simt_engine

// The names and shapes are those of the compilers' interface to the thread sanitizer.
// NOLINTBEGIN
#define ZENITH_SIMT_ANNOUNCE(name, bytes, how)                                                               \
  extern "C" void name(void* at) {                                                                           \
    zenith::simt_engine::announce(at, bytes, zenith::simt_engine::access::how, __builtin_return_address(0)); \
  }
#define ZENITH_SIMT_ANNOUNCE_SIZE(bytes)                            \
  ZENITH_SIMT_ANNOUNCE(__tsan_read##bytes, bytes, read)             \
  ZENITH_SIMT_ANNOUNCE(__tsan_write##bytes, bytes, write)           \
  ZENITH_SIMT_ANNOUNCE(__tsan_unaligned_read##bytes, bytes, read)   \
  ZENITH_SIMT_ANNOUNCE(__tsan_unaligned_write##bytes, bytes, write) \
  ZENITH_SIMT_ANNOUNCE(__tsan_volatile_read##bytes, bytes, read)    \
  ZENITH_SIMT_ANNOUNCE(__tsan_volatile_write##bytes, bytes, write)

#pragma GCC diagnostic ignored "-Wmissing-declarations"

ZENITH_SIMT_ANNOUNCE_SIZE(1)
ZENITH_SIMT_ANNOUNCE_SIZE(2)
ZENITH_SIMT_ANNOUNCE_SIZE(4)
ZENITH_SIMT_ANNOUNCE_SIZE(8)
ZENITH_SIMT_ANNOUNCE_SIZE(16)

extern "C" void __tsan_read_range(void* at, std::size_t bytes) {
  zenith::simt_engine::announce_range(at, bytes, zenith::simt_engine::access::read, __builtin_return_address(0));
}
extern "C" void __tsan_write_range(void* at, std::size_t bytes) {
  zenith::simt_engine::announce_range(at, bytes, zenith::simt_engine::access::write, __builtin_return_address(0));
}

extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_vptr_update(void**, void*) {}
extern "C" void __tsan_vptr_read(void**) {}

// std::atomic in the host-level parts of an instrumented file: the operation itself.
#define ZENITH_SIMT_ATOMIC(bits, type)                                                                                \
  extern "C" type __tsan_atomic##bits##_load(const volatile type* at, int) {                                          \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                                     \
  }                                                                                                                   \
  extern "C" void __tsan_atomic##bits##_store(volatile type* at, type value, int) {                                   \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                                    \
  }                                                                                                                   \
  extern "C" type __tsan_atomic##bits##_exchange(volatile type* at, type value, int) {                                \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                                          \
  }                                                                                                                   \
  extern "C" type __tsan_atomic##bits##_fetch_add(volatile type* at, type value, int) {                               \
    return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);                                                           \
  }                                                                                                                   \
  extern "C" type __tsan_atomic##bits##_fetch_sub(volatile type* at, type value, int) {                               \
    return __atomic_fetch_sub(at, value, __ATOMIC_SEQ_CST);                                                           \
  }                                                                                                                   \
  extern "C" type __tsan_atomic##bits##_fetch_and(volatile type* at, type value, int) {                               \
    return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST);                                                           \
  }                                                                                                                   \
  extern "C" type __tsan_atomic##bits##_fetch_or(volatile type* at, type value, int) {                                \
    return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST);                                                            \
  }                                                                                                                   \
  extern "C" bool __tsan_atomic##bits##_compare_exchange_strong(volatile type* at, type* expected, type desired, int, \
                                                                int) {                                                \
    return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);             \
  }                                                                                                                   \
  extern "C" bool __tsan_atomic##bits##_compare_exchange_weak(volatile type* at, type* expected, type desired, int,   \
                                                              int) {                                                  \
    return __atomic_compare_exchange_n(at, expected, desired, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);              \
  }

ZENITH_SIMT_ATOMIC(8, unsigned char)
ZENITH_SIMT_ATOMIC(16, unsigned short)
ZENITH_SIMT_ATOMIC(32, unsigned int)
ZENITH_SIMT_ATOMIC(64, unsigned long)
// NOLINTEND
