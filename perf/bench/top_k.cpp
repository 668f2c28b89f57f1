// Top-k of 2^26 floats with keys and indices, on one thread and on all: time, the floor of one read measured next to
// it, and the ratio of the two. The peers work on keys alone, destroy their input, and are not charged for the copy.
//
//   zenith-bench-top-k [--benchmark_filter=filter/uniform] …    ZENITH_BENCH_COUNT=1048576 for another count

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <perf/bench/beside_floor.hpp>
#include <perf/study/distribution.hpp>
#include <zenith/zenith.hpp>

#if defined(ZENITH_HAS_HWY)
#include <hwy/contrib/sort/vqsort.h>
#endif

namespace {

using zenith_bench::all_threads;
using zenith_bench::measure_beside_floor;
using zenith_bench::seconds_of;
using zenith_study::distribution;

std::size_t item_count() {
  const char* asked = std::getenv("ZENITH_BENCH_COUNT");
  return asked == nullptr ? std::size_t{1} << 26 : std::strtoull(asked, nullptr, 10);
}

const std::vector<float>& keys_of(distribution of) {
  static std::map<distribution, std::vector<float>> made;
  if (!made.contains(of)) {
    made.clear();  // one at a time: they are large
    made[of] = zenith_study::generate<float>(of, item_count(), 1, all_threads());
  }
  return made[of];
}

void run_strategy(benchmark::State& state, const char* strategy, distribution of, std::size_t k, int threads) {
  const auto& keys = keys_of(of);
  if (k > keys.size()) return state.SkipWithError("k is larger than the count");
  const auto ex = zenith::cpu({.threads = threads});
  std::vector<float> out_keys(k);
  std::vector<std::uint32_t> out_indices(k);
  measure_beside_floor(state, std::as_bytes(std::span(keys)), threads, [&] {
    return seconds_of([&] { zenith::top_k(ex, keys, out_keys, out_indices, {.strategy = strategy}); });
  });
}

using peer_function = void (*)(std::vector<float>& keys, std::size_t k);

void partial_sort(std::vector<float>& keys, std::size_t k) {
  std::partial_sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(k), keys.end(), std::greater<>{});
}

void nth_element(std::vector<float>& keys, std::size_t k) {
  const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(k);
  std::nth_element(keys.begin(), middle - 1, keys.end(), std::greater<>{});
  std::sort(keys.begin(), middle, std::greater<>{});
}

#if defined(ZENITH_HAS_HWY)
void vqsort(std::vector<float>& keys, std::size_t) { hwy::Sorter()(keys.data(), keys.size(), hwy::SortDescending()); }
#endif

void run_peer(benchmark::State& state, peer_function peer, distribution of, std::size_t k) {
  const auto& keys = keys_of(of);
  if (k > keys.size()) return state.SkipWithError("k is larger than the count");
  std::vector<float> copy;
  measure_beside_floor(state, std::as_bytes(std::span(keys)), 1, [&] {
    copy = keys;
    return seconds_of([&] { peer(copy, k); });
  });
}

void add_all() {
  std::vector<int> thread_counts{1};
  if (all_threads() > 1) thread_counts.push_back(all_threads());
  for (const auto of : {distribution::uniform, distribution::normal, distribution::ascending, distribution::descending,
                        distribution::all_equal, distribution::bucket_killer}) {
    const std::string data{zenith_study::to_string(of)};
    for (const std::size_t k : {1, 16, 1024, 65536}) {
      const auto add = [&](const std::string& name, auto run, int iterations) {
        const auto full = name + "/" + data + "/k:" + std::to_string(k);
        benchmark::RegisterBenchmark(full.c_str(), run)
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond)
            ->Iterations(iterations);
      };
      for (const int threads : thread_counts) {
        const auto with = "/threads:" + std::to_string(threads);
        add(
            "filter" + with, [=](auto& state) { run_strategy(state, "filter", of, k, threads); }, 15);
        if (k <= 128) {
          add(
              "bitonic" + with, [=](auto& state) { run_strategy(state, "bitonic", of, k, threads); }, 3);
        }
      }
      add(
          "std::partial_sort", [=](auto& state) { run_peer(state, partial_sort, of, k); }, 2);
      add(
          "std::nth_element", [=](auto& state) { run_peer(state, nth_element, of, k); }, 2);
#if defined(ZENITH_HAS_HWY)
      add(
          "VQSort", [=](auto& state) { run_peer(state, vqsort, of, k); }, 2);
#endif
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
