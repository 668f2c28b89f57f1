#include <inputs.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace conformance {

template <class T>
T nan_key(random_source& random) {
  constexpr auto quiet_infinity = std::bit_cast<bits_of<T>>(std::numeric_limits<T>::infinity());
  constexpr auto payload = static_cast<bits_of<T>>((bits_of<T>{1} << (std::numeric_limits<T>::digits - 1)) - 1);
  constexpr auto sign = static_cast<bits_of<T>>(bits_of<T>{1} << (sizeof(T) * 8 - 1));
  const std::uint64_t chosen = random();
  const auto carried = static_cast<bits_of<T>>((chosen >> 8) & payload);
  return std::bit_cast<T>(static_cast<bits_of<T>>(quiet_infinity | (carried == 0 ? bits_of<T>{1} : carried) |
                                                  ((chosen & 1) != 0 ? sign : bits_of<T>{0})));
}

template <class T>
T special_key(random_source& random) {
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
T extreme_key(random_source& random) {
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

namespace {

template <class T>
T uniform_key(random_source& random) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::uniform_real_distribution<T>{T{-1}, T{1}}(random);
  } else {
    return key_at<T>(static_cast<bits_of<T>>(random()));
  }
}

template <class T>
T normal_key(random_source& random) {
  const double spread = std::is_floating_point_v<T> ? 1.0 : 1e8;
  const double centre = std::is_unsigned_v<T> ? 2e9 : 0.0;
  return static_cast<T>(std::normal_distribution<double>{centre, spread}(random));
}

/// A key that rises with `step` strictly, for steps below 2^23.
template <class T>
T rising_key(std::size_t step) {
  if constexpr (std::is_unsigned_v<T>)
    return static_cast<T>(step * 3 + 1);
  else
    return static_cast<T>(static_cast<T>(step) - T{1000});
}

/// One item a digit stands out, the rest differ in their lowest digit only.
template <class T>
T bucket_killer_key(std::size_t i, random_source& random) {
  constexpr auto base = static_cast<bits_of<T>>(0xbf3f3f3f3f3f3f3fULL >> (64 - sizeof(T) * 8));
  constexpr std::size_t digits = sizeof(T);
  if (i > 0 && i < digits) return key_at<T>(base + static_cast<bits_of<T>>(bits_of<T>{1} << (8 * i)));
  return key_at<T>(static_cast<bits_of<T>>((base & ~bits_of<T>{0xff}) | (random() & 0xff)));
}

template <class T>
T key_of(distribution which, std::size_t i, std::size_t count, random_source& random) {
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

}  // namespace

template <class T>
std::vector<T> make_keys(distribution which, std::size_t count, random_source& random) {
  std::vector<T> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = key_of<T>(which, i, count, random);
  if (which == distribution::ascending) std::ranges::sort(keys);
  if (which == distribution::descending) std::ranges::sort(keys, std::greater{});
  return keys;
}

template float nan_key<float>(random_source&);
template double nan_key<double>(random_source&);
template float special_key<float>(random_source&);
template double special_key<double>(random_source&);

#define ZENITH_INPUTS_OF(T)                  \
  template T extreme_key<T>(random_source&); \
  template std::vector<T> make_keys<T>(distribution, std::size_t, random_source&);
ZENITH_INPUTS_OF(float)
ZENITH_INPUTS_OF(double)
ZENITH_INPUTS_OF(std::int32_t)
ZENITH_INPUTS_OF(std::uint32_t)
ZENITH_INPUTS_OF(std::int64_t)
ZENITH_INPUTS_OF(std::uint64_t)
#undef ZENITH_INPUTS_OF

}  // namespace conformance
