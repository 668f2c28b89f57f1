#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <zenith/backend.hpp>

/// \file
/// The explicit list of this build's backends. CMake generates its definition: a static object that registers itself
/// would be dropped by the linker when it sits in an archive.

namespace zenith::detail {

/// A backend of the tree that was left out of this build.
struct absent_backend {
  std::string_view name;
  std::string_view why;
  std::string_view remedy;
};

[[nodiscard]] std::span<const backend* const> built_backends() noexcept;
[[nodiscard]] std::span<const absent_backend> absent_backends() noexcept;

/// How many backends were registered from outside so far: it changes when the list of backends does.
[[nodiscard]] std::size_t registrations() noexcept;

}  // namespace zenith::detail
