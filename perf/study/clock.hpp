#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace zenith_study {

/// How long one point may be measured: at least `least_repeats` calls, then until `enough_seconds` have passed.
struct time_limits {
  int least_repeats = 3;
  int most_repeats = 200;
  double enough_seconds = 0.02;
};

template <class Call>
[[nodiscard]] double seconds_of(const Call& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Seconds of a call: the lower quartile of several, after one to warm up.
template <class Call>
[[nodiscard]] double lower_quartile_seconds(const Call& call, const time_limits& limits) {
  call();
  std::vector<double> times;
  double spent = 0;
  while (static_cast<int>(times.size()) < limits.least_repeats ||
         (spent < limits.enough_seconds && static_cast<int>(times.size()) < limits.most_repeats)) {
    times.push_back(seconds_of(call));
    spent += times.back();
  }
  const auto quartile = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4);
  std::ranges::nth_element(times, quartile);
  return *quartile;
}

}  // namespace zenith_study
