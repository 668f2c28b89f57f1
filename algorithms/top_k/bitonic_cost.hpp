#pragma once

#include <zenith/cost.hpp>
#include <zenith/top_k.hpp>

namespace zenith::top_k_detail {

/// What strategy "bitonic" (bitonic.hpp) costs, by section 7.2 of Shanbhag et al. 2018. It does not depend on the data.
[[nodiscard]] cost bitonic_cost(const top_k_problem& problem, const device_profile& on);

/// Its kernels on a GPU, without what a call and a transfer cost: what "filter" does there with what it cannot sample.
[[nodiscard]] cost bitonic_on_gpu(const top_k_problem& problem);

}  // namespace zenith::top_k_detail
