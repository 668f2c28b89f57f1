#pragma once

/// \file
/// The inputs of the suite: for each key type the distributions that selection algorithms are known to stumble over.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace conformance {

using random_source = std::mt19937_64;

enum class distribution {
  uniform,     // over the type's whole range
  normal,      // thin tails: the best are rare
  few_values,  // ties everywhere
  two_values,
  all_equal,
  ascending,
  descending,
  organ_pipe,     // up, then down
  sawtooth,       // up again and again
  rising_blocks,  // random within a block, each block above the last: a running threshold never holds
  bucket_killer,  // all items share their high digits but for one item a digit: a radix pass removes next to nothing
  comb,           // high values at every 64th position only: a strided sample sees all of them or none
  late_peak,      // the best stand at the very end, among equals
  early_peak,
  extremes,   // the type's ends and their neighbours, and what stands around zero
  specials,   // floating only from here on: zeros of both signs, infinities, denormals
  some_nans,  // NaN of both signs, with payloads
  mostly_nans,
  all_nans,
};

inline constexpr distribution every_distribution[] = {
    distribution::uniform,   distribution::normal,        distribution::few_values,    distribution::two_values,
    distribution::all_equal, distribution::ascending,     distribution::descending,    distribution::organ_pipe,
    distribution::sawtooth,  distribution::rising_blocks, distribution::bucket_killer, distribution::comb,
    distribution::late_peak, distribution::early_peak,    distribution::extremes,      distribution::specials,
    distribution::some_nans, distribution::mostly_nans,   distribution::all_nans,
};

[[nodiscard]] constexpr std::string_view name_of(distribution one) {
  constexpr std::string_view names[] = {"uniform",       "normal",     "few_values",  "two_values", "all_equal",
                                        "ascending",     "descending", "organ_pipe",  "sawtooth",   "rising_blocks",
                                        "bucket_killer", "comb",       "late_peak",   "early_peak", "extremes",
                                        "specials",      "some_nans",  "mostly_nans", "all_nans"};
  return names[static_cast<std::size_t>(one)];
}

/// The distributions that exist for keys of type T.
template <class T>
[[nodiscard]] std::span<const distribution> distributions() {
  const std::span all{every_distribution};
  return std::is_floating_point_v<T> ? all : all.first(static_cast<std::size_t>(distribution::specials));
}

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// The key that stands at place `ordered` in the order of all bit patterns of T. For a floating T the ends of that
/// order are NaN.
template <class T>
[[nodiscard]] T key_at(bits_of<T> ordered) {
  constexpr auto sign = static_cast<bits_of<T>>(bits_of<T>{1} << (sizeof(T) * 8 - 1));
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<T>(static_cast<bits_of<T>>((ordered & sign) != 0 ? ordered ^ sign : ~ordered));
  } else if constexpr (std::is_signed_v<T>) {
    return std::bit_cast<T>(static_cast<bits_of<T>>(ordered ^ sign));
  } else {
    return ordered;
  }
}

/// Some key at an end of the type or beside one.
template <class T>
[[nodiscard]] T extreme_key(random_source& random);

/// A zero of either sign, an infinity, a denormal, a number at an end: for floating T.
template <class T>
[[nodiscard]] T special_key(random_source& random);

/// A NaN of either sign with a payload: for floating T.
template <class T>
[[nodiscard]] T nan_key(random_source& random);

template <class T>
[[nodiscard]] std::vector<T> make_keys(distribution which, std::size_t count, random_source& random);

}  // namespace conformance
