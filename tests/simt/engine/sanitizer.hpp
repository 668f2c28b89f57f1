#pragma once

#include <cstddef>

/// \file
/// What AddressSanitizer must be told: which bytes are out of reach, and when the stack changes.

#if defined(__SANITIZE_ADDRESS__)
#define ZENITH_SIMT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ZENITH_SIMT_ASAN 1
#endif
#endif

#ifdef ZENITH_SIMT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace zenith::simt_engine {

inline void forbid(const void* from, std::size_t bytes) noexcept {
#ifdef ZENITH_SIMT_ASAN
  __asan_poison_memory_region(from, bytes);
#else
  static_cast<void>(from), static_cast<void>(bytes);
#endif
}

inline void allow(const void* from, std::size_t bytes) noexcept {
#ifdef ZENITH_SIMT_ASAN
  __asan_unpoison_memory_region(from, bytes);
#else
  static_cast<void>(from), static_cast<void>(bytes);
#endif
}

/// Before a switch to the stack [bottom, bottom + bytes); `saved` keeps what this stack needs when it runs again, and
/// is nullptr when it never will.
inline void leave_stack(void** saved, const void* bottom, std::size_t bytes) noexcept {
#ifdef ZENITH_SIMT_ASAN
  __sanitizer_start_switch_fiber(saved, bottom, bytes);
#else
  static_cast<void>(saved), static_cast<void>(bottom), static_cast<void>(bytes);
#endif
}

/// After a switch, on the stack that now runs; `bottom` and `bytes` tell the one that was left.
inline void enter_stack(void* saved, const void** bottom, std::size_t* bytes) noexcept {
#ifdef ZENITH_SIMT_ASAN
  __sanitizer_finish_switch_fiber(saved, bottom, bytes);
#else
  static_cast<void>(saved), static_cast<void>(bottom), static_cast<void>(bytes);
#endif
}

}  // namespace zenith::simt_engine
