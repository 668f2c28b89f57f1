#include <cmath>
#include <string>
#include <utility>

#include <catch.hpp>

#include <zenith/threshold_table.hpp>
#include "scenes.hpp"

using namespace zenith;
using zenith_test::fixture;

namespace {

threshold_table_problem problem(int log_count, std::uint64_t k, std::uint64_t columns, std::uint32_t share_eighths) {
  threshold_table_problem asked;
  asked.count = std::uint64_t{1} << log_count;
  asked.k = k;
  asked.columns = columns;
  asked.share_eighths = share_eighths;
  return asked;
}

/// A host that was measured before it had threshold tables: their rates are the typical ones.
machine host() {
  auto devices = fixture("emerald-rapids-2-cores.json").devices();
  for (const auto* const strategy : {"blocks", "scan", "gta", "gta_shared", "full", "ta"}) {
    devices.front().offers.push_back(std::string{threshold_table_call::operation} + "/" + strategy);
  }
  return machine(std::move(devices));
}

/// What a probe measures while others use the memory: so many times less of each bandwidth.
machine slowed_host(double times, int threads) {
  auto on = host().devices().front().with_threads(threads);
  for (auto& level : on.levels) {
    level.read /= times;
    level.write /= times;
    level.copy /= times;
  }
  return machine({std::move(on)});
}

std::string chosen(const threshold_table_problem& asked) { return decide(asked, host()).strategy; }

}  // namespace

TEST_CASE("a threshold table of which nothing can be stopped is scanned") {
  for (int log_count = 18; log_count <= 26; log_count += 2) {
    for (const std::uint64_t columns : {2, 4, 8}) {
      for (const std::uint64_t k : {1, 16, 64}) {
        INFO("2^" << log_count << " rows, " << columns << " columns, k = " << k);
        CHECK(chosen(problem(log_count, k, columns, 0)) == "scan");
        CHECK(chosen(problem(log_count, k, columns, 4)) == "scan");  // 0.7 of the rows
      }
    }
  }
}

// With a low bandwidth the time of the reads hides that of the rows.
TEST_CASE("a threshold table of which nothing can be stopped is scanned whatever bandwidth was measured") {
  for (const int threads : {1, 2}) {
    for (const double times : {1.0, 4.0, 16.0, 256.0}) {
      const auto on = slowed_host(times, threads);
      for (int log_count = 18; log_count <= 24; log_count += 2) {
        for (const std::uint64_t columns : {2, 4, 8}) {
          for (const std::uint64_t k : {1, 16, 128, 512, 1024}) {
            for (const auto type : {key_type::float32, key_type::float64}) {
              INFO(threads << " threads, a bandwidth " << times << " times lower, 2^" << log_count << " rows, "
                           << columns << " columns, k = " << k);
              auto asked = problem(log_count, k, columns, 0);
              asked.type = type;
              const auto& one = on.devices().front();
              const double scan = seconds(threshold_table_cost("scan", asked, one), one);
              CHECK(decide(asked, on).strategy == "scan");
              CHECK(seconds(threshold_table_cost("blocks", asked, one), one) > 1.15 * scan);
              asked.share_eighths = 4;  // 0.7 of the rows
              CHECK(decide(asked, on).strategy == "scan");
              asked.share_eighths = 40;  // a 32nd
              if (k <= 16) CHECK(decide(asked, on).strategy == "blocks");
            }
          }
        }
      }
    }
  }
}

