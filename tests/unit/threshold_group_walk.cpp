// Strategy "blocks" as devices run it, without an answer to the host, on the sequential context.

#include <algorithms/threshold_table/strategies.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catch.hpp>
#include <core/device/family.hpp>
#include <settings.hpp>
#include <tests/device/listing_context.hpp>
#include <zenith/threshold_table.hpp>

using namespace zenith;

namespace {

namespace family = threshold_table_family;

template <class Strategy>
struct as_on_a_device {
  static void run(const execution& /*where*/, const typename Strategy::call_type& call) {
    device_suite::device_like on;
    Strategy::run(on, call);
  }
};

const executor& walker() {
  static constexpr auto kernels = device::kernel_entries<as_on_a_device>(device::list<family::blocks>{});
  static const backend target{
      .name = "walker", .description = "blocks as on a device", .needs = "nothing", .kernels = kernels};
  static const executor on = [] {
    execution settings;
    settings.target = &target;
    return executor(settings);
  }();
  return on;
}

enum class kind { uniform, correlated, anticorrelated, equal, few_values, with_nan };
constexpr kind all_kinds[] = {kind::uniform, kind::correlated, kind::anticorrelated,
                              kind::equal,   kind::few_values, kind::with_nan};

template <class T>
std::vector<std::vector<T>> drawn(std::size_t rows, std::size_t columns, kind of, std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<std::vector<T>> values(columns, std::vector<T>(rows));
  std::vector<double> own(columns);
  for (std::size_t i = 0; i < rows; ++i) {
    const double common = unit(random);
    double sum = 0;
    for (auto& one : own) sum += one = unit(random);
    for (std::size_t j = 0; j < columns; ++j) {
      double x = own[j];
      if (of == kind::correlated) x = 0.9 * common + 0.1 * x;
      if (of == kind::anticorrelated) x = x - sum / static_cast<double>(columns);
      if (of == kind::equal) x = 0.25;
      if (of == kind::few_values) x = static_cast<double>(static_cast<int>(4 * x)) / 4;
      values[j][i] = static_cast<T>(1000 * x);
      if constexpr (std::is_floating_point_v<T>) {
        if (of == kind::with_nan && x < 0.001) values[j][i] = std::numeric_limits<T>::quiet_NaN();
      }
    }
  }
  return values;
}

/// Shares of the rows that were evaluated.
struct evaluated {
  double walking = 0;
  double in_rounds = 0;
};

template <class T>
evaluated check(std::size_t rows, std::size_t columns, std::size_t used, kind of, std::size_t k,
                std::uint32_t block_rows, std::mt19937_64& random) {
  const auto values = drawn<T>(rows, columns, of, random);
  column_set<T> set;
  for (const auto& one : values) set.add(one);
  const auto table = threshold_table<T>::build(set, {.block_rows = block_rows});
  std::vector<score_t<T>> weights(columns);
  for (std::size_t j = 0; j < used; ++j) weights[j] = static_cast<score_t<T>>(of == kind::uniform ? 1 : 1 + j % 3);
  INFO(rows << " rows, " << columns << " columns, kind " << static_cast<int>(of) << ", k " << k << ", blocks of "
            << block_rows << ", " << used << " weights");
  threshold_statistics by_walk;
  threshold_statistics by_rounds;
  table_query_options options{.strategy = "blocks"};
  if (of == kind::with_nan && random() % 2 == 0) options.nans = nan_policy::first;
  if (random() % 3 == 0 && of != kind::uniform) options.select = selection::smallest;
  options.statistics = &by_rounds;
  const auto expected = top_k(cpu({.threads = 1}), table, weights, k, options);
  options.statistics = &by_walk;
  const auto found = top_k(walker(), table, weights, k, options);
  CHECK(found.indices == expected.indices);
  CHECK(std::ranges::equal(found.keys, expected.keys, [](auto a, auto b) { return a == b || (a != a && b != b); }));
  CHECK(by_walk.rows_evaluated <= 2 * rows);
  return {static_cast<double>(by_walk.rows_evaluated) / static_cast<double>(rows),
          static_cast<double>(by_rounds.rows_evaluated) / static_cast<double>(rows)};
}

}  // namespace

TEST_CASE("a walk through the groups finds what rounds do", "[unit]") {
  const auto seed = zenith_test::seed_of("walk", 0);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (const kind of : all_kinds) {
    for (const std::size_t rows : {1U, 8U, 1000U, 20000U}) {
      for (const std::uint32_t block_rows : {1U, 7U, 64U, 300U}) {
        for (const std::size_t k : {1U, 16U, 125U, 128U}) {
          if (k >= rows / 8 + 1 || (block_rows == 1 && rows > 1000)) continue;
          const std::size_t columns = 1 + random() % 5;
          const std::size_t used = 1 + random() % columns;
          (void)check<float>(rows, columns, used, of, k, block_rows, random);
          (void)check<double>(rows, columns, used, of, k, block_rows, random);
          (void)check<std::int32_t>(rows, columns, used, of, k, block_rows, random);
        }
      }
    }
  }
}

TEST_CASE("a walk through the groups evaluates few rows", "[unit]") {
  // how many they are is a matter of the points: the same ones each time, and a mean
  std::mt19937_64 random(20);
  constexpr std::size_t rows = 1 << 18;
  constexpr int draws = 3;
  for (const kind of : {kind::uniform, kind::correlated, kind::equal}) {
    for (const std::size_t used : {2U, 4U, 8U}) {
      double walking = 0;
      double in_rounds = 0;
      for (int draw = 0; draw < draws; ++draw) {
        const auto seen = check<float>(rows, 8, used, of, 16, 64, random);
        walking += seen.walking / draws;
        in_rounds += seen.in_rounds / draws;
      }
      INFO("kind " << static_cast<int>(of) << ", " << used << " weights: " << walking << " of the rows, in rounds "
                   << in_rounds);
      // beside what gives the first threshold
      CHECK(walking < 1.5 * in_rounds + 0.04);
    }
  }
}

TEST_CASE("a threshold by classes is no better than the k-th best row, and hardly worse", "[unit]") {
  const auto seed = zenith_test::seed_of("classes", 0);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (const std::uint32_t k : {1U, 2U, 16U, 33U, 64U, 100U, 128U}) {
    const std::uint32_t classes = family::class_threshold::classes_for(k);
    REQUIRE(classes >= k);
    std::vector<std::uint64_t> best(classes);
    std::vector<std::uint64_t> scratch(classes + 1);
    std::uint64_t known = 0;
    const family::class_threshold threshold{best.data(), &known, classes, k};
    device::plain_team<device::detail::sequential_sink> team(0, 0, 0, nullptr);
    std::vector<std::uint64_t> rows;
    for (std::uint64_t at = 0; at < 100000; ++at) {
      const std::uint64_t word = random() % 1000000;
      threshold.raise(threshold.class_of(at), word);
      // the same row once more
      threshold.raise(threshold.class_of(at), word);
      rows.push_back(word);
      if (at > 2000 && at % 20000 != 0) continue;
      for (std::uint64_t i = 0; i <= classes; ++i) scratch[i] = threshold.word(i);
      const auto found = threshold.find_among(team, scratch.data());
      CHECK(threshold.word(classes) == found);
      std::ranges::sort(rows, std::greater<>{});
      CHECK(found <= (rows.size() < k ? 0 : rows[k - 1]));
      if (at > 20000) CHECK(found >= rows[std::min<std::size_t>(rows.size(), 3 * k + 40) - 1]);
    }
  }
}
