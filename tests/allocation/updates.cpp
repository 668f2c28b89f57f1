// Updates of a threshold table with each of their allocations failing: the rows stay as they were, and the same call
// comes to its end when it is tried again.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <catch.hpp>
#include <settings.hpp>
#include <zenith/zenith.hpp>

#include "failing_memory.hpp"

namespace failing_memory = zenith_test::failing_memory;

namespace {

using row = std::array<float, 2>;
using rows_by_id = std::map<std::uint64_t, row>;

const std::array weights{1.0F, 0.5F};

/// A snapshot has these rows and no others: all of them in the order of their scores.
void check_rows(const zenith::threshold_snapshot<float>& seen, const rows_by_id& expected, bool in_one_piece) {
  REQUIRE(seen.rows() == expected.size());
  std::vector<std::pair<float, std::uint64_t>> best;
  for (const auto& [id, one] : expected) best.emplace_back(-(one[0] * weights[0] + one[1] * weights[1]), id);
  std::ranges::sort(best);
  const auto on = zenith::make_executor("cpu:threads=1");
  for (const std::size_t k : {std::min<std::size_t>(3, best.size()), best.size()}) {
    const auto found = in_one_piece ? zenith::top_k(on, seen.table(), weights, k) : zenith::top_k(on, seen, weights, k);
    bool is_same = true;
    for (std::size_t i = 0; i < k; ++i)
      is_same &= found.indices[i] == best[i].second && found.keys[i] == -best[i].first;
    CHECK(is_same);
  }
}

void check_table(const zenith::updatable_threshold_table<float>& table, const rows_by_id& expected) {
  REQUIRE(table.rows() == expected.size());
  bool is_same = true;
  for (const auto& [id, one] : expected) {
    is_same &= table.contains(id) && std::ranges::equal(table.row(id), one);
  }
  CHECK(is_same);
}

/// Calls until no allocation fails. Returns how often one did.
template <class Call>
int call_until_done(const zenith::updatable_threshold_table<float>& table, const rows_by_id& before, const Call& call) {
  int failures = 0;
  for (std::int64_t n = 0;; ++n) {
    REQUIRE(n < 100'000);
    bool is_done = false;
    failing_memory::fail_at(n);
    try {
      call();
      is_done = true;
      failing_memory::stop();
    } catch (const zenith::error& fault) {
      failing_memory::stop();
      REQUIRE(fault.code() == zenith::error_code::out_of_memory);
    }
    if (is_done) return failures;
    ++failures;
    if (failures % 8 == 1) check_table(table, before);
  }
}

/// Some hundred updates of all kinds; `held` snapshots make blocks be copied.
int update_at_random(std::uint64_t seed, std::uint32_t block_rows) {
  std::mt19937_64 random(seed);
  const auto coarse = [&] { return static_cast<float>(random() % 97); };
  zenith::updatable_threshold_table<float> table(2, {.block_rows = block_rows});
  rows_by_id rows;
  std::uint64_t next = 0;
  zenith::threshold_snapshot<float> held;
  rows_by_id held_rows;
  int failures = 0;
  const auto any_id = [&] {
    const auto at = rows.lower_bound(random() % next);
    return at == rows.end() ? rows.begin()->first : at->first;
  };
  const int steps = static_cast<int>(600 * std::min(1.0, zenith_test::scale()));
  for (int step = 0; step < steps; ++step) {
    // the table grows, and shrinks again
    const bool grows = step % 300 < 150;
    const auto choice = rows.size() < 10 ? 0 : random() % 10;
    if (choice < (grows ? 3U : 1U)) {
      const std::size_t count = 1 + random() % 60;
      std::vector<float> x(count);
      std::vector<float> y(count);
      for (std::size_t i = 0; i < count; ++i) {
        x[i] = coarse();
        y[i] = coarse();
      }
      const zenith::column_set<float> more{x, y};
      std::uint64_t first = 0;
      failures += call_until_done(table, rows, [&] { first = table.insert(more); });
      REQUIRE(first == next);
      for (std::size_t i = 0; i < count; ++i) rows[next++] = {x[i], y[i]};
    } else if (choice < 5) {
      const row one{coarse(), coarse()};
      std::uint64_t id = 0;
      failures += call_until_done(table, rows, [&] { id = table.insert(one); });
      REQUIRE(id == next);
      rows[next++] = one;
    } else if (choice < 7) {
      const auto id = any_id();
      const row one{coarse(), coarse()};
      failures += call_until_done(table, rows, [&] { table.update(id, one); });
      rows[id] = one;
    } else if (choice == 7) {
      std::vector<std::uint64_t> ids;
      for (std::size_t i = 0; i < (grows ? 3U : 40U); ++i) ids.push_back(any_id());
      std::ranges::sort(ids);
      ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
      failures += call_until_done(table, rows, [&] { table.erase(ids); });
      for (const auto id : ids) rows.erase(id);
    } else {
      const auto id = any_id();
      failures += call_until_done(table, rows, [&] { table.erase(id); });
      rows.erase(id);
    }
    if (step % 7 == 0) {
      if (step % 28 == 0 && step > 0) check_rows(held, held_rows, false);
      zenith::threshold_snapshot<float> seen;
      failures += call_until_done(table, rows, [&] { seen = table.snapshot(); });
      held = seen;
      held_rows = rows;
    }
    if (step % 50 == 0) {
      check_table(table, rows);
      check_rows(table.snapshot(), rows, step % 100 == 0);
    }
  }
  return failures;
}

}  // namespace

TEST_CASE("updates of a threshold table when memory runs out", "[allocation]") {
  const failing_memory::scratch_not_kept each_from_new;
  for (const std::uint32_t block_rows : {2, 4, 16}) {
    (void)update_at_random(block_rows, block_rows);  // what is made once a program is made here
    const auto before = failing_memory::live_blocks();
    CHECK(update_at_random(100 + block_rows, block_rows) > 100);
    CHECK(failing_memory::live_blocks() == before);
  }
}
