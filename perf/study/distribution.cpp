#include <perf/study/distribution.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <thread>
#include <type_traits>

namespace zenith_study {
namespace {

constexpr std::string_view names[] = {"uniform", "normal", "ascending", "descending", "all-equal", "bucket-killer"};

// Steele, Lea and Flood's SplitMix64: the output function of a counter, which is what random access needs.
std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// [0, 1) from the upper 53 bits.
double unit_interval(std::uint64_t random) { return static_cast<double>(random >> 11) * 0x1p-53; }

template <class T>
T uniform(std::uint64_t random) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(random >> 40) * 0x1p-24F;
  } else if constexpr (std::is_same_v<T, double>) {
    return unit_interval(random);
  } else {
    return static_cast<T>(random >> (64 - sizeof(T) * 8));
  }
}

// Box and Muller's method.
template <class T>
T normal(std::uint64_t random) {
  const double radius = std::sqrt(-2 * std::log1p(-unit_interval(random)));
  const double value = radius * std::cos(2 * std::numbers::pi * unit_interval(mix(random)));
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    // eight deviations reach the end of the range, and 53 random bits do not reach nine
    const double range = std::ldexp(1.0, static_cast<int>(sizeof(T)) * 8 - 1);
    const double middle = std::is_signed_v<T> ? 0 : range;
    return static_cast<T>(std::clamp(value, -7.99, 7.99) / 8 * range + middle);
  }
}

// The i-th of rising values. Neighbouring floating numbers have neighbouring bits, and 2^32 of them from 2^-126 on stay
// finite.
template <class T>
T rising(std::uint64_t i) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(0x00800000U + std::min<std::uint64_t>(i, 0x7effffffU)));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1.0) + i);
  } else {
    using bits_t = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<bits_t>(std::numeric_limits<T>::min()) + static_cast<bits_t>(i));
  }
}

template <class T>
constexpr T one = static_cast<T>(std::is_floating_point_v<T> ? 1 : 0x01010101);

// One value for each byte of the key, at positions spread over the data: the value `one` with that byte changed.
template <class T>
void plant_killers(std::span<T> data, std::uint64_t seed) {
  using bits_t = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  if (data.empty()) return;
  for (unsigned byte = 0; byte < sizeof(T); ++byte) {
    const auto flipped = std::bit_cast<bits_t>(one<T>) ^ (bits_t{2} << (8 * byte));
    data[mix(seed + byte) % data.size()] = std::bit_cast<T>(flipped);
  }
}

template <class T, class Value>
void fill(std::span<T> data, int threads, const Value& value) {
  const auto write = [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) data[i] = value(i);
  };
  const auto workers = static_cast<std::uint64_t>(std::max(1, threads));
  const std::uint64_t count = data.size();
  if (count < 65536 || workers == 1) return write(0, count);
  std::vector<std::jthread> running;
  for (std::uint64_t w = 0; w < workers; ++w) {
    running.emplace_back(write, count / workers * w, w + 1 == workers ? count : count / workers * (w + 1));
  }
}

}  // namespace

std::span<const std::string_view> distribution_names() noexcept { return names; }

std::string_view to_string(distribution of) noexcept { return names[static_cast<std::size_t>(of)]; }

template <class T>
std::vector<T> generate(distribution of, std::uint64_t count, std::uint64_t seed, int threads) {
  std::vector<T> data(count);
  const std::span<T> all{data};
  const std::uint64_t start = mix(seed);
  switch (of) {
    case distribution::uniform: fill(all, threads, [&](std::uint64_t i) { return uniform<T>(mix(start + i)); }); break;
    case distribution::normal: fill(all, threads, [&](std::uint64_t i) { return normal<T>(mix(start + i)); }); break;
    case distribution::ascending: fill(all, threads, [](std::uint64_t i) { return rising<T>(i); }); break;
    case distribution::descending: fill(all, threads, [&](std::uint64_t i) { return rising<T>(count - 1 - i); }); break;
    case distribution::all_equal: fill(all, threads, [](std::uint64_t) { return one<T>; }); break;
    case distribution::bucket_killer:
      fill(all, threads, [](std::uint64_t) { return one<T>; });
      plant_killers(all, start);
      break;
  }
  return data;
}

template std::vector<float> generate(distribution, std::uint64_t, std::uint64_t, int);
template std::vector<double> generate(distribution, std::uint64_t, std::uint64_t, int);
template std::vector<std::int32_t> generate(distribution, std::uint64_t, std::uint64_t, int);
template std::vector<std::uint32_t> generate(distribution, std::uint64_t, std::uint64_t, int);
template std::vector<std::int64_t> generate(distribution, std::uint64_t, std::uint64_t, int);
template std::vector<std::uint64_t> generate(distribution, std::uint64_t, std::uint64_t, int);

}  // namespace zenith_study
