// Strategies and scores of a program's own on the sequential context and on the CPU's.

#include <catch.hpp>
#include <expect_error.hpp>
#include <settings.hpp>
#include <tests/strategies/suite.hpp>
#include <zenith/strategies/cpu.hpp>
#include <zenith/strategies/sequential.hpp>

namespace {

using namespace zenith;

const std::size_t rows = 20011;

template <class Place>
void expect_right(const Place& here, std::size_t n) {
  const auto seed = zenith_test::seed_of("strategies", n);
  for (const auto& fault : own_suite::run_suite(here, n, seed)) FAIL_CHECK(fault);
  CHECK(own_suite::rows_evaluated(here, n, seed) < n / 4);
}

}  // namespace

TEST_CASE("strategies and scores of one's own run sequentially") { expect_right(strategies::sequential{}, rows / 10); }

TEST_CASE("strategies and scores of one's own run on the CPU") {
  expect_right(strategies::cpu(make_executor("cpu:threads=1")), rows);
  expect_right(strategies::cpu(make_executor("cpu:threads=3,isa=sse2")), rows);
}

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
