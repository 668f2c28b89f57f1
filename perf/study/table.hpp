#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace zenith_study {

/// Text from a file as a terminal may show it: control characters, which could move the cursor, become spaces.
[[nodiscard]] inline std::string printable(std::string_view text) {
  std::string shown{text};
  for (auto& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return shown;
}

enum class align : unsigned char { left, right };

/// A table for a terminal: columns as wide as their widest cell, two spaces apart, a rule under the headings.
class table {
 public:
  struct column {
    std::string heading;
    align side = align::right;
  };

  /// `columns`, and behind them one of each of `names`.
  explicit table(std::vector<column> columns, const std::vector<std::string>& names = {})
      : columns_(std::move(columns)) {
    for (const auto& name : names) columns_.push_back({name});
  }

  /// One cell a column: `cells`, and behind them `more`.
  void add(std::vector<std::string> cells, std::vector<std::string> more = {}) {
    std::ranges::move(more, std::back_inserter(cells));
    rows_.push_back(std::move(cells));
  }
  /// An empty line between two rows.
  void add_gap() { rows_.emplace_back(); }
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace zenith_study
