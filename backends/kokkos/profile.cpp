#include <backends/kokkos/profile.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <backends/kokkos/runtime.hpp>
#include <backends/kokkos/space.hpp>
#include <zenith/packed_call.hpp>

namespace zenith::kokkos_backend {

/// One read of a working set.
struct read_words {
  buffer<std::uint64_t> words;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::uint64_t& sum) const {
    sum += words(static_cast<std::size_t>(i));
  }
};

struct write_words {
  buffer<std::uint64_t> words;
  std::uint64_t value;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { words(static_cast<std::size_t>(i)) = value; }
};

/// The upper half to the lower half.
struct copy_words {
  buffer<std::uint64_t> words;
  std::size_t half;

  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const auto i = static_cast<std::size_t>(at);
    words(i) = words(half + i);
  }
};

struct do_nothing {
  KOKKOS_FUNCTION void operator()(std::int64_t) const {}
};

namespace {

constexpr std::uint64_t small_set = std::uint64_t{256} << 10;
constexpr std::uint64_t middle_set = std::uint64_t{8} << 20;
constexpr std::uint64_t large_set = std::uint64_t{256} << 20;
// More than any device has: the last level holds whatever the others do not.
constexpr std::uint64_t all_memory = std::uint64_t{1} << 42;

// The best of five: what disturbs a measurement only ever makes it slower.
template <class Run>
double best_seconds(std::uint64_t passes, const Run& run) {
  double best = 1e9;
  for (int repeat = 0; repeat < 5; ++repeat) {
    space{}.fence();
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < passes; ++i) run(i);
    space{}.fence();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return std::max(best, 1e-9);
}

memory_level measure_level(std::string name, std::uint64_t working_set, std::uint64_t bytes) {
  const auto words = make_buffer<std::uint64_t>("zenith::measure words", working_set / sizeof(std::uint64_t));
  const std::size_t count = words.extent(0);
  Kokkos::parallel_for("zenith::measure touch", range(count), write_words{words, 1});
  // small sets are passed over many times, so that the clock's own time does not count
  const std::uint64_t passes = std::max<std::uint64_t>(1, (std::uint64_t{64} << 20) / working_set);
  const double moved = static_cast<double>(working_set) * static_cast<double>(passes);
  std::uint64_t sum = 0;
  const double read = best_seconds(passes, [&](std::uint64_t) {
    Kokkos::parallel_reduce("zenith::measure read", range(count), read_words{words}, sum);
  });
  const double write = best_seconds(passes, [&](std::uint64_t i) {
    Kokkos::parallel_for("zenith::measure write", range(count), write_words{words, i});
  });
  const double copy = best_seconds(passes, [&](std::uint64_t) {
    Kokkos::parallel_for("zenith::measure copy", range(count / 2), copy_words{words, count / 2});
  });
  return {std::move(name), bytes, moved / read, moved / write, moved / copy};
}

void measure_link(device_profile& measured) {
  constexpr std::uint64_t words = (std::uint64_t{64} << 20) / sizeof(std::uint64_t);
  const auto there = make_buffer<std::uint64_t>("zenith::measure words", words);
  const auto here = allocating("the measured words", [&] { return Kokkos::create_mirror(there); });
  const double bytes = static_cast<double>(words) * sizeof(std::uint64_t);
  measured.host_to_device = bytes / best_seconds(1, [&](std::uint64_t) { Kokkos::deep_copy(there, here); });
  measured.device_to_host = bytes / best_seconds(1, [&](std::uint64_t) { Kokkos::deep_copy(here, there); });
}

/// Seconds of a core for a value of four bytes and of eight. Lanes decode value by value, and the plain encoder writes.
struct packed_rates {
  encoding kind;
  double decode[2];
  double pack[2];
};
constexpr packed_rates typical_packed[] = {
    {encoding::plain, {2.4e-9, 3.3e-9}, {0.9e-9, 1.1e-9}},
    {encoding::frame_of_reference, {1.6e-9, 2.2e-9}, {48e-9, 38e-9}},
    {encoding::delta, {1.8e-9, 2.4e-9}, {25e-9, 25e-9}},
    {encoding::null_suppression_fixed, {3.4e-9, 4.5e-9}, {2.2e-9, 2.3e-9}},
    {encoding::null_suppression_variable, {2.8e-9, 3.3e-9}, {4.3e-9, 4.5e-9}},
    {encoding::run_length, {1.3e-9, 2.3e-9}, {1.7e-9, 2.2e-9}},
    {encoding::vertical, {13.7e-9, 9.5e-9}, {5e-9, 4.4e-9}},
};

void add_packed_rates(device_profile& to) {
  for (const auto& one : typical_packed) {
    const auto add = [&](std::string_view operation, const double(&seconds)[2]) {
      const auto name = std::string{operation} + "." + std::string{to_string(one.kind)};
      to.rates[name + "/4"] = seconds[0];
      to.rates[name + "/8"] = seconds[1];
    };
    for (const auto operation : {unpack_call::operation, packed_sum_call::operation, packed_extremes_call::operation,
                                 packed_select_call::operation, packed_top_k_call::operation}) {
      add(operation, one.decode);
    }
    add(pack_call::operation, one.pack);
  }
}

}  // namespace

