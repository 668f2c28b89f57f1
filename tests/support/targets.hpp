#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <zenith/executor.hpp>

/// \file
/// Everything that an operation can run on here: every usable backend, instruction set, number of threads, strategy.

namespace zenith_test {

struct target {
  std::string executor_string;  ///< as a person would repeat it: "cpu:isa=avx2,threads=3"
  std::string strategy;
  zenith::executor on;
  zenith::memory_space memory = zenith::memory_space::host;

  [[nodiscard]] std::string name() const { return executor_string + " " + strategy; }
};

/// The backends of the tree.
inline const std::vector<std::string> every_backend{"reference", "cpu", "cuda", "kokkos"};

/// The targets of `operation` among `backends`. ZENITH_TEST_BACKENDS, a comma-separated list,
/// leaves out all other backends. A backend of that list that is not usable here is said to be skipped on a line that
/// CTest knows; one of ZENITH_REQUIRE_BACKENDS throws, and so does an instruction set that this CPU has and Zenith
/// refuses.
[[nodiscard]] std::vector<target> targets(std::string_view operation,
                                          const std::vector<std::string>& backends = every_backend);

/// The targets as executors alone, each once.
[[nodiscard]] std::vector<target> executors(std::string_view operation,
                                            const std::vector<std::string>& backends = every_backend);

/// How many threads an executor has among those that differ in nothing else.
enum class threads { fewest, most };

/// Of the CPU backend's executors for `operation`, one of every instruction set that this CPU has: for what differs by
/// instruction set alone. Which numbers of threads there are depends on the build, so none is named. Empty only where
/// ZENITH_TEST_BACKENDS leaves the backend out.
[[nodiscard]] std::vector<target> one_executor_per_isa(std::string_view operation, threads those = threads::fewest);

}  // namespace zenith_test
