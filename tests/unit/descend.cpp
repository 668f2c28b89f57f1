#include <algorithms/threshold_table/src/descend.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <algorithms/threshold_table/src/upper_tree.hpp>
#include <catch.hpp>

using namespace zenith::detail;

namespace {

std::uint8_t code_of(float value, const value_coding<float>& by) {
  if (by.of_bits) {
    const auto bits = std::bit_cast<std::int32_t>(value);
    value = static_cast<float>(bits < 0 ? bits ^ std::numeric_limits<std::int32_t>::max() : bits);
  }
  const float steps = (value - by.from) * by.factor;
  if (!(steps > 0)) return 0;
  return static_cast<std::uint8_t>(std::min(steps, static_cast<float>(last_value_code)));
}

template <class T>
T drawn_value(std::mt19937& random, unsigned range) {
  if constexpr (std::is_same_v<T, float>) {
    const auto special = random() % 64;
    if (special == 0) return std::numeric_limits<float>::quiet_NaN();
    if (special == 1) return std::numeric_limits<float>::infinity();
    if (special == 2) return -std::numeric_limits<float>::infinity();
    if (range == 0) return std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  }
  const auto drawn = static_cast<std::int32_t>(random());
  return static_cast<T>(range == 0 ? drawn : drawn % static_cast<std::int32_t>(range));
}

/// The leaves of all rows, in wide registers if there are any or without them.
template <class T>
std::vector<std::uint16_t> leaves(const upper_tree<T>& tree, const input_columns<T>& input, descent by) {
  std::vector<std::uint16_t> found(input.rows);
  typename upper_tree<T>::finder find(tree, by);
  find(input, 0, input.rows, found.data());
  return found;
}

template <class T>
void finds_leaves(std::size_t columns, unsigned range, unsigned levels, std::size_t most_of_a_leaf) {
  std::mt19937 random(range + levels);
  constexpr std::size_t rows = 400001;
  std::vector<std::vector<T>> values(columns, std::vector<T>(rows));
  for (auto& column : values) {
    for (auto& one : column) one = drawn_value<T>(random, range);
  }
  std::vector<const void*> pointers;
  for (const auto& column : values) pointers.push_back(column.data());
  zenith::detail::table_input given{};
  given.rows = rows;
  given.row_stride = 1;
  given.columns.assign(pointers.begin(), pointers.end());
  const input_columns<T> input(given);
  const upper_tree<T> tree(input, levels);
  const auto found = leaves(tree, input, wide_descent());
  CHECK(found == leaves(tree, input, nullptr));
  std::vector<std::size_t> counts(tree.leaves());
  for (const auto leaf : found) ++counts.at(leaf);
  CHECK(*std::ranges::max_element(counts) <= most_of_a_leaf);
}

}  // namespace

TEST_CASE("wide registers go down a tree of cuts as a loop does", "[unit]") {
  const descent descend = wide_descent();
  if (descend == nullptr) return;
  std::mt19937 random(7);
  constexpr std::size_t stride = 192;
  for (unsigned levels = 0; levels <= most_wide_levels + 2; ++levels) {
    for (std::size_t columns = 1; columns <= most_wide_columns; ++columns) {
      for (const std::uint32_t range : {2U, 255U}) {
        const std::size_t nodes = std::max(wide_nodes, std::size_t{1} << levels);
        std::vector<std::uint8_t> limits(nodes);
        std::vector<std::uint8_t> column_of(nodes);
        for (auto& one : limits) one = static_cast<std::uint8_t>(255U - random() % (range + 1));
        for (auto& one : column_of) one = static_cast<std::uint8_t>(random() % columns);
        std::vector<std::uint8_t> codes(columns * stride);
        for (auto& one : codes) one = static_cast<std::uint8_t>(last_value_code - random() % range);
        for (const std::size_t count : {1, 64, 65, 192}) {
          std::vector<std::uint16_t> reached(stride + 1, 12345);
          descend({limits.data(), column_of.data(), levels}, codes.data(), stride, columns, count, reached.data());
          CHECK(reached[stride] == 12345);
          for (std::size_t i = 0; i < count; ++i) {
            std::uint32_t at = 1;
            const unsigned most = std::min(levels, most_wide_levels);
            for (unsigned level = 0; level < most; ++level) {
              at = 2 * at + (codes[column_of[at] * stride + i] >= limits[at] ? 1 : 0);
            }
            CHECK(reached[i] == at - (1U << most));
          }
        }
      }
    }
  }
}

TEST_CASE("wide registers code values as a loop does", "[unit]") {
  const float_coding code = wide_coding();
  if (code == nullptr) return;
  std::mt19937 random(7);
  for (const bool of_bits : {false, true}) {
    for (const auto& by : {value_coding<float>{0, 0, of_bits}, value_coding<float>{-300, .4F, of_bits},
                           value_coding<float>{1e9F, 1e-6F, of_bits}, value_coding<float>{-1e30F, 3e38F, of_bits}}) {
      for (const unsigned range : {0U, 1000U}) {
        for (const std::size_t count : {1, 15, 16, 63, 64, 65, 200}) {
          std::vector<float> values(count);
          for (auto& one : values) one = drawn_value<float>(random, range);
          std::vector<std::uint8_t> codes((count + 63) / 64 * 64 + 1, 255);
          code(values.data(), count, by, codes.data());
          CHECK(codes.back() == 255);
          for (std::size_t i = 0; i < count; ++i) CHECK(int{codes[i]} == int{code_of(values[i], by)});
        }
      }
    }
  }
}

TEST_CASE("rows have the same leaves in wide registers and without them, and leaves are about as large", "[unit]") {
  // equal values and many magnitudes, too; rows that are equal are told apart by runs of 8192
  for (const unsigned levels : {3U, 8U, 9U, 11U}) {
    const std::size_t fair = 400001U >> levels;
    finds_leaves<float>(8, 1000000, levels, 4 * fair);
    finds_leaves<float>(8, 0, levels, 4 * fair);
    finds_leaves<float>(3, 40, levels, 400001);
    finds_leaves<double>(5, 1000, levels, 4 * fair);
    finds_leaves<std::int32_t>(9, 0, levels, 4 * fair);
    finds_leaves<std::uint32_t>(2, 1000000, levels, 5 * fair);
  }
  finds_leaves<float>(1, 1, 3, 110000);
}
