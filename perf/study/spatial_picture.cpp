#include <perf/study/spatial_picture.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <perf/study/axis.hpp>
#include <perf/study/svg.hpp>

namespace zenith_study {
namespace {

constexpr double width = 720;
constexpr double height = 780;
constexpr double left_edge = 84;
constexpr double right_edge = 690;
constexpr double top = 70;
constexpr double bottom = top + right_edge - left_edge;  // a square
constexpr std::size_t most_dots = 4000;                  // of a side

struct map_axes {
  axis across{false, left_edge, right_edge};
  axis up{false, bottom, top};

  /// The square around all points.
  explicit map_axes(const std::array<const map_side*, 2>& sides) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double low[2] = {infinity, infinity};
    double high[2] = {-infinity, -infinity};
    for (const auto* side : sides) {
      for (std::size_t i = 0; i < side->x.size(); ++i) {
        if (!holds(*side, i)) continue;
        const double at[2] = {side->x[i], side->y[i]};
        for (int a = 0; a < 2; ++a) {
          low[a] = std::min(low[a], at[a]);
          high[a] = std::max(high[a], at[a]);
        }
      }
    }
    if (low[0] <= high[0]) {
      const double half = std::max(high[0] / 2 - low[0] / 2, high[1] / 2 - low[1] / 2);
      for (int a = 0; a < 2; ++a) {
        const double middle = low[a] / 2 + high[a] / 2;
        (a == 0 ? across : up).take(middle - half);
        (a == 0 ? across : up).take(middle + half);
      }
    }
    across.widen(false);
    up.widen(false);
  }
  [[nodiscard]] static bool holds(const map_side& side, std::size_t i) {
    return std::isfinite(side.x[i]) && std::isfinite(side.y[i]);
  }
  void circle(svg& out, double x, double y, double radius, std::string_view style) const {
    out.circle(across.at(x), up.at(y), radius, style);
  }
};

}  // namespace

std::string spatial_picture(std::string_view heading, const map_side& left, const map_side& right,
                            const std::vector<map_pair>& pairs) {
  const std::array<const map_side*, 2> sides{&left, &right};
  const map_axes in(sides);
  svg out(width, height);
  out.text(24, 36, "font-size=\"19\" font-weight=\"bold\"", heading);
  draw_upright(out, in.up, left_edge, right_edge, 4);
  draw_lying(out, in.across, bottom, top, bottom, "stroke=\"#e2e2e2\"", 4);
  for (std::size_t s = 0; s < sides.size(); ++s) {
    const auto& side = *sides[s];
    const std::size_t step = side.x.size() / most_dots + 1;
    for (std::size_t i = 0; i < side.x.size(); i += step) {
      if (!map_axes::holds(side, i)) continue;
      in.circle(out, side.x[i], side.y[i], 1.4, fmt::format("fill=\"{}\" fill-opacity=\"0.3\"", colours[s]));
    }
  }
  // the best last, on top
  for (std::size_t rank = std::min(pairs.size(), most_drawn_pairs); rank-- > 0;) {
    const auto& [a, b] = pairs[rank];
    if (!map_axes::holds(left, a) || !map_axes::holds(right, b)) continue;
    const double x = left.x[a] / 2 + right.x[b] / 2;
    const double y = left.y[a] / 2 + right.y[b] / 2;
    out.line(in.across.at(left.x[a]), in.up.at(left.y[a]), in.across.at(right.x[b]), in.up.at(right.y[b]),
             "stroke=\"#000\"");
    in.circle(out, left.x[a], left.y[a], 2.6, fmt::format("fill=\"{}\"", colours[0]));
    in.circle(out, right.x[b], right.y[b], 2.6, fmt::format("fill=\"{}\"", colours[1]));
    in.circle(out, x, y, 6, "fill=\"none\" stroke=\"#000\"");
    if (rank < most_ranked_pairs) {
      out.text(in.across.at(x) + 9, in.up.at(y) - 5, "font-size=\"12\" font-weight=\"bold\"",
               fmt::format("{}", rank + 1));
    }
  }
  double at = 24;
  for (std::size_t s = 0; s < sides.size(); ++s) {
    out.raw(fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"4\" fill=\"{}\"/>\n", at + 6, height - 30, colours[s]));
    out.text(at + 16, height - 26, "", sides[s]->name);
    at += 240;
  }
  out.text(at, height - 26, "", fmt::format("ring: one of {} pairs", std::min(pairs.size(), most_drawn_pairs)));
  return out.finish();
}

}  // namespace zenith_study
