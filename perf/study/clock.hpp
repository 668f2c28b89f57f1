#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace zenith_study {

/// How long one point may be measured: at least `least_repeats` samples, then until `enough_seconds` have passed. Calls
/// that take less than `shortest_sample` seconds are timed in batches.
struct time_limits {
  int least_repeats = 3;
  int most_repeats = 200;
  double enough_seconds = 0.02;
  double shortest_sample = 0;
};

template <class Call>
[[nodiscard]] double seconds_of(const Call& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Seconds of a call, an entry a sample, after a `first` one that took so long.
template <class Call>
[[nodiscard]] std::vector<double> sampled_seconds(const Call& call, double first, const time_limits& limits) {
  const int batch =
      static_cast<int>(std::clamp(std::ceil(limits.shortest_sample / std::max(first, 1e-9)), 1.0, 1000.0));
  std::vector<double> times;
  double spent = 0;
  while (static_cast<int>(times.size()) < limits.least_repeats ||
         (spent < limits.enough_seconds && static_cast<int>(times.size()) < limits.most_repeats)) {
    spent += times.emplace_back(seconds_of([&] {
                                  for (int i = 0; i < batch; ++i) call();
                                }) /
                                batch) *
             batch;
  }
  return times;
}

/// The middle of `values`, the mean of the two middle ones for an even number; 0 for none.
[[nodiscard]] inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

[[nodiscard]] inline double lower_quartile(std::vector<double> values) {
  const auto quartile = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::ranges::nth_element(values, quartile);
  return *quartile;
}

/// Seconds of a call: the lower quartile of several, after one to warm up.
template <class Call>
[[nodiscard]] double lower_quartile_seconds(const Call& call, const time_limits& limits) {
  return lower_quartile(sampled_seconds(call, seconds_of(call), limits));
}

}  // namespace zenith_study
