#include <zenith/cost.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace zenith {

namespace {

// A bandwidth or rate that is no number makes a time that is none, and never one that another hides.
double slower(double a, double b) {
  return a >= 0 && b >= 0 ? std::max(a, b) : std::numeric_limits<double>::infinity();
}

// A host's region takes as long as it takes to wake the cores that have a part in it, who wake each other like a tree;
// with one the caller works alone.
double launch_seconds(double cores, const device_profile& on) {
  if (on.grain_bytes == 0 || on.cores < 2) return on.launch_overhead;
  return on.launch_overhead * std::log2(cores) / std::log2(on.cores);
}

// How many times as long a core takes for its work while so many do theirs.
double slowed(double cores, const device_profile& on) {
  return on.cores < 2 ? 1 : 1 + (on.rate("core.all_busy", 1) - 1) * (cores - 1) / (on.cores - 1);
}

struct found_level {
  const memory_level& level;
  bool is_own;
};

// Where the working set of a phase with so many cores lies. The own caches of cores that have no part in the phase do
// not hold any of it.
found_level level_of(std::uint64_t working_set, double cores, const device_profile& on) {
  const auto& levels = on.levels;
  const auto own = std::min(static_cast<std::size_t>(on.rate("core.own_levels", 0)), levels.size() - 1);
  const double spread = static_cast<double>(working_set) * on.cores / cores;
  for (std::size_t i = 0; i < own; ++i) {
    if (static_cast<double>(levels[i].bytes) >= spread) return {levels[i], true};
  }
  const auto holds = [&](const memory_level& one) { return one.bytes >= working_set; };
  const auto shared = std::find_if(levels.begin() + static_cast<std::ptrdiff_t>(own), levels.end(), holds);
  return {shared == levels.end() ? levels.back() : *shared, false};
}

// Copies shorter than this have one thread of the host at work, longer ones several.
constexpr double short_copy_bytes = 4 << 20;

double link_seconds(double bytes, double bandwidth, const device_profile& on) {
  const double of_short_byte = std::max(on.rate("link.short_copy", 0), 1 / bandwidth);
  const double first = std::min(bytes, short_copy_bytes);
  return first * of_short_byte + (bytes - first) / bandwidth;
}

}  // namespace

int cores_for(double bytes, const device_profile& on) {
  if (on.grain_bytes == 0) return on.cores;
  return static_cast<int>(std::clamp(bytes / static_cast<double>(on.grain_bytes), 1.0, static_cast<double>(on.cores)));
}

std::uint64_t set_beyond_own_caches(int workers, const device_profile& on) {
  const auto own = static_cast<std::size_t>(on.rate("core.own_levels", 0));
  if (workers < 2 || own == 0 || own >= on.levels.size()) return 0;
  // `seconds` takes the part of a cache that belongs to the workers' cores
  const double part = static_cast<double>(workers) / on.cores;
  return static_cast<std::uint64_t>(part * (static_cast<double>(on.levels[own - 1].bytes) + on.cores)) + 1;
}

double seconds(const phase& of, const device_profile& on) {
  const double cores = of.cores > 0 ? std::min(of.cores, on.cores) : on.cores;
  const double slow = slowed(cores, on);
  // the bandwidth of a level that is a core's own was measured while all cores read
  const double own = slow / on.rate("core.all_busy", 1);
  const double of_all = on.cores / cores;
  // a bandwidth is that of all cores together; of what they share a few cores can reach more than their part
  const double of_shared = std::max(of_all / std::max(on.rate("core.shared_alone", 1), 1.0), 1.0);
  double slowest = 0;
  for (const auto& moved : of.memory) {
    const auto found = level_of(moved.working_set, cores, on);
    double time = moved.read > 0 ? moved.read / found.level.read : 0;
    if (moved.written > 0) time += moved.written / found.level.write;
    slowest = slower(slowest, time * (found.is_own ? own * of_all : of_shared));
  }
  double busy = 0;
  const double estimate = on.rate("core.estimate", 1);
  for (const auto& done : of.operations) busy += done.count * on.rate(done.rate, done.default_seconds * estimate);
  return slower(slowest, busy * slow / cores) + of.launches * launch_seconds(cores, on);
}

double seconds(const cost& of, const device_profile& on) {
  double total = 0;
  for (const auto& one : of.phases) total += seconds(one, on);
  if (of.to_device_bytes > 0 && on.host_to_device > 0) {
    // while one piece is worked on the next one travels: the slower of the two decides, but for one piece of the other
    const double travel = link_seconds(of.to_device_bytes, on.host_to_device, on);
    total = std::max(total, travel) + std::min(total, travel) / of.pieces + on.link_latency * of.pieces;
  }
  if (of.to_host_bytes > 0 && on.device_to_host > 0) {
    total += on.link_latency + link_seconds(of.to_host_bytes, on.device_to_host, on);
  }
  return total;
}

}  // namespace zenith
