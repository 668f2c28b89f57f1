#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <zenith/types.hpp>

namespace zenith::detail {

/// Calls `function(std::type_identity<T>{})` with the T that `type` names: from a run-time key type to a template.
template <class Function>
decltype(auto) with_key_type(key_type type, Function&& function) {
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

}  // namespace zenith::detail
