#pragma once

/// \file
/// The strategies of spatial indexes with their cost models.

#include <algorithm>
#include <array>
#include <cstdint>

#include <core/choose.hpp>
#include <zenith/spatial_index.hpp>

namespace zenith::spatial_index_detail {

[[nodiscard]] cost descent_cost(const top_k_range_problem& problem, const device_profile& on);
[[nodiscard]] cost ba_cost(const top_k_index_join_problem& problem, const device_profile& on);
[[nodiscard]] cost sfa_cost(const top_k_index_join_problem& problem, const device_profile& on);
[[nodiscard]] cost dfa_cost(const top_k_index_join_problem& problem, const device_profile& on);
[[nodiscard]] cost rj_cost(const top_k_index_join_problem& problem, const device_profile& on);

[[nodiscard]] cost index_nested_loop_cost(const index_join_problem& problem, const device_profile& on);

/// Adds the build of one index or two, of `items` items in all.
void add_build(cost& to, std::uint64_t items, int indexes, const device_profile& on);

/// A join's cost and that of the indexes which are still to be built.
template <class Problem, cost (*JoinCost)(const Problem&, const device_profile&)>
[[nodiscard]] cost with_build(const Problem& problem, const device_profile& on) {
  auto all = JoinCost(problem, on);
  // more than the larger side has: both are built
  const auto largest = std::max(problem.left_items, problem.right_items);
  if (problem.to_build > 0) add_build(all, problem.to_build, problem.to_build > largest ? 2 : 1, on);
  return all;
}
template <cost (*JoinCost)(const top_k_index_join_problem&, const device_profile&)>
inline constexpr auto ranked_with_build = with_build<top_k_index_join_problem, JoinCost>;

using all_pairs_strategy = detail::modelled_strategy<index_join_problem>;
using range_strategy = detail::modelled_strategy<top_k_range_problem>;
using join_strategy = detail::modelled_strategy<top_k_index_join_problem>;

inline constexpr std::array range_strategies{range_strategy{"descent", descent_cost}};
inline constexpr std::array all_pairs_strategies{
    all_pairs_strategy{"index_nested_loop", with_build<index_join_problem, index_nested_loop_cost>}};
inline constexpr std::array join_strategies{
    join_strategy{"ba", ranked_with_build<ba_cost>}, join_strategy{"sfa", ranked_with_build<sfa_cost>},
    join_strategy{"dfa", ranked_with_build<dfa_cost>}, join_strategy{"rj", ranked_with_build<rj_cost>}};

inline constexpr detail::choosable<top_k_range_problem> range_choices{top_k_range_call::operation, "top_k_range",
                                                                      "the index lies", range_strategies};
inline constexpr detail::choosable<index_join_problem> all_pairs_choices{index_join_call::operation, "spatial_join",
                                                                         "the sides lie", all_pairs_strategies};
inline constexpr detail::choosable<top_k_index_join_problem> join_choices{
    top_k_index_join_call::operation, "top_k_spatial_join", "the sides lie", join_strategies};

}  // namespace zenith::spatial_index_detail
