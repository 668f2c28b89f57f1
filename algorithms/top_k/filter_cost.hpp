#pragma once

#include <zenith/cost.hpp>
#include <zenith/top_k.hpp>

namespace zenith::top_k_detail {

/// What strategy "filter" (filter.hpp) costs when the order of the input is not adversarial.
[[nodiscard]] cost filter_cost(const top_k_problem& problem, const device_profile& on);

}  // namespace zenith::top_k_detail
