#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zenith_study {

/// A strategy of a backend that a study measures.
struct offered_strategy {
  std::string executor;
  std::string strategy;
  bool on_device = false;  ///< the backend's memory is a device's

  [[nodiscard]] std::string label() const { return executor + "/" + strategy; }
};

/// Throws `unsupported` for a strategy that is named and not among those that are offered, and says which are.
void require_offered(const std::vector<std::string>& named, std::vector<std::string> offered);

/// The strategies that the executors offer for an operation, or those of every usable backend but the reference where
/// none is named. Throws `invalid_argument` for "auto", `unsupported` for a strategy that is named and not offered, and
/// when nothing is left.
[[nodiscard]] std::vector<offered_strategy> offered_strategies(std::string_view operation,
                                                               const std::vector<std::string>& executors,
                                                               const std::vector<std::string>& strategies);

}  // namespace zenith_study
