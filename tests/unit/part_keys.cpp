#include <algorithms/threshold_table/src/part_keys.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <catch.hpp>

using namespace zenith::detail;
using keys_type = std::vector<std::uint32_t>;

TEST_CASE("keys are parted at a limit in their order, whatever the instruction set", "[unit]") {
  constexpr auto most = std::numeric_limits<std::uint32_t>::max();
  std::mt19937 random(7);
  const auto draw = [&] { return static_cast<std::uint32_t>(random()); };
  for (const std::size_t count : {0, 1, 3, 7, 8, 9, 15, 16, 17, 63, 64, 257, 4096}) {
    for (const std::uint32_t range : {std::uint32_t{3}, std::uint32_t{100}, most}) {
      keys_type keys(count);
      for (auto& one : keys) one = range == most ? draw() : draw() % range;
      for (const std::uint32_t limit : {std::uint32_t{0}, std::uint32_t{1}, range / 3, range / 2, most}) {
        keys_type expected;
        for (const auto one : keys) {
          if (one < limit) expected.push_back(one);
        }
        const std::size_t below = expected.size();
        for (const auto one : keys) {
          if (one >= limit) expected.push_back(one);
        }
        for (const auto part : part_functions()) {
          auto parted = keys;
          keys_type others(count + part_spare);
          CHECK(part(parted.data(), count, limit, others.data()) == below);
          CHECK(parted == expected);
        }
      }
    }
  }
}
