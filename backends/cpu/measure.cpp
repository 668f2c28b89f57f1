#include <backends/cpu/measure.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <backends/cpu/isa.hpp>
#include <backends/cpu/parallel.hpp>
#include <backends/cpu/profile.hpp>
#include <backends/cpu/scratch.hpp>
#include <core/core_speed.hpp>
#include <core/host_memory.hpp>
#include <core/workers.hpp>
#include <zenith/error.hpp>

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

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// A working set whose bandwidth is measured.
struct step {
  std::string name;
  std::uint64_t bytes;
  bool is_private;  ///< to a core, who has its share of it
};

/// How long a bandwidth is measured.
struct effort {
  int private_repeats = 8;
  int least_repeats = 4;  ///< of a shared level
  int most_repeats = 12;
  double enough_seconds = 0.03;
  std::uint64_t moved_at_least = std::uint64_t{16} << 20;  ///< of a shared level, by a worker
  int alone_repeats = 4;                                   ///< of a shared level, by one worker
};
constexpr effort thorough;
constexpr effort brief{6, 3, 20, 2e-3, std::uint64_t{4} << 20, 2};

/// Bandwidths of all workers together over a working set that they share out.
class bandwidth_meter {
 public:
  bandwidth_meter(const execution& on, std::uint64_t most_bytes, const effort& how_long)
      : workers_(on.threads), how_long_(how_long), isa_(find_isa(on.isa)), data_(scratch_resource(on), most_bytes) {
    // every worker touches its own share first, so that it lies near it
    run_workers(workers_, [&](int worker) {
      const auto mine = share(worker, data_.size());
      std::memset(mine.data(), 1, mine.size());
    });
  }

  [[nodiscard]] double read(const step& level) const {
    return bandwidth(level, [&](piece of) { read_piece(of); });
  }
  // Of one worker alone, where the others rest.
  [[nodiscard]] double read_alone(const step& level) const {
    const auto all = data_.size() < level.bytes ? data_.size() : level.bytes;
    const double time = best_seconds([&] { read_piece(piece{data_.data(), all}); }, how_long_.alone_repeats);
    return static_cast<double>(all) / std::max(time, 1e-9);
  }
  [[nodiscard]] double write(const step& level) const {
    return bandwidth(level, [](piece of) { std::memset(of.data(), 2, of.size()); });
  }
  [[nodiscard]] double copy(const step& level) const {
    return bandwidth(level, [](piece of) {
      const auto half = of.size() / 2;
      std::memcpy(of.data(), of.data() + half, half);
    });
  }

 private:
  using piece = std::span<std::byte>;
  using pass = std::function<void(piece)>;

  void read_piece(piece of) const {
    static_cast<void>(isa_.maximum(reinterpret_cast<const std::int32_t*>(of.data()), of.size() / sizeof(std::int32_t)));
  }

  // A core's own caches hold other things too; past them a size's bandwidth is what a pass over all of it reaches.
  [[nodiscard]] double bandwidth(const step& level, const pass& run) const {
    return level.is_private ? private_bandwidth(level.bytes / 4 * 3, run) : shared_bandwidth(level.bytes, run);
  }

  [[nodiscard]] piece share(int worker, std::size_t bytes) const {
    const auto each = bytes / static_cast<std::size_t>(workers_) / 64 * 64;
    return {data_.data() + static_cast<std::size_t>(worker) * each, each};
  }

  // A worker's time is its own: some wake late, and some share their core with other programs. The median is that of a
  // core as most are.
  [[nodiscard]] double private_bandwidth(std::uint64_t bytes, const pass& run) const {
    constexpr std::uint64_t moved_at_least = std::uint64_t{4} << 20;
    const auto each = share(0, bytes).size();
    const auto passes = std::max<std::uint64_t>(1, moved_at_least / each);
    double best = 0;
    for (int i = 0; i < how_long_.private_repeats; ++i) {
      std::vector<double> times(static_cast<std::size_t>(workers_));
      run_workers(workers_, [&](int worker) {
        const auto mine = share(worker, bytes);
        times[static_cast<std::size_t>(worker)] = seconds_of([&] {
          for (std::uint64_t done = 0; done < passes; ++done) run(mine);
        });
      });
      best = std::max(best, static_cast<double>(each * passes) / std::max(median(times), 1e-9));
    }
    return best * workers_;
  }

