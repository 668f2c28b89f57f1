// Top-k of 2^24 rows by a weighted sum of columns of floats, beside the floor of one read of the columns. One column
// with weight 1 is plain top-k through the text that all backends share: beside it stands the strategy that is written
// for the CPU alone ("filter").
//
//   zenith-bench-scored-top-k [--benchmark_filter=scan/columns:4] …    ZENITH_BENCH_COUNT=1048576 for another count

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <perf/bench/beside_floor.hpp>
#include <zenith/zenith.hpp>

namespace {

using zenith_bench::all_threads;
using zenith_bench::measure_beside_floor;
using zenith_bench::seconds_of;

constexpr std::size_t most_columns = 8;

std::size_t row_count() {
  const char* asked = std::getenv("ZENITH_BENCH_COUNT");
  return asked == nullptr ? std::size_t{1} << 24 : std::strtoull(asked, nullptr, 10);
}

// One after the other in one piece of memory, so that the floor reads the same bytes.
const std::vector<float>& all_columns() {
  static const std::vector<float> values = [] {
    std::vector<float> made(row_count() * most_columns);
    std::mt19937 random(1);
    for (auto& value : made) value = std::uniform_real_distribution<float>{}(random);
    return made;
  }();
  return values;
}

std::span<const float> column(std::size_t j) { return std::span(all_columns()).subspan(j * row_count(), row_count()); }

void run_scored(benchmark::State& state, const std::string& strategy, std::size_t columns, std::size_t k,
                const std::string& on) {
  zenith::column_set<float> table;
  for (std::size_t j = 0; j < columns; ++j) table.add(column(j));
  std::vector<float> weights{1, 0.5F, -0.25F, 0.75F, -1, 0.125F, 0.3F, 2};
  weights.resize(columns);
  const auto ex = zenith::make_executor(on);
  std::vector<float> scores(k);
  std::vector<std::uint32_t> rows(k);
  measure_beside_floor(state, std::as_bytes(std::span(all_columns()).first(columns * row_count())), ex.threads(), [&] {
    return seconds_of([&] { zenith::top_k(ex, table, weights, scores, rows, {.strategy = strategy}); });
  });
}

void run_filter(benchmark::State& state, std::size_t k, const std::string& on) {
  const auto ex = zenith::make_executor(on);
  std::vector<float> keys(k);
  std::vector<std::uint32_t> rows(k);
  measure_beside_floor(state, std::as_bytes(column(0)), ex.threads(), [&] {
    return seconds_of([&] { zenith::top_k(ex, column(0), keys, rows, {.strategy = "filter"}); });
  });
}

template <class Run>
void add(const std::string& name, const Run& run) {
  benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(9);
}

void add_all() {
  std::vector<std::string> executors;
  for (const char* isa : {"avx512", "avx2"}) executors.push_back("cpu:threads=1,isa=" + std::string{isa});
  if (all_threads() > 1) executors.push_back("cpu:threads=" + std::to_string(all_threads()));
  for (const auto& on : executors) {
    for (const std::size_t k : {16, 1024}) {
      const auto with = "/k:" + std::to_string(k) + "/" + on;
      for (const std::size_t columns : {1, 2, 4, 8}) {
        for (const char* strategy : {"scan", "full"}) {
          add(strategy + ("/columns:" + std::to_string(columns)) + with,
              [=](auto& state) { run_scored(state, strategy, columns, k, on); });
        }
      }
      add("filter" + with, [=](auto& state) { run_filter(state, k, on); });
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
