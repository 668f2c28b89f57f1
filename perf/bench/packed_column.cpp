// Packed columns of 2^26 32-bit integers on the CPU: time, the floor of one read of the packed bytes measured next to
// it, and the ratio of the two; values are uniform in so many bits, but of "normal_" lines. "resident" lines repeat a
// column that stays in the L2 cache, and "get" has random accesses into the plain array as its floor ("gather" asks for
// them together; "_mixed" is a column of two widths), "pack" (into fresh memory) and "pack_into" (into the column's own
// again) one read of the values; "fresh_pages" is what the system takes to clear as many pages as the column has. With
// FastPFor's sources (ZENITH_FASTPFOR_DIR), lines "against_fastpfor" have its time as their floor.
//
//   zenith-bench-packed-column [--benchmark_filter=sum/] …    ZENITH_BENCH_COUNT=1048576 for another count

#include <benchmark/benchmark.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#if defined(ZENITH_HAS_FASTPFOR)
#include <perf/bench/fastpfor_peer.hpp>
#endif
#include <perf/study/floor.hpp>
#include <zenith/zenith.hpp>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace {

using value = std::uint32_t;
using column = zenith::packed_column<value>;

constexpr std::size_t resident_count = 1 << 17;  // so many that calling costs nothing

std::size_t value_count() {
  const char* asked = std::getenv("ZENITH_BENCH_COUNT");
  return asked == nullptr ? std::size_t{1} << 26 : std::strtoull(asked, nullptr, 10);
}

int all_threads() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

// How values are spread over `width` bits: two widths have one bit less every other 32; normal ones, whose deviation is
// an eighth of the range, have several widths in a group.
enum class spread { uniform, two_widths, normal };

// Of delta, rising by as much.
std::vector<value> make_values(std::size_t count, zenith::encoding kind, unsigned width, spread over) {
  std::mt19937_64 random(count + width);
  const auto most = static_cast<double>((std::uint64_t{1} << width) - 1);
  std::normal_distribution<double> normal(most / 2, most / 8);
  std::vector<value> values(count);
  value before = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_narrower = over == spread::two_widths && i / zenith::packed_miniblock_items % 2 != 0;
    const auto bits = over == spread::normal
                          ? static_cast<value>(std::clamp(normal(random), 0.0, most))
                          : static_cast<value>(random() & ((std::uint64_t{1} << (width - is_narrower)) - 1));
    values[i] = kind == zenith::encoding::delta ? before += bits : bits;
  }
  return values;
}

struct packed_values {
  std::vector<value> plain;
  column packed;
};

// One at a time: they are large.
const packed_values& values_of(std::size_t count, zenith::encoding kind, unsigned width,
                               spread over = spread::uniform) {
  static std::map<std::string, packed_values> made;
  const auto key = std::to_string(count) + std::string{to_string(kind)} + std::to_string(width) + "/" +
                   std::to_string(static_cast<int>(over));
  if (!made.contains(key)) {
    made.clear();
    auto values = make_values(count, kind, width, over);
    auto packed = zenith::pack(zenith::cpu(), values, kind);
    made[key] = {std::move(values), std::move(packed)};
  }
  return made[key];
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Floor and work take turns, so that a noisy neighbour meets both; the ratio is that of the fastest of each.
void measure(benchmark::State& state, std::size_t count, const std::function<void()>& floor,
             const std::function<void()>& work, int repeat = 1) {
  double least = std::numeric_limits<double>::infinity();
  double fastest = least;
  const auto repeated = [&](const auto& one) {
    return seconds_of([&] {
             for (int i = 0; i < repeat; ++i) one();
           }) /
           repeat;
  };
  work();  // touches the output
  for (auto _ : state) {
    least = std::min(least, repeated(floor));
    const double taken = repeated(work);
    fastest = std::min(fastest, taken);
    state.SetIterationTime(taken);
  }
  state.counters["floor_ms"] = least * 1e3;
  state.counters["best_ms"] = fastest * 1e3;
  state.counters["ratio"] = fastest / least;
  state.counters["G_values_per_s"] = static_cast<double>(count) / fastest * 1e-9;
}

#if defined(__x86_64__)
// Eight lines at a time, each with a register of its own and asked for a page ahead: a core here gets twice as much of
// the shared cache as with a line at a time.
__attribute__((target("avx512f"))) void read_lines(std::span<const std::byte> bytes) {
  constexpr std::size_t line = 64;
  constexpr std::size_t lines = 8;
  constexpr std::uintptr_t page = 4096;
  __m512i seen[lines] = {};
  for (std::size_t at = 0; at + lines * line <= bytes.size(); at += lines * line) {
    for (std::size_t i = 0; i < lines; ++i) {
      const auto* from = bytes.data() + at + i * line;
      _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(from) + page), _MM_HINT_T0);
      seen[i] = _mm512_xor_si512(seen[i], _mm512_loadu_si512(from));
    }
  }
  for (std::size_t i = 1; i < lines; ++i) seen[0] = _mm512_xor_si512(seen[0], seen[i]);
  std::byte all[line];
  _mm512_storeu_si512(all, seen[0]);
  benchmark::DoNotOptimize(all);
}
#endif

