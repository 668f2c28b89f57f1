#pragma once

/// \file
/// What there is of spatial indexes: the strategies of their queries. Texts and kernels are in strategies.hpp.

#include <string_view>

#include <core/device/list.hpp>
#include <zenith/spatial_index_call.hpp>

namespace zenith::spatial_index_family {

/// The ranked range query: down from the root, a level at a time, under a bound from nodes that lie inside.
struct descent {
  static constexpr std::string_view name = "descent";
  using call_type = top_k_range_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// The Block-based Algorithm: the left side's leaves by their best score, each item down the right side's tree.
/// `Call`: of two indexes, or of columns, from which trees are made first.
template <class Call>
struct ba {
  static constexpr std::string_view name = "ba";
  using call_type = Call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// The Score-First Algorithm: the same with the left side's items by their score.
template <class Call>
struct sfa {
  static constexpr std::string_view name = "sfa";
  using call_type = Call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// The Distance-First Algorithm: both trees are descended at once, by place.
template <class Call>
struct dfa {
  static constexpr std::string_view name = "dfa";
  using call_type = Call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// The ranked aR-tree join: the same, the pairs of nodes with the best bounds first.
template <class Call>
struct rj {
  static constexpr std::string_view name = "rj";
  using call_type = Call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// All pairs: each of the left side's items down the right side's tree.
template <class Call>
struct index_nested_loop {
  static constexpr std::string_view name = "index_nested_loop";
  using call_type = Call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// A tree made where the points lie, by sorts of the context.
struct sort_tile_recursive {
  static constexpr std::string_view name = "sort_tile_recursive";
  using call_type = index_build_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// The same by the points' places on a Hilbert curve, and one sort.
struct hilbert {
  static constexpr std::string_view name = "hilbert";
  using call_type = index_build_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

using strategies =
    device::list<descent, sort_tile_recursive, hilbert, index_nested_loop<index_join_call>,
                 index_nested_loop<spatial_join_call>, ba<top_k_index_join_call>, sfa<top_k_index_join_call>,
                 dfa<top_k_index_join_call>, rj<top_k_index_join_call>, ba<top_k_spatial_join_call>,
                 sfa<top_k_spatial_join_call>, dfa<top_k_spatial_join_call>, rj<top_k_spatial_join_call>>;

}  // namespace zenith::spatial_index_family
