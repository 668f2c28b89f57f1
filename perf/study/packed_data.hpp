#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// \file
/// The columns of chapter 5 of Shanbhag's Interactive Analytics on GPUs: what figures 5-8 and 5-9 are drawn over.

namespace zenith_study {

enum class packed_figure : std::uint8_t {
  widths,  ///< figure 5-8: uniform in [2^(i-1), 2^i), i = 2, 4, …, 30
  sorted,  ///< figure 5-9 a to c: sorted, with 4 to n distinct values
  normal,  ///< figure 5-9 d to f: deviation 20, mean 2^6 to 2^30
  zipf     ///< figure 5-9 g to i: Zipf, exponent 1 to 5
};

[[nodiscard]] std::span<const std::string_view> packed_figure_names() noexcept;
[[nodiscard]] std::string_view to_string(packed_figure of) noexcept;
/// What varies along the figure's axis, and its values for columns of `count`.
[[nodiscard]] std::string_view axis_of(packed_figure of) noexcept;
[[nodiscard]] std::vector<double> parameters_of(packed_figure of, std::uint64_t count);

/// One column of a figure; the same for the same seed.
[[nodiscard]] std::vector<std::int32_t> packed_column_of(packed_figure of, double parameter, std::uint64_t count,
                                                         std::uint64_t seed);

}  // namespace zenith_study
