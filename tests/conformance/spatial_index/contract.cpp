// What indexes promise beyond the results of their queries: errors, shape, statistics.

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include <catch.hpp>
#include <expect_error.hpp>
#include <index_suite.hpp>
#include <zenith/error.hpp>

using namespace conformance::spatial_index;

using zenith_test::expect_error;

namespace {

constexpr auto wrong = zenith::error_code::invalid_argument;
constexpr auto damaged_bytes = zenith::error_code::corrupt_data;
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

using flat = zenith::spatial_index<float, 2>;
using points = zenith::scored_points<float>;
using boxes = zenith::scored_boxes<float>;

struct table {
  std::vector<float> x{0, 2, 4, 8};
  std::vector<float> y{0, 0, 4, 8};
  std::vector<float> high_x{1, 3, 5, 9};
  std::vector<float> high_y{1, 2, 4, 9};
  std::vector<float> scores{1, 2, 3, 4};

  [[nodiscard]] points as_points() const { return {{x, y}, scores}; }
  [[nodiscard]] boxes as_boxes() const { return {{x, y}, {high_x, high_y}, scores}; }
};

}  // namespace

TEST_CASE("what an index refuses", "[index-contract]") {
  const table good;
  for (const std::uint32_t fanout : {0U, 1U, 65U}) {
    expect_error(wrong, {"spatial_index: options.fanout is " + std::to_string(fanout), "2 to 64"},
                 [&] { (void)flat::build(good.as_points(), {fanout}); });
  }
  expect_error(wrong, {"points.coordinates has 1 columns", "2 dimensions"}, [&] {
    (void)flat::build(points{{good.x}, good.scores});
  });
  expect_error(wrong, {"points.coordinates has 2 columns", "3 dimensions"},
               [&] { (void)zenith::spatial_index<float, 3>::build(good.as_points()); });
  expect_error(wrong, {"points.scores has 3 elements", "4 rows"}, [&] {
    (void)flat::build(points{{good.x, good.y}, std::span(good.scores).first(3)});
  });
  expect_error(wrong, {"boxes.high has 1 columns"}, [&] {
    (void)flat::build(boxes{{good.x, good.y}, {good.x}, good.scores});
  });
  expect_error(wrong, {"boxes.high has 3 rows and boxes.low 4"}, [&] {
    const auto three = [](const std::vector<float>& of) { return std::span(of).first(3); };
    (void)flat::build(boxes{{good.x, good.y}, {three(good.x), three(good.y)}, good.scores});
  });
  // never read: it is refused before
  const std::span<const float> pretended(good.x.data(), std::size_t{1} << 32);
  expect_error(zenith::error_code::unsupported, {"has 4294967296 rows", "2^32 - 2"}, [&] {
    (void)flat::build(points{{pretended, pretended}, pretended});
  });
  for (const float value : {not_a_number, infinity, -infinity}) {
    table bad;
    bad.scores[3] = value;
    expect_error(wrong, {"points.scores[3] is NaN or infinite"}, [&] { (void)flat::build(bad.as_points()); });
    bad.high_y[1] = value;
    expect_error(wrong, {"boxes.high has a NaN or an infinity in column 1, row 1"},
                 [&] { (void)flat::build(bad.as_boxes()); });
    bad.y[2] = value;
    expect_error(wrong, {"points.coordinates has a NaN or an infinity in column 1, row 2"},
                 [&] { (void)flat::build(bad.as_points()); });
  }
  table turned;
  turned.high_y[2] = 3.5F;
  expect_error(wrong, {"boxes.low is above boxes.high in column 1, row 2"},
               [&] { (void)flat::build(turned.as_boxes()); });
}

