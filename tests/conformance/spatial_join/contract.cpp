// What the calls promise beyond their results: errors, statistics, the choice.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <catch.hpp>
#include <expect_error.hpp>
#include <spatial_suite.hpp>
#include <zenith/error.hpp>

using namespace conformance::spatial;

using zenith_test::expect_error;

namespace {

constexpr auto wrong = zenith::error_code::invalid_argument;
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

using points = zenith::scored_points<float>;

struct side {
  std::vector<float> x{1, 2, 3, 4};
  std::vector<float> y{5, 6, 7, 8};
  std::vector<float> z{0, 0, 0, 0};
  std::vector<float> scores{1, 2, 3, 4};

  [[nodiscard]] points flat() const { return {{x, y}, scores}; }
  [[nodiscard]] points deep() const { return {{x, y, z}, scores}; }
};

}  // namespace

TEST_CASE("what a ranked join refuses", "[spatial-contract]") {
  for (const auto& on : the_suite().ranked) {
    INFO(on.name());
    zenith::top_k_spatial_join_options options{.predicate = {1}, .strategy = on.strategy};
    const auto join = [&](const points& left, const points& right) {
      (void)zenith::top_k_spatial_join(on.on, left, right, 2, options);
    };
    const side good;
    const points narrow{{good.x}, good.scores};
    expect_error(wrong, {"top_k_spatial_join: left.coordinates has 1 columns", "2 or 3"},
                 [&] { join(narrow, good.flat()); });
    expect_error(wrong, {"right.coordinates has 4 columns"}, [&] {
      join(good.flat(), {{good.x, good.y, good.z, good.x}, good.scores});
    });
    expect_error(wrong, {"left has points of 2 dimensions and right of 3"}, [&] { join(good.flat(), good.deep()); });
    expect_error(wrong, {"right.scores has 3 elements", "right.coordinates 4 rows"}, [&] {
      join(good.flat(), {{good.x, good.y}, std::span(good.scores).first(3)});
    });
    for (const double distance : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
      options.predicate.distance = distance;
      expect_error(wrong, {"options.predicate.distance is ", distance < 0 ? "negative" : "NaN"},
                   [&] { join(good.flat(), good.flat()); });
    }
    options.predicate.distance = 1;

    for (const float value : {not_a_number, infinity, -infinity}) {
      side bad;
      bad.y[2] = value;
      bad.y[3] = value;
      bad.scores[0] = value;
      expect_error(wrong, {"left.coordinates has a NaN or an infinity in column 1, row 2"},
                   [&] { join(bad.flat(), bad.flat()); });
      bad.y = good.y;
      bad.z[3] = value;
      expect_error(wrong, {"right.coordinates has a NaN or an infinity in column 2, row 3"},
                   [&] { join(good.deep(), bad.deep()); });
      expect_error(wrong, {"left.scores[0] is NaN or infinite"}, [&] { join(bad.flat(), good.flat()); });
      bad.scores = good.scores;
      bad.scores[3] = value;
      expect_error(wrong, {"right.scores[3] is NaN or infinite"}, [&] { join(good.flat(), bad.flat()); });
    }
    side negative;
    negative.scores[2] = -1;
    negative.scores[3] = -2;
    options.score = zenith::pair_score::product;
    expect_error(wrong, {"right.scores[2] is negative", "product"}, [&] { join(good.flat(), negative.flat()); });
    negative.scores = {1, 2, 3, -0.0F};
    CHECK_NOTHROW(join(good.flat(), negative.flat()));
    options.score = zenith::pair_score::weighted_sum;
    for (const double weight : {double{not_a_number}, double{infinity}, 1e300}) {
      options.left_weight = weight;
      expect_error(wrong, {"options.left_weight is ", weight > 0 ? "infinite" : "NaN"},
                   [&] { join(good.flat(), good.flat()); });
    }
    options.left_weight = 1e38;
    side large;
    large.scores[1] = 1e20F;
    expect_error(wrong, {"left.scores[1] times options.left_weight is infinite"},
                 [&] { join(large.flat(), good.flat()); });
  }
}

