#include <backends/cpu/measure.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <vector>

#include <backends/cpu/isa.hpp>
#include <backends/cpu/parallel.hpp>
#include <backends/cpu/profile.hpp>
#include <backends/cpu/scratch.hpp>

namespace zenith::cpu_backend {
namespace {

using clock = std::chrono::steady_clock;

template <class Function>
double seconds_of(const Function& run) {
  const auto begin = clock::now();
  run();
  return std::chrono::duration<double>(clock::now() - begin).count();
}

// The best of several: what disturbs a measurement only ever makes it slower.
template <class Function>
double best_seconds(const Function& run, int repeats) {
  double best = seconds_of(run);
  for (int i = 1; i < repeats; ++i) best = std::min(best, seconds_of(run));
  return best;
}

/// Bandwidths of all workers together over a working set that they share out.
class bandwidth_meter {
 public:
  bandwidth_meter(const execution& on, std::uint64_t most_bytes)
      : workers_(on.threads), isa_(find_isa(on.isa)), data_(scratch_resource(on), most_bytes) {
    // every worker touches its own share first, so that it lies near it
    run_workers(workers_, [&](int worker) {
      const auto [at, bytes] = share(worker, data_.size());
      std::memset(at, 1, bytes);
    });
  }

  [[nodiscard]] memory_level measure(std::string name, std::uint64_t bytes) {
    const double read = bandwidth(bytes, [&](std::byte* at, std::size_t size) {
      found_ += isa_.maximum(reinterpret_cast<const std::int32_t*>(at), size / sizeof(std::int32_t));
    });
    const double write = bandwidth(bytes, [](std::byte* at, std::size_t size) { std::memset(at, 2, size); });
    const double copy =
        bandwidth(bytes, [](std::byte* at, std::size_t size) { std::memcpy(at, at + size / 2, size / 2); });
    return {std::move(name), bytes, read, write, copy};
  }

 private:
  struct piece {
    std::byte* at;
    std::size_t bytes;
  };

  [[nodiscard]] piece share(int worker, std::size_t bytes) const {
    const auto each = bytes / static_cast<std::size_t>(workers_) / 64 * 64;
    return {data_.data() + static_cast<std::size_t>(worker) * each, each};
  }

  // Small working sets are passed over many times, so that the region's own time does not count.
  template <class Pass>
  double bandwidth(std::uint64_t bytes, const Pass& pass) {
    // of each worker, so that it takes longer than the region by far
    constexpr std::uint64_t moved_at_least = std::uint64_t{16} << 20;
    const auto passes = std::max<std::uint64_t>(1, moved_at_least * static_cast<std::uint64_t>(workers_) / bytes);
    constexpr int repeats = 4;
    const double time = best_seconds(
        [&] {
          run_workers(workers_, [&](int worker) {
            const auto [at, size] = share(worker, bytes);
            for (std::uint64_t i = 0; i < passes; ++i) pass(at, size);
          });
        },
        repeats);
    return static_cast<double>(bytes * passes) / std::max(time, 1e-9);
  }

  int workers_;
  const isa_table& isa_;
  scratch<std::byte> data_;
  std::atomic<std::int64_t> found_ = 0;  // keeps the reads from being optimised away
};

struct step {
  std::string name;
  std::uint64_t bytes;
};

// The private caches, then each doubling up to twice the shared one: how much of that this process gets is not known,
// when others share it or a virtual machine reports what belongs to its host.
std::vector<step> ladder(const device_profile& typical) {
  const auto size = caches();
  const auto cores = static_cast<std::uint64_t>(typical.cores);
  const auto all = typical.levels.back().bytes;
  std::vector<step> steps{{"L1", size.first * cores}, {"L2", size.second * cores}};
  const std::uint64_t past_caches = std::min(std::bit_ceil(2 * size.shared), std::bit_floor(all / 8));
  for (auto bytes = std::bit_ceil(steps.back().bytes + 1); bytes <= past_caches; bytes *= 2) {
    steps.push_back({"up to " + std::to_string(bytes >> 20) + " MiB", bytes});
  }
  return steps;
}

// What a region takes beyond its work, when there is enough of that for every worker to be needed.
double region_seconds(const execution& on) {
  if (on.threads == 1) return 0;
  constexpr int regions = 200;
  static constexpr double work = 20e-6;
  const auto spin = [](int) {
    for (const auto begin = clock::now(); clock::now() - begin < std::chrono::duration<double>(work);) {
    }
  };
  std::vector<double> times(regions);
  for (auto& one : times) one = seconds_of([&] { run_workers(on.threads, spin); }) - work;
  std::ranges::nth_element(times, times.begin() + regions / 2);
  return std::max(0.0, times[regions / 2]);
}

}  // namespace

device_profile measure(const execution& on, const progress_function& progress) {
  auto measured = default_profile(on);
  const auto steps = ladder(measured);
  const auto memory_bytes = measured.levels.back().bytes;
  const auto report = [&](std::size_t done, const std::string& what) {
    if (progress) progress(static_cast<double>(done) / static_cast<double>(steps.size() + 1), what);
  };

  measured.levels.clear();
  bandwidth_meter meter(on, steps.back().bytes);
  for (const auto& [name, bytes] : steps) {
    report(measured.levels.size(), "bandwidth, " + name);
    // a core's own caches hold other things too; past them a size's bandwidth is what a pass over all of it reaches
    const bool is_private = measured.levels.size() < 2;
    auto level = meter.measure(name, is_private ? bytes / 4 * 3 : bytes);
    level.bytes = bytes;
    measured.levels.push_back(std::move(level));
  }
  measured.levels.back().name = "memory";
  measured.levels.back().bytes = std::max(memory_bytes, steps.back().bytes);
  report(steps.size(), "parallel regions");
  measured.launch_overhead = region_seconds(on);
  if (progress) progress(1, "done");
  return measured;
}

}  // namespace zenith::cpu_backend
