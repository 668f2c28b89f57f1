#pragma once

/// \file
/// Columns to rows and back, a register at a time.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace zenith::detail {

/// A square of values as wide as a 16-byte register.
template <class T>
struct square {
  static constexpr std::size_t side = 16 / sizeof(T);
  using lanes [[gnu::vector_size(16)]] = T;

  /// Values of a row of so many, rounded up to whole registers.
  [[nodiscard]] static constexpr std::size_t padded(std::size_t count) { return (count + side - 1) / side * side; }

  [[nodiscard]] static lanes load(const T* from) {
    lanes all;
    std::memcpy(&all, from, sizeof all);
    return all;
  }
  static void store(T* to, lanes all) { std::memcpy(to, &all, sizeof all); }

  /// to[i][j] = from[j][i].
  static void transpose(const T* const (&from)[side], T* const (&to)[side]) {
    if constexpr (side == 4) {
      const lanes a = load(from[0]);
      const lanes b = load(from[1]);
      const lanes c = load(from[2]);
      const lanes d = load(from[3]);
      const lanes ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
      const lanes ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
      const lanes cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
      const lanes cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
      store(to[0], __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
      store(to[1], __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
      store(to[2], __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
      store(to[3], __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
    } else {
      const lanes a = load(from[0]);
      const lanes b = load(from[1]);
      store(to[0], __builtin_shufflevector(a, b, 0, 2));
      store(to[1], __builtin_shufflevector(a, b, 1, 3));
    }
  }
};

}  // namespace zenith::detail