TEST_CASE("a ranked join for no pairs looks at all values", "[spatial-contract]") {
  for (const auto& on : the_suite().ranked) {
    INFO(on.name());
    zenith::spatial_join_statistics counted{1, 1, 1, 1};
    zenith::top_k_spatial_join_options options{.predicate = {100}, .strategy = on.strategy, .statistics = &counted};
    const auto join = [&](const side& left, const side& right) {
      return zenith::top_k_spatial_join(on.on, left.flat(), right.flat(), 0, options);
    };
    const side good;
    const auto nothing = join(good, good);
    CHECK((nothing.count == 0 && nothing.left.empty() && nothing.right.empty() && nothing.scores.empty()));
    CHECK((counted.rounds == 0 && counted.candidates == 0));
    side bad;
    bad.y[2] = not_a_number;
    expect_error(wrong, {"right.coordinates has a NaN or an infinity in column 1, row 2"}, [&] { join(good, bad); });
    bad = good;
    bad.scores[3] = infinity;
    expect_error(wrong, {"left.scores[3] is NaN or infinite"}, [&] { join(bad, good); });
    bad.scores[3] = -1;
    options.score = zenith::pair_score::product;
    expect_error(wrong, {"right.scores[3] is negative"}, [&] { join(good, bad); });
    std::vector<std::uint32_t> none;
    std::vector<float> no_scores;
    expect_error(wrong, {"right.scores[3] is negative"}, [&] {
      (void)zenith::top_k_spatial_join(on.on, good.flat(), bad.flat(), none, none, no_scores, options);
    });
  }
}

TEST_CASE("what a join of all pairs refuses", "[spatial-contract]") {
  for (const auto& on : the_suite().joins) {
    INFO(on.name());
    const side good;
    using set = zenith::column_set<float>;
    const auto join = [&](const set& left, const set& right, double distance) {
      (void)zenith::spatial_join(on.on, left, right, {.predicate = {distance}, .strategy = on.strategy});
    };
    expect_error(wrong, {"spatial_join: left has 1 columns"}, [&] { join({good.x}, {good.x, good.y}, 1); });
    expect_error(wrong, {"column 1 has 3 rows"}, [&] { join({good.x, std::span(good.y).first(3)}, {good.x}, 1); });
    expect_error(wrong, {"left has points of 3 dimensions"}, [&] {
      join({good.x, good.y, good.z}, {good.x, good.y}, 1);
    });
    expect_error(wrong, {"options.predicate.distance is negative"}, [&] {
      join({good.x, good.y}, {good.x, good.y}, -0.5);
    });
    expect_error(wrong, {"count_spatial_join: options.predicate.distance is negative"}, [&] {
      const set points{good.x, good.y};
      (void)zenith::count_spatial_join(on.on, points, points, {.predicate = {-0.5}, .strategy = on.strategy});
    });
    side bad;
    bad.x[1] = not_a_number;
    expect_error(wrong, {"right has a NaN or an infinity in column 0, row 1"}, [&] {
      join({good.x, good.y}, {bad.x, bad.y}, 1);
    });
  }
}

TEST_CASE("memory for pairs that does not fit", "[spatial-contract]") {
  const side good;
  const zenith::column_set<float> points{good.x, good.y};
  std::vector<std::uint32_t> left(3);
  std::vector<std::uint32_t> right(4);
  std::vector<float> scores(3);
  for (const auto& on : the_suite().joins) {
    INFO(on.name());
    const zenith::spatial_join_options options{.predicate = {100}, .strategy = on.strategy};
    expect_error(wrong, {"spatial_join: right_out has 4 elements", "left_out", "3"},
                 [&] { (void)zenith::spatial_join(on.on, points, points, left, right, options); });
    expect_error(wrong, {"spatial_join: left_out has 3 elements, but there are 16 pairs"},
                 [&] { (void)zenith::spatial_join(on.on, points, points, left, std::span(right).first(3), options); });
    if (on.memory == zenith::memory_space::device) continue;
    const zenith::device_span<std::uint32_t> elsewhere(left.data(), left.size());
    expect_error(wrong, {"left_out"},
                 [&] { (void)zenith::spatial_join(on.on, points, points, elsewhere, elsewhere, options); });
  }
  for (const auto& on : the_suite().ranked) {
    INFO(on.name());
    const zenith::top_k_spatial_join_options options{.predicate = {100}, .strategy = on.strategy};
    expect_error(wrong, {"top_k_spatial_join: scores_out has 3 elements", "left_out", "4"}, [&] {
      (void)zenith::top_k_spatial_join(on.on, good.flat(), good.flat(), right, right, scores, options);
    });
    const auto run =
        zenith::top_k_spatial_join(on.on, good.flat(), good.flat(), left, std::span(right).first(3), scores, options);
    CHECK(run.count == 3);
    CHECK(scores == std::vector<float>{8, 7, 7});
    CHECK(left == std::vector<std::uint32_t>{3, 2, 3});
  }
}

