#pragma once

/// \file
/// What the toy family's tests ask of a kernel table, whatever the backend.

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <core/key_order.hpp>
#include <settings.hpp>
#include <tests/toy_family/family.hpp>
#include <zenith/backend.hpp>

namespace zenith::toy_family {

inline std::uint64_t next(std::uint64_t& state) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (state >> 33) ^ (state << 20);
}

/// Keys that are all different, hardly different, equal, rising or falling.
template <class Key>
std::vector<Key> keys_of(int pattern, std::uint64_t n, std::uint64_t state) {
  std::vector<Key> keys(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    std::uint64_t bits = next(state);
    if (pattern == 1) bits %= 3;
    if (pattern == 2) bits = 5;
    if (pattern == 3) bits = i;
    if (pattern == 4) bits = n - i;
    keys[i] = static_cast<Key>(bits);
    if constexpr (std::is_floating_point_v<Key>) {
      if (pattern == 0 && bits % 2 == 0) keys[i] = -keys[i];
      if (pattern == 1 && bits == 0) keys[i] = next(state) % 2 == 0 ? Key{0} : -Key{0};
      if (pattern == 2) keys[i] = std::numeric_limits<Key>::infinity();
    } else if (pattern == 2) {
      keys[i] = std::numeric_limits<Key>::max();
    }
  }
  return keys;
}

/// What the strategies of a table found otherwise than two loops, a line each.
template <class Key>
std::vector<std::string> faults_of(std::span<const zenith::kernel> table, const execution& on) {
  std::vector<std::string> faults;
  for (const auto n : std::initializer_list<std::uint64_t>{1, 2, 63, 64, 65, 1000, 5003, 100003}) {
    for (int pattern = 0; pattern < 5; ++pattern) {
      const auto keys = keys_of<Key>(pattern, n, zenith_test::seed_of("toy_family", n));
      Key least = keys[0];
      for (const auto key : keys) least = key < least ? key : least;
      std::uint64_t first = 0;
      while (keys[first] != least) ++first;
      for (const auto& entry : table) {
        if (entry.operation != argmin_call::operation) continue;
        std::uint64_t index = ~std::uint64_t{0};
        Key key{};
        const argmin_call call{key_type_of<Key>, memory_space::host, keys.data(), n, &index, &key};
        entry.run(on, &call);
        if (index == first &&
            std::bit_cast<ordered::bits_t<Key>>(key) == std::bit_cast<ordered::bits_t<Key>>(keys[first])) {
          continue;
        }
        faults.push_back(std::string{entry.strategy} + " of " + std::to_string(n) + " keys, pattern " +
                         std::to_string(pattern) + ": " + std::to_string(index) + ", expected " +
                         std::to_string(first));
      }
    }
  }
  return faults;
}

}  // namespace zenith::toy_family
