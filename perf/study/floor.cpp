#include <perf/study/floor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <perf/study/clock.hpp>

namespace zenith_study {
namespace {

// A line of memory at a time is added to accumulators in vector types: GCC 12 keeps a loop over the lanes of an array
// scalar, and such a loop adds a word a cycle. How far ahead it pays to ask depends on the machine: the prefetcher of
// the hardware stops at a page's end. Four streams keep more pages open.
constexpr std::size_t line = 16;
constexpr std::size_t page = 1024;

template <std::size_t Bytes>
struct words_of {
  using type [[gnu::vector_size(Bytes), gnu::aligned(4), gnu::may_alias]] = std::uint32_t;
};

#define ZENITH_STUDY_SUM(name, bytes, ...)                                                             \
  template <std::size_t Ahead, std::size_t Streams>                                                    \
  __VA_ARGS__ std::uint32_t name(const std::uint32_t* from, std::size_t n) {                           \
    using words = words_of<bytes>::type;                                                               \
    constexpr std::size_t of_line = line * sizeof(std::uint32_t) / (bytes);                            \
    words sums[Streams][of_line] = {};                                                                 \
    const std::size_t each = n / (Streams * line) * line;                                              \
    for (std::size_t i = 0; i < each; i += line) {                                                     \
      for (std::size_t s = 0; s < Streams; ++s) {                                                      \
        const std::uint32_t* const at = from + s * each + i;                                           \
        if constexpr (Ahead > 0) __builtin_prefetch(at + Ahead);                                       \
        for (std::size_t v = 0; v < of_line; ++v) sums[s][v] += reinterpret_cast<const words*>(at)[v]; \
      }                                                                                                \
    }                                                                                                  \
    std::uint32_t all = 0;                                                                             \
    for (std::size_t i = Streams * each; i < n; ++i) all += from[i];                                   \
    for (auto& of_stream : sums) {                                                                     \
      for (auto& of_vector : of_stream) {                                                              \
        for (std::size_t lane = 0; lane < line / of_line; ++lane) all += of_vector[lane];              \
      }                                                                                                \
    }                                                                                                  \
    return all;                                                                                        \
  }

ZENITH_STUDY_SUM(sum_baseline, 16)
#if defined(__x86_64__)
ZENITH_STUDY_SUM(sum_avx2, 32, __attribute__((target("avx2"))))
ZENITH_STUDY_SUM(sum_avx512, 64, __attribute__((target("avx512f"))))
#endif
#undef ZENITH_STUDY_SUM

struct reader {
  std::string how;
  std::uint32_t (*sum)(const std::uint32_t*, std::size_t);
};

#define ZENITH_STUDY_READERS(all, isa, sum)                  \
  all.push_back({isa, sum<0, 1>});                           \
  all.push_back({isa ", prefetched", sum<page, 1>});         \
  all.push_back({isa ", prefetched far", sum<4 * page, 1>}); \
  all.push_back({isa ", four streams", sum<0, 4>});          \
  all.push_back({isa ", four streams, prefetched", sum<page, 4>})

std::vector<reader> usable_readers() {
  std::vector<reader> all;
  ZENITH_STUDY_READERS(all, "baseline", sum_baseline);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) {
    ZENITH_STUDY_READERS(all, "avx2", sum_avx2);
  }
  if (__builtin_cpu_supports("avx512f") != 0) {
    ZENITH_STUDY_READERS(all, "avx512", sum_avx512);
  }
#endif
  return all;
}
#undef ZENITH_STUDY_READERS

struct timed_reads {
  std::vector<double> times;
  std::uint32_t sum = 0;  // of all words, `repeat` times
};

// The workers wait at a barrier, so that no thread is started on the clock.
timed_reads time_reads(std::span<const std::uint32_t> data, const reader& by, int threads, int repeat) {
  const auto workers = static_cast<std::size_t>(threads);
  std::atomic<std::uint32_t> sum{0};
  std::vector<double> times;
  std::barrier gate(threads);
  const auto work = [&](std::size_t worker) {
    const std::size_t first = data.size() / workers * worker;
    const std::size_t last = worker + 1 == workers ? data.size() : data.size() / workers * (worker + 1);
    for (int round = 0; round < repeat; ++round) {
      gate.arrive_and_wait();
      const auto start = std::chrono::steady_clock::now();
      sum += by.sum(data.data() + first, last - first);
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
  return {std::move(times), sum};
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
  std::optional<std::uint32_t> sum;
  for (std::size_t reader = 0; reader < readers.size(); ++reader) {
    for (const int workers : {1, threads}) {
      if (workers < threads && data.size() > worth_all_threads) continue;
      auto [times, found] = time_reads(as_words(data), readers[reader], workers, repeat);
      if (sum.value_or(found) != found) throw std::logic_error("not every loop reads all words once");
      sum = found;
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
  const auto times = time_reads(as_words(data), usable_readers()[floor.reader], floor.threads, repeat).times;
  floor.seconds.insert(floor.seconds.end(), times.begin(), times.end());
}

}  // namespace zenith_study
