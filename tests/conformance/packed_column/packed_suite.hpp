#pragma once

/// \file
/// How large the suite is. The same cases make two programs: one for the backends of the build and one, smaller, for
/// the CUDA backend emulated lane by lane.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <harness.hpp>
#include <operations.hpp>
#include <sample.hpp>
#include <values.hpp>

namespace conformance::packed {

using zenith_test::verdict;

/// What one program of the suite is. Each program defines `the_suite`.
struct suite {
  std::vector<zenith_test::target> targets;
  std::size_t most_items = 0;  ///< no column is longer
  double share = 1;            ///< of the cases that are run, chosen anew by each seed
  double random_seconds = 0;   ///< that the random cases of one type may take
};

[[nodiscard]] const suite& the_suite();

/// The targets of a program: the executors of `backends` that offer any operation over packed columns. Which of them a
/// backend does not offer is said on a line.
[[nodiscard]] std::vector<zenith_test::target> packed_targets(
    const std::vector<std::string>& backends = zenith_test::every_backend);

/// Runs every operation over `data` on every target of the suite that the share takes.
template <class T>
void run_everywhere(verdict& seen, sample<T>& data, random_source& random) {
  constexpr std::size_t most_for_reference = 5000;
  const auto share = [&](const zenith_test::place& at) {
    if (at.is_reference() && data.values().size() > most_for_reference) return 0.0;
    // the column is on the device in two of three placements
    const double places = at.on.memory != zenith::memory_space::device ? 1 : at.on_device ? 1.5 : 3;
    return the_suite().share / places;
  };
  zenith_test::judge(
      seen, the_suite().targets, random, share, [&] { return data.describe(); },
      [&](const zenith_test::place& at) {
        const auto on_device = random() % 2 == 0 ? placement::device_column : placement::device;
        return fault_of(at.on, data, at.on_device ? on_device : placement::host, random);
      });
}

/// Up to the suite's largest: lengths around every boundary of the format, and primes.
[[nodiscard]] std::vector<std::size_t> interesting_lengths();

/// `count` values packed as `as`, at a drawn offset; in one of eight, random bits stand where no value has any.
template <class T>
[[nodiscard]] sample<T> make_sample(shape one, std::size_t count, unsigned width, const manner& as,
                                    random_source& random) {
  constexpr std::size_t offsets[] = {0, 0, 1, 2, 3, 4, 8, 37};
  return {std::string{name_of(one)} + " of " + std::to_string(width) + " bits",
          make_values<T>(one, count, width, random), as, offsets[random() % std::size(offsets)],
          random() % 8 == 0 ? &random : nullptr};
}

[[nodiscard]] inline shape some_shape(random_source& random) { return every_shape[random() % std::size(every_shape)]; }
[[nodiscard]] inline manner some_manner(random_source& random) {
  return every_manner[random() % std::size(every_manner)];
}
template <class T>
[[nodiscard]] unsigned some_width(random_source& random) {
  return static_cast<unsigned>(random() % (sizeof(T) * 8 + 1));
}

}  // namespace conformance::packed
