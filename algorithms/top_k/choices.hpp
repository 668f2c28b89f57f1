#pragma once

/// \file
/// Every strategy of top-k that can be chosen by cost. A new one is its kernels in the backends, its model, and one
/// line here.

#include <array>
#include <string_view>

#include <algorithms/top_k/bitonic_cost.hpp>
#include <algorithms/top_k/filter_cost.hpp>
#include <core/choose.hpp>

namespace zenith::top_k_detail {

using strategy = detail::modelled_strategy<top_k_problem>;

inline constexpr std::array strategies{
    strategy{"filter", filter_cost},
    strategy{"bitonic", bitonic_cost},
};

/// Top-k as the chooser sees it.
inline constexpr detail::choosable<top_k_problem> choices{top_k_call::operation, "top_k", "the keys lie", strategies};

}  // namespace zenith::top_k_detail
