#include <perf/study/table.hpp>

#include <algorithm>

namespace zenith_study {
namespace {

// Code points of UTF-8 text; every one that the study prints is one cell wide.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace

std::string table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& one : columns_) widths.push_back(width(one.heading));
  auto rows = rows_;
  for (auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = printable(row[i]);
      widths[i] = std::max(widths[i], width(row[i]));
    }
  }

  std::string out;
  const auto put = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - width(cells[i]), ' ');
      line += (i == 0 ? "" : "  ") + (columns_[i].side == align::right ? padding + cells[i] : cells[i] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  std::vector<std::string> headings;
  std::vector<std::string> rules;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    headings.push_back(columns_[i].heading);
    rules.emplace_back(widths[i], '-');
  }
  put(headings);
  put(rules);
  for (const auto& row : rows) put(row);
  return out;
}

}  // namespace zenith_study