TEST_CASE("what a build on a device refuses", "[index-contract]") {
  for (const auto& on : the_suite().builds) {
    INFO(on.name());
    const auto build = [&](const auto& items, const zenith::spatial_index_options& options = {}) {
      (void)zenith::detail::build_index_there(on.on, zenith::detail::input_of(2, items), zenith::memory_space::host,
                                              options);
    };
    const table good;
    expect_error(wrong, {"spatial_index: options.fanout is 1"}, [&] { build(good.as_points(), {1}); });
    for (const float value : {not_a_number, infinity, -infinity}) {
      table bad;
      bad.scores[3] = value;
      expect_error(wrong, {"points.scores[3] is NaN or infinite"}, [&] { build(bad.as_points()); });
      bad.high_y[1] = value;
      expect_error(wrong, {"boxes.high has a NaN or an infinity in column 1, row 1"}, [&] { build(bad.as_boxes()); });
      bad.y[2] = value;
      bad.y[3] = value;
      expect_error(wrong, {"points.coordinates has a NaN or an infinity in column 1, row 2"},
                   [&] { build(bad.as_points()); });
    }
    table turned;
    turned.high_y[2] = 3.5F;
    turned.high_y[3] = 3.5F;
    expect_error(wrong, {"boxes.low is above boxes.high in column 1, row 2"}, [&] { build(turned.as_boxes()); });
    if (on.memory == zenith::memory_space::device) continue;
    expect_error(wrong, {"host memory"},
                 [&] { (void)zenith::device_spatial_index<float, 2>::build(on.on, good.as_points()); });
  }
}

TEST_CASE("what queries of an index refuse", "[index-contract]") {
  const table good;
  const auto index = flat::build(good.as_points());
  for (const auto& on : the_suite().ranges) {
    INFO(on.name());
    const auto ask = [&](const auto& region) {
      (void)zenith::top_k_range(on.on, index, region, 1, {.strategy = on.strategy});
    };
    using box = zenith::spatial_box<float, 2>;
    using ball = zenith::spatial_ball<float, 2>;
    expect_error(wrong, {"top_k_range: region.low[1] is NaN"}, [&] { ask(box{{0, not_a_number}, {1, 1}}); });
    expect_error(wrong, {"region.low[0] is above region.high[0]"}, [&] { ask(box{{2, 0}, {1, 1}}); });
    expect_error(wrong, {"region.centre[0] is NaN or infinite"}, [&] { ask(ball{{infinity, 0}, 1}); });
    expect_error(wrong, {"region.distance is negative"}, [&] { ask(ball{{0, 0}, -1}); });
    expect_error(wrong, {"region.distance is NaN"}, [&] { ask(ball{{0, 0}, double{not_a_number}}); });
    expect_error(zenith::error_code::unsupported, {"options.strategy is 'quick'", "it offers: "}, [&] {
      (void)zenith::top_k_range(on.on, index, ball{{0, 0}, 1}, 1, {.strategy = "quick"});
    });
  }
  table negative;
  negative.scores = {1, -2, 3, -4};
  table large;
  large.scores = {1, 2, 1e20F, 3e38F};
  const auto left = flat::build(negative.as_points());
  const auto right = flat::build(large.as_boxes());
  for (const auto& on : the_suite().joins) {
    INFO(on.name());
    zenith::top_k_index_join_options options{.strategy = on.strategy};
    const auto join = [&](const flat& a, const flat& b) { (void)zenith::top_k_spatial_join(on.on, a, b, 1, options); };
    options.predicate = zenith::within{-1};
    expect_error(wrong, {"top_k_spatial_join: options.predicate.distance is negative"}, [&] { join(left, right); });
    options.predicate = zenith::intersects{};
    options.score = zenith::pair_score::product;
    expect_error(wrong, {"left.scores[1] is negative", "product"}, [&] { join(left, right); });
    expect_error(wrong, {"right.scores[1] is negative", "product"}, [&] { join(right, left); });
    options.score = zenith::pair_score::weighted_sum;
    options.right_weight = 1e38;
    expect_error(wrong, {"right.scores[2] times options.right_weight is infinite"}, [&] { join(left, right); });
    options.right_weight = 1e300;
    expect_error(wrong, {"options.right_weight is infinite"}, [&] { join(left, right); });
  }
}

