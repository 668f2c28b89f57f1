#include <perf/study/svg.hpp>

#include <fmt/format.h>

namespace zenith_study {
namespace {

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace

svg::svg(double width, double height)
    : out_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
                       "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"13\" fill=\"#222\">\n"
                       "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
                       width, height)) {}

void svg::text(double x, double y, std::string_view style, std::string_view words) {
  out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, escape(words));
}

void svg::line(double x1, double y1, double x2, double y2, std::string_view style) {
  out_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2, style);
}

void svg::circle(double x, double y, double radius, std::string_view style) {
  out_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" {}/>\n", x, y, radius, style);
}

}  // namespace zenith_study
