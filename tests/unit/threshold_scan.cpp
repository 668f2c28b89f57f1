// Strategy "scan" of threshold tables: a sample that misleads costs a second read, and nothing else.

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <algorithms/top_k/filter_plan.hpp>
#include <catch.hpp>
#include <zenith/scored_top_k.hpp>
#include <zenith/threshold_table.hpp>

using namespace zenith;

namespace {

struct two_columns {
  std::vector<float> asked;
  std::vector<float> order;
  std::vector<double> weights{0, 1};

  [[nodiscard]] column_set<float> set() const { return {asked, order}; }
  /// Rows by falling `order`.
  [[nodiscard]] threshold_table<float> table() const {
    table_options options{.layout = table_layout::partitions, .partitions = 1, .order = table_order::weighted_sum};
    options.order_weights = weights;
    return threshold_table<float>::build(set(), options);
  }
};

}  // namespace

TEST_CASE("a scan whose sample has all the best rows is right", "[unit]") {
  constexpr std::size_t rows = 1 << 16;
  constexpr std::size_t k = 2000;
  std::mt19937 random(3);
  two_columns columns{std::vector<float>(rows), std::vector<float>(rows)};
  for (std::size_t i = 0; i < rows; ++i) columns.order[i] = static_cast<float>(i);
  std::ranges::shuffle(columns.order, random);
  for (auto& one : columns.asked) one = static_cast<float>(random() % 5000);

  const auto on = cpu({.threads = 1});
  const auto scanned = [&](threshold_statistics& statistics) {
    const auto best =
        top_k(on, columns.table(), std::vector<float>{1, 0}, k, {.strategy = "scan", .statistics = &statistics});
    const auto expected = top_k(reference(), columns.set(), std::vector<float>{1, 0}, k);
    CHECK(best.keys == expected.keys);
    CHECK(best.indices == expected.indices);
  };
  threshold_statistics usual;
  scanned(usual);
  CHECK(usual.rows_evaluated == rows);
  CHECK(usual.rounds == 1);

  // now the rows at the sampled positions are better than all others, so that its threshold is too high
  const auto plan = top_k_detail::plan_filter(rows, k);
  REQUIRE(plan.samples > plan.rank);
  REQUIRE(plan.samples < k);
  const auto table = columns.table();
  const auto& of = detail::layout_of(*table.storage());
  const auto* const ids = reinterpret_cast<const std::uint32_t*>(detail::bytes_of(*table.storage()).data() + of.ids);
  for (std::uint64_t s = 0; s < plan.samples; ++s) {
    columns.asked[ids[top_k_detail::sample_position(s, rows, plan.samples)]] = 10000 + static_cast<float>(s);
  }
  threshold_statistics misled;
  scanned(misled);
  CHECK(misled.rows_evaluated == 2 * rows);
  CHECK(misled.rounds == 2);
}
