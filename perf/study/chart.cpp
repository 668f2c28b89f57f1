#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <perf/study/quantity.hpp>
#include <perf/study/report.hpp>
#include <perf/study/statistics.hpp>
#include <perf/study/svg.hpp>

/// \file
/// The picture of a sweep.

namespace zenith_study {
namespace {

constexpr double left = 92;
constexpr double right = 700;
constexpr double top = 84;
constexpr double bottom = 500;
constexpr double width = 960;
constexpr double height = 570;

struct axis {
  double low = 0;  // logarithms
  double high = 1;
  double from = 0;  // pixels
  double to = 1;
  [[nodiscard]] double at(double value) const { return from + (std::log10(value) - low) / (high - low) * (to - from); }
};

struct limits {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  void take(double value) {
    if (!(value > 0) || !std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

axis time_axis(const sweep& of) {
  limits seen;
  for (const auto& point : of.points) {
    if (point.result == outcome::measured) seen.take(point.time);
    seen.take(point.predicted.value_or(0));
  }
  for (const auto& one : of.all_series) seen.take(one.floor_seconds);
  if (seen.high == 0) seen = {1e-3, 1};
  return {std::log10(seen.low / 2), std::log10(seen.high * 1.6), bottom, top};
}

axis k_axis(const sweep& of) {
  const auto first = static_cast<double>(of.options.ks.front());
  const auto last = static_cast<double>(of.options.ks.back());
  if (first == last) return {std::log10(first / 2), std::log10(first * 2), left, right};
  return {std::log10(first), std::log10(last), left + 14, right - 14};
}

class picture {
 public:
  explicit picture(const sweep& of) : of_(of), x_(k_axis(of)), y_(time_axis(of)) {}

  std::string draw() {
    text(left, 34, "font-size=\"19\" font-weight=\"bold\"", "Top-k: time over k");
    text(left, 58, "fill=\"#555\"", describe(of_.options));
    draw_time_grid();
    draw_k_grid();
    draw_floors();
    for (std::size_t s = 0; s < of_.all_series.size(); ++s) draw_series(s);
    draw_legend();
    return out_.finish();
  }

 private:
  void text(double x, double y, std::string_view style, std::string_view words) { out_.text(x, y, style, words); }
  void line(double x1, double y1, double x2, double y2, std::string_view style) { out_.line(x1, y1, x2, y2, style); }

  void draw_time_grid() {
    const bool is_narrow = y_.high - y_.low < 2.2;
    for (int power = -10; power <= 5; ++power) {
      for (const int digit : {1, 2, 5}) {
        const double value = digit * std::pow(10.0, power);
        if (std::log10(value) < y_.low || std::log10(value) > y_.high) continue;
        const double y = y_.at(value);
        line(left, y, right, y, digit == 1 ? "stroke=\"#d5d5d5\"" : "stroke=\"#eeeeee\"");
        if (digit == 1 || is_narrow) {
          text(left - 10, y + 4, "text-anchor=\"end\"",
               value >= 1          ? fmt::format("{:g} s", value)
               : value >= 0.999e-3 ? fmt::format("{:g} ms", value * 1e3)
                                   : fmt::format("{:g} µs", value * 1e6));
        }
      }
    }
    out_.raw(
        fmt::format("<text transform=\"translate(22 {:.1f}) rotate(-90)\" text-anchor=\"middle\">time (log)</text>\n",
                    (top + bottom) / 2));
  }

  void draw_k_grid() {
    line(left, bottom, right, bottom, "stroke=\"#888\"");
    double last = -1e9;
    for (const auto k : of_.options.ks) {
      const double x = x_.at(static_cast<double>(k));
      line(x, bottom, x, bottom + 5, "stroke=\"#888\"");
      const auto label = with_commas(k);
      if (x - last < 12 + 4 * static_cast<double>(label.size())) continue;
      last = x;
      text(x, bottom + 21, "text-anchor=\"middle\"", label);
    }
    text((left + right) / 2, bottom + 46, "text-anchor=\"middle\"", "k (log)");
  }

  struct floor_line {
    double seconds;
    std::string label;
  };

  // Equal floors are one line.
  [[nodiscard]] std::vector<floor_line> floors() const {
    std::vector<floor_line> found;
    for (const auto& one : of_.all_series) {
      if (one.floor_seconds <= 0) continue;
      if (std::ranges::find(found, one.floor_seconds, &floor_line::seconds) != found.end()) continue;
      const auto what = one.on.settings().target->memory == zenith::memory_space::host
                            ? std::string{"one read"}
                            : fmt::format("{} {}", one.resident ? "one read on" : "the link to", one.on.backend());
      found.push_back({one.floor_seconds, fmt::format("floor: {}, {}", what, format_seconds(one.floor_seconds))});
    }
    return found;
  }

  void draw_floors() {
    for (const auto& one : floors()) {
      const double y = y_.at(one.seconds);
      line(left, y, right, y, "stroke=\"#444\" stroke-width=\"1.5\" stroke-dasharray=\"7 4\"");
    }
  }

  void draw_series(std::size_t s) {
    const auto colour = colours[s % std::size(colours)];
    std::string measured;
    std::string predicted;
    for (const auto& point : of_.points) {
      if (point.series != s) continue;
      const double x = x_.at(static_cast<double>(point.k));
      if (point.predicted) {
        predicted += fmt::format("{:.1f},{:.1f} ", x, y_.at(*point.predicted));
      }
      if (point.result == outcome::measured) measured += fmt::format("{:.1f},{:.1f} ", x, y_.at(point.time));
    }
    out_.raw(
        fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.2\" "
                    "stroke-dasharray=\"2 3\"/>\n<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" "
                    "stroke-width=\"2.2\" stroke-linejoin=\"round\"/>\n",
                    predicted, colour, measured, colour));
    for (const auto& point : of_.points) {
      if (point.series == s && point.result == outcome::measured) {
        draw_mark(x_.at(static_cast<double>(point.k)), y_.at(point.time), colour, point.is_chosen);
      }
    }
  }

  void draw_mark(double x, double y, std::string_view colour, bool is_chosen) {
    out_.raw(fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.6\" fill=\"{}\"/>\n", x, y, colour));
    if (!is_chosen) return;
    out_.raw(
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"8\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"/>\n",
                    x, y, colour));
  }

