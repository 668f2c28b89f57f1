// Threshold tables after updates, on every target: ids with gaps, blocks of all sizes.

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include <catch.hpp>
#include <table_suite.hpp>
#include <zenith/updatable_threshold_table.hpp>

using conformance::scored::answer;
using conformance::scored::question;
using conformance::tables::the_suite;

namespace {

using table_type = zenith::updatable_threshold_table<float>;
using weights = std::vector<float>;

/// Rows that are left, in the order of their ids.
struct rows_left {
  question<float> asked;
  std::vector<std::uint32_t> ids;
};

/// What is wrong with the snapshot's answer; empty when nothing is. Ids become positions among the rows that are left.
std::string fault_of(const zenith_test::target& on, const zenith::threshold_snapshot<float>& now, const rows_left& rows,
                     const answer<float>& expected, bool on_device) {
  const auto& asked = rows.asked;
  const zenith::table_query_options options{.select = asked.select, .nans = asked.nans, .strategy = on.strategy};
  auto best = on_device ? zenith::top_k<std::uint32_t>(on.on, zenith::device_threshold_table<float>(on.on, now.table()),
                                                       asked.weights, asked.k, options)
                        : zenith::top_k<std::uint32_t>(on.on, now, asked.weights, asked.k, options);
  for (auto& id : best.indices) {
    const auto at = std::ranges::lower_bound(rows.ids, id);
    if (at == rows.ids.end() || *at != id) return "no row has id " + std::to_string(id);
    id = static_cast<std::uint32_t>(at - rows.ids.begin());
  }
  return conformance::scored::difference<float, std::uint32_t>(asked, expected, best.keys, best.indices);
}

}  // namespace

TEST_CASE("tables after updates", "[table][updates]") {
  if (the_suite().targets.empty()) return;
  constexpr std::size_t columns = 3;
  zenith_test::verdict seen;
  for (std::uint64_t number = 0; number < 3; ++number) {
    std::mt19937_64 random(zenith_test::seed_of("table.after_updates", number));
    table_type table(columns, {.block_rows = number == 0 ? 256U : 24U});
    const std::size_t first = std::min<std::size_t>(the_suite().most_rows, 6000);
    const auto some_row = [&] {
      std::vector<float> row(columns);
      for (auto& one : row) one = static_cast<float>(random() % (number == 2 ? 4 : 100000));
      return row;
    };
    std::vector<std::uint64_t> ids;
    for (std::size_t i = 0; i < first; ++i) ids.push_back(table.insert(some_row()));
    for (std::size_t i = 0; i < first; ++i) {
      const std::size_t at = random() % ids.size();
      if (i % 2 == 0) {
        table.erase(ids[at]);
        ids[at] = table.insert(some_row());
      } else if (i % 3 == 0) {
        table.erase(ids[at]);
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        table.update(ids[at], some_row());
      }
    }
    std::ranges::sort(ids);
    rows_left rows;
    rows.asked.columns.resize(columns);
    for (const auto id : ids) {
      rows.ids.push_back(static_cast<std::uint32_t>(id));
      const auto row = table.row(id);
      for (std::size_t j = 0; j < columns; ++j) rows.asked.columns[j].push_back(row[j]);
    }
    rows.asked.weights = {1, -0.5F, 2};
    rows.asked.k = std::min<std::size_t>(ids.size(), 40);
    rows.asked.select = number == 1 ? zenith::selection::smallest : zenith::selection::largest;
    const answer<float> expected(rows.asked);
    const auto now = table.snapshot();
    zenith_test::judge(
        seen, the_suite().targets, random, zenith_test::everywhere,
        [&] { return "after updates " + std::to_string(number); },
        [&](const zenith_test::place& at) { return fault_of(at.on, now, rows, expected, at.on_device); });
  }
  seen.require_none();
}

// Every row has two equal values, which change at once: a reader that saw a row half changed would find others.
TEST_CASE("readers see whole snapshots while others update", "[table][updates]") {
  table_type table(2, {.block_rows = 16});
  constexpr std::uint64_t kept = 200;
  for (std::uint64_t i = 0; i < kept; ++i) table.insert(weights(2, static_cast<float>(i)));
  std::atomic<bool> is_done{false};
  std::atomic<int> wrong{0};
  constexpr int rounds = 400;
  {
    std::vector<std::jthread> threads;
    for (int reader = 0; reader < 2; ++reader) {
      threads.emplace_back([&] {
        do {
          const auto now = table.snapshot();
          const auto best = zenith::top_k(zenith::cpu({.threads = 1}), now, weights{1, -1}, now.rows());
          const bool is_whole = now.rows() >= kept && now.table().rows() == now.rows() &&
                                std::ranges::all_of(best.keys, [](float one) { return one == 0; });
          wrong += is_whole && std::ranges::is_sorted(best.indices) ? 0 : 1;
        } while (!is_done);
      });
    }
    for (unsigned writer = 0; writer < 2; ++writer) {
      threads.emplace_back([&, writer] {
        std::mt19937_64 random(writer);
        for (int i = 0; i < rounds; ++i) {
          const weights row(2, static_cast<float>(random() % 1000));
          const auto id = table.insert(row);
          table.update(random() % kept, row);
          if (i % 4 != 0) table.erase(id);
        }
        is_done = true;
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(table.rows() == kept + 2 * static_cast<std::size_t>(rounds / 4));
}