// One read by the fastest loop there is.
std::function<void()> read_of(std::span<const std::byte> bytes, int threads) {
  auto found = std::make_shared<zenith_study::read_floor>(zenith_study::measure_read_floor(bytes, threads, 2));
#if defined(__x86_64__)
  if (threads == 1 && __builtin_cpu_supports("avx512f") != 0) {
    const auto own = [=] { read_lines(bytes); };
    if (std::min(seconds_of(own), seconds_of(own)) < *std::ranges::min_element(found->seconds)) return own;
  }
#endif
  return [=] { zenith_study::measure_again(*found, bytes, 1); };
}

struct setting {
  std::string isa;
  int threads;
  zenith::encoding kind;
  unsigned width;
  std::size_t count;
  spread over = spread::uniform;
};

// "kokkos" stands for the text over the device context, which the CPU's own kernels must beat to earn their place.
zenith::executor executor_of(const setting& of) {
  if (std::string_view{of.isa} == "kokkos") return zenith::make_executor("kokkos");
  return zenith::cpu({.threads = of.threads, .isa = of.isa});
}

using operation = std::function<void(const zenith::executor&, const packed_values&)>;

void run(benchmark::State& state, const setting& of, const operation& work) {
  const auto& values = values_of(of.count, of.kind, of.width, of.over);
  const auto on = executor_of(of);
  const bool resident = of.count <= resident_count;
  measure(
      state, of.count, read_of(values.packed.bytes(), of.threads), [&] { work(on, values); }, resident ? 100 : 1);
}

operation sum_operation() {
  return [](const auto& on, const auto& values) { benchmark::DoNotOptimize(zenith::sum(on, values.packed)); };
}

operation extremes_operation() {
  return [](const auto& on, const auto& values) { benchmark::DoNotOptimize(zenith::maximum(on, values.packed)); };
}

operation unpack_operation(std::size_t count) {
  auto out = std::make_shared<std::vector<value>>(count);
  return [=](const auto& on, const auto& values) { zenith::unpack(on, values.packed, *out); };
}

operation top_k_operation(std::size_t k) {
  auto keys = std::make_shared<std::vector<value>>(k);
  auto indices = std::make_shared<std::vector<std::uint32_t>>(k);
  return [=](const auto& on, const auto& values) { zenith::top_k(on, values.packed, *keys, *indices); };
}

/// The values up to the one that `share` of them are below, but not all of them: of values of few bits that is another
/// share. `selected` says which.
void run_select(benchmark::State& state, const setting& of, double share) {
  const auto& plain = values_of(of.count, of.kind, of.width, of.over).plain;
  std::vector<value> sample(plain.begin(),
                            plain.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(plain.size(), 65536)));
  const auto last = sample.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(sample.size()));
  std::ranges::sort(sample);
  const auto most = std::ranges::lower_bound(sample, sample.back());
  const value high = most == sample.begin() ? *last : std::min(*last, *std::prev(most));
  std::vector<std::uint64_t> bits((of.count + 63) / 64);
  std::uint64_t selected = 0;
  run(state, of, [&](const auto& on, const auto& values) {
    selected = zenith::select_bitmap(on, values.packed, value{0}, high, bits);
  });
  state.counters["selected"] = static_cast<double>(selected) / static_cast<double>(of.count);
}

