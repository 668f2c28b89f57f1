#pragma once

/// \file
/// Timing a piece of work beside the floor of one read of its data, in one run.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <span>
#include <thread>

#include <perf/study/floor.hpp>

namespace zenith_bench {

inline int all_threads() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

inline double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// `work` returns its seconds. Floor and work take turns, so that a noisy neighbour meets both; the ratio is that of
/// the fastest of each.
inline void measure_beside_floor(benchmark::State& state, std::span<const std::byte> data, int threads,
                                 const std::function<double()>& work) {
  double floor = std::numeric_limits<double>::infinity();
  double fastest = floor;
  for (auto _ : state) {
    const auto read = zenith_study::measure_read_floor(data, threads, 1);
    floor = std::min(floor, std::ranges::min(read.seconds));
    const double taken = work();
    fastest = std::min(fastest, taken);
    state.SetIterationTime(taken);
  }
  state.counters["floor_ms"] = floor * 1e3;
  state.counters["best_ms"] = fastest * 1e3;
  state.counters["ratio"] = fastest / floor;
}

}  // namespace zenith_bench
