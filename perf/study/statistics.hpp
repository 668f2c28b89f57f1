#pragma once

#include <algorithm>
#include <vector>

namespace zenith_study {

/// The middle of `values`, the mean of the two middle ones for an even number; 0 for none.
[[nodiscard]] inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace zenith_study
