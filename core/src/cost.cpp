#include <zenith/cost.hpp>

#include <algorithm>

namespace zenith {

double seconds(const phase& of, const device_profile& on) {
  double slowest = 0;
  for (const auto& moved : of.memory) {
    const auto& level = on.level_for(moved.working_set);
    double time = moved.read / level.read;
    if (moved.written > 0) time += moved.written / level.write;
    slowest = std::max(slowest, time);
  }
  double busy = 0;
  for (const auto& done : of.operations) busy += done.count * on.rate(done.rate, done.default_seconds);
  return std::max(slowest, busy) + of.launches * on.launch_overhead;
}

double seconds(const cost& of, const device_profile& on) {
  double total = 0;
  for (const auto& one : of.phases) total += seconds(one, on);
  if (of.to_device_bytes > 0 && on.host_to_device > 0)
    total += on.link_latency + of.to_device_bytes / on.host_to_device;
  if (of.to_host_bytes > 0 && on.device_to_host > 0) total += on.link_latency + of.to_host_bytes / on.device_to_host;
  return total;
}

}  // namespace zenith
