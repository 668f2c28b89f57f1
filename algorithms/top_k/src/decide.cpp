#include <algorithms/top_k/decide.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

#include <algorithms/top_k/strategies.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace {

using top_k_detail::strategies;
using top_k_detail::strategy;

constexpr double never = std::numeric_limits<double>::infinity();

constexpr auto names = [] {
  std::array<std::string_view, strategies.size()> all{};
  std::ranges::transform(strategies, all.begin(), &strategy::name);
  return all;
}();

// Why this strategy cannot run there; empty when it can.
std::string_view obstacle(const top_k_problem& problem, const strategy& with, const device_profile& on,
                          std::string_view asked) {
  if (!on.offers_kernel(top_k_call::operation, with.name)) return "not offered by this backend";
  if (on.levels.empty()) return "its profile has no memory level";
  if (problem.space == memory_space::device && on.memory != memory_space::device) {
    return "the keys lie in device memory, which this backend cannot read";
  }
  if (asked != "auto" && asked != with.name) return "another strategy was asked for";
  return {};
}

std::string slower(double ratio) {
  std::array<char, 64> text{};
  const int length = ratio < 1.095
                         ? std::snprintf(text.data(), text.size(), "predicted %.0f %% slower", (ratio - 1) * 100)
                         : std::snprintf(text.data(), text.size(), "predicted %.1f times slower", ratio);
  return {text.data(), static_cast<std::size_t>(length)};
}

bool is_faster(const candidate& a, const candidate& b) { return a.predicted_seconds < b.predicted_seconds; }

candidate consider(const top_k_problem& problem, const strategy& with, const device_profile& on,
                   std::string_view asked) {
  candidate one{on.backend, on.device, std::string{with.name}, never, std::string{obstacle(problem, with, on, asked)}};
  if (!one.reason.empty()) return one;
  const double predicted = seconds(with.model(problem, on), on);
  if (predicted >= 0 && predicted < never) {
    one.predicted_seconds = predicted;
  } else {
    one.reason = "its profile gives no time for this";
  }
  return one;
}

}  // namespace

namespace top_k_detail {

std::optional<decision> try_decide(const top_k_problem& problem, std::span<const device_profile> among,
                                   std::string_view asked) {
  std::vector<candidate> all;
  all.reserve(among.size() * strategies.size());
  for (const auto& device : among) {
    for (const auto& one : strategies) all.push_back(consider(problem, one, device, asked));
  }
  // stable: of equals the backend that is listed first, and its strategy that is listed first
  std::ranges::stable_sort(all, is_faster);
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

decision decide(const top_k_problem& problem, std::span<const device_profile> among, std::string_view asked) {
  if (auto found = try_decide(problem, among, asked)) return *std::move(found);
  throw error(error_code::unsupported, asked == "auto" ? std::string{"top_k: no device of this machine can run it"}
                                                       : "top_k: options.strategy is '" + std::string{asked} +
                                                             "', which no usable device offers");
}

}  // namespace top_k_detail

decision decide(const top_k_problem& problem, const machine& on) {
  return top_k_detail::decide(problem, on.devices(), "auto");
}

cost top_k_cost(std::string_view name, const top_k_problem& problem, const device_profile& on) {
  const auto found = std::ranges::find(strategies, name, &strategy::name);
  if (found != strategies.end()) return found->model(problem, on);
  std::string known;
  for (const auto& one : names) known += (known.empty() ? "" : ", ") + std::string{one};
  throw error(error_code::invalid_argument,
              "top_k_cost: strategy is '" + std::string{name} + "'; the strategies with a cost model are: " + known);
}

std::span<const std::string_view> top_k_strategies() noexcept { return names; }

}  // namespace zenith
