#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <zenith/types.hpp>

namespace zenith_study {

/// The key type called `text`; "float" and "double" name what they name in C++. Throws `invalid_argument` that names
/// `what` when there is none.
[[nodiscard]] zenith::key_type parse_key_type(std::string_view what, std::string_view text);

/// Calls `function(std::type_identity<T>{})` with the T that `type` names.
template <class Function>
auto with_key_type(zenith::key_type type, const Function& function) {
  using zenith::key_type;
  switch (type) {
    case key_type::float32: return function(std::type_identity<float>{});
    case key_type::float64: return function(std::type_identity<double>{});
    case key_type::int32: return function(std::type_identity<std::int32_t>{});
    case key_type::uint32: return function(std::type_identity<std::uint32_t>{});
    case key_type::int64: return function(std::type_identity<std::int64_t>{});
    case key_type::uint64: break;
  }
  return function(std::type_identity<std::uint64_t>{});
}

}  // namespace zenith_study
