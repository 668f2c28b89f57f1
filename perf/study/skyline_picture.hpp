#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <zenith/skyline_call.hpp>

/// \file
/// A picture of rows in the plane of two columns, with the layers that these two have.

namespace zenith_study {

/// A column as an axis.
struct picture_axis {
  std::string name;
  zenith::preference wanted;  ///< minimise or maximise
  std::span<const double> values;
};

inline constexpr std::uint32_t drawn_layers = 6;

/// Layers 0 … drawn_layers - 1 as lines around what they dominate and their rows as dots, some of the other rows as
/// smaller dots, and a ring around each of the rows `front`. Rows with a NaN in an axis, or an infinity, are left out.
/// `layer_of` has an element for each row.
[[nodiscard]] std::string skyline_picture(std::string_view heading, const picture_axis& x, const picture_axis& y,
                                          std::span<const std::uint32_t> layer_of,
                                          std::span<const std::uint32_t> front);

}  // namespace zenith_study
