#include "measure_top_k.hpp"

#include <span>
#include <type_traits>
#include <vector>

#include <zenith/array.hpp>

namespace zenith_study {
namespace {

template <class Function>
decltype(auto) with_key_type(zenith::key_type type, const Function& function) {
  using zenith::key_type;
  switch (type) {
    case key_type::float32: return function(std::type_identity<float>{});
    case key_type::float64: return function(std::type_identity<double>{});
    case key_type::int32: return function(std::type_identity<std::int32_t>{});
    case key_type::uint32: return function(std::type_identity<std::uint32_t>{});
    case key_type::int64: return function(std::type_identity<std::int64_t>{});
    case key_type::uint64: break;
  }
  return function(std::type_identity<std::uint64_t>{});
}

// SplitMix64: each value follows from its position alone.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t position) {
  std::uint64_t z = seed + (position + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

template <class T>
double measure(const zenith::executor& on, std::string_view strategy, std::span<const T> keys, std::uint64_t k,
               zenith::memory_space space, const time_limits& limits) {
  const zenith::top_k_options options{.strategy = strategy};
  if (space == zenith::memory_space::host) {
    std::vector<T> best(k);
    std::vector<std::uint32_t> indices(k);
    return lower_quartile_seconds([&] { zenith::top_k(on, keys, best, indices, options); }, limits);
  }
  const zenith::array<T> held(on, keys);
  zenith::array<T> best(on, k);
  zenith::array<std::uint32_t> indices(on, k);
  return lower_quartile_seconds(
      [&] {
        zenith::top_k(on, held.device(), best.device(), indices.device(), options);
        on.synchronize();
      },
      limits);
}

}  // namespace

random_keys::random_keys(zenith::key_type type, std::uint64_t count, std::uint64_t seed)
    : type_(type),
      count_(count),
      bytes_(std::make_unique_for_overwrite<std::uint64_t[]>((count * zenith::size_of(type) + 7) / 8)) {
  with_key_type(type, [&]<class T>(std::type_identity<T>) {
    const std::span<T> values(reinterpret_cast<T*>(bytes_.get()), count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto bits = random_bits(seed, i);
      // 24 bits are what a float holds exactly
      if constexpr (std::is_same_v<T, float>) {
        values[i] = static_cast<float>(bits >> 40) * 0x1p-24F;
      } else if constexpr (std::is_same_v<T, double>) {
        values[i] = static_cast<double>(bits >> 11) * 0x1p-53;
      } else {
        values[i] = static_cast<T>(bits);
      }
    }
  });
}

double measure_top_k(const zenith::executor& on, std::string_view strategy, const random_keys& keys,
                     std::uint64_t count, std::uint64_t k, zenith::memory_space space, const time_limits& limits) {
  return with_key_type(keys.type(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> prefix(static_cast<const T*>(keys.data()), count);
    return measure<T>(on, strategy, prefix, k, space, limits);
  });
}

}  // namespace zenith_study