// Blocks of 256 rows, a core of a Xeon: with k = 1024 a row comes to be among the k best so often that the heap takes
// as long as the scores. Of 2^20 rows "blocks" takes 2697 us of floats, 7427 of doubles and 3123 of integers, and the
// scan 1624, 4426 and 1706 (anticorrelated, 8 columns, .59 of the rows expected); 494 and 384 us with two columns.
TEST_CASE("a heap of many rows costs more than the scan of a threshold table") {
  for (const double times : {1.0, 4.0, 16.0}) {
    INFO("a bandwidth " << times << " times lower");
    const auto on = slowed_host(times, 1);
    for (const auto type : {key_type::float32, key_type::float64, key_type::int32}) {
      auto asked = problem(20, 1024, 8, 6);
      asked.block_rows = 256;
      asked.type = type;
      CHECK(decide(asked, on).strategy == "scan");
      asked.share_eighths = 22;  // independent columns: a sixth of the time
      CHECK(decide(asked, on).strategy == "blocks");
    }
    auto asked = problem(20, 128, 8, 1);
    asked.block_rows = 256;
    asked.type = key_type::int32;
    CHECK(decide(asked, on).strategy == "scan");
  }
  auto asked = problem(20, 1024, 2, 25);
  asked.block_rows = 256;
  CHECK(decide(asked, slowed_host(1, 1)).strategy == "scan");
  asked.k = 128;  // 132 us
  CHECK(decide(asked, slowed_host(1, 1)).strategy == "blocks");
}

// 2^20 anticorrelated rows, 8 columns, blocks of 64 rows: 2.3, 4.4 and 3.1 ms, the scan 1.4, 3.0 and 1.6.
TEST_CASE("a host that opens blocks in rounds writes an entry of each row") {
  for (const double times : {1.0, 4.0}) {
    const auto on = slowed_host(times, 1);
    for (const auto type : {key_type::float32, key_type::float64, key_type::int32}) {
      auto asked = problem(20, 1024, 8, 6);
      asked.type = type;
      CHECK(decide(asked, on).strategy == "scan");
      asked.share_eighths = 26;  // independent columns: .6, .6 and .4 ms
      CHECK(decide(asked, on).strategy == "blocks");
    }
  }
}

TEST_CASE("a threshold table opens blocks where they are few") {
  for (int log_count = 20; log_count <= 26; log_count += 2) {
    for (const std::uint64_t columns : {2, 4, 8}) {
      for (const std::uint64_t k : {1, 16, 256}) {
        INFO("2^" << log_count << " rows, " << columns << " columns, k = " << k);
        CHECK(chosen(problem(log_count, k, columns, 48)) == "blocks");  // a 64th of the rows
      }
    }
  }
}

TEST_CASE("each column of a threshold table over the link begins as a short copy") {
  auto on = *fixture("server-h200.json").find("cuda");
  on.host_to_device = 50e9;
  on.rates["link.short_copy"] = 1e-10;
  for (const auto* const strategy : {"scan", "blocks"}) {
    INFO(strategy);
    auto asked = problem(19, 16, 6, 48);
    const double over_link = seconds(threshold_table_cost(strategy, asked, on), on);
    asked.space = memory_space::device;
    const double there = seconds(threshold_table_cost(strategy, asked, on), on);
    // six columns, the ids and the positions, of which one copy would have 4 MiB at this speed
    const double copies = 8 * double{1 << 21} * 1e-10;
    CHECK(over_link > there + copies);
    CHECK(over_link < there + copies + 150e-6);
  }
}

TEST_CASE("queries of a table in a GPU's memory are predicted as measured") {
  auto on = *fixture("server-h200.json").find("cuda");
  on.rates.clear();
  struct measurement {
    int log_count;
    std::uint64_t k;
    std::uint64_t columns;
    double share;  // of the rows, that "blocks" evaluates
    double blocks;
    double scan;
    double gta_shared;
  };
  // microseconds, on an H200 at 31672e9
  for (const auto& one : {measurement{18, 16, 1, .043, 30, 48, 187},
                          {18, 16, 8, .039, 32, 59, 239},
                          {18, 16, 4, .114, 33, 56, 164},
                          {22, 16, 4, .0054, 31, 78, 168},
                          {22, 16, 8, .33, 62, 92, 514},
                          {22, 128, 4, .0077, 45, 83, 261},
                          {22, 256, 2, .0038, 160, 75, 316},
                          {26, 1, 8, .049, 110, 544, 4092},
                          {26, 128, 2, .0087, 80, 195, 1055},
                          {28, 16, 4, .00073, 42, 1055, 442},
                          {28, 16, 8, .00024, 41, 2013, 345}}) {
    INFO("2^" << one.log_count << " rows, " << one.columns << " columns, k = " << one.k);
    auto asked =
        problem(one.log_count, one.k, one.columns, static_cast<std::uint32_t>(std::lround(-8 * std::log2(one.share))));
    asked.space = memory_space::device;
    const auto check = [&](const char* strategy, double measured) {
      INFO(strategy);
      const double predicted = seconds(threshold_table_cost(strategy, asked, on), on) * 1e6;
      CHECK(predicted < 1.8 * measured);
      CHECK(predicted > measured / 1.8);
    };
    check("blocks", one.blocks);
    check("scan", one.scan);
    check("gta_shared", one.gta_shared);
    const std::string fastest = one.blocks < one.scan ? "blocks" : "scan";
    auto devices = std::vector{on};
    for (const auto* const strategy : {"blocks", "scan", "gta", "gta_shared", "full", "ta"}) {
      devices.front().offers.push_back(std::string{threshold_table_call::operation} + "/" + strategy);
    }
    CHECK(decide(asked, machine(std::move(devices))).strategy == fastest);
  }
}

