#pragma once

/// \file
/// What the conformance suites have in common: which targets a question is put to, and what becomes of what is wrong. A
/// family says how a question is asked of one target and what its answer is.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <settings.hpp>
#include <targets.hpp>
#include <verdict.hpp>

namespace zenith_test {

using random_source = std::mt19937_64;

/// What a run says is wrong, or what it threw; empty when nothing is.
template <class Run>
[[nodiscard]] std::string caught(const Run& run) {
  try {
    return run();
  } catch (const std::exception& thrown) {
    return std::string{"threw "} + thrown.what();
  }
}

/// Whether a case is of the share that the seed draws. The first of a test always is: a small share leaves none empty.
[[nodiscard]] inline bool is_drawn(const verdict& seen, double share, random_source& random) {
  return seen.cases() == 0 || std::uniform_real_distribution<>{}(random) < share;
}

/// Counts a case, and adds what `run` says is wrong, with the question's `text()` before it.
template <class Text, class Run>
void judge(verdict& seen, const target& on, const Text& text, const Run& run) {
  seen.count_case();
  const std::string fault = caught(run);
  if (!fault.empty()) seen.add(on, text() + ": " + fault);
}

/// `ask(target, on_device)` says what is wrong: of every target, with data on the host and, where it has one, on its
/// device.
template <class Text, class Ask>
void judge_every_place(verdict& seen, const std::vector<target>& all, const Text& text, const Ask& ask) {
  for (const auto& on : all) {
    for (const bool on_device : {false, true}) {
      if (on_device && on.memory != zenith::memory_space::device) continue;
      judge(
          seen, on, [&] { return text() + (on_device ? " on the device" : ""); }, [&] { return ask(on, on_device); });
    }
  }
}

/// The whole of the cases, for strategies that do not take turns.
[[nodiscard]] inline double always(std::string_view /*strategy*/) { return 1; }

/// use(target) for a share of the targets that the seed draws: one of each backend and strategy, or `turn(strategy)` of
/// them, and some more. `spares_reference` leaves the reference out, which is slow.
template <class Turn, class Use>
void some_targets(const std::vector<target>& all, bool spares_reference, random_source& random, const Turn& turn,
                  const Use& use) {
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::string> ran;
  for (const auto i : order) {
    const auto& on = all[i];
    if (spares_reference && on.on.backend() == "reference") continue;
    const std::string kind = std::string{on.on.backend()} + "/" + on.strategy;
    const bool is_first = std::ranges::find(ran, kind) == ran.end();
    const double share = turn(on.strategy) * (is_first ? 1 : 0.1 * scale());
    if (share < 1 && std::uniform_real_distribution<>{}(random) >= share) continue;
    ran.push_back(kind);
    use(on);
  }
}

/// use(random) again and again, with a seed of its own each, for so long at the scale of the run.
template <class Use>
void for_a_while(std::string_view test, int milliseconds, const Use& use) {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::milliseconds(static_cast<int>(milliseconds * scale()));
  for (std::uint64_t number = 0; clock::now() < end; ++number) {
    random_source random{seed_of(test, number)};
    use(random);
  }
}

}  // namespace zenith_test
