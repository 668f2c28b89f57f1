#pragma once

#include <string>
#include <string_view>

/// \file
/// Pictures as SVG text, so that no plotting program is needed.

namespace zenith_study {

/// Okabe and Ito's colours, which the colour-blind can tell apart.
inline constexpr std::string_view colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                               "#e69f00", "#56b4e9", "#000000"};

/// A picture under construction. Coordinates in pixels, from the upper left corner.
class svg {
 public:
  svg(double width, double height);
  void text(double x, double y, std::string_view style, std::string_view words);
  void line(double x1, double y1, double x2, double y2, std::string_view style);
  void circle(double x, double y, double radius, std::string_view style);
  /// What has no word of its own.
  void raw(std::string_view element) { out_ += element; }
  [[nodiscard]] std::string finish() const { return out_ + "</svg>\n"; }

 private:
  std::string out_;
};

}  // namespace zenith_study
