// Inputs made against the filter's own sample: results and the bound on reads must stand all the same.

#include <cstdint>
#include <vector>

#include <algorithms/top_k/filter_tile.hpp>
#include <catch.hpp>
#include <check.hpp>
#include <inputs.hpp>
#include <most_reads.hpp>
#include <settings.hpp>
#include <targets.hpp>
#include <zenith/predicated_top_k.hpp>

using namespace conformance;
using zenith::top_k_detail::filter_plan;
using zenith::top_k_detail::plan_broad_filter;
using zenith::top_k_detail::plan_filter;
using zenith::top_k_detail::sample_position;

// Under the thread sanitizer one type of each width: the others share what threads there are.
#if defined(__SANITIZE_THREAD__)
#define ZENITH_ADVERSARY_TYPES float, std::uint64_t
#else
#define ZENITH_ADVERSARY_TYPES float, double, std::int32_t, std::uint64_t
#endif

namespace {

constexpr std::size_t count = 300'007;

// The plans that a backend may follow; the adversary does not know which. The last one is that of a GPU.
std::vector<filter_plan> possible_plans(std::uint64_t k) {
  std::vector<filter_plan> all;
  for (const auto most : {1024, 2048, 4096, 8192, 16384, 32768, 65536}) {
    all.push_back(plan_filter(count, k, static_cast<std::uint32_t>(most)));
  }
  all.push_back(plan_broad_filter(count, k));
  return all;
}

std::vector<bool> sampled_positions(std::uint64_t k) {
  std::vector<bool> sampled(count);
  for (const auto& plan : possible_plans(k)) {
    for (std::uint32_t i = 0; i < plan.samples; ++i) sampled[sample_position(i, count, plan.samples)] = true;
  }
  return sampled;
}

template <class T>
void check(const zenith_test::target& on, column<T>& input, std::size_t k, zenith::selection select,
           bool misleads_gpu) {
  zenith::top_k_statistics statistics;
  (void)zenith::top_k(on.on, input.keys(), k, {.select = select, .strategy = "filter", .statistics = &statistics});
  INFO(on.name() << " " << input.name() << " k=" << k);
  CHECK(statistics.reads <= most_reads<T>(on.on.backend()));
  // an adversary that does not mislead would prove nothing
  if (misleads_gpu && on.on.backend() == "cuda") CHECK(statistics.reads > 2);
  request asked;
  asked.k = k;
  asked.select = select;
  CHECK(fault_of(on, input, asked) == "");
}

template <class T>
T mirrored(T value, bool is_largest) {
  return is_largest ? value : static_cast<T>(T{60000} - value);
}

}  // namespace

TEMPLATE_TEST_CASE("high values that no sample sees: everything passes the threshold", "", ZENITH_ADVERSARY_TYPES) {
  random_source random{zenith_test::seed_of("unsampled", 0)};
  for (const std::size_t k : {std::size_t{1}, std::size_t{100}, std::size_t{3000}}) {
    const auto sampled = sampled_positions(k);
    for (const bool is_largest : {true, false}) {
      std::vector<TestType> keys(count);
      for (std::size_t i = 0; i < count; ++i) {
        keys[i] = mirrored(static_cast<TestType>(sampled[i] ? random() % 10 : 1000 + random() % 50000), is_largest);
      }
      column<TestType> input("high where no sample looks", keys, 0);
      for (const auto& on : zenith_test::targets("top_k")) {
        if (on.strategy == "filter")
          check(on, input, k, is_largest ? zenith::selection::largest : zenith::selection::smallest,
                k > zenith::top_k_detail::group_plan::most_k);
      }
    }
  }
}

TEMPLATE_TEST_CASE("high values where a sample looks: too few reach the threshold", "", ZENITH_ADVERSARY_TYPES) {
  random_source random{zenith_test::seed_of("sampled", 0)};
  constexpr std::size_t k = 3000;
  const auto plans = possible_plans(k);
  for (const auto& plan : plans) {
    if (plan.samples == 0) continue;
    if (&plan != &plans.back() && !zenith_test::is_drawn("sampled", random())) continue;
    std::vector<TestType> keys(count);
    for (auto& one : keys) one = static_cast<TestType>(random() % 1000);
    for (std::uint32_t i = 0; i < plan.rank + 3; ++i) {
      keys[sample_position(i, count, plan.samples)] = static_cast<TestType>(50000 + i);
    }
    column<TestType> input("high where samples look", keys, 0);
    for (const auto& on : zenith_test::targets("top_k")) {
      if (on.strategy == "filter") check(on, input, k, zenith::selection::largest, &plan == &plans.back());
    }
  }
}

// What is not taken has the worst key inside, as most of the sample has.
TEMPLATE_TEST_CASE("rows taken where no sample looks, and fewer than k: nothing else survives", "",
                   ZENITH_ADVERSARY_TYPES) {
  random_source random{zenith_test::seed_of("untaken", 0)};
  for (const std::size_t k : {std::size_t{100}, std::size_t{3000}}) {
    const auto sampled = sampled_positions(k);
    std::vector<TestType> keys(count);
    for (auto& one : keys) one = static_cast<TestType>(random() % 1000);
    std::vector<std::int32_t> values(count);
    const std::size_t taken = k - 1 - random() % 20;
    for (std::size_t i = 0, left = taken; left > 0; i += 7) {
      if (!sampled[i]) values[i] = 1, --left;
    }
    const auto rows = zenith::where(values, 1, 1);
    const auto expected = zenith::top_k(zenith::reference(), keys, rows, k);
    for (const auto& on : zenith_test::targets("predicated_top_k")) {
      INFO(on.name() << ", k = " << k);
      zenith::top_k_statistics statistics;
      const auto found = zenith::top_k(on.on, keys, rows, k, {.statistics = &statistics});
      CHECK(found.keys == expected.keys);
      CHECK(found.indices == expected.indices);
      if (on.on.backend() == "reference") continue;
      CHECK(statistics.survivors <= taken);
      CHECK(statistics.reads == 2);  // the second for rows with the worst key
    }
  }
}

TEMPLATE_TEST_CASE("rows taken where a sample looks, and fewer than k: all are found", "", ZENITH_ADVERSARY_TYPES) {
  random_source random{zenith_test::seed_of("taken", 0)};
  constexpr std::size_t k = 3000;
  for (const auto& plan : possible_plans(k)) {
    if (plan.samples == 0) continue;
    std::vector<TestType> keys(count);
    for (auto& one : keys) one = static_cast<TestType>(random() % 1000);
    std::vector<std::int32_t> values(count);
    for (std::uint32_t i = 0; i < plan.rank + 3; ++i) values[sample_position(i, count, plan.samples)] = 1;
    const auto rows = zenith::where(values, 1, 1);
    const auto expected = zenith::top_k(zenith::reference(), keys, rows, k);
    REQUIRE(expected.keys.size() == plan.rank + 3);
    for (const auto& on : zenith_test::targets("predicated_top_k")) {
      INFO(on.name() << ", " << plan.samples << " samples");
      zenith::top_k_statistics statistics;
      const auto found = zenith::top_k(on.on, keys, rows, k, {.statistics = &statistics});
      CHECK(found.keys == expected.keys);
      CHECK(found.indices == expected.indices);
    }
  }
}
