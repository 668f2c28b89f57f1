/// \file
/// Calls from several threads of the host, on streams of their own and on one that they share, streams that end while
/// their work is under way, and more streams than keep scratch: every result is the processor's.

#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include <zenith/array.hpp>
#include <zenith/cuda.hpp>
#include <zenith/error.hpp>
#include <zenith/executor.hpp>
#include <zenith/top_k.hpp>

namespace {

constexpr std::size_t most_k = 1024;

struct input {
  explicit input(std::uint64_t seed) : values(std::size_t{1} << 18) {
    std::mt19937_64 random(seed);
    for (auto& value : values) value = static_cast<float>(random() >> 40);
    best = zenith::top_k(zenith::make_executor("cpu"), values, most_k);
    there = zenith::array<float>(zenith::cuda(), std::span<const float>(values));
  }

  std::vector<float> values;
  zenith::top_k_result<float> best;
  zenith::array<float> there;
};

// Calls behind each other on one stream, none waited for before the last.
int count_wrong(const input& of, const zenith::executor& on, int calls) {
  std::vector<zenith::array<float>> keys;
  std::vector<zenith::array<std::uint32_t>> indices;
  for (int i = 0; i < calls; ++i) {
    const std::size_t k = i % 3 == 0 ? 1 : i % 3 == 1 ? 50 : most_k;
    keys.emplace_back(on, k);
    indices.emplace_back(on, k);
  }
  for (int i = 0; i < calls; ++i) {
    const auto at = static_cast<std::size_t>(i);
    zenith::top_k(on, zenith::device_span<const float>(of.there.device()), keys[at].device(), indices[at].device());
  }
  on.synchronize();
  int wrong = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::vector<float> got(keys[i].size());
    std::vector<std::uint32_t> where(got.size());
    keys[i].copy_to(std::span(got));
    indices[i].copy_to(std::span(where));
    for (std::size_t j = 0; j < got.size(); ++j) {
      if (got[j] == of.best.keys[j] && where[j] == of.best.indices[j]) continue;
      ++wrong;
      break;
    }
  }
  return wrong;
}

struct own_stream {
  own_stream() { (void)cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); }
  own_stream(const own_stream&) = delete;
  own_stream& operator=(const own_stream&) = delete;
  ~own_stream() { (void)cudaStreamDestroy(stream); }
  cudaStream_t stream = nullptr;
};

// Each stream ends with its last call under way, and the next may have its handle.
int count_wrong_of_short_streams(const input& of, int streams) {
  const zenith::array<float> keys(zenith::cuda(), most_k * static_cast<std::size_t>(streams));
  zenith::array<float> out(zenith::cuda(), keys.size());
  zenith::array<std::uint32_t> where(zenith::cuda(), keys.size());
  zenith::cuda().synchronize();
  for (int i = 0; i < streams; ++i) {
    const own_stream on;
    const auto first = static_cast<std::size_t>(i) * most_k;
    zenith::top_k(zenith::cuda(0, on.stream), zenith::device_span<const float>(of.there.device()),
                  out.device().subspan(first, most_k), where.device().subspan(first, most_k));
  }
  (void)cudaDeviceSynchronize();
  std::vector<float> got(out.size());
  out.copy_to(std::span(got));
  int wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] == of.best.keys[i % most_k] ? 0 : 1;
  return wrong;
}

}  // namespace

int main() {
  try {
    static_cast<void>(zenith::cuda());
  } catch (const zenith::error& why) {
    std::printf("zenith: skipped: %s\n", why.what());
    return 0;
  }
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  constexpr std::size_t callers = 6;
  std::vector<int> wrong(callers);
  {
    const own_stream shared;
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < callers; ++i) {
      threads.emplace_back([&, i] {
        const input of(seed + i);
        const own_stream own;
        // the last two share one, and the first has the default stream
        auto* const stream = i + 2 >= callers ? shared.stream : i == 0 ? nullptr : own.stream;
        wrong[i] = count_wrong(of, zenith::cuda(0, stream), 60);
      });
    }
  }
  int all = 0;
  for (const int one : wrong) all += one;
  std::printf("wrong calls of %zu threads: %d\n", callers, all);
  const int of_short = count_wrong_of_short_streams(input(seed), 150);
  std::printf("wrong keys of streams that end early: %d\n", of_short);
  return all + of_short == 0 ? 0 : 1;
}
