#pragma once

// So that g++ does not add a note for each of the macros.
#pragma GCC system_header

/// \file
/// How a call that no overload takes is refused in few lines: `ZENITH_NO_OVERLOAD(top_k);` beside the overloads.
/// Without it, a compiler lists every overload and why it does not fit, in up to 140 lines. `ZENITH_NO_STATIC_OVERLOAD`
/// and `ZENITH_NO_CONST_OVERLOAD` are for members, `ZENITH_NO_CONSTRUCTOR` for constructors, and `ZENITH_REFUSED(where,
/// (int, double));` for arguments that an overload would take.
///
/// All but `ZENITH_REFUSED` declare templates that take every argument through "..." or by a conversion that is a
/// constructor's. Both rank behind what any overload needs, so an overload that fits is chosen.

namespace zenith::detail {

/// Its name is the message. All but a braced list converts to it.
struct no_overload_takes_these_arguments {
  template <class T>
  no_overload_takes_these_arguments(const T& /*given*/) noexcept {}  // NOLINT(google-explicit-constructor)
};

}  // namespace zenith::detail

#define ZENITH_NO_CONSTRUCTOR(type) \
  template <class... Given>         \
  explicit type(::zenith::detail::no_overload_takes_these_arguments, ...) = delete

#if defined(__clang__)

namespace zenith::detail {

using anything = no_overload_takes_these_arguments;

}  // namespace zenith::detail

// Clang lists all overloads for a deleted function too, but not for one that is unavailable, if that returns something.
// It says more of each argument of "...", so that takes only what the other one does not: braced lists.
#define ZENITH_REFUSED(function, parameters) \
  __attribute__((unavailable("no overload takes these arguments"))) ::zenith::detail::anything function parameters
#define ZENITH_UNAVAILABLE  \
  template <class... Given> \
  __attribute__((unavailable("no overload takes these arguments"))) ::zenith::detail::anything
#define ZENITH_OF_ANYTHING                                                                         \
  (::zenith::detail::anything, ::zenith::detail::anything = 0, ::zenith::detail::anything = 0,     \
   ::zenith::detail::anything = 0, ::zenith::detail::anything = 0, ::zenith::detail::anything = 0, \
   ::zenith::detail::anything = 0, ::zenith::detail::anything = 0, ::zenith::detail::anything = 0)

#define ZENITH_NO_OVERLOAD(function)              \
  ZENITH_UNAVAILABLE function ZENITH_OF_ANYTHING; \
  ZENITH_UNAVAILABLE function(...)
#define ZENITH_NO_STATIC_OVERLOAD(function)              \
  ZENITH_UNAVAILABLE static function ZENITH_OF_ANYTHING; \
  ZENITH_UNAVAILABLE static function(...)
#define ZENITH_NO_CONST_OVERLOAD(function)              \
  ZENITH_UNAVAILABLE function ZENITH_OF_ANYTHING const; \
  ZENITH_UNAVAILABLE function(...) const

#else

#define ZENITH_REFUSED(function, parameters) \
  ::zenith::detail::no_overload_takes_these_arguments function parameters = delete
#define ZENITH_NO_OVERLOAD(function) \
  template <class... Given>          \
  ::zenith::detail::no_overload_takes_these_arguments function(...) = delete
#define ZENITH_NO_STATIC_OVERLOAD(function) \
  template <class... Given>                 \
  static ::zenith::detail::no_overload_takes_these_arguments function(...) = delete
#define ZENITH_NO_CONST_OVERLOAD(function) \
  template <class... Given>                \
  ::zenith::detail::no_overload_takes_these_arguments function(...) const = delete

#endif
