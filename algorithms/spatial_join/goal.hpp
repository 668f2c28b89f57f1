#pragma once

/// \file
/// How many pairs threshold_first aims at: what its rounds do, and what their cost models expect.

#include <cstdint>

namespace zenith::spatial_join_family {

/// Pairs that a bound is to take where the k best are wanted.
[[nodiscard]] inline double pairs_to_find(std::uint64_t k) { return 1.5 * static_cast<double>(k) + 16; }
/// Pairs that a pool for so many is to hold at most.
[[nodiscard]] inline double most_held(double goal) { return 4 * goal + 65536; }
/// Of so few pairs, a bound that takes so many spares hardly a half of the points: what is spent to know whether they
/// are more is little beside the join.
[[nodiscard]] inline double few_pairs(double goal) { return 8 * goal; }

}  // namespace zenith::spatial_join_family
