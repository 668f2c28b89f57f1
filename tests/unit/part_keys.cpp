#include <algorithms/threshold_table/src/part_keys.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <catch.hpp>

using namespace zenith::detail;
using keys_type = std::vector<std::uint64_t>;

TEST_CASE("keys are parted around two pivots in their order, whatever the instruction set", "[unit]") {
  std::mt19937_64 random(7);
  for (const std::size_t count : {0, 1, 3, 4, 7, 8, 9, 63, 64, 257, 4096}) {
    for (const std::uint64_t range : {std::uint64_t{3}, std::uint64_t{100}, ~std::uint64_t{0}}) {
      keys_type keys(count);
      for (auto& one : keys) one = range == ~std::uint64_t{0} ? random() : random() % range;
      for (const auto& [low, high] : std::initializer_list<std::pair<std::uint64_t, std::uint64_t>>{
               {1, 2}, {0, 0}, {range / 3, range / 2}, {range / 2, range / 2}, {0, ~std::uint64_t{0}}}) {
        keys_type expected;
        part_sizes sizes{};
        for (const auto one : keys) {
          if (one < low) expected.push_back(one);
        }
        sizes.below = expected.size();
        for (const auto one : keys) {
          if (one >= low && one < high) expected.push_back(one);
        }
        sizes.between = expected.size() - sizes.below;
        for (const auto one : keys) {
          if (one >= high) expected.push_back(one);
        }
        for (const auto part : part_functions()) {
          auto parted = keys;
          keys_type between(count + part_spare);
          keys_type above(count + part_spare);
          CHECK(part(parted.data(), count, low, high, between.data(), above.data()) == sizes);
          CHECK(parted == expected);
        }
      }
    }
  }
}

TEST_CASE("the key of a rank is the same, whatever the instruction set", "[unit]") {
  std::mt19937_64 random(8);
  for (std::size_t count = 1; count <= few_keys; ++count) {
    keys_type keys(count);
    for (auto& one : keys) one = random() | (count % 3 == 0 ? std::uint64_t{1} << 63 : 0);
    if (count % 5 == 0) keys.back() = ~std::uint64_t{0};
    auto sorted = keys;
    std::ranges::sort(sorted);
    for (std::size_t rank = 0; rank < count; ++rank) {
      for (const auto find : rank_functions()) CHECK(find(keys.data(), count, rank) == sorted[rank]);
    }
  }
}
