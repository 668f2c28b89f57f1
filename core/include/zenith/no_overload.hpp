#pragma once

/// \file
/// How a call that no overload takes is refused in few lines: `ZENITH_NO_OVERLOAD top_k ZENITH_OF_ANYTHING;`. Without
/// it, a compiler lists every overload and why it does not fit, in up to 140 lines.

#if defined(__clang__)

namespace zenith::detail {

/// What every argument converts to, but a braced list. An overload that fits is better: it converts no executor.
struct anything {
  template <class T>
  anything(const T& /*given*/) noexcept {}  // NOLINT(google-explicit-constructor): it takes whatever is given
};

}  // namespace zenith::detail

// Clang lists all overloads for a deleted function too, but not for one that is unavailable, if that returns something.
#define ZENITH_NO_OVERLOAD __attribute__((unavailable("no overload takes these arguments"))) ::zenith::detail::anything
#define ZENITH_OF_ANYTHING                                                                         \
  (::zenith::detail::anything, ::zenith::detail::anything = 0, ::zenith::detail::anything = 0,     \
   ::zenith::detail::anything = 0, ::zenith::detail::anything = 0, ::zenith::detail::anything = 0, \
   ::zenith::detail::anything = 0, ::zenith::detail::anything = 0, ::zenith::detail::anything = 0)

#else

namespace zenith::detail {

/// Its name is the message. An overload that fits is better: it converts no executor.
struct no_overload_takes_these_arguments {
  template <class T>
  no_overload_takes_these_arguments(const T& /*given*/) noexcept {}  // NOLINT(google-explicit-constructor)
};

}  // namespace zenith::detail

#define ZENITH_NO_OVERLOAD void
#define ZENITH_OF_ANYTHING (::zenith::detail::no_overload_takes_these_arguments, ...) = delete

#endif
