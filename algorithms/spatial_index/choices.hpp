#pragma once

/// \file
/// The strategies of spatial indexes with their cost models.

#include <array>

#include <core/choose.hpp>
#include <zenith/spatial_index.hpp>

namespace zenith::spatial_index_detail {

[[nodiscard]] cost descent_cost(const top_k_range_problem& problem, const device_profile& on);
[[nodiscard]] cost ba_cost(const top_k_index_join_problem& problem, const device_profile& on);
[[nodiscard]] cost sfa_cost(const top_k_index_join_problem& problem, const device_profile& on);
[[nodiscard]] cost dfa_cost(const top_k_index_join_problem& problem, const device_profile& on);
[[nodiscard]] cost rj_cost(const top_k_index_join_problem& problem, const device_profile& on);

[[nodiscard]] cost index_nested_loop_cost(const index_join_problem& problem, const device_profile& on);

using all_pairs_strategy = detail::modelled_strategy<index_join_problem>;
using range_strategy = detail::modelled_strategy<top_k_range_problem>;
using join_strategy = detail::modelled_strategy<top_k_index_join_problem>;

inline constexpr std::array range_strategies{range_strategy{"descent", descent_cost}};
inline constexpr std::array all_pairs_strategies{all_pairs_strategy{"index_nested_loop", index_nested_loop_cost}};
inline constexpr std::array join_strategies{join_strategy{"ba", ba_cost}, join_strategy{"sfa", sfa_cost},
                                            join_strategy{"dfa", dfa_cost}, join_strategy{"rj", rj_cost}};

inline constexpr detail::choosable<top_k_range_problem> range_choices{top_k_range_call::operation, "top_k_range",
                                                                      "the index lies", range_strategies};
inline constexpr detail::choosable<index_join_problem> all_pairs_choices{index_join_call::operation, "spatial_join",
                                                                         "the sides lie", all_pairs_strategies};
inline constexpr detail::choosable<top_k_index_join_problem> join_choices{
    top_k_index_join_call::operation, "top_k_spatial_join", "the sides lie", join_strategies};

}  // namespace zenith::spatial_index_detail
