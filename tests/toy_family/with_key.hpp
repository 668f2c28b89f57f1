#pragma once

#include <type_traits>

#include <tests/toy_family/family.hpp>

namespace zenith::toy_family {

/// Calls run(std::type_identity<Key>{}) with the call's key type.
template <class Run>
void with_key(const argmin_call& call, const Run& run) {
  if (call.type == key_type::float32) {
    run(std::type_identity<float>{});
  } else {
    run(std::type_identity<std::uint64_t>{});
  }
}

}  // namespace zenith::toy_family
