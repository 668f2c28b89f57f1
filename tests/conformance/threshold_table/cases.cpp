// The cases that every target of threshold tables is put through.

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include <catch.hpp>
#include <table_suite.hpp>

using namespace conformance::tables;
using zenith_test::verdict;

namespace {

using zenith_test::random_source;
using float32 = float;
using float64 = double;
using int32 = std::int32_t;
using uint32 = std::uint32_t;

template <class T>
T some_value(random_source& random) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::normal_distribution<T>{}(random);
  } else {
    return static_cast<T>(random());
  }
}

/// Columns that rise together (+1), have nothing to do with each other, or of which one falls when another rises (-1).
template <class T>
question<T> make_question(std::size_t rows, std::size_t columns, std::size_t k, int correlation,
                          random_source& random) {
  question<T> asked;
  asked.name = correlation > 0 ? "correlated" : correlation < 0 ? "anticorrelated" : "random";
  asked.k = std::min(k, rows);
  asked.select = random() % 2 == 0 ? zenith::selection::largest : zenith::selection::smallest;
  asked.nans = static_cast<zenith::nan_policy>(random() % 3);
  asked.columns.assign(columns, std::vector<T>(rows));
  for (std::size_t i = 0; i < rows; ++i) {
    const T shared = some_value<T>(random);
    for (std::size_t j = 0; j < columns; ++j) {
      const T own = some_value<T>(random);
      const auto half = static_cast<T>(shared / 2);
      const auto together = static_cast<T>(correlation < 0 && j % 2 == 1 ? T{0} - half : half);
      asked.columns[j][i] = correlation == 0 ? own : static_cast<T>(together + own / 8);
    }
  }
  for (std::size_t j = 0; j < columns; ++j) {
    auto weight = static_cast<zenith::score_t<T>>(std::normal_distribution<>{}(random));
    if (correlation != 0) weight = std::abs(weight);
    if (columns > 2 && random() % 4 == 0) weight = 0;
    asked.weights.push_back(weight);
  }
  asked.weights[random() % columns] = 1;
  return asked;
}

arrangement some_arrangement(std::size_t number, std::size_t columns, random_source& random) {
  constexpr std::uint32_t sizes[] = {64, 1, 7, 63, 256, 1000, 1024};
  constexpr std::uint32_t partitions[] = {1, 2, 5, 64, 1024};
  arrangement made;
  made.options.sorted_lists = random() % 2 == 0;
  made.options.block_rows = number % 2 == 0 ? 64 : sizes[random() % std::size(sizes)];
  if (number % 3 == 0) return made;
  made.options.layout = zenith::table_layout::partitions;
  made.options.partitioning = number % 3 == 1 ? zenith::table_partitioning::random : zenith::table_partitioning::angle;
  made.options.splits = random() % 2 == 0 ? zenith::angle_splits::equi_depth : zenith::angle_splits::regular;
  made.options.partitions = partitions[random() % std::size(partitions)];
  made.options.order = static_cast<zenith::table_order>(random() % 3);
  for (std::size_t j = 0; j < columns; ++j) made.weights.push_back(std::normal_distribution<>{}(random));
  made.options.order_weights = made.weights;
  return made;
}

bool nothing_to_run_on() { return the_suite().targets.empty(); }

}  // namespace

TEMPLATE_TEST_CASE("tables of every number of rows, columns and k", "[table]", float32, float64, int32, uint32) {
  if (nothing_to_run_on()) return;
  verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t rows : {1, 2, 63, 64, 65, 129, 1000, 4097, 20000, 100003}) {
    if (rows > the_suite().most_rows) continue;
    for (const std::size_t columns : {1, 2, 3, 4, 5, 8, 64}) {
      if (columns == 64 && rows > 5000) continue;
      if (rows > 50000 && columns % 4 != 0) continue;
      for (int correlation = -1; correlation <= 1; ++correlation) {
        random_source random{zenith_test::seed_of("table.sizes", number)};
        const std::size_t ks[] = {0, 1, 4, 16, 100, 257, rows / 10, rows / 3, rows};
        const auto asked = make_question<TestType>(rows, columns, ks[random() % std::size(ks)], correlation, random);
        const auto arranged = some_arrangement(number++, columns, random);
        ask_everywhere(seen, arranged, asked, random);
      }
    }
  }
  seen.require_none();
  CHECK(seen.cases() > 0);
}

TEMPLATE_TEST_CASE("tables of blocks of few rows, of which many are opened", "[table]", float32, float64) {
  if (nothing_to_run_on()) return;
  verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t rows : {190, 3000}) {
    if (rows > the_suite().most_rows) continue;
    for (const std::uint32_t block_rows : {1, 2, 3, 5}) {
      random_source random{zenith_test::seed_of("table.small", number++)};
      auto asked = make_question<TestType>(rows, 3, rows / 10, 0, random);
      arrangement arranged;
      arranged.options.block_rows = block_rows;
      ask_everywhere(seen, arranged, asked, random);
      for (auto& column : asked.columns) column.assign(rows, TestType{7});
      // blocks of one row that all reach the threshold are always asked for
      ask_everywhere(seen, arranged, asked, random, block_rows == 1 ? 1 : the_suite().share);
    }
  }
  seen.require_none();
  CHECK(seen.cases() > 0);
}

