#include <perf/study/better_of.hpp>

#include <algorithm>
#include <cstddef>

namespace zenith_study {

zenith::device_profile better_of(zenith::device_profile one, const zenith::device_profile& other) {
  const bool has_levels = one.levels.size() == other.levels.size();
  if (has_levels && one.levels.back().read < other.levels.back().read) {
    // the others are relations between two numbers, which stay together
    if (const double alone = other.rate("core.shared_alone", 0); alone > 0) one.rates["core.shared_alone"] = alone;
  }
  for (std::size_t i = 0; has_levels && i < one.levels.size(); ++i) {
    auto& level = one.levels[i];
    level.read = std::max(level.read, other.levels[i].read);
    level.write = std::max(level.write, other.levels[i].write);
    level.copy = std::max(level.copy, other.levels[i].copy);
  }
  one.launch_overhead = std::min(one.launch_overhead, other.launch_overhead);
  one.host_to_device = std::max(one.host_to_device, other.host_to_device);
  one.device_to_host = std::max(one.device_to_host, other.device_to_host);
  one.link_latency = std::min(one.link_latency, other.link_latency);
  for (auto& [name, seconds] : one.rates) {
    if (name != "core.shared_alone" && name != "core.own_levels")
      seconds = std::min(seconds, other.rate(name, seconds));
  }
  return one;
}

}  // namespace zenith_study
