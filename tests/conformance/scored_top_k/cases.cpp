// The cases that every target of scored top-k is put through.

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include <catch.hpp>
#include <scored_suite.hpp>

using namespace conformance::scored;
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

template <class T>
question<T> make_question(std::size_t rows, std::size_t columns, std::size_t k, random_source& random) {
  question<T> asked;
  asked.name = "random";
  asked.k = std::min(k, rows);
  asked.offset = random() % 4;
  asked.select = random() % 2 == 0 ? zenith::selection::largest : zenith::selection::smallest;
  asked.nans = static_cast<zenith::nan_policy>(random() % 3);
  for (std::size_t j = 0; j < columns; ++j) {
    asked.columns.emplace_back(rows);
    for (auto& value : asked.columns.back()) value = some_value<T>(random);
    asked.weights.push_back(static_cast<zenith::score_t<T>>(std::normal_distribution<>{}(random)));
  }
  return asked;
}

bool nothing_to_run_on() { return the_suite().targets.empty(); }

}  // namespace

TEMPLATE_TEST_CASE("scores of every number of rows, columns and k", "[scored]", float32, float64, int32, uint32) {
  if (nothing_to_run_on()) return;
  verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t rows : {1, 2, 63, 64, 65, 127, 129, 1000, 1025, 4099, 7168, 7169, 65537, 300007}) {
    if (rows > the_suite().most_rows) continue;
    for (const std::size_t columns : {1, 2, 3, 4, 5, 8, 64}) {
      if (columns == 64 && rows > 5000) continue;
      random_source random{zenith_test::seed_of("scored.sizes", number++)};
      const std::size_t ks[] = {0, 1, 16, 257, rows / 3, rows};
      ask_everywhere(seen, make_question<TestType>(rows, columns, ks[random() % std::size(ks)], random), random);
    }
  }
  seen.require_none();
  CHECK(seen.cases() > 0);
}

TEMPLATE_TEST_CASE("scores that are hard to tell apart", "[scored]", float32, float64, int32, uint32) {
  if (nothing_to_run_on()) return;
  verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t rows : {100, 5000, 70001}) {
    if (rows > the_suite().most_rows) continue;
    for (int kind = 0; kind < 6; ++kind) {
      random_source random{zenith_test::seed_of("scored.hard", number++)};
      auto asked = make_question<TestType>(rows, 2, 1 + random() % 300, random);
      asked.weights = {1, -1};
      for (std::size_t i = 0; i < rows; ++i) {
        auto& a = asked.columns[0][i];
        auto& b = asked.columns[1][i];
        switch (kind) {
          case 0: a = b = 7; break;                                                 // all equal, by cancelling
          case 1: a = static_cast<TestType>(i), b = 0; break;                       // ascending
          case 2: a = static_cast<TestType>(rows - i), b = 0; break;                // descending
          case 3: a = static_cast<TestType>(random() % 3), b = 1; break;            // few values
          case 4: a = static_cast<TestType>(i % 64 == 63 ? 1 : 0), b = 0; break;    // a comb
          default: a = static_cast<TestType>(i + 50 > rows ? 9 : 1), b = 0; break;  // the best at the end, among equals
        }
      }
      asked.name = "hard " + std::to_string(kind);
      for (const auto select : {zenith::selection::largest, zenith::selection::smallest}) {
        asked.select = select;
        ask_everywhere(seen, asked, random);
      }
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("scores that are no numbers", "[scored]", float32, float64) {
  if (nothing_to_run_on()) return;
  verdict seen;
  constexpr auto infinity = std::numeric_limits<TestType>::infinity();
  constexpr auto nan = std::numeric_limits<TestType>::quiet_NaN();
  std::uint64_t number = 0;
  for (const std::size_t rows : {1, 3, 500, 20011}) {
    if (rows > the_suite().most_rows) continue;
    for (const unsigned one_in : {1, 2, 50, 4000}) {
      if (!zenith_test::is_drawn("scored.nan", ++number)) continue;
      random_source random{zenith_test::seed_of("scored.nan", number)};
      auto asked = make_question<TestType>(rows, 3, 1 + random() % rows, random);
      asked.name = "one in " + std::to_string(one_in) + " special";
      for (auto& column : asked.columns) {
        for (auto& value : column) {
          if (random() % one_in != 0) continue;
          constexpr TestType specials[] = {nan,
                                           infinity,
                                           -infinity,
                                           TestType{0},
                                           -TestType{0},
                                           std::numeric_limits<TestType>::max(),
                                           std::numeric_limits<TestType>::denorm_min()};
          value = specials[random() % std::size(specials)];
        }
      }
      for (const auto nans : {zenith::nan_policy::last, zenith::nan_policy::first, zenith::nan_policy::reject}) {
        asked.nans = nans;
        ask_everywhere(seen, asked, random);
      }
      // a column of weight 0 is not read, so its NaN do no harm
      asked.columns[1].assign(rows, nan);
      asked.weights[1] = 0;
      ask_everywhere(seen, asked, random);
    }
  }
  seen.require_none();
}

TEST_CASE("scored top-k says what is wrong with its arguments", "[scored][contract]") {
  const std::vector<float> a{1, 2, 3};
  const std::vector<float> b{3, 2};
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const zenith::error& fault) {
      CHECK(fault.code() == zenith::error_code::invalid_argument);
      return fault.what();
    }
    return "nothing was thrown";
  };
  const auto has = [](const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  const auto on = zenith::cpu();
  const zenith::column_set<float> columns{a, a};
  using weights = std::vector<float>;
  has(message([&] { zenith::column_set<float>{a, b}; }), "column 1 has 2 rows, the columns before it have 3");
  has(message([&] { (void)zenith::top_k(on, columns, weights{1}, 1); }),
      "weights has 1 elements and columns 2 columns");
  has(message([&] { (void)zenith::top_k(on, columns, weights{0, 0}, 1); }), "weights has only zeros");
  has(message([&] { (void)zenith::top_k(on, zenith::column_set<float>{}, weights{}, 0); }), "columns has no column");
  has(message([&] { (void)zenith::top_k(on, columns, weights{1, NAN}, 1); }), "weights[1] is NaN");
  has(message([&] { (void)zenith::top_k(on, columns, weights{INFINITY, 1}, 1); }), "weights[0] is infinite");
  has(message([&] { (void)zenith::top_k(on, columns, weights{1, 1}, 4); }), "k is 4");
  std::vector<float> scores(2);
  std::vector<std::uint64_t> rows(1);
  has(message([&] { zenith::top_k(on, columns, weights{1, 1}, scores, rows); }), "both must have k");
  const zenith::column_set<float> many(std::vector<std::span<const float>>(65, a));
  has(message([&] { (void)zenith::top_k(on, many, weights(65, 1), 1); }), "the most is 64");
  CHECK_NOTHROW(zenith::top_k(
      on, many,
      [] {
        weights some(65, 1);
        some[3] = 0;
        return some;
      }(),
      1));
}

TEST_CASE("scored top-k names who ran, and auto runs", "[scored][contract]") {
  const std::vector<double> a{1, 5, 3};
  const auto found =
      zenith::top_k(zenith::make_executor("auto"), zenith::column_set<double>{a}, std::vector<double>{2}, 2);
  CHECK(found.keys == std::vector<double>{10, 6});
  CHECK(found.indices == std::vector<std::uint64_t>{1, 2});
  CHECK_FALSE(found.backend.empty());
  CHECK_FALSE(found.strategy.empty());
}
