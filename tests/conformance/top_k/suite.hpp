#pragma once

/// \file
/// How large the suite is. The same cases make two programs: one for the backends of the build and one, smaller, for
/// the CUDA backend emulated lane by lane.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <check.hpp>
#include <harness.hpp>
#include <inputs.hpp>

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
  // trivially equal to itself, too
  constexpr std::size_t most_for_reference = 5000;
  const auto share = [&](const zenith_test::place& at) {
    const bool is_slow = at.is_reference() && input.count() > most_for_reference;
    return is_slow || at.on_device != asked.on_device ? 0 : the_suite().share;
  };
  zenith_test::judge(
      seen, the_suite().targets, random, share, [&] { return input.describe() + " " + describe(asked); },
      [&](const zenith_test::place& at) { return fault_of(at.on, input, asked); });
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
