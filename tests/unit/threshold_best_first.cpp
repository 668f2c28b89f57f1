// Strategy "blocks" as a host runs it: the order of buckets, what they make of infinities and NaN, and how few blocks
// are opened.

#include <algorithms/threshold_table/best_first.hpp>
#include <algorithms/threshold_table/first_blocks.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include <catch.hpp>
#include <settings.hpp>
#include <zenith/scored_top_k.hpp>
#include <zenith/threshold_table.hpp>

using namespace zenith;

namespace {

namespace family = threshold_table_family;

enum class kind { uniform, equal, few_values, infinite, both_infinities, mostly_nan, extremes };
constexpr kind all_kinds[] = {kind::uniform,         kind::equal,      kind::few_values, kind::infinite,
                              kind::both_infinities, kind::mostly_nan, kind::extremes};

template <class T>
T drawn(kind of, std::mt19937_64& random) {
  constexpr auto infinity =
      std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  const auto part = random() % 1000;
  switch (of) {
    case kind::uniform: return static_cast<T>(static_cast<std::int32_t>(random() % 100000) - 50000);
    case kind::equal: return T{7};
    case kind::few_values: return static_cast<T>(part % 4);
    case kind::infinite: return part == 0 ? infinity : static_cast<T>(part % 100);
    case kind::both_infinities:
      return part < 3 ? infinity : part < 600 ? std::numeric_limits<T>::lowest() / 4 : static_cast<T>(part);
    case kind::mostly_nan:
      return part < 990 && std::is_floating_point_v<T> ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(part);
    default:
      return part % 3 == 0   ? std::numeric_limits<T>::max()
             : part % 3 == 1 ? std::numeric_limits<T>::lowest()
                             : static_cast<T>(part);
  }
}

template <class T>
void check(kind of, std::size_t rows, std::uint32_t block_rows, std::size_t k, std::mt19937_64& random,
           int threads = 1) {
  const std::size_t columns = threads > 1 ? 5 : 1 + random() % 5;
  std::vector<std::vector<T>> values(columns, std::vector<T>(rows));
  column_set<T> set;
  std::vector<score_t<T>> weights(columns);
  for (std::size_t j = 0; j < columns; ++j) {
    for (auto& one : values[j]) {
      one = drawn<T>(of, random);
      if constexpr (std::is_floating_point_v<T>) {
        if (of == kind::both_infinities && random() % 50 == 0) one = -std::numeric_limits<T>::infinity();
      }
    }
    set.add(values[j]);
    weights[j] = static_cast<score_t<T>>(static_cast<int>(random() % 5) - 2);
  }
  weights[random() % columns] = 1;
  const auto table = threshold_table<T>::build(set, {.block_rows = block_rows});
  INFO(rows << " rows, " << columns << " columns, kind " << static_cast<int>(of) << ", k " << k << ", blocks of "
            << block_rows << ", " << threads << " threads");
  const auto select = random() % 3 == 0 ? selection::smallest : selection::largest;
  threshold_statistics seen;
  const auto found = top_k(cpu({.threads = threads}), table, weights, k,
                           {.select = select, .strategy = "blocks", .statistics = &seen});
  const auto expected = top_k(reference(), set, weights, k, {.select = select});
  CHECK(found.indices == expected.indices);
  CHECK(std::ranges::equal(found.keys, expected.keys, [](auto a, auto b) { return a == b || (a != a && b != b); }));
  CHECK(seen.rounds == 1);
  CHECK(seen.rows_evaluated <= rows);
  CHECK(seen.rows_evaluated >= k);
}

}  // namespace

TEST_CASE("blocks by falling bound find the best rows of any values", "[unit]") {
  const auto seed = zenith_test::seed_of("best first", 0);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (const kind of : all_kinds) {
    for (const std::size_t rows : {100U, 3000U, 20000U}) {
      for (const std::uint32_t block_rows : {8U, 64U, 300U}) {
        for (const std::size_t k : {1U, 16U, 125U}) {
          if (k >= rows / 8 || k / block_rows > 7) continue;
          check<float>(of, rows, block_rows, k, random);
          check<double>(of, rows, block_rows, k, random);
          check<std::int32_t>(of, rows, block_rows, k, random);
        }
      }
    }
  }
}

TEST_CASE("threads that open blocks together find the best rows of any values", "[unit]") {
  const auto seed = zenith_test::seed_of("best first of threads", 0);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  constexpr std::size_t rows = 100'000;
  for (const kind of : all_kinds) {
    for (const int threads : {2, 5}) {
      check<float>(of, rows, 2, 1 + random() % 10, random, threads);
      check<double>(of, rows, 2, 1 + random() % 10, random, threads);
    }
  }
}

