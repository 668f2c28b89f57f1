#pragma once

/// \file
/// The values of the suite: for each encoding those that it is made for, and those that it stumbles over.

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace conformance::packed {

using random_source = std::mt19937_64;

enum class shape {
  width,          // uniform within so many bits above some base, which may stand across the middle of the type
  whole_range,    // every bit pattern
  one_to_n,       // 1, 2, ..., n
  ascending,      // sorted, with steps of so many bits
  descending,     // the same, falling
  few_distinct,   // seven values
  runs,           // of random lengths
  normal,         // around zero: of either sign
  zipf,           // small ones mostly, now and then a large one
  outliers,       // narrow, but for a few in every hundred
  lone_outliers,  // narrow, but for one in some blocks, at the first or the last place of a miniblock
  extremes,       // the type's ends and their neighbours
  all_equal,
  wrapping,      // neighbours' differences wrap around the type's end
  alternating,   // the type's ends in turn: differences of every bit
  negative,      // narrow, just below zero; of unsigned types, just below their end
  mixed_widths,  // a width of its own for each 32 values
  greatest,      // so many bits, all set but in one of each 128: what adds them up overflows soonest
  rarely_mixed   // uniform within so many bits, but in a few of the 32s within others
};

inline constexpr shape every_shape[] = {
    shape::width,         shape::whole_range,  shape::one_to_n,  shape::ascending,   shape::descending,
    shape::few_distinct,  shape::runs,         shape::normal,    shape::zipf,        shape::outliers,
    shape::lone_outliers, shape::extremes,     shape::all_equal, shape::wrapping,    shape::alternating,
    shape::negative,      shape::mixed_widths, shape::greatest,  shape::rarely_mixed};

[[nodiscard]] std::string_view name_of(shape one);

/// `count` values. `width`, up to the type's bits, is for those shapes that have one.
template <class T>
[[nodiscard]] std::vector<T> make_values(shape one, std::size_t count, unsigned width, random_source& random);

}  // namespace conformance::packed
