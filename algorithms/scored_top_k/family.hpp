#pragma once

/// \file
/// What there is of scored top-k: its strategies. Their texts and kernels are in strategies.hpp.

#include <string_view>

#include <core/device/list.hpp>
#include <zenith/scored_top_k_call.hpp>

namespace zenith::scored_top_k_family {

/// One read of the columns; scores live in registers alone.
struct scan {
  static constexpr std::string_view name = "scan";
  using call_type = scored_top_k_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// All scores to memory, then the k best of them: what the fused scan saves is measured against this. Of few rows a GPU
/// has done this first.
struct full {
  static constexpr std::string_view name = "full";
  using call_type = scored_top_k_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

using strategies = device::list<scan, full>;

}  // namespace zenith::scored_top_k_family
