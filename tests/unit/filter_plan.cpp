// How the filter samples.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <algorithms/top_k/filter_tile.hpp>
#include <catch.hpp>
#include <settings.hpp>

using zenith::top_k_detail::plan_filter;
using zenith::top_k_detail::sample_position;

TEST_CASE("a plan's numbers make sense for every problem") {
  std::mt19937_64 random{zenith_test::seed_of("plan", 0)};
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t count = 1 + (random() >> (32 + random() % 32));
    const std::uint64_t k = 1 + random() % count;
    const auto most = static_cast<std::uint32_t>(1 + (random() & 0xffff));
    const auto plan = plan_filter(count, k, most);
    INFO("count " << count << ", k " << k << ", most samples " << most);
    REQUIRE(plan.samples <= most);
    REQUIRE(plan.expected_survivors <= static_cast<double>(count));
    if (plan.samples == 0) {
      REQUIRE(plan.expected_survivors == static_cast<double>(count));
      continue;
    }
    // the threshold is in the sample, and above the rank that k items have on average
    REQUIRE(plan.samples <= count);
    REQUIRE(plan.rank >= 1);
    REQUIRE(plan.rank <= plan.samples);
    const double mean = static_cast<double>(k) * plan.samples / static_cast<double>(count);
    REQUIRE(plan.rank >= mean + 5 * std::sqrt(mean));
    REQUIRE(plan.expected_survivors >= static_cast<double>(k));
    REQUIRE(plan.expected_survivors <= static_cast<double>(count) / 4 + 1);
  }
}

TEST_CASE("small inputs and large k are not sampled") {
  CHECK(plan_filter(1, 1, 16384).samples == 0);
  CHECK(plan_filter(60, 1, 16384).samples == 0);
  CHECK(plan_filter(1 << 26, 1 << 26, 16384).samples == 0);
  CHECK(plan_filter(1 << 26, 1 << 25, 16384).samples == 0);
  CHECK(plan_filter(1 << 26, 16, 16384).samples > 64);
  CHECK(plan_filter(1 << 26, 16, 0).samples == 0);
}

TEST_CASE("a plan of groups expects as many survivors as its lowest threshold lets through") {
  using zenith::top_k_detail::group_plan;
  std::mt19937_64 random{zenith_test::seed_of("group plan", 0)};
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t count = 1025 + (random() >> (36 + random() % 24));
    const std::uint64_t k = std::min<std::uint64_t>(count, 1 + random() % group_plan::most_k);
    const auto plan = group_plan::of_sample(count, k, 4);
    if (plan.groups == 0) continue;
    INFO("count " << count << ", k " << k << ", groups " << plan.groups << ", sampled chunks " << plan.chunks());
    REQUIRE(plan.groups > group_plan::most_reached(k));
    // of even keys in [0, 1) a group's best exceeds x with probability 1 - x^size
    const double size = plan.chunks() * (group_plan::chunk_bytes / 4.0) / plan.groups;
    const double threshold = std::pow(1 - static_cast<double>(group_plan::most_reached(k)) / plan.groups, 1 / size);
    REQUIRE(plan.expected_survivors >= (1 - threshold) * static_cast<double>(count));
  }
}

TEST_CASE("groups of all keys are at least twice k, and each has a key") {
  using zenith::top_k_detail::group_plan;
  std::mt19937_64 random{zenith_test::seed_of("groups of all", 0)};
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t count = 1025 + (random() >> (36 + random() % 24));
    const std::uint64_t k = std::min<std::uint64_t>(count, 1 + random() % (group_plan::most_k + 100));
    const std::uint64_t bytes = random() % 2 == 0 ? 4 : 8;
    const auto most = static_cast<std::uint32_t>(512 << random() % 4);
    const auto plan = group_plan::of_all(count, k, bytes, most);
    INFO("count " << count << ", k " << k << ", groups " << plan.groups << " of " << most);
    if (plan.groups == 0) {
      const std::uint64_t tile = group_plan::tile_chunks * group_plan::chunk_bytes / bytes;
      REQUIRE((count <= group_plan::most_unsampled || k > group_plan::most_k || most <= 2 * k + 32 ||
               count / tile * group_plan::tile_groups <= 2 * k + group_plan::tile_groups + 32));
      continue;
    }
    REQUIRE(plan.reads_all);
    REQUIRE(plan.groups >= 2 * k);
    REQUIRE(plan.groups <= most);
    REQUIRE(plan.groups > group_plan::most_reached(k));
    REQUIRE(plan.groups / group_plan::tile_groups * group_plan::tile_chunks * group_plan::chunk_bytes <= count * bytes);
    REQUIRE(plan.expected_survivors >= static_cast<double>(group_plan::most_reached(k)));
    REQUIRE(plan.expected_survivors < 4 * static_cast<double>(k) + 128);
  }
}

TEST_CASE("how few keys are ranked as they are depends on the device") {
  using zenith::top_k_detail::group_plan;
  CHECK(group_plan::of_few(1024, 8, 1).ranks_all);
  CHECK_FALSE(group_plan::of_few(1025, 4, 4).ranks_all);
  CHECK(group_plan::of_few(4096, 4, 132).ranks_all);
  CHECK_FALSE(group_plan::of_few(4096, 8, 132).ranks_all);
  CHECK_FALSE(group_plan::of_few(std::uint64_t{1} << 32, 8, 132).ranks_all);
  CHECK(group_plan::of(4096, 4096, 4, 132).is_suitable());
  CHECK_FALSE(group_plan::of(5000, 4096, 4, 132).is_suitable());
}

TEST_CASE("samples stand one in each stratum") {
  for (const std::uint64_t count : {64ULL, 1000ULL, 65537ULL, 0xffffffffULL, 0x1234567890ULL}) {
    for (const std::uint32_t samples : {1U, 7U, 64U}) {
      const std::uint64_t width = count / samples;
      const std::uint64_t wider = count % samples;
      std::uint64_t first = 0;
      bool jittered = false;
      for (std::uint64_t i = 0; i < samples; ++i) {
        const std::uint64_t own = width + (i < wider ? 1 : 0);
        const auto at = sample_position(i, count, samples);
        CHECK(at >= first);
        CHECK(at < first + own);
        jittered = jittered || at - first != sample_position(0, count, samples);
        first += own;
      }
      CHECK(first == count);
      CHECK((jittered || samples == 1 || width == 1));
    }
  }
}

TEST_CASE("a random order seldom needs a second read") {
  // the rank among n random items of the plan's order statistic of the sample must reach k
  std::mt19937_64 random{zenith_test::seed_of("second", 0)};
  int second_reads = 0;
  constexpr std::uint64_t count = 1 << 16;
  std::vector<std::uint64_t> items(count);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const std::uint64_t k = 1 + random() % 1000;
    const auto plan = plan_filter(count, k, 1024);
    if (plan.samples == 0) continue;
    for (auto& one : items) one = random();
    std::vector<std::uint64_t> sample(plan.samples);
    for (std::uint32_t i = 0; i < plan.samples; ++i) sample[i] = items[sample_position(i, count, plan.samples)];
    std::ranges::sort(sample, std::greater{});
    const auto survivors =
        std::ranges::count_if(items, [&](std::uint64_t one) { return one >= sample[plan.rank - 1]; });
    if (static_cast<std::uint64_t>(survivors) < k) ++second_reads;
  }
  CHECK(second_reads == 0);
}
