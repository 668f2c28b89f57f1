#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// \file
/// What a person can set for a run of the tests, through the environment.

namespace zenith_test {

/// ZENITH_SEED, or a new one for each run. The first call prints it.
[[nodiscard]] std::uint64_t seed();

/// A seed of its own for case `number` of the test called `test`, so that no case depends on those before it.
[[nodiscard]] std::uint64_t seed_of(std::string_view test, std::uint64_t number);

/// ZENITH_TEST_SCALE, by default 1: how large inputs are, and how long random tests last, against the default.
[[nodiscard]] double scale();

/// `count`, or the share of it that a scale() below 1 leaves, but at least one.
[[nodiscard]] unsigned scaled(unsigned count);

/// The share of a test's cases that are run: the square root of scale(), at most all.
[[nodiscard]] double share_of_cases();

/// Whether case `number` of the test called `test` is in the share that is run. The seed draws which are.
[[nodiscard]] bool is_drawn(std::string_view test, std::uint64_t number);

/// Whether `word` is in the comma-separated list that the environment holds under `variable`.
[[nodiscard]] bool is_listed(const char* variable, std::string_view word);

}  // namespace zenith_test