TEST_CASE("a join in batches, and what ends it", "[spatial-contract]") {
  constexpr std::size_t rows = 3000;
  random_source random{zenith_test::seed_of("spatial.batches", 0)};
  const auto points = make_points<float>(shape::uniform, scores::real, rows, 2, false, false, random);
  const zenith::column_set<float> side{points.columns[0], points.columns[1]};
  for (const auto& on : the_suite().joins) {
    if (on.on.backend() == "reference") continue;
    INFO(on.name());
    zenith::spatial_join_batch_options options{.predicate = {2}, .strategy = on.strategy, .batch_pairs = 1000};
    const auto all = zenith::spatial_join(on.on, side, side, {.predicate = {2}, .strategy = on.strategy});
    std::vector<std::uint64_t> left;
    std::size_t largest = 0;
    const auto found = zenith::spatial_join_batches<std::uint64_t>(
        on.on, side, side,
        [&](std::span<const std::uint64_t> some, std::span<const std::uint64_t> /*partners*/) {
          left.insert(left.end(), some.begin(), some.end());
          largest = std::max(largest, some.size());
        },
        options);
    CHECK(std::ranges::equal(left, all.left));
    CHECK(found.count == all.count);
    CHECK(largest <= 2000);
    // batches are as large as was asked for, and not only as small
    CHECK(found.batches <= 2 + 2 * all.count / 1000);

    struct enough {};
    std::size_t calls = 0;
    const auto stop = [&](std::span<const std::uint32_t>, std::span<const std::uint32_t>) {
      if (++calls == 2) throw enough{};
    };
    CHECK_THROWS_AS(zenith::spatial_join_batches(on.on, side, side, stop, options), enough);
    CHECK(calls == 2);
    options.batch_pairs = 0;
    expect_error(wrong, {"spatial_join_batches: options.batch_pairs is 0"},
                 [&] { (void)zenith::spatial_join_batches(on.on, side, side, stop, options); });
    options.batch_pairs = 1000;
    auto damaged = points.columns[1];
    damaged[rows - 1] = not_a_number;
    calls = 0;
    expect_error(wrong, {"spatial_join_batches: left has a NaN or an infinity in column 1, row 2999"}, [&] {
      (void)zenith::spatial_join_batches(on.on, {points.columns[0], damaged}, side, stop, options);
    });
    expect_error(wrong, {"right has a NaN or an infinity in column 1, row 2999"}, [&] {
      (void)zenith::spatial_join_batches(on.on, side, {points.columns[0], damaged}, stop, options);
    });
    CHECK(calls == 0);
    const std::vector<float> none;
    CHECK(zenith::spatial_join_batches(on.on, {none, none}, side, stop, options).batches == 0);
  }
}

TEST_CASE("sides that no pair can have", "[spatial-contract]") {
  const side good;
  const auto huge = std::size_t{1} << 32;
  // never read: it is refused before
  const std::span<const float> pretended(good.x.data(), huge);
  expect_error(zenith::error_code::unsupported, {"left has 4294967296 rows", "2^32 - 2"}, [&] {
    (void)zenith::spatial_join(zenith::cpu(), zenith::column_set<float>{pretended, pretended},
                               zenith::column_set<float>{good.x, good.y}, {.predicate = {1}});
  });
  for (const auto& on : zenith_test::executors("top_k_spatial_join")) {
    expect_error(zenith::error_code::unsupported, {"options.strategy is 'quick'", "it offers: "},
                 [&] { (void)zenith::top_k_spatial_join(on.on, good.flat(), good.flat(), 1, {.strategy = "quick"}); });
  }
}

