#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include <catch.hpp>

#include <algorithms/skyline/choices.hpp>
#include <algorithms/skyline/cost_parts.hpp>
#include <zenith/skyline.hpp>
#include "scenes.hpp"

using namespace zenith;
using zenith_test::fixture;

namespace {

skyline_problem problem(std::uint64_t rows, unsigned columns, double independent_columns) {
  skyline_problem asked;
  asked.rows = rows;
  asked.columns = columns;
  asked.independent_columns = independent_columns;
  return asked;
}

/// A host of so many cores that do not slow each other.
device_profile host(int cores) {
  auto on = *fixture("server-h200.json").find("cpu");
  on.rates.clear();
  on.cores = cores;
  return on;
}

double seconds_of(std::string_view strategy, std::string_view name, const skyline_problem& asked,
                  const device_profile& on) {
  for (const auto& one : skyline_cost(strategy, asked, on).phases) {
    if (one.name == name) return seconds(one, on);
  }
  FAIL("no phase is called " << name);
  return 0;
}

double speedup(std::string_view strategy, std::string_view name, const skyline_problem& asked, int cores) {
  return seconds_of(strategy, name, asked, host(1)) / seconds_of(strategy, name, asked, host(cores));
}

}  // namespace

TEST_CASE("a region of a skyline's call begins as late for two workers as for sixteen") {
  // two workers are worth waking for the pivots, and all of them
  const auto few = problem(std::uint64_t{1} << 15, 2, 1);
  const auto many = problem(std::uint64_t{1} << 15, 16, 1);
  auto on = host(16);
  const auto begins = [&](const skyline_problem& asked) {
    const double all = seconds_of("ggs", "pivots", asked, on);
    auto at_once = on;
    at_once.launch_overhead = 0;
    return all - seconds_of("ggs", "pivots", asked, at_once);
  };
  CHECK(begins(few) == Approx(3 * on.launch_overhead));
  CHECK(begins(many) == Approx(3 * on.launch_overhead));
  CHECK(begins(problem(1024, 2, 1)) == 0);  // one worker
}

TEST_CASE("blocks that are compared with themselves leave workers of a skyline idle") {
  // nearly all rows are in the skyline
  const auto asked = problem(8192, 8, 24);
  const double windows = speedup("ggs", "rounds", asked, 16);
  const double blocks = speedup("sfs", "rounds", asked, 16);
  CHECK(windows > 1.1 * blocks);
  CHECK(blocks > 3);
  CHECK(blocks < 11);
  CHECK(windows < 16);
  // of more rows most is shared evenly
  CHECK(speedup("sfs", "rounds", problem(std::uint64_t{1} << 17, 8, 24), 16) > 1.3 * blocks);
  // one worker builds the tree
  CHECK(speedup("bskytree", "rounds", asked, 16) == Approx(1));
}

TEST_CASE("few rows of a skyline are sorted by one worker, and moved by one however many they are") {
  CHECK(speedup("sfs", "sort", problem(4096, 8, 24), 16) == Approx(1));
  CHECK(speedup("sfs", "sort", problem(std::uint64_t{1} << 20, 8, 24), 16) > 8);
  CHECK(speedup("sfs", "moves", problem(std::uint64_t{1} << 20, 8, 24), 16) == Approx(1));
}

TEST_CASE("few rows of a host, whether or not most are in the skyline, are compared with few pivots") {
  auto on = host(16);
  for (const auto* const strategy : {"salsa", "ggs", "sfs", "skyalign", "bskytree", "bitmap_tiles"}) {
    on.offers.push_back(std::string{skyline_call::operation} + "/" + strategy);
  }
  const machine here({on});
  for (const unsigned columns : {2U, 4U, 8U, 11U}) {
    INFO(columns << " columns");
    for (const std::uint64_t rows : {128U, 256U})
      CHECK(decide(problem(rows, columns, 0), here).strategy == "bitmap_tiles");
  }
}

TEST_CASE("where few rows are left, bitmap_tiles takes as long as comparisons by values") {
  for (const int cores : {1, 2, 16}) {
    const auto on = host(cores);
    const auto few = problem(1024, 4, 0);
    CHECK(seconds(skyline_cost("bitmap_tiles", few, on), on) == seconds(skyline_cost("ggs", few, on), on));
    const auto many = problem(16384, 12, 0);
    CHECK(seconds(skyline_cost("bitmap_tiles", many, on), on) < seconds(skyline_cost("ggs", many, on), on));
  }
}

