#include <core/decide.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <utility>

namespace zenith::detail {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

std::string slower(double ratio) {
  std::array<char, 64> text{};
  const int length = ratio < 1.095
                         ? std::snprintf(text.data(), text.size(), "predicted %.0f %% slower", (ratio - 1) * 100)
                         : std::snprintf(text.data(), text.size(), "predicted %.1f times slower", ratio);
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

std::string obstacle(std::string_view operation, std::string_view strategy, std::string_view what, memory_space space,
                     const device_profile& on) {
  if (!on.offers_kernel(operation, strategy)) return "not offered by this backend";
  if (on.levels.empty()) return "its profile has no memory level";
  if (space == memory_space::device && on.memory != memory_space::device) {
    return std::string{what} + " in device memory, which this backend cannot read";
  }
  return {};
}

// As the roofline takes a phase's part of the cores: a bandwidth is that of all together, and so is a cache.
device_profile narrowed(const device_profile& all, int threads) {
  auto some = all;
  some.cores = threads;
  const double part = static_cast<double>(threads) / all.cores;
  // fewer cores at work slow each other less
  const double all_busy = all.rate("core.all_busy", 1);
  const double busy = all.cores < 2 ? 1 : 1 + (all_busy - 1) * (threads - 1) / (all.cores - 1);
  if (all_busy != 1) some.rates["core.all_busy"] = busy;
  auto own_levels = static_cast<std::size_t>(all.rate("core.own_levels", 0));
  for (auto& level : some.levels) {
    level.bytes = static_cast<std::uint64_t>(static_cast<double>(level.bytes) * part);
    double bandwidth = part;
    if (own_levels > 0) {
      bandwidth *= all_busy / busy;
      --own_levels;
    }
    level.read *= bandwidth;
    level.write *= bandwidth;
    level.copy *= bandwidth;
  }
  if (all.grain_bytes > 0) some.launch_overhead *= std::log2(threads) / std::log2(all.cores);
  return some;
}

candidate barred(const device_profile& on, std::string_view strategy, std::string reason) {
  return {on.backend, on.device, std::string{strategy}, never, std::move(reason)};
}

candidate predicted(const device_profile& on, std::string_view strategy, double seconds) {
  if (!(seconds >= 0 && seconds < never)) return barred(on, strategy, "its profile gives no time for this");
  return {on.backend, on.device, std::string{strategy}, seconds, {}};
}

std::optional<decision> fastest(std::vector<candidate> all) {
  std::ranges::stable_sort(all, {}, &candidate::predicted_seconds);
  const auto can_run = [](const candidate& one) { return one.predicted_seconds < never; };
  const auto possible = static_cast<std::size_t>(std::ranges::count_if(all, can_run));
  if (possible == 0) return std::nullopt;
  for (std::size_t i = 1; i < possible; ++i) {
    all[i].reason = slower(all[i].predicted_seconds / all.front().predicted_seconds);
  }
  auto& best = all.front();
  decision found{std::move(best.backend), best.device, std::move(best.strategy), best.predicted_seconds, {}, {}};
  found.why = possible == 1 ? "the only one that can run" : "the fastest predicted of " + std::to_string(possible);
  all.erase(all.begin());
  found.rejected = std::move(all);
  return found;
}

}  // namespace zenith::detail
