#include <backends/cpu/profile.hpp>

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include <backends/cpu/isa.hpp>
#include <backends/cpu/parallel.hpp>
#include <core/file.hpp>

namespace zenith::cpu_backend {
namespace {

// The size that the C library reports, or a typical one where it does not know.
std::uint64_t cache_bytes(int name, std::uint64_t typical) {
  const long bytes = sysconf(name);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : typical;
}

std::uint64_t memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  constexpr std::uint64_t typical = std::uint64_t{16} << 30;
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : typical;
}

}  // namespace

std::string model_name() {
  // the first processor's, whose entry has a few thousand bytes
  constexpr std::size_t most = std::size_t{16} << 10;
  const auto info = detail::first_bytes("/proc/cpuinfo", most);
  std::string_view rest = info ? std::string_view{*info} : std::string_view{};
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(": ");
    if (colon != std::string_view::npos) return std::string{line.substr(colon + 2)};
  }
  return "CPU";
}

cache_sizes caches() {
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  return {cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32 << 10), cache_bytes(_SC_LEVEL2_CACHE_SIZE, 1 << 20),
          cache_bytes(_SC_LEVEL3_CACHE_SIZE, 32 << 20)};
#else
  return {32 << 10, 1 << 20, 32 << 20};
#endif
}

device_profile default_profile(const execution& on) {
  device_profile typical;
  typical.backend = "cpu";
  typical.name = model_name();
  typical.kind = device_kind::cpu;
  typical.cores = on.threads;
  typical.simd_bytes = find_isa(on.isa).simd_bytes;
  typical.grain_bytes = worth_a_worker;
  typical.launch_overhead = 5e-6;

  const auto cores = static_cast<std::uint64_t>(on.threads);
  const auto size = caches();
  const auto add = [&](const char* name, std::uint64_t bytes, double of_one_core, double most) {
    // a level that is no larger than the one before holds nothing that the other does not
    if (!typical.levels.empty() && bytes <= typical.levels.back().bytes) return;
    const double read = std::min(of_one_core * on.threads, most);
    typical.levels.push_back({name, bytes, read, read / 2, read});
  };
  constexpr double unbounded = 1e15;
  // Of the cores of a socket together: what 16 cores of a Xeon reach, of 300 MB that other virtual machines share.
  constexpr double most_of_shared_cache = 280e9;
  constexpr double most_of_memory = 160e9;
  add("L1", size.first * cores, 150e9, unbounded);
  add("L2", size.second * cores, 90e9, unbounded);
  typical.rates["core.own_levels"] = static_cast<double>(typical.levels.size());
  add("L3", size.shared / 2, 25e9, most_of_shared_cache);
  add("memory", std::max(memory_bytes(), size.shared + 1), 14e9, most_of_memory);
  return typical;
}

}  // namespace zenith::cpu_backend