TEST_CASE("as many threads open blocks as there is work for", "[unit]") {
  CHECK(family::teams_of_walk(0, 64, 16) == 1);
  CHECK(family::teams_of_walk(100, 8, 16) == 1);
  CHECK(family::teams_of_walk(1000, 8, 16) == 7);
  CHECK(family::teams_of_walk(1000, 8, 2) == 2);
  CHECK(family::teams_of_walk(1000, 8, 1) == 1);
  CHECK(family::teams_of_walk(~std::uint32_t{0}, 64, 1000) == 1000);
}

TEST_CASE("blocks are opened until the k best rows are numbers", "[unit]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr std::size_t rows = 4000;
  std::vector<float> a(rows, 1);
  std::vector<float> b(rows, 1);
  // rows that are no numbers, in blocks with the best bounds
  for (std::size_t i = 0; i + 100 < rows; ++i) {
    a[i] = i % 2 == 0 ? 100 : nan;
    b[i] = i % 2 == 0 ? nan : 100;
  }
  const column_set<float> set{a, b};
  const auto table =
      threshold_table<float>::build(set, {.layout = table_layout::partitions, .block_rows = 50, .partitions = 1});
  const std::vector<float> weights{1, 1};
  const auto found = top_k(cpu({.threads = 1}), table, weights, 16, {.strategy = "blocks"});
  const auto expected = top_k(reference(), set, weights, 16);
  CHECK(found.indices == expected.indices);
  CHECK(found.keys == expected.keys);
}

TEST_CASE("blocks by falling bound open hardly more than must be opened", "[unit]") {
  std::mt19937_64 random(5);
  constexpr std::size_t rows = 1 << 18;
  constexpr std::size_t columns = 4;
  std::vector<std::vector<float>> values(columns, std::vector<float>(rows));
  column_set<float> set;
  for (auto& column : values) {
    for (auto& one : column) one = std::uniform_real_distribution<float>(0, 1)(random);
    set.add(column);
  }
  const auto table = threshold_table<float>::build(set);
  const auto& of = detail::layout_of(*table.storage());
  const auto* const maxima =
      reinterpret_cast<const float*>(detail::bytes_of(*table.storage()).data() + of.of_blocks.maxima);
  for (const std::size_t used : {1U, 2U, 4U}) {
    std::vector<float> weights(columns);
    std::fill_n(weights.begin(), used, 1.0F);
    threshold_statistics seen;
    const auto best = top_k(cpu({.threads = 1}), table, weights, 16, {.strategy = "blocks", .statistics = &seen});
    std::uint64_t reaching = 0;
    for (std::size_t b = 0; b < of.of_blocks.count; ++b) {
      float bound = maxima[b];
      for (std::size_t j = 1; j < used; ++j) bound = bound + maxima[j * of.of_blocks.stride + b];
      reaching += bound >= best.keys.back() ? 1 : 0;
    }
    INFO(used << " weights: " << seen.blocks_opened << " opened, " << reaching << " reach the threshold");
    CHECK(seen.blocks_opened >= reaching);
    CHECK(seen.blocks_opened <= reaching + reaching / 10 + 8);
  }
}

TEST_CASE("a heap keeps the best entries with the worst in front", "[unit]") {
  using entry = ordered::entry32;
  std::mt19937_64 random(3);
  for (const std::uint32_t k : {1U, 2U, 3U, 16U, 31U}) {
    std::vector<entry> kept(k, entry::worst());
    const device::best_heap<entry> heap{kept.data(), k};
    std::vector<std::uint64_t> all(k);
    for (std::uint32_t i = 0; i < 500; ++i) {
      const auto one = entry::make(static_cast<std::uint32_t>(random() % 100), i);
      all.push_back(one.packed);
      std::ranges::sort(all, std::greater<>{});
      if (better(one, heap.worst())) heap.replace_worst(one);
      REQUIRE(heap.worst().packed == all[k - 1]);
    }
  }
}

TEST_CASE("buckets of bounds rise with the bounds", "[unit]") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float most = std::numeric_limits<float>::max();
  using buckets = family::bound_buckets<float>;
  for (const auto& by : {buckets(0, 1), buckets(-most, most), buckets(most, -most), buckets(3, 3), buckets(5, 4),
                         buckets(1, 1.0000001F)}) {
    std::uint32_t last = 0;
    for (const float bound : {-infinity, -most, -1.0F, 0.0F, 0.3F, 0.31F, 1.0F, 3.0F, 4.0F, most, infinity}) {
      const auto own = by.of(bound);
      CHECK(own < buckets::count);
      // where steps have no width, what is infinite is told from nothing
      if (bound - bound == 0) CHECK(own >= last);
      if (bound - bound == 0) last = own;
    }
    CHECK(by.of(std::numeric_limits<float>::quiet_NaN()) == buckets::count - 1);
    CHECK(by.of(infinity) == buckets::count - 1);
  }
}
