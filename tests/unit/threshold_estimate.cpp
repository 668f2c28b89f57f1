// What a choice expects of a query, from a table's sample.

#include <array>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include <algorithms/threshold_table/src/storage.hpp>
#include <catch.hpp>
#include <zenith/executor.hpp>
#include <zenith/threshold_table.hpp>

using namespace zenith;

// Of so few rows the sample has all, and so the best score: no more blocks are expected than reach it.
TEMPLATE_TEST_CASE("of a table that is its own sample the blocks are expected that reach the best score", "", float,
                   double, std::int32_t) {
  using weights_type = std::vector<std::conditional_t<std::is_same_v<TestType, float>, float, double>>;
  constexpr std::uint32_t block_rows = 4;
  for (unsigned seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    const std::size_t rows = 100 + seed;  // in lanes, and some behind them
    std::mt19937 random(seed);
    std::vector<TestType> a(rows);
    std::vector<TestType> b(rows);
    for (auto* const column : {&a, &b}) {
      for (auto& value : *column) value = static_cast<TestType>(random() % 100000);
    }
    const column_set<TestType> columns{a, b};
    table_options options;
    options.block_rows = block_rows;
    const auto built = detail::build_table(detail::input_of_columns(columns), options, nullptr);
    const std::array<std::uint32_t, 2> used{0, 1};
    const std::array<double, 2> weights{1, 1};
    const double expected = detail::expected_share(*built, used, weights, 1) * static_cast<double>(rows) / block_rows;

    threshold_statistics seen;
    static_cast<void>(top_k(cpu({.threads = 1}), threshold_table<TestType>::build(columns, options), weights_type{1, 1},
                            1, {.strategy = "blocks", .statistics = &seen}));
    CHECK(expected >= 0.5);
    CHECK(expected <= static_cast<double>(seen.blocks_opened) + 1);
  }
}

// The sample has one of the k best rows, two or none. Of its best row alone the threshold would be too high as often as
// not, and then most blocks would be expected to be stopped.
TEST_CASE("a sample that has a row of the k best by chance does not promise too much") {
  constexpr std::size_t rows = std::size_t{1} << 16;
  constexpr std::uint64_t k = 64;
  constexpr std::size_t columns = 6;
  int too_few = 0;
  for (unsigned seed = 0; seed < 16; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> any(0, 1);
    std::normal_distribution<float> middle(0.5F, 0.05F);
    std::vector<std::vector<float>> values(columns, std::vector<float>(rows));
    for (std::size_t i = 0; i < rows; ++i) {
      float sum = 0;
      for (auto& column : values) sum += column[i] = any(random);
      const float to_middle = middle(random) - sum / columns;
      for (auto& column : values) column[i] += to_middle;  // sums are nearly alike: anticorrelated columns
    }
    column_set<float> set;
    for (const auto& column : values) set.add(column);
    const auto built = detail::build_table(detail::input_of_columns(set), {}, nullptr);
    const std::array<std::uint32_t, columns> used{0, 1, 2, 3, 4, 5};
    const std::vector<double> weights(columns, 1);
    threshold_statistics seen;
    static_cast<void>(top_k(cpu({.threads = 1}), threshold_table<float>::build(set), std::vector<float>(columns, 1), k,
                            {.strategy = "blocks", .statistics = &seen}));
    const double evaluated = static_cast<double>(seen.rows_evaluated) / rows;
    const double expected = detail::expected_share(*built, used, weights, k);
    UNSCOPED_INFO(expected << " expected, " << evaluated << " evaluated");
    too_few += expected < 0.9 * evaluated ? 1 : 0;
  }
  CHECK(too_few <= 4);
}

// Of rows that tie those with the lowest ids are the best, and the blocks of others are not opened.
TEST_CASE("where many rows tie the blocks are expected that have the lowest ids") {
  constexpr std::size_t rows = std::size_t{1} << 17;
  constexpr std::size_t columns = 4;
  for (unsigned seed = 0; seed < 4; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::vector<float>> values(columns, std::vector<float>(rows));
    for (auto& column : values) {
      for (auto& one : column) one = static_cast<float>(random() % (2 + seed));
    }
    column_set<float> set;
    for (const auto& column : values) set.add(column);
    const auto built = detail::build_table(detail::input_of_columns(set), {}, nullptr);
    const auto table = threshold_table<float>::build(set);
    for (const std::uint32_t weighted : {1, 2, 4}) {
      for (const std::uint64_t k : {64, 1024, 4096}) {
        std::vector<std::uint32_t> used;
        std::vector<float> weights(columns);
        for (std::uint32_t j = 0; j < weighted; ++j) {
          used.push_back(j);
          weights[j] = 1;
        }
        threshold_statistics seen;
        static_cast<void>(top_k(cpu({.threads = 1}), table, weights, k, {.strategy = "blocks", .statistics = &seen}));
        const double evaluated = static_cast<double>(seen.rows_evaluated) / rows;
        const double expected = detail::expected_share(*built, used, std::vector<double>(weighted, 1), k);
        CAPTURE(seed, weighted, k, expected, evaluated);
        CHECK(expected < 4 * evaluated + 0.02);
        CHECK(expected > evaluated / 8);
      }
    }
  }
}
