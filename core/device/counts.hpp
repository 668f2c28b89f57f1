#pragma once

/// \file
/// Named counters on the host: who wants events counted gives one to a call.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zenith::device {

/// Names and how often each was counted, in the order in which the names were first asked for.
class named_counts {
 public:
  void add(std::string_view name, std::uint64_t more) {
    for (auto& [known, count] : all_) {
      if (known == name) {
        count += more;
        return;
      }
    }
    all_.emplace_back(std::string{name}, more);
  }
  [[nodiscard]] std::uint64_t of(std::string_view name) const {
    for (const auto& [known, count] : all_) {
      if (known == name) return count;
    }
    return 0;
  }
  [[nodiscard]] const std::vector<std::pair<std::string, std::uint64_t>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, std::uint64_t>> all_;
};

}  // namespace zenith::device
