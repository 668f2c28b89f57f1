#pragma once

/// \file
/// The strategy of predicated top-k with its cost model.

#include <array>

#include <core/choose.hpp>
#include <zenith/predicated_top_k.hpp>

namespace zenith::predicated_top_k_detail {

/// The filter of top-k, which reads the predicate's column beside the keys.
[[nodiscard]] cost fused_cost(const predicated_top_k_problem& problem, const device_profile& on);

inline constexpr std::array strategies{detail::modelled_strategy<predicated_top_k_problem>{"fused", fused_cost}};

inline constexpr detail::choosable<predicated_top_k_problem> choices{predicated_top_k_call::operation, "top_k",
                                                                     "the columns lie", strategies};

}  // namespace zenith::predicated_top_k_detail
