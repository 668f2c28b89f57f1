#pragma once

#include <string>
#include <utility>
#include <vector>

namespace zenith_study {

/// Lines over one axis.
struct line_chart {
  struct line {
    std::string label;
    std::vector<std::pair<double, double>> points;
  };

  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = false;
  bool log_y = false;
  std::vector<line> lines;
};

/// Charts beside each other, as one SVG picture under one heading, with one legend: lines of the same number have the
/// same label.
[[nodiscard]] std::string as_svg(std::string_view heading, const std::vector<line_chart>& charts);

}  // namespace zenith_study
