#include <algorithms/top_k/decide.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <algorithms/top_k/strategies.hpp>
#include <core/decide.hpp>
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

candidate consider(const top_k_problem& problem, const strategy& with, const device_profile& on,
                   std::string_view asked) {
  auto reason = detail::obstacle(top_k_call::operation, with.name, "the keys lie", problem.space, on);
  if (reason.empty() && asked != "auto" && asked != with.name) reason = "another strategy was asked for";
  if (!reason.empty()) return detail::barred(on, with.name, std::move(reason));
  return detail::predicted(on, with.name, seconds(with.model(problem, on), on));
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
  return detail::fastest(std::move(all));
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
