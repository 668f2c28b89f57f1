#pragma once

/// \file
/// Bisection, for kernels.

#include <core/device/function.hpp>

namespace zenith::device {

/// The first of the numbers 0 … n - 1 for which test(i) is false; n if there is none. Behind it test(i) is false for
/// all. log n tests.
template <class Number, class Test>
[[nodiscard]] ZENITH_FN Number first_failing(Number n, const Test& test) {
  Number low = 0;
  for (Number high = n; low < high;) {
    const Number middle = low + (high - low) / 2;
    if (test(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace zenith::device
