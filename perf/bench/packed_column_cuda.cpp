// Packed columns of 2^30 32-bit values in a GPU's memory: decoded to memory, and decoded and used in registers. Each
// line says its share of the bandwidth that a plain copy, or a plain read, of the same number of bytes reached in the
// same run: `share` = 1 is the floor itself.
//
//   zenith-bench-packed-column-cuda [--benchmark_filter=unpack/frame] …    ZENITH_BENCH_COUNT=268435456

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <perf/bench/device_clock.hpp>
#include <zenith/zenith.hpp>

namespace {

using zenith::encoding;
using column_type = zenith::packed_device_column<std::uint32_t>;

std::size_t item_count() {
  const char* asked = std::getenv("ZENITH_BENCH_COUNT");
  return asked == nullptr ? std::size_t{1} << 30 : std::strtoull(asked, nullptr, 10);
}

const zenith::executor& gpu() {
  static const auto on = zenith::cuda();
  return on;
}

struct bandwidths {
  double read;
  double copy;
};

const bandwidths& floors() {
  static const bandwidths measured = [] {
    const bandwidths found{zenith_bench::read_bandwidth(std::size_t{4} << 30),
                           zenith_bench::copy_bandwidth(std::size_t{4} << 30)};
    std::printf("floor: read %.0f GB/s, copy %.0f GB/s\n", found.read * 1e-9, found.copy * 1e-9);
    return found;
  }();
  return measured;
}

struct input {
  encoding kind;
  unsigned width;
  friend bool operator==(const input&, const input&) = default;
};

struct prepared {
  column_type column;
  double bytes = 0;
  double bits_per_value = 0;
};

// One at a time: they are large.
const prepared& column_of(const input& of) {
  static std::pair<input, std::unique_ptr<prepared>> made;
  if (made.second == nullptr || made.first != of) {
    made.second.reset();
    zenith::array<std::uint32_t> values(gpu(), item_count());
    zenith_bench::fill_with_bits(values.device().data(), values.size(), of.width, of.kind == encoding::delta);
    auto column = column_type::pack(gpu(), values.device(), of.kind);
    const auto bytes = static_cast<double>(column.layout().total_bytes);
    const double bits = column.bits_per_value();
    made = {of, std::make_unique<prepared>(prepared{std::move(column), bytes, bits})};
  }
  return *made.second;
}

// The clocks of an idle device need some tens of milliseconds of work to rise: a kernel that computes as long as it
// reads took 1.14 times as long before. The floors are measured in large reads and copies, which hardly feel it.
void warm_up(const std::function<void()>& work) {
  constexpr double enough = 0.1;  // seconds
  for (double taken = 0; taken < enough;) taken += zenith_bench::device_seconds(work);
}

void measure(benchmark::State& state, const prepared& with, double floor, const std::function<void()>& work) {
  double fastest = std::numeric_limits<double>::infinity();
  warm_up(work);
  for (auto _ : state) {
    const double taken = zenith_bench::device_seconds(work);
    fastest = std::min(fastest, taken);
    state.SetIterationTime(taken);
  }
  state.counters["bits"] = with.bits_per_value;
  state.counters["best_ms"] = fastest * 1e3;
  state.counters["share"] = floor / fastest;
  state.counters["Gvalues_s"] = static_cast<double>(item_count()) / fastest * 1e-9;
}

void unpack(benchmark::State& state, const input& of) {
  const auto& with = column_of(of);
  const zenith::array<std::uint32_t> out(gpu(), item_count());
  const double bytes = with.bytes + static_cast<double>(item_count()) * sizeof(std::uint32_t);
  auto& writable = const_cast<zenith::array<std::uint32_t>&>(out);
  measure(state, with, bytes / floors().copy, [&] { zenith::unpack(gpu(), with.column, writable.device()); });
}

void sum(benchmark::State& state, const input& of) {
  const auto& with = column_of(of);
  measure(state, with, with.bytes / floors().read, [&] { benchmark::DoNotOptimize(zenith::sum(gpu(), with.column)); });
}

void extremes(benchmark::State& state, const input& of) {
  const auto& with = column_of(of);
  measure(state, with, with.bytes / floors().read,
          [&] { benchmark::DoNotOptimize(zenith::maximum(gpu(), with.column)); });
}

// Half of the values.
void bitmap(benchmark::State& state, const input& of) {
  const auto& with = column_of(of);
  zenith::array<std::uint64_t> words(gpu(), (item_count() + 63) / 64);
  const double bytes = with.bytes + static_cast<double>(words.size()) * 8;
  measure(state, with, bytes / floors().read, [&] {
    benchmark::DoNotOptimize(zenith::select_bitmap(gpu(), with.column, 0U, (1U << (of.width - 1)) - 1, words.device()));
  });
}

// One value in 2^8.
void indices(benchmark::State& state, const input& of) {
  const auto& with = column_of(of);
  zenith::array<std::uint32_t> found(gpu(), item_count() / 64);
  const double bytes = with.bytes + static_cast<double>(item_count()) / 256 * 4;
  measure(state, with, bytes / floors().read, [&] {
    benchmark::DoNotOptimize(
        zenith::select_indices(gpu(), with.column, 0U, (1U << (of.width - 8)) - 1, found.device()));
  });
}

void top_k(benchmark::State& state, const input& of) {
  const auto& with = column_of(of);
  constexpr std::size_t k = 100;
  zenith::array<std::uint32_t> keys(gpu(), k);
  zenith::array<std::uint32_t> names(gpu(), k);
  measure(state, with, with.bytes / floors().read,
          [&] { zenith::top_k(gpu(), with.column, keys.device(), names.device()); });
}

void pack(benchmark::State& state, const input& of) {
  zenith::array<std::uint32_t> values(gpu(), item_count());
  zenith_bench::fill_with_bits(values.device().data(), values.size(), of.width, of.kind == encoding::delta);
  const auto& with = column_of(of);
  measure(state, with, (with.bytes + static_cast<double>(item_count()) * 4) / floors().copy,
          [&] { benchmark::DoNotOptimize(zenith::pack(gpu(), std::as_const(values).device(), of.kind)); });
}

// Where the column stays on the device, into its own memory. The floor: the values are read once.
void pack_on_device(benchmark::State& state, const input& of) {
  zenith::array<std::uint32_t> values(gpu(), item_count());
  zenith_bench::fill_with_bits(values.device().data(), values.size(), of.width, of.kind == encoding::delta);
  const auto& with = column_of(of);
  column_type column;
  measure(state, with, static_cast<double>(item_count()) * 4 / floors().read,
          [&] { zenith::pack_into(gpu(), std::as_const(values).device(), column, of.kind); });
}

// The same, and the encoding is to be found.
void pack_automatic(benchmark::State& state, const input& of) {
  zenith::array<std::uint32_t> values(gpu(), item_count());
  zenith_bench::fill_with_bits(values.device().data(), values.size(), of.width, of.kind == encoding::delta);
  const auto& with = column_of(of);
  column_type column;
  measure(state, with, static_cast<double>(item_count()) * 4 / floors().read,
          [&] { zenith::pack_into(gpu(), std::as_const(values).device(), column); });
}

void add(const std::string& name, const input& of, void (*what)(benchmark::State&, const input&)) {
  const std::string full = name + "/" + std::string{zenith::to_string(of.kind)} + "/" + std::to_string(of.width);
  benchmark::RegisterBenchmark(full.c_str(), [=](benchmark::State& state) { what(state, of); })
      ->UseManualTime()
      ->Iterations(name == "pack" ? 2 : 15)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  try {
    static_cast<void>(gpu());
  } catch (const zenith::error& why) {
    std::printf("zenith: skipped: %s\n", why.what());
    return 0;
  }
  static_cast<void>(floors());
  for (const auto kind : {encoding::frame_of_reference, encoding::delta}) {
    for (const unsigned width : {4U, 6U, 8U, 10U, 12U, 16U, 20U, 24U, 27U}) {
      add("unpack", {kind, width}, unpack);
      add("sum", {kind, width}, sum);
      if (width != 8 && width != 16) continue;
      add("extremes", {kind, width}, extremes);
      add("bitmap", {kind, width}, bitmap);
      add("indices", {kind, width}, indices);
      add("top_k", {kind, width}, top_k);
      add("pack", {kind, width}, pack);
    }
  }
  for (const auto kind : {encoding::frame_of_reference, encoding::delta}) {
    for (const unsigned width : {2U, 8U, 16U, 27U}) add("pack_on_device", {kind, width}, pack_on_device);
    add("pack_automatic", {kind, 16}, pack_automatic);
  }
  for (const auto kind : {encoding::plain, encoding::null_suppression_fixed, encoding::null_suppression_variable,
                          encoding::run_length, encoding::vertical}) {
    const unsigned width = kind == encoding::run_length ? 1 : 12;
    add("unpack", {kind, width}, unpack);
    add("sum", {kind, width}, sum);
    add("pack_on_device", {kind, width}, pack_on_device);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
