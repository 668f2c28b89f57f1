// Scores of a program's own: what is wrong with the arguments.

#include <catch.hpp>
#include <expect_error.hpp>
#include <tests/strategies/suite.hpp>
#include <zenith/strategies/cpu.hpp>
#include <zenith/strategies/sequential.hpp>

using namespace zenith;

TEST_CASE("scores of one's own say what is wrong with their arguments") {
  using zenith_test::expect_error;
  const strategies::sequential here;
  const std::vector<float> column{1, 2, 3};
  const column_set<float> columns{column};
  const own_suite::weakest score;
  CHECK(strategies::top_k(here, columns, score, 0).keys.empty());
  expect_error(error_code::invalid_argument, {"k is 4", "columns has only 3 rows"},
               [&] { (void)strategies::top_k(here, columns, score, 4); });
  expect_error(error_code::invalid_argument, {"columns has no column"},
               [&] { (void)strategies::top_k(here, column_set<float>{}, score, 0); });
  column_set<float> wide;
  for (int j = 0; j < 65; ++j) wide.add(column);
  expect_error(error_code::invalid_argument, {"65 columns", "64"},
               [&] { (void)strategies::top_k(here, wide, score, 1); });
  expect_error(error_code::invalid_argument, {"table has only 3 rows"},
               [&] { (void)strategies::top_k(here, threshold_table<float>::build(columns), score, 4); });
  expect_error(error_code::invalid_argument, {"table has no column"},
               [&] { (void)strategies::top_k(here, threshold_table<float>{}, score, 0); });
  expect_error(error_code::invalid_argument, {"strategies::cpu", "reference"},
               [&] { (void)strategies::cpu(make_executor("reference")); });

  const std::vector<float> broken{1, std::numeric_limits<float>::quiet_NaN(), 3};
  const column_set<float> with_nan{broken};
  for (const auto nans : {nan_policy::reject}) {
    expect_error(error_code::invalid_argument, {"a score is NaN"},
                 [&] { (void)strategies::top_k(here, with_nan, score, 1, {.nans = nans}); });
    expect_error(error_code::invalid_argument, {"a score is NaN"}, [&] {
      (void)strategies::top_k(here, threshold_table<float>::build(with_nan), score, 1, {.nans = nans});
    });
    CHECK(strategies::top_k(here, columns, score, 2, {.nans = nans}).indices == std::vector<std::uint64_t>{2, 1});
  }
}
