#pragma once

/// \file
/// How large the suite is. The same cases make two programs: one for the backends of the build and one, smaller, for
/// the CUDA backend emulated lane by lane.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <check.hpp>
#include <harness.hpp>
#include <inputs.hpp>
#include <settings.hpp>
#include <verdict.hpp>

namespace conformance {

/// What one program of the suite is. Each program defines `the_suite`.
struct suite {
  std::vector<zenith_test::target> targets;
  std::size_t most_items = 0;  ///< no input is larger
  double share = 1;            ///< of the cases that are run, chosen anew by each seed
  double random_seconds = 0;   ///< that the random cases of one key type may take
};

[[nodiscard]] const suite& the_suite();

using zenith_test::verdict;

/// Runs `asked` on every target of the suite that the share takes.
template <class T>
void run_everywhere(verdict& seen, column<T>& input, const request& asked, random_source& random) {
  // the reference is slow by design, and trivially equal to itself
  constexpr std::size_t most_for_reference = 5000;
  for (const auto& on : the_suite().targets) {
    if (asked.on_device && on.memory != zenith::memory_space::device) continue;
    if (on.on.backend() == "reference" && input.count() > most_for_reference) continue;
    if (!zenith_test::is_drawn(seen, the_suite().share, random)) continue;
    seen.count_case();
    seen.add(on, fault_of(on, input, asked));
  }
}

/// Options that no result may depend on are drawn; so every run of the suite sees other combinations.
[[nodiscard]] request random_request(random_source& random, std::size_t k);

/// Sizes at which something changes: tiles, vectors, blocks and segments of samples, and primes.
[[nodiscard]] std::vector<std::size_t> interesting_sizes();

/// Values of k up to count at which something changes.
[[nodiscard]] std::vector<std::size_t> interesting_ks(std::size_t count);

/// A column of `count` keys at a drawn offset.
template <class T>
[[nodiscard]] column<T> make_column(distribution which, std::size_t count, random_source& random) {
  constexpr std::size_t offsets[] = {0, 0, 1, 3};
  return {std::string{name_of(which)}, make_keys<T>(which, count, random), offsets[random() % 4]};
}

}  // namespace conformance
