#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include <perf/study/svg.hpp>

/// \file
/// What the axes of charts and pictures have in common.

namespace zenith_study {

/// One axis: from values to pixels.
class axis {
 public:
  axis(bool logarithmic, double from, double to) : logarithmic_(logarithmic), from_(from), to_(to) {}

  void take(double value) {
    if (!std::isfinite(value) || (logarithmic_ && value <= 0)) return;
    low_ = std::min(low_, map(value));
    high_ = std::max(high_, map(value));
  }
  /// Begins at zero, or a little below the least, and ends a little above the greatest.
  void widen(bool from_zero) {
    if (!(low_ <= high_)) low_ = 0, high_ = 1;
    if (from_zero && !logarithmic_) low_ = std::min(0.0, low_);
    const double margin = high_ > low_ ? (high_ - low_) * 0.06 : 0.5;
    high_ += margin;
    if (logarithmic_ || !from_zero) low_ -= margin;
  }
  [[nodiscard]] double at(double value) const { return from_ + (map(value) - low_) / (high_ - low_) * (to_ - from_); }
  [[nodiscard]] bool holds(double value) const {
    return (!logarithmic_ || value > 0) && map(value) >= low_ && map(value) <= high_;
  }

  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> found;
    if (logarithmic_) {
      const int step = std::max(1, static_cast<int>(std::ceil((high_ - low_) / 6)));
      for (int power = static_cast<int>(std::ceil(low_)); power <= high_; power += step) {
        found.push_back(std::pow(10.0, power));
      }
      if (found.size() < 2) found = {std::pow(10.0, low_), std::pow(10.0, high_)};
      return found;
    }
    const double raw = (high_ - low_) / 6;
    const double magnitude = std::pow(10.0, std::floor(std::log10(raw)));
    double step = magnitude;
    for (const double times : {1.0, 2.0, 5.0, 10.0}) {
      step = magnitude * times;
      if (step >= raw) break;
    }
    for (double at = std::ceil(low_ / step) * step; at <= high_; at += step) {
      found.push_back(std::abs(at) < step / 1e6 ? 0 : at);
    }
    return found;
  }

 private:
  [[nodiscard]] double map(double value) const { return logarithmic_ ? std::log10(value) : value; }

  bool logarithmic_;
  double from_;
  double to_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

/// A line across the picture at each tick of an upright axis, the value to its left.
inline void draw_upright(svg& out, const axis& up, double left, double right, int digits) {
  for (const double tick : up.ticks()) {
    if (!up.holds(tick)) continue;
    out.line(left, up.at(tick), right, up.at(tick), "stroke=\"#e2e2e2\"");
    out.text(left - 8, up.at(tick) + 4, "text-anchor=\"end\" font-size=\"11\"", fmt::format("{:.{}g}", tick, digits));
  }
}

/// A line at each tick of an axis that lies at `bottom`, from `from` to `to`, the value below.
inline void draw_lying(svg& out, const axis& across, double bottom, double from, double to, std::string_view style,
                       int digits) {
  for (const double tick : across.ticks()) {
    if (!across.holds(tick)) continue;
    out.line(across.at(tick), from, across.at(tick), to, style);
    out.text(across.at(tick), bottom + 19, "text-anchor=\"middle\" font-size=\"11\"",
             fmt::format("{:.{}g}", tick, digits));
  }
}

}  // namespace zenith_study
