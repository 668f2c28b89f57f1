#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <targets.hpp>

/// \file
/// One call whose allocations fail one after the other.

namespace zenith_test {

struct scenario {
  std::string name;
  std::function<void()> call;
  /// Puts the outputs back to what they were before the call; empty for a call that returns its result.
  std::function<void()> reset = [] {};
  std::function<bool()> is_untouched = [] { return true; };
  std::function<bool()> is_right = [] { return true; };
};

/// Checks, for each allocation of the call that fails: an exception that says out of memory, or the right result;
/// untouched outputs; no block left behind; and that the next call is right.
void check_allocations(const scenario& of);

/// One executor for each backend and strategy of `operation`: that with the most threads.
[[nodiscard]] std::vector<target> strategies_of(std::string_view operation);

}  // namespace zenith_test
