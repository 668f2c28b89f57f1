#include <core/decide.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace zenith::detail {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

// Predictions are within 1.5 of the truth or so. Of two backends that use the same cores, one of plainer code is chosen
// where it is predicted to take less than half as long.
constexpr double plainer_weight = 2;

// The devices that are the host's cores by code that takes longer than another backend's does, as their profiles say.
std::vector<const device_profile*> plainer_of(std::span<const device_profile> among) {
  constexpr double times = 1.5;
  double least = never;
  for (const auto& one : among) {
    if (one.kind == device_kind::cpu) least = std::min(least, one.rate("core.estimate", 1));
  }
  std::vector<const device_profile*> found;
  for (const auto& one : among) {
    if (one.kind == device_kind::cpu && one.rate("core.estimate", 1) > times * least) found.push_back(&one);
  }
  return found;
}

std::string slower(double ratio) {
  if (ratio < 1) return "plainer code for the same cores, predicted less than twice as fast";
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

candidate barred(const device_profile& on, std::string_view strategy, std::string reason) {
  return {on.backend, on.device, std::string{strategy}, never, std::move(reason)};
}

candidate predicted(const device_profile& on, std::string_view strategy, double seconds) {
  if (!(seconds >= 0 && seconds < never)) return barred(on, strategy, "its profile gives no time for this");
  return {on.backend, on.device, std::string{strategy}, seconds, {}};
}

std::optional<decision> fastest(std::vector<candidate> all, std::span<const device_profile> among) {
  const auto plainer = plainer_of(among);
  const auto weighed = [&](const candidate& one) {
    const bool is_plainer = std::ranges::any_of(
        plainer, [&](const device_profile* of) { return of->device == one.device && of->backend == one.backend; });
    return one.predicted_seconds * (is_plainer ? plainer_weight : 1);
  };
  std::ranges::stable_sort(all, {}, weighed);
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
  const bool is_slower =
      std::ranges::any_of(all, [&](const candidate& one) { return one.predicted_seconds < found.predicted_seconds; });
  if (is_slower) found.why += ", but for plainer code on the same cores";
  found.rejected = std::move(all);
  return found;
}

}  // namespace zenith::detail
