#include <perf/study/skyline_picture.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <perf/study/axis.hpp>
#include <perf/study/svg.hpp>

namespace zenith_study {
namespace {

constexpr double width = 720;
constexpr double height = 600;
constexpr double left = 84;
constexpr double right = 690;
constexpr double top = 96;
constexpr double bottom = 500;
constexpr std::size_t most_dots = 4000;  // of rows in no drawn layer

struct plane {
  const picture_axis& x;
  const picture_axis& y;
  axis across{false, left, right};
  axis up{false, bottom, top};

  [[nodiscard]] bool holds(std::size_t row) const {
    return std::isfinite(x.values[row]) && std::isfinite(y.values[row]);
  }
  void dot(svg& out, std::size_t row, double radius, std::string_view style) const {
    out.circle(across.at(x.values[row]), up.at(y.values[row]), radius, style);
  }
};

std::string_view better(zenith::preference wanted) {
  return wanted == zenith::preference::maximise ? "more is better" : "less is better";
}

void draw_axes(svg& out, const plane& in) {
  draw_upright(out, in.up, left, right, 4);
  draw_lying(out, in.across, bottom, bottom, bottom + 5, "stroke=\"#888\"", 4);
  out.line(left, bottom, right, bottom, "stroke=\"#888\"");
  out.text((left + right) / 2, bottom + 38, "text-anchor=\"middle\"",
           fmt::format("{} ({})", in.x.name, better(in.x.wanted)));
  out.text(24, top - 18, "", fmt::format("{} ({})", in.y.name, better(in.y.wanted)));
}

// From the row that is best in x on: the next is worse there and better in y. What a layer dominates is on one side.
void draw_layer(svg& out, const plane& in, std::vector<std::size_t> rows, std::string_view colour) {
  const double sign = in.x.wanted == zenith::preference::maximise ? -1 : 1;
  std::ranges::sort(rows, {}, [&](std::size_t row) { return sign * in.x.values[row]; });
  std::string path;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double x = in.across.at(in.x.values[rows[i]]);
    if (i > 0) path += fmt::format("{:.1f},{:.1f} ", x, in.up.at(in.y.values[rows[i - 1]]));
    path += fmt::format("{:.1f},{:.1f} ", x, in.up.at(in.y.values[rows[i]]));
  }
  out.raw(fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"/>\n", path, colour));
  for (const auto row : rows) in.dot(out, row, 3.2, fmt::format("fill=\"{}\"", colour));
}

}  // namespace

std::string skyline_picture(std::string_view heading, const picture_axis& x, const picture_axis& y,
                            std::span<const std::uint32_t> layer_of, std::span<const std::uint32_t> front) {
  plane in{x, y};
  std::vector<std::vector<std::size_t>> layers(drawn_layers);
  std::vector<std::size_t> others;
  for (std::size_t row = 0; row < layer_of.size(); ++row) {
    if (!in.holds(row)) continue;
    in.across.take(x.values[row]);
    in.up.take(y.values[row]);
    (layer_of[row] < drawn_layers ? layers[layer_of[row]] : others).push_back(row);
  }
  in.across.widen(false);
  in.up.widen(false);

  svg out(width, height);
  out.text(24, 36, "font-size=\"19\" font-weight=\"bold\"", heading);
  draw_axes(out, in);
  const std::size_t step = others.size() / most_dots + 1;
  for (std::size_t i = 0; i < others.size(); i += step) in.dot(out, others[i], 1.6, "fill=\"#bbb\"");
  for (std::size_t layer = layers.size(); layer-- > 0;) {
    draw_layer(out, in, std::move(layers[layer]), colours[layer % std::size(colours)]);
  }
  for (const auto row : front) {
    if (in.holds(row)) in.dot(out, row, 5.5, "fill=\"none\" stroke=\"#000\"");
  }
  double at = 24;
  for (std::uint32_t layer = 0; layer < drawn_layers; ++layer) {
    out.line(at, height - 30, at + 20, height - 30,
             fmt::format("stroke=\"{}\" stroke-width=\"2.4\"", colours[layer % std::size(colours)]));
    out.text(at + 25, height - 26, "", layer == 0 ? "front" : fmt::format("layer {}", layer));
    at += 88;
  }
  out.text(at, height - 26, "", "ring: of all columns");
  return out.finish();
}

}  // namespace zenith_study