  void draw_legend() {
    const double x = right + 26;
    double y = top + 10;
    for (std::size_t s = 0; s < of_.all_series.size(); ++s, y += 24) {
      const auto colour = colours[s % std::size(colours)];
      line(x, y - 4, x + 26, y - 4, fmt::format("stroke=\"{}\" stroke-width=\"2.2\"", colour));
      draw_mark(x + 13, y - 4, colour, false);
      const bool any = std::ranges::any_of(
          of_.points, [&](const auto& p) { return p.series == s && p.result == outcome::measured; });
      text(x + 36, y, "", of_.all_series[s].label + (any ? "" : " (not measured)"));
    }
    y += 10;
    line(x, y - 4, x + 26, y - 4, "stroke=\"#666\" stroke-width=\"1.2\" stroke-dasharray=\"2 3\"");
    text(x + 36, y, "fill=\"#555\"", "predicted");
    y += 24;
    draw_mark(x + 13, y - 4, "#666", true);
    text(x + 36, y, "fill=\"#555\"", "the dispatcher's choice");
    for (const auto& one : floors()) {
      y += 24;
      line(x, y - 4, x + 26, y - 4, "stroke=\"#444\" stroke-width=\"1.5\" stroke-dasharray=\"7 4\"");
      text(x + 36, y, "fill=\"#555\"", one.label);
    }
  }

  const sweep& of_;
  axis x_;
  axis y_;
  svg out_{width, height};
};

}  // namespace

std::string as_svg(const sweep& of) { return picture(of).draw(); }

}  // namespace zenith_study