TEST_CASE("a host opens the blocks of a small threshold table, or scans it, in few microseconds") {
  const auto here = host();
  for (const auto* const strategy : {"blocks", "scan"}) {
    INFO(strategy);
    CHECK(seconds(threshold_table_cost(strategy, problem(10, 1, 2, 24), here.devices().front()),
                  here.devices().front()) < 12e-6);
    CHECK(seconds(threshold_table_cost(strategy, problem(10, 512, 2, 24), here.devices().front()),
                  here.devices().front()) < 30e-6);
  }
}

TEST_CASE("what several workers hold of a threshold table's scan comes to one of them, line by line") {
  auto on = host().devices().front();
  on.rates.clear();
  on.cores = 16;
  const auto keeping = [&](int log_count, std::uint64_t k) {
    for (const auto& one : threshold_table_cost("scan", problem(log_count, k, 4, 0), on).phases) {
      if (one.name == "keep") return seconds(one, on);
    }
    FAIL("no phase is called keep");
    return 0.0;
  };
  // one worker, then sixteen with 2048 rows each
  const double alone = keeping(14, 2048);
  CHECK(keeping(20, 2048) > alone + 16 * 2048 * 2e-9);
  CHECK(keeping(20, 16) < 20e-6);
}

TEST_CASE("rows of a small threshold table are taken where no sample says what the threshold is") {
  auto on = host().devices().front();
  on.rates.clear();
  const auto scan = [&](int log_count) {
    return seconds(threshold_table_cost("scan", problem(log_count, 1, 1, 0), on), on);
  };
  CHECK(scan(10) > scan(6) + 2e-6);  // some 960 rows more
  // a sort of the k best is a host's last step, on any backend
  const auto full = [&](std::uint64_t k) {
    auto serial = on;
    serial.grain_bytes = 0;
    return seconds(threshold_table_cost("full", problem(12, k, 2, 0), serial), serial);
  };
  CHECK(full(2048) > full(1) + 20e-6);
}

TEST_CASE("16 threads of a host open many blocks faster than they scan") {
  const auto all = *fixture("server-h200.json").find("cpu");
  // 2^24 anticorrelated rows, k = 16, of which "blocks" evaluates 6.6 %; fd120d1, an H100's host
  const auto asked = problem(24, 16, 8, 31);
  const auto of = [&](const char* strategy, int threads) {
    return seconds(threshold_table_cost(strategy, asked, all.with_threads(threads)), all.with_threads(threads));
  };
  struct measurement {
    int threads;
    double seconds;
  };
  for (const auto& one : {measurement{4, 2.16e-3}, {16, 1.38e-3}}) {
    INFO(one.threads << " threads");
    CHECK(of("blocks", one.threads) < 1.5 * one.seconds);
    CHECK(of("blocks", one.threads) > one.seconds / 1.5);
    CHECK(of("blocks", one.threads) < of("scan", one.threads));
    CHECK(of("blocks", one.threads) < of("gta_shared", one.threads));
  }
}

