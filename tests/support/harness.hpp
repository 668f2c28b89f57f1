#pragma once

/// \file
/// How every conformance suite draws what a question is put to, and what becomes of what is wrong. A family says how a
/// question is asked of one target and what its answer is.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
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

/// Where a question may be put: to a target, with its data on the host or on the target's device.
struct place {
  const target& on;
  bool on_device;
  bool is_first;  ///< none of its backend and strategy was drawn before for this question

  /// The reference is slow by design, and families leave it out of what is large.
  [[nodiscard]] bool is_reference() const { return on.on.backend() == "reference"; }
};

/// The share of the places for families whose every case is worth its time.
[[nodiscard]] inline double everywhere(const place& /*at*/) { return 1; }
/// One of each backend and strategy, and some more.
[[nodiscard]] inline double one_of_each(const place& at) { return at.is_first ? 1 : 0.1 * scale(); }

/// Puts a question to the places that the seed draws: `share(place)` is how likely each is, and 0 means never. The
/// first question of a test goes to one place at least, so a small share leaves no test without a case. `ask(place)`
/// says what is wrong, which stands in the verdict behind the target and the question's `text()`.
template <class Share, class Text, class Ask>
void judge(verdict& seen, const std::vector<target>& all, random_source& random, const Share& share, const Text& text,
           const Ask& ask) {
  std::vector<std::pair<const target*, bool>> order;
  for (const auto& on : all) {
    order.emplace_back(&on, false);
    if (on.memory == zenith::memory_space::device) order.emplace_back(&on, true);
  }
  std::shuffle(order.begin(), order.end(), random);
  std::set<std::pair<std::string_view, std::string_view>> drawn;
  for (const auto& [on, on_device] : order) {
    const std::pair<std::string_view, std::string_view> kind{on->on.backend(), on->strategy};
    const place at{*on, on_device, !drawn.contains(kind)};
    const double likely = share(at);
    const bool must = seen.cases() == 0 && likely > 0;
    if (!must && std::uniform_real_distribution<>{}(random) >= likely) continue;
    drawn.insert(kind);
    const auto fault = caught([&] { return ask(at); });
    seen.add(*on, fault.empty() ? fault : text() + (on_device ? " on the device: " : ": ") + fault);
  }
}

/// use(random) again and again, with a seed of its own each, for so many seconds, and once at least.
template <class Use>
void for_a_while(std::string_view test, double seconds, const Use& use) {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  std::uint64_t number = 0;
  do {
    random_source random{seed_of(test, number++)};
    use(random);
  } while (std::chrono::duration<double>(clock::now() - start).count() < seconds);
}

}  // namespace zenith_test
