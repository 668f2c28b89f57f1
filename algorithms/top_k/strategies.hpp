#pragma once

/// \file
/// Every strategy of top-k that can be chosen by cost. A new one is its kernels in the backends, its model, and one
/// line here.

#include <array>
#include <string_view>

#include <algorithms/top_k/bitonic_cost.hpp>
#include <algorithms/top_k/filter_cost.hpp>

namespace zenith::top_k_detail {

struct strategy {
  std::string_view name;
  cost (*model)(const top_k_problem& problem, const device_profile& on);
};

inline constexpr std::array strategies{
    strategy{"filter", filter_cost},
    strategy{"bitonic", bitonic_cost},
};

}  // namespace zenith::top_k_detail
