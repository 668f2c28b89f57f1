#pragma once

/// \file
/// What builds threshold tables where their columns lie. The text and its kernels are in strategies.hpp.

#include <string_view>

#include <core/device/list.hpp>
#include <zenith/threshold_table_call.hpp>

namespace zenith::threshold_build_family {

/// Blocks of rows that are near one another: cells by the cuts of a sample, each split by one team.
struct clusters {
  static constexpr std::string_view name = "clusters";
  using call_type = threshold_build_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

using strategies = device::list<clusters>;

}  // namespace zenith::threshold_build_family
