#pragma once

#include <string>
#include <utility>
#include <vector>

namespace zenith_study {

/// Lines over one axis.
struct line_chart {
  using points_t = std::vector<std::pair<double, double>>;
  struct line {
    std::string label;
    points_t points;
    points_t predicted = {};  ///< dashed, in the same colour
    points_t ringed = {};     ///< of the points, those with a ring
  };
  /// What no line can be below.
  struct floor {
    double value;
    std::string label;
  };

  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = false;
  bool log_y = false;
  std::vector<line> lines;
  std::vector<floor> floors = {};
};

/// Charts beside each other, as one SVG picture under one heading, with one legend: lines of the same number have the
/// same label.
[[nodiscard]] std::string as_svg(std::string_view heading, const std::vector<line_chart>& charts);

}  // namespace zenith_study
