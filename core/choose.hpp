#pragma once

/// \file
/// Which device and strategy a call runs on: forced by the caller or the environment, chosen by cost, or remembered
/// from the call before. One text for every family.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <core/decide.hpp>
#include <core/resolve.hpp>
#include <zenith/cost.hpp>
#include <zenith/error.hpp>
#include <zenith/executor.hpp>
#include <zenith/machine.hpp>

namespace zenith::detail {

/// A strategy that can be chosen by cost. `Problem` has `space`, where its data lies, and operator==.
template <class Problem>
struct modelled_strategy {
  std::string_view name;
  cost (*model)(const Problem& problem, const device_profile& on);
};

/// A family as the chooser sees it.
template <class Problem>
struct choosable {
  std::string_view operation;  ///< as in the backends' kernel tables
  std::string_view function;   ///< as its user calls it, which begins messages
  std::string_view lies;       ///< "the keys lie"
  std::span<const modelled_strategy<Problem>> strategies;
};

/// The fastest of the family's strategies on some devices, or of the one that was asked for; nothing when none can run.
template <class Problem>
[[nodiscard]] std::optional<decision> try_decide(const choosable<Problem>& family, const Problem& problem,
                                                 std::span<const device_profile> among, std::string_view asked) {
  std::vector<candidate> all;
  all.reserve(among.size() * family.strategies.size());
  for (const auto& device : among) {
    for (const auto& one : family.strategies) {
      auto reason = obstacle(family.operation, one.name, family.lies, problem.space, device);
      if (reason.empty() && asked != "auto" && asked != one.name) reason = "another strategy was asked for";
      all.push_back(reason.empty() ? predicted(device, one.name, seconds(one.model(problem, device), device))
                                   : barred(device, one.name, std::move(reason)));
    }
  }
  return fastest(std::move(all), among);
}

/// Throws `unsupported`: no device runs what was asked for, of the family's strategies by `names`.
[[noreturn]] void reject_choice(std::string_view function, std::string_view lies, memory_space space,
                                std::string_view asked, std::span<const std::string_view> names);

/// The same; throws `unsupported` instead.
template <class Problem>
[[nodiscard]] decision decide(const choosable<Problem>& family, const Problem& problem,
                              std::span<const device_profile> among, std::string_view asked) {
  if (auto found = try_decide(family, problem, among, asked)) return *std::move(found);
  std::vector<std::string_view> names;
  for (const auto& one : family.strategies) names.push_back(one.name);
  reject_choice(family.function, family.lies, problem.space, asked, names);
}

/// Where a call runs, and how.
struct choice {
  execution on;
  std::string strategy;
};

template <class Problem>
[[nodiscard]] choice choose_strategy(const choosable<Problem>& family, const execution& on, const Problem& problem,
                                     std::string_view asked) {
  if (asked != "auto") return {on, std::string{asked}};
  if (on.target->default_profile != nullptr) {
    if (const auto* profile = local_profile(on)) {
      if (const auto decided = try_decide(family, problem, {profile, 1}, asked)) return {on, decided->strategy};
    }
  }
  for (const auto& entry : on.target->kernels) {
    if (entry.run != nullptr && entry.operation == family.operation) return {on, std::string{entry.strategy}};
  }
  throw error(error_code::unsupported, std::string{family.function} + " is not offered by this backend",
              on.target->name);
}

template <class Problem>
[[nodiscard]] choice choose_device(const choosable<Problem>& family, const Problem& problem, std::string_view asked,
                                   const std::string& forced) {
  if (!forced.empty()) return choose_strategy(family, make_executor(forced).settings(), problem, asked);
  const auto decided = decide(family, problem, machine::local().devices(), asked);
  execution on;
  on.target = &find_backend(decided.backend);
  on.device = decided.device;
  return {resolve(std::move(on)), decided.strategy};
}

/// Whether two executions are the same in every setting.
[[nodiscard]] inline bool same(const execution& a, const execution& b) {
  return a.target == b.target && a.device == b.device && a.threads == b.threads && a.isa == b.isa &&
         a.stream == b.stream && a.memory == b.memory;
}

/// Whether the profiles have a say. What is forced runs whatever state their file is in.
[[nodiscard]] inline bool must_choose(const execution& asked, std::string_view strategy, const std::string& forced) {
  if (asked.target == nullptr && forced.empty()) return true;
  const auto* target = asked.target != nullptr ? asked.target : &find_backend(forced.substr(0, forced.find(':')));
  return strategy == "auto" && target->default_profile != nullptr;
}

/// The choice for a call, remembered for this thread: calls in a loop have one problem, and a decision costs more than
/// a small call. By value: while a call waits for its workers this thread may take up another call, which decides anew.
template <class Problem>
[[nodiscard]] choice choose(const choosable<Problem>& family, const execution& asked, const Problem& problem,
                            std::string_view strategy) {
  struct remembered {
    std::string_view operation;
    Problem problem;
    execution asked;
    std::string asked_strategy;
    std::string forced;
    const machine* here = nullptr;
    choice chosen;
  };
  static thread_local std::optional<remembered> last;
  auto forced = asked.target == nullptr ? forced_backend() : std::string{};
  const machine* here = must_choose(asked, strategy, forced) ? &machine::local() : nullptr;
  if (last && last->operation == family.operation && last->here == here && last->forced == forced &&
      last->asked_strategy == strategy && last->problem == problem && same(last->asked, asked)) {
    return last->chosen;
  }
  auto chosen = asked.target == nullptr ? choose_device(family, problem, strategy, forced)
                                        : choose_strategy(family, asked, problem, strategy);
  last =
      remembered{family.operation, problem, asked, std::string{strategy}, std::move(forced), here, std::move(chosen)};
  return last->chosen;
}

/// The kernel of a strategy; throws unless the backend offers it and works on memory of `space`. `given` is the
/// argument whose memory it is.
const kernel& check_backend(const execution& on, std::string_view operation, std::string_view function,
                            std::string_view given, memory_space space, std::string_view strategy);

}  // namespace zenith::detail
