// Segments that a team sorts in its scratch, by teams whose lanes come in any order.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <catch.hpp>
#include <core/device/team_sort.hpp>
#include <settings.hpp>

using namespace zenith;

namespace {

/// Items between two barriers in an order that is drawn anew.
struct shuffled_team {
  std::mt19937& random;

  template <class F>
  void for_each(device::u64 n, const F& f) const {
    std::vector<device::u64> items(n);
    std::iota(items.begin(), items.end(), device::u64{0});
    std::shuffle(items.begin(), items.end(), random);
    for (const auto item : items) f(item);
  }
  void barrier() const {}
};

}  // namespace

TEST_CASE("segments in scratch are sorted", "[team-sort]") {
  using sort = device::segment_sort;
  std::mt19937 random{zenith_test::seed_of("team.sort", 0)};
  const shuffled_team team{random};
  for (int i = 0; i < 400; ++i) {
    std::vector<sort::segment> segments;
    std::vector<std::uint32_t> owners;
    std::vector<std::vector<std::uint32_t>> expected;
    std::uint32_t words = 0;
    std::uint32_t longest = 0;
    // every length at first, and then a few of any
    const std::size_t count = i < 300 ? 1 : random() % 9 + 1;
    for (std::size_t s = 0; s < count; ++s) {
      const auto length = i < 300 ? static_cast<std::uint32_t>(i) : static_cast<std::uint32_t>(random() % 2000);
      segments.push_back({words, length});
      owners.resize(owners.size() + sort::padded(length) / sort::block, static_cast<std::uint32_t>(s));
      words += sort::padded(length);
      longest = std::max(longest, length);
      auto& own = expected.emplace_back(length);
      const bool has_equal = random() % 2 == 0;
      for (auto& word : own) word = static_cast<std::uint32_t>(has_equal ? random() % 50 : random() % 0xffffffffU);
    }
    std::vector<std::uint32_t> scratch(words, 12345);
    for (std::size_t s = 0; s < count; ++s) {
      for (std::uint32_t j = 0; j < segments[s].count; ++j) {
        scratch[sort::place_of(segments[s].begin + j)] = expected[s][j];
      }
      std::sort(expected[s].begin(), expected[s].end());
    }
    sort::sort(team, scratch.data(), words, longest, [&](std::uint32_t block) { return segments[owners[block]]; });
    for (std::size_t s = 0; s < count; ++s) {
      INFO("segment " << s << " of " << segments[s].count << " words");
      for (std::uint32_t j = 0; j < segments[s].count; ++j) {
        REQUIRE(scratch[sort::place_of(segments[s].begin + j)] == expected[s][j]);
      }
      for (std::uint32_t j = segments[s].count; j < sort::padded(segments[s].count); ++j) {
        REQUIRE(scratch[sort::place_of(segments[s].begin + j)] == 12345);
      }
    }
  }
}
