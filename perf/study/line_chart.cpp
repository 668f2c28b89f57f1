#include <perf/study/line_chart.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <perf/study/axis.hpp>
#include <perf/study/svg.hpp>

namespace zenith_study {
namespace {

// Of one chart alone, and of one beside others.
constexpr double page_width = 960;
constexpr double panel_width = 420;
constexpr double margin_left = 74;
constexpr double margin_right = 18;
constexpr double top = 96;
constexpr double bottom = 430;
constexpr double legend_top = 490;
constexpr double legend_step = 22;

constexpr std::string_view floor_style = "stroke=\"#444\" stroke-width=\"1.5\" stroke-dasharray=\"7 4\"";

std::string polyline(const axis& x, const axis& y, const line_chart::points_t& points, std::string_view style) {
  std::string path;
  for (const auto& [at, value] : points) {
    if (x.holds(at) && y.holds(value)) path += fmt::format("{:.1f},{:.1f} ", x.at(at), y.at(value));
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" {}/>\n", path, style);
}

void draw_circles(svg& out, const axis& x, const axis& y, const line_chart::points_t& points, double radius,
                  std::string_view style) {
  for (const auto& [at, value] : points) {
    if (x.holds(at) && y.holds(value)) out.circle(x.at(at), y.at(value), radius, style);
  }
}

void draw_panel(svg& out, const line_chart& chart, double left, double width) {
  const double x1 = left + margin_left;
  const double x2 = left + width - margin_right;
  axis x(chart.log_x, x1, x2);
  axis y(chart.log_y, bottom, top);
  for (const auto& one : chart.lines) {
    for (const auto* points : {&one.points, &one.predicted}) {
      for (const auto& [at, value] : *points) {
        x.take(at);
        y.take(value);
      }
    }
  }
  for (const auto& one : chart.floors) y.take(one.value);
  x.widen(false);
  y.widen(true);

  out.text(x1, top - 14, "font-weight=\"bold\"", chart.title);
  draw_upright(out, y, x1, x2, 3);
  draw_lying(out, x, bottom, bottom, bottom + 5, "stroke=\"#888\"", 3);
  out.line(x1, bottom, x2, bottom, "stroke=\"#888\"");
  out.text((x1 + x2) / 2, bottom + 38, "text-anchor=\"middle\"", chart.x_label);
  out.raw(fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                      left + 20, (top + bottom) / 2, chart.y_label));

  for (const auto& one : chart.floors) out.line(x1, y.at(one.value), x2, y.at(one.value), floor_style);
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const auto& line = chart.lines[i];
    const auto colour = colours[i % std::size(colours)];
    const auto dashes = i < std::size(colours) ? "" : " stroke-dasharray=\"6 3\"";
    if (!line.predicted.empty()) {
      out.raw(polyline(x, y, line.predicted,
                       fmt::format("stroke=\"{}\" stroke-width=\"1.2\" stroke-dasharray=\"2 3\"", colour)));
    }
    out.raw(polyline(x, y, line.points, fmt::format("stroke=\"{}\" stroke-width=\"2\"{}", colour, dashes)));
    draw_circles(out, x, y, line.points, 2.8, fmt::format("fill=\"{}\"", colour));
    draw_circles(out, x, y, line.ringed, 8, fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"", colour));
  }
}

struct legend_entry {
  std::string label;
  std::string style;
};

std::vector<legend_entry> legend_of(const std::vector<line_chart>& charts) {
  std::vector<legend_entry> entries;
  if (charts.empty()) return entries;
  for (std::size_t i = 0; i < charts.front().lines.size(); ++i) {
    entries.push_back({charts.front().lines[i].label,
                       fmt::format("stroke=\"{}\" stroke-width=\"2.4\"{}", colours[i % std::size(colours)],
                                   i < std::size(colours) ? "" : " stroke-dasharray=\"6 3\"")});
  }
  for (const auto& one : charts.front().floors) entries.push_back({one.label, std::string{floor_style}});
  return entries;
}

}  // namespace

std::string as_svg(std::string_view heading, const std::vector<line_chart>& charts) {
  const double each = charts.size() <= 1 ? page_width : panel_width;
  const double width = std::max(1.0, static_cast<double>(charts.size())) * each;
  const auto legend = legend_of(charts);
  const auto space_of = [](const legend_entry& one) { return 50 + 7.4 * static_cast<double>(one.label.size()); };
  // where each entry is: they wrap at the right edge
  std::vector<std::pair<double, double>> places;
  double x = 24;
  double y = legend_top;
  for (const auto& one : legend) {
    if (x > 24 && x + space_of(one) > width) x = 24, y += legend_step;
    places.emplace_back(x, y);
    x += space_of(one);
  }
  svg out(width, y + 40);
  out.text(24, 36, "font-size=\"19\" font-weight=\"bold\"", heading);
  for (std::size_t i = 0; i < charts.size(); ++i) draw_panel(out, charts[i], static_cast<double>(i) * each, each);
  for (std::size_t i = 0; i < legend.size(); ++i) {
    const auto [left, middle] = places[i];
    out.line(left, middle, left + 24, middle, legend[i].style);
    out.text(left + 30, middle + 4, "", legend[i].label);
  }
  return out.finish();
}

}  // namespace zenith_study
