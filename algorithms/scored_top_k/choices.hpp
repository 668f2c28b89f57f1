#pragma once

/// \file
/// The strategies of scored top-k with their cost models.

#include <array>

#include <core/choose.hpp>
#include <zenith/scored_top_k.hpp>

namespace zenith::scored_top_k_detail {

/// One read of the columns that have a weight, and what the filter of top-k does besides.
[[nodiscard]] cost scan_cost(const scored_top_k_problem& problem, const device_profile& on);
/// The scores are written, and read by the filter.
[[nodiscard]] cost full_cost(const scored_top_k_problem& problem, const device_profile& on);

using strategy = detail::modelled_strategy<scored_top_k_problem>;

inline constexpr std::array strategies{
    strategy{"scan", scan_cost},
    strategy{"full", full_cost},
};

inline constexpr detail::choosable<scored_top_k_problem> choices{scored_top_k_call::operation, "top_k",
                                                                 "the columns lie", strategies};

}  // namespace zenith::scored_top_k_detail
