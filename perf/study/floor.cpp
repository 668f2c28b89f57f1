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

// Sixteen running maxima, one cache line of words: the compiler keeps them in SIMD registers of the width that its
// target has. Asking for the line a page ahead gets a core more of the memory's bandwidth than the prefetcher of the
// hardware, which stops at a page's end.
constexpr std::size_t line = 16;
constexpr std::size_t page = 1024;

#define ZENITH_STUDY_MAXIMUM(name, ...)                                                                  \
  template <bool asks_ahead>                                                                             \
  __VA_ARGS__ std::uint32_t name(const std::uint32_t* from, std::size_t n) {                             \
    std::uint32_t best[line] = {};                                                                       \
    std::size_t i = 0;                                                                                   \
    for (; i + line <= n; i += line) {                                                                   \
      if constexpr (asks_ahead) __builtin_prefetch(from + std::min(i + page, n));                        \
      for (std::size_t lane = 0; lane < line; ++lane) best[lane] = std::max(best[lane], from[i + lane]); \
    }                                                                                                    \
    for (; i < n; ++i) best[0] = std::max(best[0], from[i]);                                             \
    return *std::max_element(best, best + line);                                                         \
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
  std::vector<reader> all{{"baseline", maximum_baseline<false>}, {"baseline, prefetched", maximum_baseline<true>}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) {
    all.push_back({"avx2", maximum_avx2<false>});
    all.push_back({"avx2, prefetched", maximum_avx2<true>});
  }
  if (__builtin_cpu_supports("avx512f") != 0) {
    all.push_back({"avx512", maximum_avx512<false>});
    all.push_back({"avx512, prefetched", maximum_avx512<true>});
  }
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

std::span<const std::uint32_t> as_words(std::span<const std::byte> data) {
  return {reinterpret_cast<const std::uint32_t*>(data.data()), data.size() / sizeof(std::uint32_t)};
}

}  // namespace

read_floor measure_read_floor(std::span<const std::byte> data, int threads, int repeat) {
  constexpr std::size_t worth_all_threads = std::size_t{1} << 24;
  const auto readers = usable_readers();
  read_floor best;
  double fastest = std::numeric_limits<double>::infinity();
  for (std::size_t reader = 0; reader < readers.size(); ++reader) {
    for (const int workers : {1, threads}) {
      if (workers < threads && data.size() > worth_all_threads) continue;
      auto times = time_reads(as_words(data), readers[reader], workers, repeat);
      const double time = median(times);
      if (time >= fastest) continue;
      fastest = time;
      best = {std::move(times), fmt::format("{}, {} thread{}", readers[reader].isa, workers, workers == 1 ? "" : "s"),
              reader, workers};
    }
  }
  return best;
}

void measure_again(read_floor& floor, std::span<const std::byte> data, int repeat) {
  const auto times = time_reads(as_words(data), usable_readers()[floor.reader], floor.threads, repeat);
  floor.seconds.insert(floor.seconds.end(), times.begin(), times.end());
}

}  // namespace zenith_study
