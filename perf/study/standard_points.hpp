#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

/// \file
/// The points that skylines are measured on: the generator of Börzsönyi, Kossmann and Stocker (The Skyline Operator,
/// ICDE 2001), in the form in which it was published as a program. That program draws from the C library's rand(); the
/// numbers of glibc's are made here, so that a seed gives the same points on every system.

namespace zenith_study {

enum class correlation : std::uint8_t { correlated, independent, anticorrelated };

inline constexpr std::array<std::string_view, 3> correlation_names{"correlated", "independent", "anticorrelated"};

/// `rows` points of `columns` values in [0, 1], row-major. Sequential: each value depends on all before it.
[[nodiscard]] std::vector<float> standard_points(correlation of, std::uint64_t rows, unsigned columns,
                                                 std::uint32_t seed);

/// Row-major points as columns.
[[nodiscard]] std::vector<std::vector<float>> columns_of(const std::vector<float>& points, unsigned columns);

}  // namespace zenith_study
