// Threshold tables of clusters as they are built: every row of the input stands in them once, in whole blocks, whoever
// builds.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <catch.hpp>
#include <core/key_order.hpp>
#include <zenith/threshold_table.hpp>

using namespace zenith;

namespace {

enum class kind { uniform, equal, few_far_ones, few_values };

template <class T>
std::vector<std::vector<T>> drawn(std::size_t rows, std::size_t columns, kind of) {
  std::mt19937_64 random(rows + columns);
  std::vector<std::vector<T>> values(columns, std::vector<T>(rows));
  for (auto& column : values) {
    for (auto& one : column) {
      const auto any = static_cast<std::int32_t>(random() % 100000);
      switch (of) {
        case kind::uniform: one = static_cast<T>(any); break;
        case kind::equal: one = T{7}; break;
        case kind::few_far_ones: one = static_cast<T>(any < 30 ? any * 20000 : 1); break;
        case kind::few_values: one = static_cast<T>(any % 3); break;
      }
    }
    if (std::is_floating_point_v<T> && rows > 0) column[random() % rows] = std::numeric_limits<T>::quiet_NaN();
  }
  return values;
}

std::span<const std::byte> bytes_of(const auto& table) {
  return {detail::bytes_of(*table.storage()).data(), detail::layout_of(*table.storage()).bytes};
}

template <class T>
auto bits_of(T value) {
  return std::bit_cast<ordered::bits_t<T>>(value);
}

/// Whether each place has the values of its row, and each row one place.
template <class T>
bool has_all_rows(const threshold_table<T>& table, const std::vector<std::vector<T>>& values) {
  const auto& of = detail::layout_of(*table.storage());
  const std::byte* const from = detail::bytes_of(*table.storage()).data();
  const auto* const ids = reinterpret_cast<const std::uint32_t*>(from + of.ids);
  const auto* const positions = reinterpret_cast<const std::uint32_t*>(from + of.positions);
  const auto* const column = reinterpret_cast<const T*>(from + of.values);
  for (std::size_t i = 0; i < of.rows; ++i) {
    if (ids[i] >= of.rows || positions[ids[i]] != i) return false;
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (bits_of(column[j * of.row_stride + i]) != bits_of(values[j][ids[i]])) return false;
    }
  }
  return of.rows == values[0].size();
}

template <class T>
void holds_rows(std::size_t rows, std::size_t columns, kind of) {
  const auto values = drawn<T>(rows, columns, of);
  column_set<T> set;
  for (const auto& column : values) set.add(column);
  const auto one = threshold_table<T>::build(cpu({.threads = 1}), set);
  CHECK(has_all_rows(one, values));
  // full blocks but for one a leaf
  CHECK(one.blocks() <= rows / 64 + 1 + 2 * rows / 8192);
  const auto two = threshold_table<T>::build(cpu({.threads = 2}), set);
  CHECK(std::ranges::equal(bytes_of(two), bytes_of(one)));
}

}  // namespace

TEST_CASE("a table of clusters holds every row once, the same by any number of threads", "[unit]") {
  for (const auto of : {kind::uniform, kind::equal, kind::few_far_ones, kind::few_values}) {
    holds_rows<float>(70001, 1, of);
    holds_rows<float>(150001, 8, of);
    holds_rows<double>(70001, 3, of);
    holds_rows<std::int32_t>(70001, 5, of);
    holds_rows<std::uint32_t>(33000, 31, of);
  }
}