void run_pack(benchmark::State& state, const setting& of, bool again) {
  const auto& values = values_of(of.count, of.kind, of.width);
  const auto on = executor_of(of);
  column into;
  measure(state, of.count, read_of(std::as_bytes(std::span(values.plain)), of.threads), [&] {
    if (again) {
      zenith::pack_into(on, values.plain, into, of.kind);
    } else {
      benchmark::DoNotOptimize(zenith::pack(on, values.plain, of.kind));
    }
  });
  state.counters["input_GB_per_s"] = state.counters["G_values_per_s"] * sizeof(value);
}

#if defined(__linux__)
// What packing into fresh memory cannot do without: the system clears as many huge pages as the column takes.
void run_touch(benchmark::State& state, const setting& of) {
  const auto& values = values_of(of.count, of.kind, of.width);
  measure(state, of.count, read_of(std::as_bytes(std::span(values.plain)), of.threads),
          [size = values.packed.bytes().size()] {
            void* const fresh = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (fresh == MAP_FAILED) return;
            madvise(fresh, size, MADV_HUGEPAGE);
            for (std::size_t at = 0; at < size; at += 4096) static_cast<volatile char*>(fresh)[at] = 1;
            munmap(fresh, size);
          });
}
#endif

#if defined(ZENITH_HAS_FASTPFOR)
enum class peer_work { unpack, unpack_past_caches, sum };

// The peer's time stands where the floor's does.
void run_against_fastpfor(benchmark::State& state, const setting& of, peer_work work) {
  const auto& values = values_of(of.count, of.kind, of.width);
  const auto on = executor_of(of);
  const zenith_bench::fastpfor_column peer(values.plain, of.width);
  std::vector<value> out(work == peer_work::sum ? 0 : of.count);
  const auto by_peer = [&] {
    switch (work) {
      case peer_work::unpack: return peer.unpack(out.data());
      case peer_work::unpack_past_caches: return peer.unpack_past_caches(out.data());
      case peer_work::sum: benchmark::DoNotOptimize(peer.sum());
    }
  };
  if (work == peer_work::sum ? peer.sum() != zenith::sum(on, values.packed) : (by_peer(), out != values.plain)) {
    return state.SkipWithError("FastPFor's result is another");
  }
  measure(state, of.count, by_peer, [&] {
    if (work == peer_work::sum) {
      benchmark::DoNotOptimize(zenith::sum(on, values.packed));
    } else {
      zenith::unpack(on, values.packed, out);
    }
  });
}
#endif

// A chain of accesses would measure the memory's latency alone; these may overlap, as those of a query do.
void run_get(benchmark::State& state, const setting& of, bool mixed, bool gathered) {
  const auto& values = values_of(of.count, of.kind, of.width, mixed ? spread::two_widths : spread::uniform);
  std::mt19937_64 random(7);
  std::vector<std::uint32_t> where(1 << 20);
  for (auto& one : where) one = static_cast<std::uint32_t>(random() % of.count);
  const auto all = [&](const auto& at) {
    return [&where, at] {
      std::uint64_t sum = 0;
      for (const auto i : where) sum += at(i);
      benchmark::DoNotOptimize(sum);
    };
  };
  const auto plain = all([&](std::size_t i) { return values.plain[i]; });
  if (!gathered) return measure(state, where.size(), plain, all([&](std::size_t i) { return values.packed.get(i); }));
  std::vector<value> out(where.size());
  measure(state, where.size(), plain, [&] {
    values.packed.gather(where, out);
    benchmark::DoNotOptimize(out.data());
  });
}