TEST_CASE("a skyline that reads up to a stop point takes longer the less columns hang together") {
  const auto on = host(1);
  double before = 0;
  for (const double columns : {1.0, 2.0, 4.0, 8.0, 16.0}) {
    const double now = seconds(skyline_cost("salsa", problem(4096, 8, columns), on), on);
    INFO(columns << " columns");
    CHECK(now > before);
    before = now;
  }
  // of one column that stands for all, the stop point is met at once
  CHECK(seconds(skyline_cost("salsa", problem(4096, 8, 1), on), on) < before / 20);
}

TEST_CASE("many groups of a skyline take as long as their rows, not as their pairs") {
  const auto gpu = *fixture("server-h200.json").find("cuda");
  for (const auto& on : {host(1), host(16), gpu}) {
    auto asked = problem(1'000'000, 4, 3);
    asked.space = on.memory;
    const auto takes = [&](double groups) {
      asked.groups = groups;
      return seconds(skyline_cost("bitmap_tiles", asked, on), on);
    };
    asked.rows = 100'000;
    const double of_a_tenth = takes(100'000);
    asked.rows = 1'000'000;
    const double of_rows = takes(1'000'000);
    CHECK(std::isfinite(of_rows));
    CHECK(of_rows < 15 * of_a_tenth);
    CHECK(takes(100'000) < 2 * of_rows);
    CHECK(takes(1000) < 4 * of_rows);
    CHECK(takes(1) < of_rows);  // rows that are dominated are out first
    // of one group, the same as without any
    CHECK(takes(1) == takes(0));
    // a strategy that knows of no groups
    asked.groups = 1'000'000;
    CHECK(seconds(skyline_cost("salsa", asked, on), on) > 20 * of_rows);
  }
}

TEST_CASE("columns that only group the rows of a skyline say nothing of which is better") {
  const auto on = host(1);
  const auto asked = [](unsigned columns, unsigned different, double groups) {
    auto made = problem(100'000, columns, 2);
    made.different = different;
    made.groups = groups;
    return made;
  };
  const auto has_rounds = [&](const skyline_problem& of) {
    const auto phases = skyline_cost("bitmap_tiles", of, on).phases;
    return std::ranges::any_of(phases, [](const auto& one) { return one.name == "rounds"; });
  };
  // up to two other columns are sorted, and read once
  for (const unsigned different : {1U, 2U, 5U}) {
    INFO(different << " columns");
    CHECK(!has_rounds(asked(different + 1, different, 60)));
    CHECK(!has_rounds(asked(different + 2, different, 60)));
    CHECK(has_rounds(asked(different + 3, different, 60)));
  }
  CHECK(!has_rounds(asked(3, 0, 60)));  // at least one
  CHECK(has_rounds(asked(4, 0, 60)));
  // with no other column all strategies take the same, and less than any
  const auto none = asked(5, 5, 60);
  const double least = seconds(skyline_cost("bitmap_tiles", none, on), on);
  CHECK(std::isfinite(least));
  for (const auto& one : skyline_detail::strategies) {
    INFO(one.name);
    CHECK(seconds(one.model(none, on), on) == least);
    CHECK(seconds(one.model(asked(5, 4, 60), on), on) > 2 * least);
  }
  for (const auto& one : skyline_detail::layer_strategies) CHECK(seconds(one.model(none, on), on) == least);
  for (const auto& one : skyline_detail::band_strategies) CHECK(seconds(one.model({none, 3}, on), on) == least);
}

TEST_CASE("groups leave a skyline without a stop point") {
  const auto on = host(1);
  for (const double groups : {1.0, 10.0, 60.0, 1000.0, 60000.0}) {
    auto asked = problem(1 << 16, 3, 2);
    const double without = seconds(skyline_cost("salsa", asked, on), on);
    asked.groups = groups;
    INFO(groups << " groups");
    CHECK(seconds(skyline_cost("salsa", asked, on), on) > 1.5 * without);
  }
}

TEST_CASE("a skyline of groups is not chosen for its stop point") {
  auto on = host(1);
  for (const auto& one : skyline_detail::strategies)
    on.offers.push_back(std::string{skyline_call::operation} + "/" + std::string{one.name});
  const machine here({on});
  for (const std::uint64_t rows : {128U, 500U, 2000U, 16384U, 1U << 19}) {
    for (const unsigned columns : {2U, 3U, 5U, 8U}) {
      for (const double groups : {1.0, 5.0, 60.0, 90.0, 1300.0, 10000.0}) {
        if (groups > static_cast<double>(rows)) continue;
        // of a sample without groups, and of one that says what other columns are worth
        for (const double worth : {0.0, 1.0, 0.9 * columns}) {
          auto asked = problem(rows, columns, worth);
          asked.groups = groups;
          INFO(rows << " rows, " << columns << " columns worth " << worth << ", " << groups << " groups");
          CHECK(decide(asked, here).strategy != "salsa");
        }
      }
    }
  }
}

TEST_CASE("pivots of a skyline leave the more rows the more groups there are") {
  const auto asked = [](std::uint64_t rows, double groups) {
    auto made = problem(rows, 3, 2);
    made.groups = groups;
    return skyline_detail::estimate(made);
  };
  for (const std::uint64_t rows : {16384U, 131072U}) {
    // of 64 pivots, a third of 60 groups has none
    CHECK(asked(rows, 60).left > 0.3 * static_cast<double>(rows));
    CHECK(asked(rows, 60).left < 0.5 * static_cast<double>(rows));
    CHECK(asked(rows, 4).left < 0.05 * static_cast<double>(rows));
    CHECK(asked(rows, 1).left == asked(rows, 0).left);
  }
}

TEST_CASE("bands and layers of many groups take as long as their rows, not as their pairs") {
  const auto on = host(1);
  auto asked = problem(1'000'000, 4, 3);
  const auto takes = [&](const auto& strategies, auto of, double groups) {
    of.groups = groups;
    double least = seconds(strategies[0].model(of, on), on);
    for (const auto& one : strategies) {
      const double some = seconds(one.model(of, on), on);
      INFO(one.name);
      CHECK(std::isfinite(some));
      if (groups >= 1000) CHECK(some == least);  // which ones are left is the same for all
      least = std::min(least, some);
    }
    return least;
  };
  const auto of_skyline = [&](double groups) {
    asked.groups = groups;
    return seconds(skyline_cost("bitmap_tiles", asked, on), on);
  };
  for (const std::uint32_t k : {1U, 3U, 10U}) {
    const skyline_detail::band_problem band{asked, k};
    CHECK(takes(skyline_detail::band_strategies, band, 1'000'000) < 1.1 * of_skyline(1'000'000));
    CHECK(takes(skyline_detail::band_strategies, band, 1000) < 3 * of_skyline(1000));
    // large groups go as one table, too
    CHECK(takes(skyline_detail::band_strategies, band, 100) > takes(skyline_detail::band_strategies, band, 1000));
    // of one group, the same as without any
    CHECK(takes(skyline_detail::band_strategies, band, 1) == takes(skyline_detail::band_strategies, band, 0));
  }
  CHECK(takes(skyline_detail::layer_strategies, asked, 1'000'000) < 1.1 * of_skyline(1'000'000));
  CHECK(takes(skyline_detail::layer_strategies, asked, 1000) < 5 * of_skyline(1000));
}

// A block of "sfs" is some launches and answers to the host.
TEST_CASE("on a GPU a band goes by bitmaps") {
  const auto on = *fixture("server-h200.json").find("cuda");
  for (const std::uint64_t rows : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{1} << 20}) {
    for (const unsigned columns : {2U, 4U, 8U, 16U}) {
      for (const std::uint32_t k : {1U, 3U, 100U, ~std::uint32_t{0}}) {
        INFO(rows << " rows, " << columns << " columns, k = " << k);
        skyline_detail::band_problem asked{problem(rows, columns, 0), k};
        asked.space = memory_space::device;
        const double by_bitmaps = seconds(skyline_detail::band_by_bitmaps_cost(asked, on), on);
        const double by_sum = seconds(skyline_detail::band_by_sum_cost(asked, on), on);
        CHECK(std::isfinite(by_bitmaps));
        CHECK(std::isfinite(by_sum));
        if (rows >= 1000) CHECK(by_bitmaps < by_sum);
      }
    }
  }
}

TEST_CASE("the work of a skyline is that of the paper's third definition") {
  skyline_statistics counted;
  CHECK(skyline_work(counted, 8) == 0);
  counted.mask_tests = 100;
  CHECK(skyline_work(counted, 8) == 300);
  counted.dominance_tests = 10;
  CHECK(skyline_work(counted, 8) == 300 + 52 * 10);
  CHECK(skyline_work(counted, 16) == 300 + 100 * 10);
}