TEST_CASE("all pairs of two indexes, and what their join refuses", "[index-contract]") {
  const table few;
  const auto tree = flat::build(few.as_boxes(), {2});
  const auto corners = flat::build(few.as_points(), {3});
  const flat nothing;
  for (const auto& on : the_suite().all_pairs) {
    INFO(on.name());
    zenith::index_join_options options{zenith::within{3}, on.strategy};
    const auto found = zenith::spatial_join<std::int64_t>(on.on, tree, corners, options);
    CHECK(found.left == std::vector<std::int64_t>{0, 0, 1, 1, 1, 2, 3});
    CHECK(found.right == std::vector<std::int64_t>{0, 1, 0, 1, 2, 2, 3});
    CHECK(zenith::spatial_join(on.on, nothing, corners, options).count == 0);
    CHECK(zenith::spatial_join(on.on, corners, nothing, options).count == 0);
    std::vector<std::uint32_t> left(6);
    std::vector<std::uint32_t> right(6);
    expect_error(wrong, {"spatial_join: left_out has 6 elements, but there are 7 pairs"},
                 [&] { (void)zenith::spatial_join(on.on, tree, corners, left, right, options); });
    CHECK(left == std::vector<std::uint32_t>(6));
    options.predicate = zenith::within{-1};
    expect_error(wrong, {"spatial_join: options.predicate.distance is negative"},
                 [&] { (void)zenith::spatial_join(on.on, tree, corners, options); });
    expect_error(wrong, {"count_spatial_join: options.predicate.distance is negative"},
                 [&] { (void)zenith::count_spatial_join(on.on, tree, corners, options); });
    expect_error(wrong, {"spatial_join_batches: options.batch_pairs is 0"}, [&] {
      (void)zenith::spatial_join_batches(on.on, tree, corners,
                                         [](std::span<const std::uint32_t>, std::span<const std::uint32_t>) {},
                                         {.strategy = on.strategy, .batch_pairs = 0});
    });
  }
}

TEST_CASE("an index of nothing, and one of few boxes, in full", "[index-contract]") {
  const flat nothing;
  CHECK(nothing.size() == 0);
  CHECK(nothing.nodes() == 0);
  const table few;
  const auto tree = flat::build(few.as_boxes(), {2});
  CHECK(tree.size() == 4);
  CHECK(tree.nodes() == 3);
  CHECK(tree.levels() == 2);
  CHECK(tree.fanout() == 2);
  const auto same = flat::build(few.as_boxes(), {2});
  CHECK(std::ranges::equal(zenith::detail::bytes_of(*tree.storage()), zenith::detail::bytes_of(*same.storage())));
  const auto corners = flat::build(few.as_points(), {2});
  for (const auto& on : the_suite().ranges) {
    INFO(on.name());
    using box = zenith::spatial_box<float, 2>;
    CHECK(zenith::top_k_range(on.on, nothing, box{{0, 0}, {9, 9}}, 3).indices.empty());
    CHECK(zenith::top_k_range(on.on, tree, box{{0, 0}, {9, 9}}, 0).indices.empty());
    // it touches the first two and the third at a corner
    const auto found = zenith::top_k_range(on.on, tree, box{{1, 1}, {4, 4}}, 9, {.strategy = on.strategy});
    CHECK(found.indices == std::vector<std::uint32_t>{2, 1, 0});
    CHECK(found.keys == std::vector<float>{3, 2, 1});
    const auto near = zenith::top_k_range<std::int64_t>(on.on, tree, zenith::spatial_ball<float, 2>{{3, 5}, 3}, 2,
                                                        {zenith::selection::smallest, on.strategy});
    CHECK(near.indices == std::vector<std::int64_t>{1, 2});
  }
  for (const auto& on : the_suite().joins) {
    INFO(on.name());
    zenith::spatial_join_statistics counted;
    const zenith::top_k_index_join_options options{
        .predicate = zenith::intersects{}, .strategy = on.strategy, .statistics = &counted};
    const auto found = zenith::top_k_spatial_join(on.on, tree, corners, 9, options);
    CHECK(found.left == std::vector<std::uint32_t>{3, 2, 1, 0});
    CHECK(found.right == std::vector<std::uint32_t>{3, 2, 1, 0});
    CHECK(found.scores == std::vector<float>{8, 6, 4, 2});
    CHECK(counted.candidates == 4);
    CHECK(counted.rounds >= 1);
    CHECK(zenith::top_k_spatial_join(on.on, tree, nothing, 9, options).count == 0);
    CHECK(counted.candidates == 0);
  }
}

