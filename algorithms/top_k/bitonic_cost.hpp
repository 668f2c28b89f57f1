#pragma once

#include <zenith/cost.hpp>
#include <zenith/top_k.hpp>

namespace zenith::top_k_detail {

/// What strategy "bitonic" (bitonic.hpp) costs, by section 7.2 of Shanbhag et al. 2018. It does not depend on the data.
[[nodiscard]] cost bitonic_cost(const top_k_problem& problem, const device_profile& on);

}  // namespace zenith::top_k_detail
