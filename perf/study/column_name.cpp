#include <perf/study/column_name.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <zenith/error.hpp>

namespace zenith_study {
namespace {

// A header that is not one must not fill the screen.
constexpr std::size_t most_listed = 40;
constexpr std::size_t longest_name = 60;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// Levenshtein's distance, without regard to case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

}  // namespace

std::size_t find_column(const std::vector<std::string>& columns, std::string_view name, std::string_view option) {
  const auto found = std::ranges::find(columns, name);
  const auto fail = [&](const std::string& why) {
    throw zenith::error(zenith::error_code::invalid_argument, std::string{option} + " names " + why);
  };
  if (found == columns.end()) {
    std::string listed;
    const std::string* nearest = nullptr;
    std::size_t least = std::max<std::size_t>(2, name.size() / 2) + 1;
    const auto asked = name.substr(0, longest_name);
    for (std::size_t i = 0; i < std::min(columns.size(), most_listed); ++i) {
      const auto shown = columns[i].substr(0, longest_name);
      listed += (i == 0 ? "" : ", ") + shown;
      if (const auto distance = edit_distance(asked, shown); distance < least) {
        least = distance;
        nearest = &columns[i];
      }
    }
    if (columns.size() > most_listed) listed += ", … (" + std::to_string(columns.size()) + " in all)";
    fail((name.empty() ? "no column" : "'" + std::string{asked} + "', which the table does not have") +
         (nearest == nullptr || name.empty() ? "." : "; did you mean '" + *nearest + "'?") +
         " The columns are: " + listed);
  }
  if (std::ranges::find(found + 1, columns.end(), name) != columns.end()) {
    fail("'" + std::string{name} + "', and the table has two columns of that name");
  }
  return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace zenith_study