  // Pieces are handed out to whoever is free, as in every scan, until enough has moved that waking does not count.
  [[nodiscard]] double shared_bandwidth(std::uint64_t bytes, const pass& run) const {
    constexpr std::uint64_t piece_bytes = std::uint64_t{256} << 10;
    const auto pieces = std::max<std::uint64_t>(1, bytes / piece_bytes);
    const auto passes =
        std::max<std::uint64_t>(1, how_long_.moved_at_least * static_cast<std::uint64_t>(workers_) / bytes);
    double best = 1e9;
    double spent = 0;
    const auto is_enough = [&](int repeats) {
      return repeats >= how_long_.least_repeats &&
             (repeats >= how_long_.most_repeats || spent >= how_long_.enough_seconds);
    };
    for (int i = 0; !is_enough(i); ++i) {
      const double time = seconds_of([&] {
        detail::share_out(workers_, pieces * passes, [&](int, std::uint64_t at) {
          run(piece{data_.data() + at % pieces * piece_bytes, piece_bytes});
        });
      });
      best = std::min(best, time);
      spent += time;
    }
    return static_cast<double>(pieces * passes * piece_bytes) / std::max(best, 1e-9);
  }

  int workers_;
  effort how_long_;
  const isa_table& isa_;
  scratch<std::byte> data_;
};

// The private caches, and a part of the second that takes few pages. Then powers of two and what lies in the middle
// between them, up to `most` bytes: one at least. A cache ends anywhere, and a set just below its end is several times
// as fast as one above it.
std::vector<step> ladder(const device_profile& typical, std::uint64_t most) {
  const auto size = caches();
  const auto cores = static_cast<std::uint64_t>(typical.cores);
  std::vector<step> steps{{"L1", size.first * cores, true}};
  if (size.second / 4 > size.first) steps.push_back({"a quarter of L2", size.second / 4 * cores, true});
  steps.push_back({"L2", size.second * cores, true});
  const auto first = std::bit_ceil(steps.back().bytes + 1);
  most = std::max(most, first);
  for (auto bytes = first; bytes <= most; bytes = std::has_single_bit(bytes) ? bytes / 2 * 3 : bytes / 3 * 4) {
    steps.push_back({"up to " + std::to_string(bytes >> 20) + " MiB", bytes, false});
  }
  return steps;
}

std::size_t own_levels(const std::vector<step>& steps) {
  return static_cast<std::size_t>(std::ranges::count_if(steps, [](const step& one) { return one.is_private; }));
}

// How many times its part of a shared level's bandwidth a worker reaches alone.
double shared_alone(const bandwidth_meter& meter, const step& level, double of_all, int cores) {
  if (cores == 1) return 1;
  return std::clamp(meter.read_alone(level) * cores / of_all, 1.0, static_cast<double>(cores));
}

// Twice the shared cache: how much of it this process gets is not known, when others share it or a virtual machine
// reports what belongs to its host. No more than an eighth of the memory.
std::uint64_t past_caches(const device_profile& typical) {
  return std::min(std::bit_ceil(2 * caches().shared), std::bit_floor(typical.levels.back().bytes / 8));
}

