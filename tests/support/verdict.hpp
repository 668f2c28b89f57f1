#pragma once

#include <cstddef>
#include <map>
#include <string>

#include <targets.hpp>

namespace zenith_test {

/// Collects faults, a few of each target so that one cause does not hide another.
class verdict {
 public:
  /// Counts a case, with what is wrong; empty if nothing is.
  void add(const target& on, const std::string& fault);
  /// Fails the running test case with what was collected, if anything.
  void require_none() const;
  [[nodiscard]] std::size_t cases() const { return cases_; }

 private:
  std::size_t cases_ = 0;
  std::size_t faults_ = 0;
  std::map<std::string, std::size_t> faults_of_;
  std::string text_;
};

}  // namespace zenith_test
