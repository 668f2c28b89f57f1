#include <algorithms/threshold_table/src/part_keys.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <catch.hpp>

using namespace zenith::detail;
using keys_type = std::vector<std::uint32_t>;
using codes_type = std::vector<std::uint8_t>;

namespace {

/// By a stable sort of the places.
keys_type parted(const keys_type& keys, const codes_type& codes, std::size_t first) {
  std::vector<std::size_t> places(keys.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  std::ranges::stable_sort(places, {}, [&](std::size_t i) { return codes[i]; });
  std::ranges::sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(first));
  std::ranges::sort(places.begin() + static_cast<std::ptrdiff_t>(first), places.end());
  keys_type result;
  for (const auto place : places) result.push_back(keys[place]);
  return result;
}

}  // namespace

TEST_CASE("keys are parted at a rank in their order, whatever the instruction set", "[unit]") {
  std::mt19937 random(7);
  for (const std::size_t count : {1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 257, 4096}) {
    for (const unsigned range : {1U, 2U, 3U, 100U, 256U}) {
      for (const bool is_high : {false, true}) {  // codes up to 255, or from 0
        keys_type keys(count);
        codes_type codes(count);
        for (auto& one : keys) one = static_cast<std::uint32_t>(random());
        for (auto& one : codes) {
          const unsigned drawn = static_cast<unsigned>(random()) % range;
          one = static_cast<std::uint8_t>(is_high ? 255U - drawn : drawn);
        }
        for (const std::size_t first : {std::size_t{0}, std::size_t{1}, count / 3, count / 2, count - 1}) {
          if (first >= count) continue;
          const auto expected = parted(keys, codes, first);
          for (const auto part : part_functions()) {
            auto some = keys;
            keys_type others(count + part_spare);
            part(some.data(), codes.data(), count, first, others.data());
            CHECK(some == expected);
          }
        }
      }
    }
  }
}
