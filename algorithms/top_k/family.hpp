#pragma once

/// \file
/// The strategies of top-k that are written over the device context. A backend that has its own of one lists that in
/// its kernel table instead.

#include <string_view>

#include <core/device/list.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::top_k_family {

struct filter {
  static constexpr std::string_view name = "filter";
  using call_type = top_k_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

struct bitonic {
  static constexpr std::string_view name = "bitonic";
  using call_type = top_k_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

using strategies = device::list<filter, bitonic>;

}  // namespace zenith::top_k_family
