#pragma once

/// \file
/// The inputs of the suite: for each key type the distributions that selection algorithms are known to stumble over.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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

template <class T>
[[nodiscard]] T uniform_key(random_source& random) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::uniform_real_distribution<T>{T{-1}, T{1}}(random);
  } else {
    return key_at<T>(static_cast<bits_of<T>>(random()));
  }
}

template <class T>
[[nodiscard]] T normal_key(random_source& random) {
  const double spread = std::is_floating_point_v<T> ? 1.0 : 1e8;
  const double centre = std::is_unsigned_v<T> ? 2e9 : 0.0;
  return static_cast<T>(std::normal_distribution<double>{centre, spread}(random));
}

/// A key that rises with `step` strictly, for steps below 2^23.
template <class T>
[[nodiscard]] T rising_key(std::size_t step) {
  if constexpr (std::is_unsigned_v<T>)
    return static_cast<T>(step * 3 + 1);
  else
    return static_cast<T>(static_cast<T>(step) - T{1000});
}

template <class T>
[[nodiscard]] T nan_key(random_source& random) {
  constexpr auto quiet_infinity = std::bit_cast<bits_of<T>>(std::numeric_limits<T>::infinity());
  constexpr auto payload = static_cast<bits_of<T>>((bits_of<T>{1} << (std::numeric_limits<T>::digits - 1)) - 1);
  constexpr auto sign = static_cast<bits_of<T>>(bits_of<T>{1} << (sizeof(T) * 8 - 1));
  const std::uint64_t chosen = random();
  const auto carried = static_cast<bits_of<T>>((chosen >> 8) & payload);
  return std::bit_cast<T>(static_cast<bits_of<T>>(quiet_infinity | (carried == 0 ? bits_of<T>{1} : carried) |
                                                  ((chosen & 1) != 0 ? sign : bits_of<T>{0})));
}

template <class T>
[[nodiscard]] T special_key(random_source& random) {
  using limits = std::numeric_limits<T>;
  const T all[] = {T{0},
                   -T{0},
                   limits::infinity(),
                   -limits::infinity(),
                   limits::denorm_min(),
                   -limits::denorm_min(),
                   limits::min(),
                   -limits::min(),
                   limits::max(),
                   limits::lowest(),
                   limits::min() / 2,
                   T{1},
                   T{-1}};
  return all[random() % std::size(all)];
}

template <class T>
[[nodiscard]] T extreme_key(random_source& random) {
  using limits = std::numeric_limits<T>;
  const T all[] = {limits::lowest(),
                   limits::max(),
                   static_cast<T>(limits::lowest() + T{1}),
                   static_cast<T>(limits::max() - T{1}),
                   T{0},
                   T{1},
                   static_cast<T>(T{0} - T{1}),
                   static_cast<T>(bits_of<T>{1} << (sizeof(T) * 8 - 1))};
  return all[random() % std::size(all)];
}

/// One item a digit stands out, the rest differ in their lowest digit only.
template <class T>
[[nodiscard]] T bucket_killer_key(std::size_t i, random_source& random) {
  constexpr auto base = static_cast<bits_of<T>>(0xbf3f3f3f3f3f3f3fULL >> (64 - sizeof(T) * 8));
  constexpr std::size_t digits = sizeof(T);
  if (i > 0 && i < digits) return key_at<T>(base + static_cast<bits_of<T>>(bits_of<T>{1} << (8 * i)));
  return key_at<T>(static_cast<bits_of<T>>((base & ~bits_of<T>{0xff}) | (random() & 0xff)));
}

template <class T>
[[nodiscard]] T key_of(distribution which, std::size_t i, std::size_t count, random_source& random) {
  const auto peak = [&](bool inside) { return inside ? rising_key<T>(5000 + random() % 100) : rising_key<T>(3); };
  switch (which) {
    case distribution::normal: return normal_key<T>(random);
    case distribution::few_values: return rising_key<T>(random() % 7);
    case distribution::two_values: return rising_key<T>(random() % 2);
    case distribution::all_equal: return rising_key<T>(7);
    case distribution::organ_pipe: return rising_key<T>(std::min(i, count - i));
    case distribution::sawtooth: return rising_key<T>(i % (count / 37 + 2));
    case distribution::rising_blocks: {
      const std::size_t block = count / 50 + 1;
      return rising_key<T>(i / block * block + random() % block);
    }
    case distribution::bucket_killer: return bucket_killer_key<T>(i, random);
    case distribution::comb: return peak(i % 64 == 63);
    case distribution::late_peak: return peak(i + count / 40 + 1 > count);
    case distribution::early_peak: return peak(i < count / 40 + 1);
    case distribution::extremes: return extreme_key<T>(random);
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (which) {
      case distribution::specials: return special_key<T>(random);
      case distribution::some_nans: return random() % 10 == 0 ? nan_key<T>(random) : special_key<T>(random);
      case distribution::mostly_nans: return random() % 10 != 0 ? nan_key<T>(random) : uniform_key<T>(random);
      case distribution::all_nans: return nan_key<T>(random);
      default: break;
    }
  }
  return uniform_key<T>(random);
}

template <class T>
[[nodiscard]] std::vector<T> make_keys(distribution which, std::size_t count, random_source& random) {
  std::vector<T> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = key_of<T>(which, i, count, random);
  if (which == distribution::ascending) std::ranges::sort(keys);
  if (which == distribution::descending) std::ranges::sort(keys, std::greater{});
  return keys;
}

}  // namespace conformance