TEST_CASE("a core opens blocks by falling bound in about the time that was measured") {
  auto on = fixture("emerald-rapids-2-cores.json").find("cpu")->with_threads(1);
  on.rates = {{"core.own_levels", 2}, {"core.vector", 1.93}};
  struct measurement {
    int log_count;
    std::uint64_t columns;
    std::uint64_t k;
    double rows;  // that were evaluated
    double microseconds;
  };
  // a core of Zen 5, standard points of 8 columns, one query again and again
  for (const auto& one : {measurement{22, 2, 16, 42788, 74},
                          {22, 2, 64, 105928, 133},
                          {22, 2, 256, 209576, 354},
                          {22, 4, 64, 17154, 51},
                          {22, 8, 256, 30650, 111},
                          {22, 2, 256, 183033, 273},
                          {22, 4, 16, 152186, 204},
                          {22, 4, 256, 246457, 405},
                          {22, 4, 16, 887, 9.8},
                          {22, 2, 256, 12820, 41},
                          {24, 2, 64, 183775, 307},
                          {24, 4, 256, 42192, 160},
                          {24, 4, 64, 372888, 716}}) {
    INFO("2^" << one.log_count << " rows, " << one.columns << " columns, k = " << one.k << ", " << one.rows
              << " evaluated");
    const double share = one.rows / std::exp2(one.log_count);
    const auto asked =
        problem(one.log_count, one.k, one.columns, static_cast<std::uint32_t>(std::lround(-8 * std::log2(share))));
    const double predicted = seconds(threshold_table_cost("blocks", asked, on), on) * 1e6;
    CHECK(predicted < 1.6 * one.microseconds);
    CHECK(predicted > one.microseconds / 1.6);
  }
}

// 2^22 rows, two columns, k = 256, an H100's host: "blocks" takes 400 us, and the scan by 16 threads 180.
TEST_CASE("16 threads scan where one opens many blocks") {
  const auto on = [](int threads) {
    auto some = fixture("server-h200.json").find("cpu")->with_threads(threads);
    for (const auto* const strategy : {"blocks", "scan", "gta", "gta_shared", "full", "ta"}) {
      some.offers.push_back(std::string{threshold_table_call::operation} + "/" + strategy);
    }
    return machine({some});
  };
  for (const std::uint32_t share_eighths : {35, 38, 40}) {  // 4.8, 3.7 and 3.1 % of the rows
    INFO(share_eighths << " eighths");
    const auto asked = problem(22, 256, 2, share_eighths);
    CHECK(decide(asked, on(1)).strategy == "blocks");
    CHECK(decide(asked, on(4)).strategy == "blocks");
    CHECK(decide(asked, on(16)).strategy == "scan");
  }
  // few blocks, or columns that take longer to scan
  CHECK(decide(problem(22, 16, 2, 60), on(16)).strategy == "blocks");
  CHECK(decide(problem(22, 256, 4, 54), on(16)).strategy == "blocks");
  CHECK(decide(problem(22, 256, 8, 52), on(16)).strategy == "blocks");
}

// Of 2^24 rows, k = 256, an H100's host evaluates with 1, 4 and 16 threads 2.9 % in 1141, 1267 and 1116 us (four
// columns), and 11 % in 13056, 2857 and 2094 us (eight).
TEST_CASE("threads that keep many rows hardly gain unless they evaluate many more") {
  const auto all = *fixture("server-h200.json").find("cpu");
  const auto of = [&](std::uint64_t columns, std::uint32_t share_eighths, int threads) {
    const auto on = all.with_threads(threads);
    return seconds(threshold_table_cost("blocks", problem(24, 256, columns, share_eighths), on), on);
  };
  for (const int threads : {4, 16}) {
    INFO(threads << " threads");
    CHECK(of(4, 41, threads) > 0.7 * of(4, 41, 1));
    CHECK(of(4, 41, threads) < 1.4 * of(4, 41, 1));
    CHECK(of(8, 26, threads) < 0.4 * of(8, 26, 1));
  }
}
