#pragma once

/// \file
/// What there is of predicated top-k: its strategy. Its text and kernels are in strategies.hpp.

#include <string_view>

#include <core/device/list.hpp>
#include <zenith/predicated_top_k_call.hpp>

namespace zenith::predicated_top_k_family {

/// The filter of top-k over keys that are masked as they are read.
struct fused {
  static constexpr std::string_view name = "fused";
  using call_type = predicated_top_k_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

using strategies = device::list<fused>;

}  // namespace zenith::predicated_top_k_family