// The header is made by whoever asks for the bytes first, while others query.
TEST_CASE("the bytes of an index, asked for by several threads at once", "[index-contract]") {
  const table few;
  const auto index = flat::build(few.as_points(), {2});
  std::vector<std::size_t> sizes(4);
  {
    std::vector<std::jthread> threads;
    for (auto& size : sizes) {
      threads.emplace_back([&index, &size] {
        const auto best = zenith::top_k_range(zenith::cpu(), index, zenith::spatial_box<float, 2>{{-1, -1}, {9, 9}}, 1);
        if (best.indices == std::vector<std::uint32_t>{3}) size = flat::parse(index.serialized()).size();
      });
    }
  }
  CHECK(sizes == std::vector<std::size_t>(4, few.x.size()));
}

TEST_CASE("an index as bytes", "[index-contract]") {
  const table few;
  for (const bool of_boxes : {false, true}) {
    const auto index = of_boxes ? flat::build(few.as_boxes(), {2}) : flat::build(few.as_points(), {2});
    const auto bytes = index.serialized();
    REQUIRE(bytes.size() == index.bytes());
    const auto copy = flat::parse(bytes);
    const auto mapped = flat::map(bytes);
    CHECK(mapped.serialized().data() == bytes.data());
    const zenith::spatial_box<float, 2> all{{-1, -1}, {9, 9}};
    for (const auto& read : {copy, mapped}) {
      CHECK(std::ranges::equal(read.serialized(), bytes));
      CHECK(zenith::top_k_range(zenith::cpu(), read, all, 3).indices == std::vector<std::uint32_t>{3, 2, 1});
    }
    // a changed byte anywhere, and any other length
    std::vector<std::byte> damaged(bytes.begin(), bytes.end());
    std::size_t accepted = 0;
    const auto is_accepted = [](std::span<const std::byte> all_of_it) {
      try {
        (void)flat::parse(all_of_it);
      } catch (const zenith::error& thrown) {
        return thrown.code() != damaged_bytes && thrown.code() != wrong;  // its type may be what is damaged
      }
      return true;
    };
    for (std::size_t i = 0; i < damaged.size(); ++i) {
      const std::byte before = damaged[i];
      damaged[i] ^= std::byte{1} << (i % 8);
      accepted += is_accepted(damaged) ? 1 : 0;
      damaged[i] = before;
      accepted += is_accepted(bytes.first(i)) ? 1 : 0;
    }
    CHECK(accepted == 0);
    damaged.push_back(std::byte{0});
    CHECK_FALSE(is_accepted(damaged));
    damaged.pop_back();
    damaged[7] = std::byte{'3'};
    expect_error(damaged_bytes, {"version 3", "reads versions 1 and 2"}, [&] { (void)flat::parse(damaged); });
    damaged[7] = std::byte{'2'};
    expect_error(damaged_bytes, {"unknown flags"}, [&] { (void)flat::parse(damaged); });
    expect_error(wrong, {"not aligned to 64"}, [&] {
      std::vector<std::byte> shifted(bytes.size() + 128);
      std::byte* at = shifted.data();
      while (reinterpret_cast<std::uintptr_t>(at) % 64 != 8) ++at;
      std::ranges::copy(bytes, at);
      (void)flat::map(std::span<const std::byte>(at, bytes.size()));
    });
    expect_error(wrong, {"3"}, [&] { (void)zenith::spatial_index<float, 3>::parse(bytes); });
    expect_error(wrong, {"values of 4 bytes"}, [&] { (void)zenith::spatial_index<double, 2>::parse(bytes); });
  }
  const std::vector<float> none;
  const auto empty = flat::build(points{{none, none}, none});
  CHECK(empty.size() == 0);
  CHECK(flat::parse(empty.serialized()).size() == 0);
}

