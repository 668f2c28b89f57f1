// Threshold tables of partitions by angle: which rows share a partition, and that queries do not depend on it.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <set>
#include <string_view>
#include <vector>

#include <catch.hpp>
#include <harness.hpp>
#include <settings.hpp>
#include <zenith/scored_top_k.hpp>
#include <zenith/threshold_table.hpp>

using namespace zenith;
using zenith_test::random_source;

namespace {

constexpr std::array every_splits{angle_splits::equi_depth, angle_splits::regular};

enum class kind { uniform, equal, few_values, along_an_axis, one_far_row };

template <class T>
std::vector<std::vector<T>> drawn(std::size_t rows, std::size_t columns, kind of, random_source& random) {
  std::vector<std::vector<T>> values(columns, std::vector<T>(rows));
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < rows; ++i) {
      const auto any = static_cast<T>(random() % 10000);
      switch (of) {
        case kind::uniform: values[j][i] = any; break;
        case kind::equal: values[j][i] = 7; break;
        case kind::few_values: values[j][i] = static_cast<T>(random() % 3); break;
        case kind::along_an_axis: values[j][i] = j == 0 ? any : static_cast<T>(10000 - random() % 2); break;
        case kind::one_far_row: values[j][i] = i == 0 ? T{1'000'000} : static_cast<T>(random() % 2); break;
      }
    }
  }
  return values;
}

template <class T>
column_set<T> set_of(const std::vector<std::vector<T>>& values) {
  column_set<T> set;
  for (const auto& column : values) set.add(column);
  return set;
}

template <class T>
threshold_table<T> partitioned(const std::vector<std::vector<T>>& values, angle_splits splits, std::uint32_t partitions,
                               std::uint32_t block_rows) {
  return threshold_table<T>::build(
      cpu({.threads = 1}), set_of(values),
      {.layout = table_layout::partitions, .block_rows = block_rows, .splits = splits, .partitions = partitions});
}

using row_set = std::set<std::uint32_t>;

template <class T>
std::set<row_set> partitions_of(const threshold_table<T>& table) {
  const auto& of = detail::layout_of(*table.storage());
  const std::byte* const from = detail::bytes_of(*table.storage()).data();
  const auto* const ids = reinterpret_cast<const std::uint32_t*>(from + of.ids);
  const auto* const begins = reinterpret_cast<const std::uint32_t*>(from + of.begins);
  const auto* const partition_begins = reinterpret_cast<const std::uint32_t*>(from + of.partition_begins);
  std::set<row_set> all;
  for (std::uint64_t p = 0; p < of.partitions; ++p) {
    all.emplace(ids + begins[partition_begins[p]], ids + begins[partition_begins[p + 1]]);
  }
  return all;
}

template <class T>
void answers_as_the_reference(std::size_t rows, std::size_t columns, kind of, random_source& random) {
  const auto values = drawn<T>(rows, columns, of, random);
  std::vector<score_t<T>> weights;
  for (std::size_t j = 0; j < columns; ++j) weights.push_back(static_cast<score_t<T>>(1 + random() % 8) / 8);
  const std::size_t k = std::min<std::size_t>(rows, 1 + random() % 40);
  const auto expected = top_k(reference(), set_of(values), weights, k);
  constexpr std::uint32_t counts[] = {1, 2, 5, 64, 1024};
  constexpr std::uint32_t sizes[] = {1, 7, 64};
  const auto partitions = counts[random() % std::size(counts)];
  const auto block_rows = sizes[random() % std::size(sizes)];
  for (const auto splits : every_splits) {
    INFO(rows << " rows, " << columns << " columns, kind " << static_cast<int>(of) << ", k = " << k << ", "
              << partitions << " partitions, blocks of " << block_rows << ", splits " << static_cast<int>(splits));
    const auto table = partitioned(values, splits, partitions, block_rows);
    CHECK(table.rows() == rows);
    std::size_t placed = 0;
    for (const auto& one : partitions_of(table)) {
      CHECK_FALSE(one.empty());
      placed += one.size();
    }
    CHECK(placed == rows);
    for (const std::string_view strategy : {"blocks", "gta", "gta_shared", "scan"}) {
      INFO(strategy);
      threshold_statistics seen;
      const auto found = top_k(cpu({.threads = 2}), table, weights, k, {.strategy = strategy, .statistics = &seen});
      CHECK(found.keys == expected.keys);
      CHECK(found.indices == expected.indices);
      CHECK(seen.rows_evaluated >= k);
      if (strategy == "gta" || strategy == "gta_shared") CHECK(seen.rows_evaluated <= rows);
    }
  }
}

}  // namespace

