#include <algorithms/top_k/choices.hpp>

#include <algorithm>
#include <array>

#include <core/message.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace {

using top_k_detail::strategies;
using top_k_detail::strategy;

constexpr auto names = [] {
  std::array<std::string_view, strategies.size()> all{};
  std::ranges::transform(strategies, all.begin(), &strategy::name);
  return all;
}();

}  // namespace

decision decide(const top_k_problem& problem, const machine& on) {
  return detail::decide(top_k_detail::choices, problem, on.devices(), "auto");
}

cost top_k_cost(std::string_view name, const top_k_problem& problem, const device_profile& on) {
  const auto found = std::ranges::find(strategies, name, &strategy::name);
  if (found != strategies.end()) return found->model(problem, on);
  std::string known;
  for (const auto& one : names) known += (known.empty() ? "" : ", ") + std::string{one};
  throw error(error_code::invalid_argument,
              "top_k_cost: strategy is '" + detail::shown(name) + "'; the strategies with a cost model are: " + known);
}

std::span<const std::string_view> top_k_strategies() noexcept { return names; }

}  // namespace zenith