// What a region takes beyond its work, where pieces are handed out and the caller works alone between regions, as in
// every call.
[[nodiscard]] double region_seconds(const execution& on, int regions) {
  if (on.threads == 1) return 0;
  constexpr double piece = 4e-6;
  constexpr double between = 20e-6;
  constexpr std::uint64_t pieces_of_worker = 8;
  const auto work = [](double seconds) {
    for (const auto begin = clock::now(); clock::now() - begin < std::chrono::duration<double>(seconds);) {
    }
  };
  const auto pieces = pieces_of_worker * static_cast<std::uint64_t>(on.threads);
  const double one = best_seconds(
      [&] {
        for (std::uint64_t i = 0; i < pieces_of_worker; ++i) work(piece);
      },
      regions);
  std::vector<double> times(static_cast<std::size_t>(regions));
  for (auto& time : times) {
    work(between);
    time = seconds_of([&] { detail::share_out(on.threads, pieces, [&](int, std::uint64_t) { work(piece); }); }) - one;
  }
  // other programs that use the cores make some of them longer
  const auto quartile = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4);
  std::ranges::nth_element(times, quartile);
  return std::max(0.0, *quartile);
}

// Of a fixed piece of work, a sort of other values each time.
[[nodiscard]] double sort_seconds(std::uint64_t seed) {
  constexpr std::size_t count = 2048;
  std::vector<std::uint64_t> values(count);
  double best = 1;
  for (int repeat = 0; repeat < 6; ++repeat) {
    for (auto& value : values) value = seed = seed * 6364136223846793005U + 1442695040888963407U;
    best = std::min(best, seconds_of([&] { std::ranges::sort(values); }));
  }
  return best;
}

// How many times as long a core takes for its work while all cores work: two that share one of the chip's, and a clock
// that falls.
[[nodiscard]] double all_busy_factor(const execution& on) {
  if (on.threads == 1) return 1;
  double alone = 1;
  double together = 1;
  for (int round = 0; round < 4; ++round) {
    alone = std::min(alone, sort_seconds(static_cast<std::uint64_t>(round)));
    std::vector<double> times(static_cast<std::size_t>(on.threads));
    run_workers(on.threads, [&](int worker) {
      times[static_cast<std::size_t>(worker)] = sort_seconds(static_cast<std::uint64_t>(worker));
    });
    together = std::min(together, median(times));
  }
  return std::clamp(together / alone, 1.0, 2.0);
}

// Seconds of a core until fresh memory of a huge page can be written, or 0 where none is to be had. Asking for it
// counts: what is asked for is written to at once.
[[nodiscard]] double huge_page_seconds() {
  constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;
  constexpr std::uint64_t page = 4096;
  constexpr std::uint64_t pages = 2;
  double best = 1;
  for (int repeat = 0; repeat < 3; ++repeat) {
    detail::host_bytes memory;
    const double seconds = seconds_of([&] {
      memory = detail::address_space(pages * huge_page);
      volatile std::byte* const first = memory.data.get();
      for (std::uint64_t at = 0; at < memory.size; at += page) first[at] = std::byte{1};
    });
    if (memory.data == nullptr) return 0;
    best = std::min(best, seconds / static_cast<double>(pages));
  }
  return best;
}

/// How many times as long a core takes for computing with vectors of the set as what estimates are of: it looks for the
/// shapes of packed groups, in its first cache. As `core_speed`, now and later, and the middle of all counts.
class vector_speed {
 public:
  explicit vector_speed(const execution& on)
      : look_(find_packed(on.isa).write.measure_frames[value_index(key_type::int32)]) {
    std::uint32_t state = 1;
    for (auto& value : values_) value = static_cast<std::int32_t>((state = state * 1664525 + 1013904223) >> 12);
  }

  void probe(int times) {
    for (int i = 0; i < times; ++i) {
      seconds_.push_back(seconds_of([&] {
        for (int group = 0; group < groups; ++group) look_(values_.data(), shape_.get());
      }));
    }
  }
  [[nodiscard]] double factor() const {
    constexpr double typical_seconds = 0.3e-6;  // of a group, by AVX-512 near 3 GHz
    return median(seconds_) / (groups * typical_seconds);
  }

 private:
  static constexpr int groups = 64;

  void (*look_)(const void* values, packed_group_shape* to);
  std::vector<std::int32_t> values_ = std::vector<std::int32_t>(packed_group_items);
  std::unique_ptr<packed_group_shape> shape_ = std::make_unique<packed_group_shape>();
  std::vector<double> seconds_;
};