TEST_CASE("more pairs than a pool holds, of indexes", "[index-contract]") {
  // all of them are pairs, far more than one round may find
  constexpr std::size_t count = 1200;
  random_source random{zenith_test::seed_of("index.pool", 0)};
  std::vector<float> x(count);
  std::vector<float> y(count);
  std::vector<float> scores(count);
  for (std::size_t i = 0; i < count; ++i) {
    x[i] = static_cast<float>(random() % 100);
    y[i] = static_cast<float>(random() % 100);
    scores[i] = static_cast<float>(random() % 50);
  }
  const auto index = flat::build(points{{x, y}, scores});
  zenith::top_k_index_join_options options{.predicate = zenith::within{1000}, .strategy = "loops"};
  for (const std::size_t k : {std::size_t{10}, std::size_t{600000}}) {
    if (k > 10 && zenith_test::scale() < 0.3) continue;
    options.strategy = "loops";
    const auto expected = zenith::top_k_spatial_join(zenith::make_executor("reference"), index, index, k, options);
    REQUIRE(expected.count == std::min(k, count * count));
    std::set<std::string> ran;
    for (const auto& on : the_suite().joins) {
      // one of each backend and strategy
      if (on.strategy == "loops" || !ran.insert(std::string{on.on.backend()} + on.strategy).second) continue;
      INFO(on.name() << " " << k);
      options.strategy = on.strategy;
      const auto found = zenith::top_k_spatial_join(on.on, index, index, k, options);
      CHECK(found.left == expected.left);
      CHECK(found.right == expected.right);
      CHECK(found.scores == expected.scores);
    }
  }
}

TEST_CASE("a bound on the score spares most of the work", "[index-contract]") {
  constexpr std::size_t count = 20000;
  random_source random{zenith_test::seed_of("index.spares", 0)};
  std::uniform_real_distribution<float> place(0, 100);
  std::vector<float> columns[2][3];
  for (auto& side : columns) {
    for (auto& column : side) {
      for (std::size_t i = 0; i < count; ++i) column.push_back(place(random));
    }
  }
  const auto left = flat::build(points{{columns[0][0], columns[0][1]}, columns[0][2]});
  const auto right = flat::build(points{{columns[1][0], columns[1][1]}, columns[1][2]});
  for (const auto& on : zenith_test::executors("top_k_index_join", {"cpu", "kokkos", "cuda"})) {
    INFO(on.executor_string);
    zenith::spatial_join_statistics leaves;
    zenith::spatial_join_statistics items;
    // a device's first round has all of these items, unless it is told otherwise
    const bool is_device = on.memory == zenith::memory_space::device;
    zenith::top_k_index_join_options options{.predicate = zenith::within{1},
                                             .strategy = "ba",
                                             .statistics = &leaves,
                                             .blocks_at_once = is_device ? 16U : 0U};
    const auto by_leaves = zenith::top_k_spatial_join(on.on, left, right, 20, options);
    zenith::spatial_join_statistics by_four;
    auto four = options;
    four.statistics = &by_four;
    four.blocks_at_once = 4;
    CHECK(zenith::top_k_spatial_join(on.on, left, right, 20, four).left == by_leaves.left);
    CHECK(by_four.rounds == (by_four.left_rows + 63) / 64);
    CHECK(by_four.rounds > leaves.rounds);
    options.strategy = "sfa";
    options.statistics = &items;
    options.blocks_at_once *= 16;
    const auto by_items = zenith::top_k_spatial_join(on.on, left, right, 20, options);
    CHECK(by_leaves.left == by_items.left);
    CHECK(by_leaves.right == by_items.right);
    CHECK(items.left_rows < count / 2);
    CHECK(leaves.candidates < 40000);
    CHECK(items.candidates < 40000);
    CHECK(items.candidates >= 20);
    for (const char* strategy : {"dfa", "rj"}) {
      options.strategy = strategy;
      const auto by_nodes = zenith::top_k_spatial_join(on.on, left, right, 20, options);
      CHECK(by_nodes.left == by_items.left);
      CHECK(by_nodes.right == by_items.right);
      CHECK(items.candidates < 60000);
      CHECK(items.candidates >= 20);
    }
  }
}

