// Queries of a threshold table of 2^22 rows and 8 columns of floats, beside the fused scan of the columns without a
// table (scored top-k, "scan") in the same run: the k best rows by the sum of the first m columns.
//
//   zenith-bench-threshold-table [--benchmark_filter=blocks/independent] …   ZENITH_BENCH_COUNT=1048576 for another
//   count
//
// Data after Börzsönyi, Kossmann, Stocker, ICDE 2001: rows near the diagonal ("correlated"), rows near a plane across
// it
// ("anticorrelated"), or columns that know nothing of each other ("independent").

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <perf/bench/beside_floor.hpp>
#include <zenith/zenith.hpp>

namespace {

using zenith_bench::seconds_of;

constexpr std::size_t column_count = 8;
using row = std::array<float, column_count>;

std::size_t row_count() {
  const char* asked = std::getenv("ZENITH_BENCH_COUNT");
  return asked == nullptr ? std::size_t{1} << 22 : std::strtoull(asked, nullptr, 10);
}

bool is_in_cube(const row& values) {
  return std::ranges::all_of(values, [](float x) { return x >= 0 && x <= 1; });
}

row draw_row(const std::string& kind, std::mt19937_64& random) {
  std::uniform_real_distribution<float> uniform;
  std::normal_distribution<float> normal;
  row values{};
  do {
    if (kind == "correlated") {
      const float middle = 0.5F + 0.175F * normal(random);
      for (auto& x : values) x = middle + 0.05F * normal(random);
    } else {
      for (auto& x : values) x = uniform(random);
    }
    if (kind == "anticorrelated") {
      float sum = 0;
      for (const float x : values) sum += x;
      const float shift = 0.5F + 0.05F * normal(random) - sum / column_count;
      for (auto& x : values) x += shift;
    }
  } while (!is_in_cube(values));
  return values;
}

struct data {
  std::vector<std::vector<float>> values;
  zenith::column_set<float> columns;
  zenith::threshold_table<float> table;
  double build_seconds = 0;

  explicit data(const std::string& kind) : values(column_count, std::vector<float>(row_count())) {
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < row_count(); ++i) {
      const row one = draw_row(kind, random);
      for (std::size_t j = 0; j < column_count; ++j) values[j][i] = one[j];
    }
    for (const auto& column : values) columns.add(column);
    build_seconds = seconds_of([&] { table = zenith::threshold_table<float>::build(columns); });
  }
};

const data& data_of(const std::string& kind) {
  static std::map<std::string, data> made;
  const auto found = made.find(kind);
  return found != made.end() ? found->second : made.emplace(kind, data(kind)).first->second;
}

void run_query(benchmark::State& state, const std::string& strategy, const std::string& kind, std::size_t columns,
               std::size_t k, const std::string& on) {
  const auto& of = data_of(kind);
  const auto ex = zenith::make_executor(on);
  std::vector<float> weights(column_count);
  std::fill_n(weights.begin(), columns, 1.0F);
  std::vector<float> scores(k);
  std::vector<std::uint32_t> rows(k);
  double scan = std::numeric_limits<double>::infinity();
  double best = scan;
  for (auto _ : state) {
    scan =
        std::min(scan, seconds_of([&] { zenith::top_k(ex, of.columns, weights, scores, rows, {.strategy = "scan"}); }));
    const double taken =
        seconds_of([&] { zenith::top_k(ex, of.table, weights, scores, rows, {.strategy = strategy}); });
    best = std::min(best, taken);
    state.SetIterationTime(taken);
  }
  zenith::threshold_statistics seen;
  zenith::top_k(ex, of.table, weights, scores, rows, {.strategy = strategy, .statistics = &seen});
  const auto share = [&](std::uint64_t count) {
    return 100 * static_cast<double>(count) / static_cast<double>(row_count());
  };
  state.counters["scan_ms"] = scan * 1e3;
  state.counters["best_ms"] = best * 1e3;
  state.counters["times_faster"] = scan / best;
  state.counters["rows_percent"] = share(seen.rows_evaluated);
  state.counters["bounds_percent"] = share(seen.bounds_evaluated);
  state.counters["build_s"] = of.build_seconds;
}

void add_all() {
  std::vector<std::string> executors{"cpu:threads=1"};
  if (zenith_bench::all_threads() > 1)
    executors.push_back("cpu:threads=" + std::to_string(zenith_bench::all_threads()));
  for (const auto& on : executors) {
    for (const std::string kind : {"correlated", "independent", "anticorrelated"}) {
      for (const std::size_t columns : {2, 4, 8}) {
        for (const std::size_t k : {4, 16, 256}) {
          for (const std::string strategy : {"blocks", "gta_shared", "scan", "auto"}) {
            const auto name =
                strategy + "/" + kind + "/columns:" + std::to_string(columns) + "/k:" + std::to_string(k) + "/" + on;
            benchmark::RegisterBenchmark(name.c_str(),
                                         [=](auto& state) { run_query(state, strategy, kind, columns, k, on); })
                ->UseManualTime()
                ->Unit(benchmark::kMillisecond)
                ->Iterations(9);
          }
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