// What cores do, and the system for them, whatever the bandwidths are.
void measure_cores(device_profile& of, const execution& on) {
  of.rates["core.all_busy"] = all_busy_factor(on);
  if (const double huge = huge_page_seconds(); huge > 0) of.rates["core.huge_page"] = huge;
}

}  // namespace

device_profile measure(const execution& on, const progress_function& progress) {
  auto measured = default_profile(on);
  const auto memory_bytes = measured.levels.back().bytes;
  const auto steps = ladder(measured, past_caches(measured));
  const auto report = [&](std::size_t done, const std::string& what) {
    if (progress) progress(static_cast<double>(done) / static_cast<double>(steps.size() + 1), what);
  };

  constexpr int vector_times = 20;
  vector_speed vectors(on);
  vectors.probe(vector_times);
  measured.levels.clear();
  measured.rates["core.own_levels"] = static_cast<double>(own_levels(steps));
  const bandwidth_meter meter(on, steps.back().bytes, thorough);
  for (const auto& one : steps) {
    report(measured.levels.size(), "bandwidth, " + one.name);
    measured.levels.push_back({one.name, one.bytes, meter.read(one), meter.write(one), meter.copy(one)});
  }
  measured.rates["core.shared_alone"] = shared_alone(meter, steps.back(), measured.levels.back().read, measured.cores);
  measured.levels.back().name = "memory";
  measured.levels.back().bytes = std::max(memory_bytes, steps.back().bytes);
  report(steps.size(), "parallel regions");
  measured.launch_overhead = region_seconds(on, 200);
  measure_cores(measured, on);
  vectors.probe(vector_times);
  measured.rates["core.vector"] = vectors.factor();
  detail::core_speed speed;
  speed.probe(24);
  measured.rates["core.estimate"] = speed.factor();
  if (progress) progress(1, "done");
  return measured;
}

device_profile probe(const execution& on) try {
  auto probed = default_profile(on);
  const auto memory = probed.levels.back();
  constexpr std::uint64_t most = std::uint64_t{128} << 20;
  const auto steps = ladder(probed, std::min(most, past_caches(probed)));
  constexpr int vector_times = 12;
  vector_speed vectors(on);
  vectors.probe(vector_times);
  probed.levels.clear();
  probed.rates["core.own_levels"] = static_cast<double>(own_levels(steps));
  // before and after the rest: while a neighbour has one of the cores, waking it takes ten times as long
  const double launch_overhead = region_seconds(on, 30);
  const bandwidth_meter meter(on, steps.back().bytes, brief);
  for (const auto& one : steps) {
    // past a core's own caches a line is read before it is written: half as fast as it is read, near enough
    const double read = meter.read(one);
    probed.levels.push_back({one.name, one.bytes, read, one.is_private ? read : read / 2, read});
  }
  probed.rates["core.shared_alone"] = shared_alone(meter, steps.back(), probed.levels.back().read, probed.cores);
  // Where the caches end was seen if a pass has become much slower; to go further would take too long.
  const double last = probed.levels.back().read;
  const bool is_past_caches = last < probed.levels[own_levels(steps)].read / 2;
  const double beyond = is_past_caches ? last : std::min(memory.read, last);
  if (const auto shared = caches().shared; !is_past_caches && shared > steps.back().bytes) {
    const double between = std::sqrt(last * beyond);
    probed.levels.push_back({"L3", shared, between, between / 2, between});
  }
  probed.levels.push_back(
      {memory.name, std::max(memory.bytes, probed.levels.back().bytes + 1), beyond, beyond / 2, beyond});
  measure_cores(probed, on);
  vectors.probe(vector_times);
  probed.rates["core.vector"] = vectors.factor();
  probed.launch_overhead = std::min(launch_overhead, region_seconds(on, 30));
  return probed;
} catch (const error& fault) {
  // a machine may have no memory for working sets; where there is none for a small thing, the next call probes again
  if (fault.code() != error_code::out_of_memory) throw;
  return default_profile(on);
}

}  // namespace zenith::cpu_backend
