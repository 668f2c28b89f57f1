#include <zenith/cost.hpp>

#include <algorithm>
#include <cmath>
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

double seconds(const phase& of, const device_profile& on) {
  const double cores = of.cores > 0 ? std::min(of.cores, on.cores) : on.cores;
  double slowest = 0;
  for (const auto& moved : of.memory) {
    // the caches of the cores that have no part in the phase do not hold any of it
    const auto spread = static_cast<std::uint64_t>(static_cast<double>(moved.working_set) * on.cores / cores);
    const auto& level = on.level_for(spread);
    double time = moved.read > 0 ? moved.read / level.read : 0;
    if (moved.written > 0) time += moved.written / level.write;
    slowest = slower(slowest, time);
  }
  // a bandwidth is that of all cores together
  slowest *= on.cores / cores;
  double busy = 0;
  const double estimate = on.rate("core.estimate", 1);
  for (const auto& done : of.operations) busy += done.count * on.rate(done.rate, done.default_seconds * estimate);
  return slower(slowest, busy / cores) + of.launches * launch_seconds(cores, on);
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
