#include <perf/study/line_chart.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <perf/study/axis.hpp>
#include <perf/study/svg.hpp>

namespace zenith_study {
namespace {

constexpr double panel_width = 420;
constexpr double margin_left = 74;
constexpr double margin_right = 18;
constexpr double top = 96;
constexpr double bottom = 430;
constexpr double height = 540;

void draw_panel(svg& out, const line_chart& chart, double left) {
  const double x1 = left + margin_left;
  const double x2 = left + panel_width - margin_right;
  axis x(chart.log_x, x1, x2);
  axis y(chart.log_y, bottom, top);
  for (const auto& one : chart.lines) {
    for (const auto& [at, value] : one.points) {
      x.take(at);
      y.take(value);
    }
  }
  x.widen(false);
  y.widen(true);

  out.text(x1, top - 14, "font-weight=\"bold\"", chart.title);
  for (const double tick : y.ticks()) {
    if (!y.holds(tick)) continue;
    out.line(x1, y.at(tick), x2, y.at(tick), "stroke=\"#e2e2e2\"");
    out.text(x1 - 8, y.at(tick) + 4, "text-anchor=\"end\" font-size=\"11\"", fmt::format("{:.3g}", tick));
  }
  for (const double tick : x.ticks()) {
    if (!x.holds(tick)) continue;
    out.line(x.at(tick), bottom, x.at(tick), bottom + 5, "stroke=\"#888\"");
    out.text(x.at(tick), bottom + 19, "text-anchor=\"middle\" font-size=\"11\"", fmt::format("{:.3g}", tick));
  }
  out.line(x1, bottom, x2, bottom, "stroke=\"#888\"");
  out.text((x1 + x2) / 2, bottom + 38, "text-anchor=\"middle\"", chart.x_label);
  out.raw(fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                      left + 20, (top + bottom) / 2, chart.y_label));

  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const auto colour = colours[i % std::size(colours)];
    const auto dashes = i < std::size(colours) ? "" : " stroke-dasharray=\"6 3\"";
    std::string path;
    for (const auto& [at, value] : chart.lines[i].points) {
      if (x.holds(at) && y.holds(value)) path += fmt::format("{:.1f},{:.1f} ", x.at(at), y.at(value));
    }
    out.raw(fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", path, colour,
                        dashes));
    for (const auto& [at, value] : chart.lines[i].points) {
      if (!x.holds(at) || !y.holds(value)) continue;
      out.raw(
          fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.8\" fill=\"{}\"/>\n", x.at(at), y.at(value), colour));
    }
  }
}

}  // namespace

std::string as_svg(std::string_view heading, const std::vector<line_chart>& charts) {
  svg out(std::max(1.0, static_cast<double>(charts.size())) * panel_width, height);
  out.text(24, 36, "font-size=\"19\" font-weight=\"bold\"", heading);
  for (std::size_t i = 0; i < charts.size(); ++i) draw_panel(out, charts[i], static_cast<double>(i) * panel_width);
  if (charts.empty()) return out.finish();
  double x = 24;
  for (std::size_t i = 0; i < charts.front().lines.size(); ++i) {
    const auto& label = charts.front().lines[i].label;
    const auto dashes = i < std::size(colours) ? "" : " stroke-dasharray=\"6 3\"";
    out.line(x, height - 30, x + 24, height - 30,
             fmt::format("stroke=\"{}\" stroke-width=\"2.4\"{}", colours[i % std::size(colours)], dashes));
    out.text(x + 30, height - 26, "", label);
    x += 50 + 7.4 * static_cast<double>(label.size());
  }
  return out.finish();
}

}  // namespace zenith_study
