#pragma once

/// \file
/// Tables whose rows are of many groups, and the double loop over each.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include <tables.hpp>

namespace conformance::skyline {

/// A column or two say the group: of sizes like these, or exactly these where they add up to all rows. Other columns
/// stay as they are.
template <class T>
void group_rows(table<T>& of, request& asked, const std::vector<std::size_t>& shares, random_source& random) {
  std::vector<std::size_t> group_of;
  for (std::size_t g = 0; g < shares.size(); ++g) group_of.insert(group_of.end(), shares[g], g);
  const std::size_t first = random() % of.columns;
  const std::size_t second = random() % 2 == 0 ? first : random() % of.columns;
  asked.preferences[first] = asked.preferences[second] = zenith::preference::different;
  const bool is_by_share = group_of.size() == of.rows;
  if (is_by_share) std::shuffle(group_of.begin(), group_of.end(), random);
  for (std::size_t i = 0; i < of.rows; ++i) {
    const std::size_t group = group_of[is_by_share ? i : random() % group_of.size()];
    if (second != first) of.values[i * of.columns + second] = static_cast<T>(group % 7);
    of.values[i * of.columns + first] = static_cast<T>(second != first ? group / 7 : group);
    if constexpr (std::is_floating_point_v<T>) {
      if (!is_by_share && random() % 50 == 0)
        of.values[i * of.columns + first] = std::numeric_limits<T>::quiet_NaN();  // a group, too
    }
  }
}

/// The rows that take part, ascending, of each group.
template <class T>
[[nodiscard]] std::vector<std::vector<std::size_t>> rows_by_group(const table<T>& of, const request& asked) {
  std::map<std::vector<T>, std::vector<std::size_t>> groups;
  for (const std::size_t row : rows_in(of, asked)) {
    std::vector<T> key;
    for (std::size_t c = 0; c < of.columns; ++c) {
      if (asked.preferences[c] != zenith::preference::different) continue;
      const T value = of.at(row, c);
      key.push_back(value == value ? value : std::numeric_limits<T>::max());  // NaN has no order
    }
    groups[key].push_back(row);
  }
  std::vector<std::vector<std::size_t>> all;
  for (auto& [key, rows] : groups) all.push_back(std::move(rows));
  return all;
}

/// `expected`, where a row is compared with those of its group alone.
template <class T>
[[nodiscard]] std::vector<std::uint64_t> expected_by_group(const table<T>& of, const request& asked) {
  std::vector<std::uint64_t> ids;
  for (const auto& rows : rows_by_group(of, asked)) {
    table<T> part{of.name, rows.size(), of.columns, {}};
    for (const std::size_t row : rows) {
      const auto begin = of.values.begin() + static_cast<std::ptrdiff_t>(row * of.columns);
      part.values.insert(part.values.end(), begin, begin + static_cast<std::ptrdiff_t>(of.columns));
    }
    for (const std::uint64_t place : expected(part, asked)) ids.push_back(rows[place]);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace conformance::skyline