TEST_CASE("costs and choices of queries of indexes", "[index-contract]") {
  const auto here = zenith::machine::defaults();
  const zenith::top_k_range_problem range{1 << 20, 10};
  CHECK(zenith::decide(range, here).strategy == "descent");
  zenith::top_k_index_join_problem join{1 << 20, 1 << 20, 100};
  const auto chosen = zenith::decide(join, here).strategy;
  CHECK((chosen == "ba" || chosen == "rj"));
  // where many pairs are wanted, a bound on scores spares little
  join.k = 1 << 20;
  CHECK(zenith::decide(join, here).strategy == "dfa");
}

TEST_CASE("a choice for indexes of points sees how scores go together", "[index-contract]") {
  constexpr std::size_t rows = 4096;
  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> mixed;
  std::vector<float> falling;
  for (std::size_t i = 0; i < rows; ++i) {
    x.push_back(static_cast<float>(i * 1213 % rows));
    y.push_back(static_cast<float>(i * 2089 % 4093));
    mixed.push_back(static_cast<float>(i * 3253 % 4091));
    falling.push_back(-x.back());
  }
  const auto on = zenith::cpu({.threads = 1});
  const auto strategy_for = [&](const std::vector<float>& left, const std::vector<float>& right) {
    const auto a = flat::build(points{{x, y}, left});
    const auto b = flat::build(points{{x, y}, right});
    return zenith::top_k_spatial_join(on, a, b, 4, {.predicate = zenith::within{100}}).strategy;
  };
  const auto takes_scores = [](const std::string& strategy) { return strategy == "ba" || strategy == "sfa"; };
  const auto of_mixed = strategy_for(mixed, mixed);
  CHECK((takes_scores(of_mixed) || of_mixed == "rj"));
  CHECK(!takes_scores(strategy_for(x, falling)));
  CHECK(takes_scores(strategy_for(std::vector<float>(rows, 1), std::vector<float>(rows, 1))));
}

// Where the best bounds are few, "rj" is as fast as the strategies by score: but no bound keeps tied pairs of nodes
// out.
TEST_CASE("a choice for indexes of points sees that many pairs have the best score", "[index-contract]") {
  constexpr std::size_t rows = 200000;
  random_source random{zenith_test::seed_of("index.ties", 0)};
  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> two_scores;
  for (std::size_t i = 0; i < rows; ++i) {
    x.push_back(static_cast<float>(random() % 1000000) / 1000);
    y.push_back(static_cast<float>(random() % 1000000) / 1000);
    two_scores.push_back(static_cast<float>(random() % 2));
  }
  const auto side = flat::build(points{{x, y}, two_scores});
  // some 60 partners each
  const auto strategy =
      zenith::top_k_spatial_join(zenith::cpu({.threads = 1}), side, side, 10, {.predicate = zenith::within{9.8}})
          .strategy;
  CHECK((strategy == "ba" || strategy == "sfa"));
}
