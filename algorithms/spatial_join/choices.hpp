#pragma once

/// \file
/// The strategies of spatial joins with their cost models.

#include <array>

#include <core/choose.hpp>
#include <zenith/spatial_join.hpp>

namespace zenith::spatial_join_detail {

[[nodiscard]] cost grid_cost(const spatial_join_problem& problem, const device_profile& on);
/// Of algorithms/spatial_index: two trees, and descents.
[[nodiscard]] cost index_nested_loop_cost(const spatial_join_problem& problem, const device_profile& on);
[[nodiscard]] cost threshold_first_cost(const top_k_spatial_join_problem& problem, const device_profile& on);
[[nodiscard]] cost full_cost(const top_k_spatial_join_problem& problem, const device_profile& on);
/// The same.
[[nodiscard]] cost ba_cost(const top_k_spatial_join_problem& problem, const device_profile& on);
[[nodiscard]] cost sfa_cost(const top_k_spatial_join_problem& problem, const device_profile& on);
[[nodiscard]] cost dfa_cost(const top_k_spatial_join_problem& problem, const device_profile& on);
[[nodiscard]] cost rj_cost(const top_k_spatial_join_problem& problem, const device_profile& on);

using strategy = detail::modelled_strategy<spatial_join_problem>;
using top_k_strategy = detail::modelled_strategy<top_k_spatial_join_problem>;

inline constexpr std::array strategies{strategy{"grid", grid_cost},
                                       strategy{"index_nested_loop", index_nested_loop_cost}};
inline constexpr std::array top_k_strategies{
    top_k_strategy{"threshold_first", threshold_first_cost},
    top_k_strategy{"full", full_cost},
    top_k_strategy{"ba", ba_cost},
    top_k_strategy{"sfa", sfa_cost},
    top_k_strategy{"dfa", dfa_cost},
    top_k_strategy{"rj", rj_cost},
};

inline constexpr detail::choosable<spatial_join_problem> choices{spatial_join_call::operation, "spatial_join",
                                                                 "the points lie", strategies};
inline constexpr detail::choosable<top_k_spatial_join_problem> top_k_choices{
    top_k_spatial_join_call::operation, "top_k_spatial_join", "the points lie", top_k_strategies};

}  // namespace zenith::spatial_join_detail