TEMPLATE_TEST_CASE("tables whose scores are hard to tell apart", "[table]", float32, float64, int32, uint32) {
  if (nothing_to_run_on()) return;
  verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t rows : {100, 5000, 30001}) {
    if (rows > the_suite().most_rows) continue;
    for (int kind = 0; kind < 7; ++kind) {
      random_source random{zenith_test::seed_of("table.hard", number)};
      auto asked = make_question<TestType>(rows, 2, 1 + random() % 300, 0, random);
      asked.weights = {1, -1};
      if (kind == 6) asked.weights[1] = 0;
      for (std::size_t i = 0; i < rows; ++i) {
        auto& a = asked.columns[0][i];
        auto& b = asked.columns[1][i];
        switch (kind) {
          case 0: a = b = 7; break;                                       // all equal, by cancelling
          case 1: a = b = static_cast<TestType>(i); break;                // equal scores of different rows
          case 2: a = static_cast<TestType>(rows - i), b = 0; break;      // descending
          case 3: a = static_cast<TestType>(random() % 3), b = 1; break;  // few values
          case 4: a = static_cast<TestType>(random() % 5), b = static_cast<TestType>(random() % 5); break;
          case 5: a = static_cast<TestType>(i + 50 > rows ? 9 : 1), b = 0; break;  // the best at the end, among equals
          default: a = 7, b = static_cast<TestType>(i * 7919 % rows); break;       // equal, ids scattered over blocks
        }
      }
      asked.name = "hard " + std::to_string(kind);
      const auto arranged = some_arrangement(number++, 2, random);
      for (const auto select : {zenith::selection::largest, zenith::selection::smallest}) {
        asked.select = select;
        ask_everywhere(seen, arranged, asked, random);
      }
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("tables with what is no number, or hardly one", "[table]", float32, float64) {
  if (nothing_to_run_on()) return;
  verdict seen;
  constexpr auto infinity = std::numeric_limits<TestType>::infinity();
  constexpr auto nan = std::numeric_limits<TestType>::quiet_NaN();
  constexpr auto most = std::numeric_limits<TestType>::max();
  std::uint64_t number = 0;
  for (const std::size_t rows : {1, 3, 500, 9011}) {
    if (rows > the_suite().most_rows) continue;
    for (const unsigned one_in : {1, 2, 50, 4000}) {
      for (const bool has_nan : {false, true}) {
        random_source random{zenith_test::seed_of("table.nan", number)};
        auto asked = make_question<TestType>(rows, 5, 1 + random() % (rows < 100 ? rows : rows / 9), 0, random);
        asked.name = "one in " + std::to_string(one_in) + " special";
        for (auto& column : asked.columns) {
          for (auto& value : column) {
            if (random() % one_in != 0) continue;
            const TestType specials[] = {infinity,
                                         -infinity,
                                         TestType{0},
                                         -TestType{0},
                                         most,
                                         -most,
                                         std::numeric_limits<TestType>::denorm_min(),
                                         has_nan ? nan : most};
            value = specials[random() % std::size(specials)];
          }
        }
        const auto arranged = some_arrangement(number++, 5, random);
        for (const auto nans : {zenith::nan_policy::last, zenith::nan_policy::first, zenith::nan_policy::reject}) {
          asked.nans = nans;
          ask_everywhere(seen, arranged, asked, random);
        }
        // a column of weight 0 is not read, so its NaN do no harm
        asked.columns[1].assign(rows, nan);
        asked.weights = {1, 0, -2, 0.5, 3};
        ask_everywhere(seen, arranged, asked, random);
      }
    }
  }
  seen.require_none();
}

// Rows on a hyperplane: their scores differ by rounding alone, and so do those of blocks' extremes.
TEMPLATE_TEST_CASE("tables whose scores differ by rounding", "[table]", float32, float64) {
  if (nothing_to_run_on()) return;
  verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t columns : {2, 3, 4, 6, 9, 12}) {
    random_source random{zenith_test::seed_of("table.rounding", number)};
    const std::size_t rows = std::min<std::size_t>(7001, the_suite().most_rows);
    auto asked = make_question<TestType>(rows, columns, 40, 0, random);
    asked.name = "on a plane";
    for (std::size_t j = 0; j < columns; ++j) asked.weights[j] = static_cast<TestType>(1 + random() % 9) / 10;
    for (std::size_t i = 0; i < rows; ++i) {
      TestType sum = 0;
      for (std::size_t j = 0; j + 1 < columns; ++j) {
        asked.columns[j][i] = static_cast<TestType>(random() % 1000) / 1000;
        sum += asked.weights[j] * asked.columns[j][i];
      }
      asked.columns.back()[i] = (1 - sum) / asked.weights.back();
    }
    ask_everywhere(seen, some_arrangement(number++, columns, random), asked, random);
  }
  seen.require_none();
}
