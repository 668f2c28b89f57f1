#include <perf/study/floor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>

#include <perf/study/statistics.hpp>

namespace zenith_study {
namespace {

// The loop is the same for every instruction set: the compiler makes it a SIMD maximum of the width that its target
// has.
#define ZENITH_STUDY_MAXIMUM(name, ...)                                      \
  __VA_ARGS__ std::uint32_t name(const std::uint32_t* from, std::size_t n) { \
    std::uint32_t best = 0;                                                  \
    for (std::size_t i = 0; i < n; ++i) best = std::max(best, from[i]);      \
    return best;                                                             \
  }

ZENITH_STUDY_MAXIMUM(maximum_baseline)
#if defined(__x86_64__)
ZENITH_STUDY_MAXIMUM(maximum_avx2, __attribute__((target("avx2"))))
ZENITH_STUDY_MAXIMUM(maximum_avx512, __attribute__((target("avx512f,prefer-vector-width=512"))))
#endif
#undef ZENITH_STUDY_MAXIMUM

struct reader {
  const char* isa;
  std::uint32_t (*maximum)(const std::uint32_t*, std::size_t);
};

std::vector<reader> usable_readers() {
  std::vector<reader> all{{"baseline", maximum_baseline}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) all.push_back({"avx2", maximum_avx2});
  if (__builtin_cpu_supports("avx512f") != 0) all.push_back({"avx512", maximum_avx512});
#endif
  return all;
}

// The workers wait at a barrier, so that no thread is started on the clock.
std::vector<double> time_reads(std::span<const std::uint32_t> data, const reader& by, int threads, int repeat) {
  const auto workers = static_cast<std::size_t>(threads);
  std::atomic<std::uint32_t> seen{0};
  std::vector<double> times;
  std::barrier gate(threads);
  const auto work = [&](std::size_t worker) {
    const std::size_t first = data.size() / workers * worker;
    const std::size_t last = worker + 1 == workers ? data.size() : data.size() / workers * (worker + 1);
    for (int round = 0; round < repeat; ++round) {
      gate.arrive_and_wait();
      const auto start = std::chrono::steady_clock::now();
      seen += by.maximum(data.data() + first, last - first);
      gate.arrive_and_wait();
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      if (worker == 0) times.push_back(taken.count());
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t worker = 1; worker < workers; ++worker) others.emplace_back(work, worker);
    work(0);
  }
  return times;
}

}  // namespace

read_floor measure_read_floor(std::span<const std::byte> data, int threads, int repeat) {
  const std::span words{reinterpret_cast<const std::uint32_t*>(data.data()), data.size() / sizeof(std::uint32_t)};
  read_floor best;
  double fastest = std::numeric_limits<double>::infinity();
  for (const auto& by : usable_readers()) {
    for (const int workers : {1, threads}) {
      if (workers == 1 && threads > 1 && data.size() > (std::size_t{1} << 24)) continue;
      auto times = time_reads(words, by, workers, repeat);
      const double time = median(times);
      if (time >= fastest) continue;
      fastest = time;
      best = {std::move(times), fmt::format("{}, {} thread{}", by.isa, workers, workers == 1 ? "" : "s")};
    }
  }
  return best;
}

}  // namespace zenith_study
