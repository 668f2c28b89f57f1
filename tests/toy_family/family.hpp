#pragma once

/// \file
/// A family of one operation, argmin: the smallest key and where it stands. It is here to be read and copied.

#include <cstdint>
#include <string_view>

#include <core/device/list.hpp>
#include <zenith/types.hpp>

namespace zenith::toy_family {

/// Arguments are checked: 1 <= count < 2^32, no key is NaN, and all pointers lie in `space`. Of equal keys (-0 and +0
/// are) the first counts.
struct argmin_call {
  static constexpr std::string_view operation = "argmin";

  key_type type{};  ///< float32 or uint64
  memory_space space = memory_space::host;
  const void* keys = nullptr;
  std::uint64_t count = 0;
  std::uint64_t* out_index = nullptr;
  void* out_key = nullptr;
};

/// Two looks at the keys: the least, and then where it stands.
struct reduce {
  static constexpr std::string_view name = "reduce";
  using call_type = argmin_call;
  template <class Context>
  static void run(Context& on, const argmin_call& call);
};

/// All keys sorted, for the first of them.
struct sort {
  static constexpr std::string_view name = "sort";
  using call_type = argmin_call;
  template <class Context>
  static void run(Context& on, const argmin_call& call);
};

using strategies = device::list<reduce, sort>;

}  // namespace zenith::toy_family