TEST_CASE("splits of angles change no answer", "[unit]") {
  std::uint64_t number = 0;
  for (const std::size_t rows : {0, 1, 2, 65, 3000}) {
    for (std::size_t columns = 1; columns <= 8; ++columns) {
      for (const auto of : {kind::uniform, kind::equal, kind::few_values, kind::along_an_axis, kind::one_far_row}) {
        random_source random{zenith_test::seed_of("threshold.splits", number++)};
        answers_as_the_reference<float>(rows, columns, of, random);
        answers_as_the_reference<std::uint32_t>(rows, columns, of, random);
      }
    }
  }
}

// Four parts of the first angle and two of the second: three splits in turn.
TEST_CASE("regular splits are a grid of equal angles", "[unit]") {
  constexpr std::size_t rows = 4000;
  random_source random{zenith_test::seed_of("threshold.grid", 0)};
  // the extremes, so that columns are not scaled
  std::vector<std::vector<float>> values(3, std::vector<float>{0, 1});
  std::array<row_set, 8> cells;
  const auto cell_of = [&](const std::array<float, 3>& row) {
    const auto below = [&](std::size_t j) { return 1 - static_cast<double>(row[j]); };
    constexpr double right_angle = std::numbers::pi / 2;
    const double first = 4 * std::atan2(std::hypot(below(1), below(2)), below(0)) / right_angle;
    const double second = 2 * std::atan2(below(2), below(1)) / right_angle;
    const auto is_near_a_cut = [](double place) { return std::abs(place - std::round(place)) < 1e-3; };
    if (is_near_a_cut(first) || is_near_a_cut(second)) return cells.size();
    return static_cast<std::size_t>(first) * 2 + static_cast<std::size_t>(second);
  };
  while (values[0].size() < rows) {
    // most rows are near the corner in the first column alone, so that cells differ in their rows
    std::array<float, 3> row{};
    for (auto& one : row) one = std::uniform_real_distribution<float>{0.01F, 0.99F}(random);
    if (random() % 4 > 0) row[0] = 1 - (1 - row[0]) / 4;
    const auto cell = cell_of(row);
    if (cell == cells.size()) continue;
    cells[cell].insert(static_cast<std::uint32_t>(values[0].size()));
    for (std::size_t j = 0; j < 3; ++j) values[j].push_back(row[j]);
  }
  const auto found = partitions_of(partitioned(values, angle_splits::regular, 8, 64));
  REQUIRE(found.size() == 8);
  std::set<std::size_t> sizes;
  for (const auto& cell : cells) {
    row_set expected = cell;
    // rows 0 and 1 are on cuts, and may be in any cell
    for (const auto& one : found) {
      if (!one.contains(*cell.begin())) continue;
      for (const std::uint32_t free : {0U, 1U}) {
        if (one.contains(free)) expected.insert(free);
      }
      CHECK(one == expected);
      sizes.insert(one.size());
    }
  }
  CHECK(*sizes.rbegin() > 3 * *sizes.begin());

  const auto equal = partitions_of(partitioned(values, angle_splits::equi_depth, 8, 64));
  REQUIRE(equal.size() == 8);
  for (const auto& one : equal) CHECK(one.size() == rows / 8);
}

TEST_CASE("a partition that regular splits leave empty is left out", "[unit]") {
  constexpr std::size_t rows = 2000;
  std::vector<std::vector<float>> values(4, std::vector<float>(rows));
  for (std::size_t i = 0; i < rows; ++i) {
    for (auto& column : values) column[i] = static_cast<float>(i);
  }
  CHECK(partitioned(values, angle_splits::equi_depth, 16, 8).partitions() == 16);
  // all but the row in the corner itself have the same angles
  CHECK(partitioned(values, angle_splits::regular, 16, 8).partitions() <= 2);
  for (auto& column : values) column.assign(rows, 3);
  CHECK(partitioned(values, angle_splits::regular, 16, 8).partitions() == 1);
}

TEST_CASE("one column has no angle: its partitions are by position with splits of either kind", "[unit]") {
  random_source random{zenith_test::seed_of("threshold.one_column", 0)};
  const auto values = drawn<float>(1000, 1, kind::few_values, random);
  for (const auto splits : every_splits) {
    const auto found = partitions_of(partitioned(values, splits, 4, 10));
    REQUIRE(found.size() == 4);
    for (const auto& one : found) CHECK(*one.rbegin() - *one.begin() == 249);
  }
}
