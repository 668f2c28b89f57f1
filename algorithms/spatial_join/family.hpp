#pragma once

/// \file
/// What there is of spatial joins: their strategies. Texts and kernels are in strategies.hpp.

#include <string_view>

#include <core/device/list.hpp>
#include <zenith/spatial_join_call.hpp>

namespace zenith::spatial_join_family {

/// All pairs: a grid of cells as wide as the distance, pairs counted and then written.
struct grid_join {
  static constexpr std::string_view name = "grid";
  using call_type = spatial_join_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// A bound on the score is guessed; only points that can reach it are joined; it is certified or lowered.
struct threshold_first {
  static constexpr std::string_view name = "threshold_first";
  using call_type = top_k_spatial_join_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// All pairs, and then the k best of them.
struct full {
  static constexpr std::string_view name = "full";
  using call_type = top_k_spatial_join_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

using strategies = device::list<grid_join, threshold_first, full>;

}  // namespace zenith::spatial_join_family
