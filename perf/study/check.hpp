#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

/// \file
/// What the right answer is, found without Zenith: by the standard library's selection over positions.

namespace zenith_study {

/// The positions of the k best keys, best first, ties by lower position and NaN last.
template <class T>
[[nodiscard]] std::vector<std::uint32_t> best_positions(std::span<const T> keys, std::uint64_t k, bool smallest);

/// Empty when `out_keys` and `out_indices` are the first entries of `right`, else what is wrong in one sentence.
template <class T>
[[nodiscard]] std::string find_fault(std::span<const T> keys, std::span<const std::uint32_t> right,
                                     std::span<const T> out_keys, std::span<const std::uint32_t> out_indices);

}  // namespace zenith_study