device_profile default_profile(const execution& /*on*/) {
  device_profile typical;
  typical.backend = "kokkos";
  typical.name = space_name();
  if (is_host_space) {
    const double cores = concurrency();
    typical.kind = device_kind::cpu;
    typical.cores = concurrency();
    typical.simd_bytes = 16;
    typical.launch_overhead = typical.cores > 1 ? 5e-6 : 0.2e-6;
    typical.levels = {{"256 KiB", small_set, 40e9 * cores, 20e9 * cores, 30e9 * cores},
                      {"8 MiB", middle_set, 20e9 * cores, 10e9 * cores, 15e9 * cores},
                      {"memory", all_memory, std::min(10e9 * cores, 200e9), std::min(5e9 * cores, 100e9),
                       std::min(8e9 * cores, 150e9)}};
    // of this backend's own loops, which a compiler vectorises for the baseline only, on a core of 3 GHz or so
    typical.rates = {{"top_k.filter.call", 20e-6},      {"top_k.filter.scan/4", 0.8e-9},
                     {"top_k.filter.scan/8", 1.5e-9},   {"top_k.filter.append/4", 6e-9},
                     {"top_k.filter.append/8", 8e-9},   {"top_k.filter.select/4", 60e-9},
                     {"top_k.filter.select/8", 100e-9}, {"top_k.bitonic.call", 10e-6},
                     {"top_k.bitonic.compare/4", 2e-9}, {"top_k.bitonic.compare/8", 3e-9}};
    // the compiler vectorises less of them than the estimates are of
    typical.rates["core.estimate"] = 2;
    add_packed_rates(typical);
    typical.rates["pack.last_group"] = 0;  // it is packed as the others are
  } else {
    typical.kind = device_kind::gpu;
    // a multiprocessor keeps about two thousand lanes in flight; before Kokkos runs nobody can say how many there are
    typical.cores = Kokkos::is_initialized() ? std::max(1, concurrency() / 2048) : 64;
    typical.simd_bytes = 128;
    typical.launch_overhead = 10e-6;
    typical.levels = {{"8 MiB", middle_set, 2e12, 2e12, 2e12}, {"memory", all_memory, 1e12, 1e12, 1e12}};
    typical.host_to_device = typical.device_to_host = 12e9;
    typical.link_latency = 20e-6;
  }
  return typical;
}

device_profile measure(const execution& on, const progress_function& progress) {
  const session kokkos;
  const auto report = [&](double share, const char* what) {
    if (progress) progress(share, what);
  };
  auto measured = default_profile(on);
  return reporting([&] {
    measured.levels.clear();
    report(0, "bandwidth of 256 KiB");
    measured.levels.push_back(measure_level("256 KiB", small_set / 2, small_set));
    report(0.1, "bandwidth of 8 MiB");
    measured.levels.push_back(measure_level("8 MiB", middle_set / 2, middle_set));
    report(0.3, "bandwidth of memory");
    measured.levels.push_back(measure_level("memory", large_set, all_memory));
    report(0.8, "parallel regions");
    constexpr std::uint64_t regions = 1000;
    measured.launch_overhead = best_seconds(regions,
                                            [](std::uint64_t) {
                                              Kokkos::parallel_for("zenith::measure region", range(1), do_nothing{});
                                              space{}.fence();
                                            }) /
                               static_cast<double>(regions);
    if (!is_host_space) {
      report(0.9, "link");
      measure_link(measured);
    }
    report(1, "done");
    return measured;
  });
}

}  // namespace zenith::kokkos_backend