void add(const std::string& name, const setting& of, const std::function<void(benchmark::State&)>& run_it,
         int iterations) {
  const auto full = name + "/" + std::string{to_string(of.kind)} + "/isa:" + of.isa +
                    "/width:" + std::to_string(of.width) + "/threads:" + std::to_string(of.threads);
  benchmark::RegisterBenchmark(full.c_str(),
                               [=](benchmark::State& state) {
                                 try {
                                   run_it(state);
                                 } catch (const zenith::error& thrown) {
                                   state.SkipWithError(thrown.what());
                                 }
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(iterations);
}

void add_operations(const setting& of) {
  const std::string prefix = of.over == spread::normal ? "normal_" : "";
  const auto line = [&](const std::string& name, const std::function<operation()>& make) {
    add(
        prefix + name, of, [=](benchmark::State& state) { run(state, of, make()); }, 9);
  };
  line("sum", sum_operation);
  line("unpack", [=] { return unpack_operation(of.count); });
  if (of.kind != zenith::encoding::frame_of_reference) return;
  line("extremes", extremes_operation);
  for (const int percent : {1, 50, 99}) {
    add(
        prefix + "select_" + std::to_string(percent), of,
        [=](benchmark::State& state) { run_select(state, of, percent / 100.0); }, 9);
  }
  line("top_k_32", [] { return top_k_operation(32); });
}

void add_all() {
  const std::size_t n = value_count();
  for (const auto kind : {zenith::encoding::frame_of_reference, zenith::encoding::delta}) {
    for (const unsigned width : {2U, 4U, 6U, 8U, 10U, 12U, 14U, 16U, 20U, 24U, 27U, 30U}) {
      for (const char* isa : {"avx512", "avx512bw", "avx2", "sse2"}) {
        add_operations({isa, 1, kind, width, n});
        if (kind == zenith::encoding::frame_of_reference) add_operations({isa, 1, kind, width, n, spread::normal});
        const setting resident{isa, 1, kind, width, resident_count};
        add(
            "resident_sum", resident, [=](auto& state) { run(state, resident, sum_operation()); }, 9);
        add(
            "resident_select_50", resident, [=](auto& state) { run_select(state, resident, 0.5); }, 9);
        add(
            "resident_unpack", resident, [=](auto& state) { run(state, resident, unpack_operation(resident_count)); },
            9);
        const setting packing{isa, 1, kind, width, n};
        add(
            "pack", packing, [=](auto& state) { run_pack(state, packing, false); }, 5);
        add(
            "pack_into", packing, [=](auto& state) { run_pack(state, packing, true); }, 9);
      }
      if (width == 8 || width == 16) add_operations({"kokkos", 1, kind, width, n});
      const setting any{"avx512", 1, kind, width, n};
      if (kind == zenith::encoding::frame_of_reference) {
        for (const bool mixed : {false, true}) {
          const std::string of = mixed ? "_mixed" : "";
          add(
              "get" + of, any, [=](auto& state) { run_get(state, any, mixed, false); }, 9);
          add(
              "gather" + of, any, [=](auto& state) { run_get(state, any, mixed, true); }, 9);
        }
#if defined(ZENITH_HAS_FASTPFOR)
        const auto against = [&](const char* name, peer_work work) {
          add(
              name, any, [=](auto& state) { run_against_fastpfor(state, any, work); }, 15);
        };
        against("unpack_against_fastpfor", peer_work::unpack);
        against("unpack_against_fastpfor_past_caches", peer_work::unpack_past_caches);
        against("sum_against_fastpfor", peer_work::sum);
#endif
#if defined(__linux__)
        add(
            "fresh_pages", any, [=](auto& state) { run_touch(state, any); }, 5);
#endif
      }
      if (all_threads() > 1) {
        const setting together{"avx512", all_threads(), kind, width, n};
        add_operations(together);
        add(
            "pack", together, [=](auto& state) { run_pack(state, together, false); }, 5);
        add(
            "pack_into", together, [=](auto& state) { run_pack(state, together, true); }, 9);
      }
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