TEST_CASE("a small join, in full", "[spatial-contract]") {
  const std::vector<double> left_x{0, 1, 5};
  const std::vector<double> left_y{0, 0, 5};
  const std::vector<double> left_scores{1, 3, 9};
  const std::vector<double> right_x{0, 3, 1};
  const std::vector<double> right_y{1, 0, 1};
  const std::vector<double> right_scores{4, 9, 2};
  for (const auto& on : the_suite().ranked) {
    INFO(on.name());
    const zenith::scored_points<double> left{{left_x, left_y}, left_scores};
    const zenith::scored_points<double> right{{right_x, right_y}, right_scores};
    zenith::spatial_join_statistics statistics;
    // within 2, closed: (0, 0), (0, 2), (1, 0), (1, 1), (1, 2)
    const auto best = zenith::top_k_spatial_join(
        on.on, left, right, 4, {.predicate = {2}, .strategy = on.strategy, .statistics = &statistics});
    CHECK(best.left == std::vector<std::uint32_t>{1, 1, 0, 1});
    CHECK(best.right == std::vector<std::uint32_t>{1, 0, 0, 2});
    CHECK(best.scores == std::vector<double>{12, 7, 5, 5});
    CHECK(best.count == 4);
    CHECK(statistics.rounds >= 1);
    // each of the three left rows alone
    if (on.strategy == "sfa") {
      (void)zenith::top_k_spatial_join(
          on.on, left, right, 5, {.predicate = {2}, .strategy = "sfa", .statistics = &statistics, .blocks_at_once = 1});
      CHECK(statistics.rounds == 3);
    }
    CHECK(statistics.candidates >= 4);
    CHECK(statistics.left_rows >= 2);
    const auto all = zenith::top_k_spatial_join<std::uint64_t>(
        on.on, left, right, 1000, {.predicate = {2}, .select = zenith::selection::smallest, .strategy = on.strategy});
    CHECK(all.count == 5);
    CHECK(all.left == std::vector<std::uint64_t>{0, 0, 1, 1, 1});
    CHECK(all.right == std::vector<std::uint64_t>{2, 0, 2, 0, 1});
    CHECK(zenith::top_k_spatial_join(on.on, left, right, 0, {.predicate = {2}}).count == 0);
  }
  const auto pairs = zenith::spatial_join(zenith::make_executor("auto"), zenith::column_set<double>{left_x, left_y},
                                          zenith::column_set<double>{right_x, right_y}, {.predicate = {2}});
  CHECK(pairs.left == std::vector<std::uint32_t>{0, 0, 1, 1, 1});
  CHECK(pairs.right == std::vector<std::uint32_t>{0, 2, 0, 1, 2});
}

TEST_CASE("a bound on the score spares most of the join", "[spatial-contract]") {
  random_source random{zenith_test::seed_of("spatial.spares", 0)};
  const auto left = make_points<float>(shape::uniform, scores::real, 20000, 2, false, false, random);
  const auto right = make_points<float>(shape::uniform, scores::real, 20000, 2, true, false, random);
  const zenith::scored_points<float> a{{left.columns[0], left.columns[1]}, left.scores};
  const zenith::scored_points<float> b{{right.columns[0], right.columns[1]}, right.scores};
  for (const auto& on : zenith_test::executors("top_k_spatial_join", {"cpu", "kokkos", "cuda"})) {
    INFO(on.executor_string);
    zenith::spatial_join_statistics first;
    zenith::spatial_join_statistics all;
    const auto quick = zenith::top_k_spatial_join(
        on.on, a, b, 50, {.predicate = {1}, .strategy = "threshold_first", .statistics = &first});
    const auto slow =
        zenith::top_k_spatial_join(on.on, a, b, 50, {.predicate = {1}, .strategy = "full", .statistics = &all});
    CHECK(quick.left == slow.left);
    CHECK(quick.right == slow.right);
    CHECK(quick.scores == slow.scores);
    CHECK(first.left_rows < all.left_rows / 4);
    CHECK(first.candidates < all.candidates / 4);
    CHECK(first.candidates >= 50);
  }
}

