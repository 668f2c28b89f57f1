#include <perf/study/floor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>

#include <perf/study/clock.hpp>

namespace zenith_study {
namespace {

// Sixteen running maxima, one cache line of words: the compiler keeps them in SIMD registers of the width that its
// target has. How far ahead it pays to ask depends on the machine: the prefetcher of the hardware stops at a page's
// end. Four lines of one stream at a time keep more loads in flight; four streams keep more pages open.
constexpr std::size_t line = 16;
constexpr std::size_t page = 1024;

#define ZENITH_STUDY_MAXIMUM(name, ...)                                                    \
  template <std::size_t Ahead, std::size_t Streams>                                        \
  __VA_ARGS__ std::uint32_t name(const std::uint32_t* from, std::size_t n) {               \
    std::uint32_t best[Streams * line] = {};                                               \
    const std::size_t each = n / (Streams * line) * line;                                  \
    for (std::size_t i = 0; i < each; i += line) {                                         \
      for (std::size_t s = 0; s < Streams; ++s) {                                          \
        const std::uint32_t* const at = from + s * each + i;                               \
        if constexpr (Ahead > 0) __builtin_prefetch(at + Ahead);                           \
        for (std::size_t lane = 0; lane < line; ++lane) {                                  \
          best[s * line + lane] = std::max(best[s * line + lane], at[lane]);               \
        }                                                                                  \
      }                                                                                    \
    }                                                                                      \
    for (std::size_t i = Streams * each; i < n; ++i) best[0] = std::max(best[0], from[i]); \
    return *std::max_element(best, best + Streams * line);                                 \
  }

ZENITH_STUDY_MAXIMUM(maximum_baseline)
#if defined(__x86_64__)
ZENITH_STUDY_MAXIMUM(maximum_avx2, __attribute__((target("avx2"))))
ZENITH_STUDY_MAXIMUM(maximum_avx512, __attribute__((target("avx512f,prefer-vector-width=512"))))
#endif
#undef ZENITH_STUDY_MAXIMUM

struct reader {
  std::string how;
  std::uint32_t (*maximum)(const std::uint32_t*, std::size_t);
};

#define ZENITH_STUDY_READERS(all, isa, maximum)                  \
  all.push_back({isa, maximum<0, 1>});                           \
  all.push_back({isa ", prefetched", maximum<page, 1>});         \
  all.push_back({isa ", prefetched far", maximum<4 * page, 1>}); \
  all.push_back({isa ", four streams", maximum<0, 4>});          \
  all.push_back({isa ", four streams, prefetched", maximum<page, 4>})

std::vector<reader> usable_readers() {
  std::vector<reader> all;
  ZENITH_STUDY_READERS(all, "baseline", maximum_baseline);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) {
    ZENITH_STUDY_READERS(all, "avx2", maximum_avx2);
  }
  if (__builtin_cpu_supports("avx512f") != 0) {
    ZENITH_STUDY_READERS(all, "avx512", maximum_avx512);
  }
#endif
  return all;
}
#undef ZENITH_STUDY_READERS

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
      best = {std::move(times), fmt::format("{}, {} thread{}", readers[reader].how, workers, workers == 1 ? "" : "s"),
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