TEST_CASE("all pairs of more rows than a thread takes at once", "[spatial-contract]") {
  // every fifth point is one of a crowd, with far more partners than a host lists
  random_source random{zenith_test::seed_of("spatial.parts", 0)};
  const auto draw = [&](std::size_t rows) {
    std::vector<std::vector<float>> columns(2, std::vector<float>(rows));
    for (std::size_t i = 0; i < rows; ++i) {
      const bool is_in_crowd = random() % 5 == 0;
      for (auto& column : columns) {
        const auto at = static_cast<float>(random() % (1U << 20)) / (1U << 20);
        column[i] = is_in_crowd ? 1.0F / 3 + at / 64 : at;
      }
    }
    return columns;
  };
  const auto left = draw(30000);
  const auto right = draw(20000);
  const zenith::column_set<float> a{left[0], left[1]};
  const zenith::column_set<float> b{right[0], right[1]};
  // few partners beside the crowd, then many
  for (const double distance : {1.0 / 800, 1.0 / 300}) {
    const zenith::spatial_join_options options{.predicate = {distance}};
    const auto expected = zenith::spatial_join(zenith::make_executor("reference"), a, b, options);
    REQUIRE(expected.count > 30000);
    auto executors = zenith_test::one_executor_per_isa("spatial_join", zenith_test::threads::most);
    for (const auto& on : zenith_test::one_executor_per_isa("spatial_join")) executors.push_back(on);
    for (const auto& on : zenith_test::executors("spatial_join", {"kokkos", "cuda"})) executors.push_back(on);
    for (const auto& on : executors) {
      INFO(on.executor_string << ", distance " << distance);
      const auto found = zenith::spatial_join(on.on, a, b, options);
      CHECK(found.left == expected.left);
      CHECK(found.right == expected.right);
      CHECK(zenith::count_spatial_join(on.on, a, b, options).count == expected.count);
      std::vector<std::uint64_t> wide_left(expected.count);
      std::vector<std::uint64_t> wide_right(expected.count);
      (void)zenith::spatial_join(on.on, a, b, wide_left, wide_right, options);
      CHECK(std::equal(wide_left.begin(), wide_left.end(), expected.left.begin()));
      CHECK(std::equal(wide_right.begin(), wide_right.end(), expected.right.begin()));
    }
  }
}

TEST_CASE("more pairs than a pool holds", "[spatial-contract]") {
  // all of them are pairs, and more than k and two batches of 2^21
  constexpr std::size_t rows = 2800;
  random_source random{zenith_test::seed_of("spatial.batches", 0)};
  const auto left = make_points<float>(shape::uniform, scores::real, rows, 2, false, false, random);
  const auto right = make_points<float>(shape::uniform, scores::whole, rows, 2, true, false, random);
  const zenith::scored_points<float> a{{left.columns[0], left.columns[1]}, left.scores};
  const zenith::scored_points<float> b{{right.columns[0], right.columns[1]}, right.scores};
  auto executors = zenith_test::one_executor_per_isa("top_k_spatial_join", zenith_test::threads::most);
  if (zenith_test::scale() < 0.3 && !executors.empty()) executors.resize(1);
  for (const auto& on : zenith_test::executors("top_k_spatial_join", {"kokkos", "cuda"})) executors.push_back(on);
  for (const auto score : {zenith::pair_score::sum, zenith::pair_score::minimum}) {
    zenith::top_k_spatial_join_options options{.predicate = {1000}, .score = score, .strategy = "loops"};
    // the smallest of the minima are few values: ties reach far beyond k
    if (score == zenith::pair_score::minimum) options.select = zenith::selection::smallest;
    const auto expected = zenith::top_k_spatial_join(zenith::make_executor("reference"), a, b, 1000, options);
    for (const auto& on : executors) {
      for (const char* strategy : {"full", "threshold_first"}) {
        INFO(on.executor_string << " " << strategy);
        options.strategy = strategy;
        zenith::spatial_join_statistics counted;
        options.statistics = &counted;
        const auto found = zenith::top_k_spatial_join(on.on, a, b, 1000, options);
        options.statistics = nullptr;
        CHECK(found.left == expected.left);
        CHECK(found.right == expected.right);
        CHECK(found.scores == expected.scores);
        if (options.strategy == "full") CHECK(counted.candidates == rows * rows);
      }
    }
  }
}

TEST_CASE("costs and choices of spatial joins", "[spatial-contract]") {
  const auto here = zenith::machine::defaults();
  zenith::top_k_spatial_join_problem problem;
  problem.left_rows = problem.right_rows = 1 << 20;
  problem.pairs = 3 << 20;
  problem.k = 100;
  CHECK(zenith::decide(problem, here).strategy == "threshold_first");
  problem.k = problem.pairs;
  CHECK(zenith::decide(problem, here).strategy == "full");
  zenith::spatial_join_problem all = problem;
  CHECK(zenith::decide(all, here).strategy == "grid");
  all.tests = std::uint64_t{1} << 38;
  CHECK(zenith::decide(all, here).strategy == "index_nested_loop");
  problem.k = 100;
  problem.tied = problem.pairs = std::uint64_t{1} << 26;
  CHECK(zenith::decide(problem, here).strategy != "threshold_first");
  const auto& device = here.devices().front();
  expect_error(wrong, {"strategy is 'quick'"}, [&] { (void)zenith::spatial_join_cost("quick", problem, device); });
  expect_error(wrong, {"strategy is 'quick'"},
               [&] { (void)zenith::top_k_spatial_join_cost("quick", problem, device); });
}
