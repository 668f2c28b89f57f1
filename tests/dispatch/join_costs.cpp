#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <algorithms/spatial_index/choices.hpp>
#include <catch.hpp>

#include <settings.hpp>
#include <zenith/spatial_join.hpp>
#include "scenes.hpp"

using namespace zenith;
using zenith_test::fixture;

namespace {

top_k_spatial_join_problem problem(int log_rows, std::uint64_t k, memory_space space = memory_space::host) {
  top_k_spatial_join_problem asked;
  asked.left_rows = asked.right_rows = std::uint64_t{1} << log_rows;
  asked.pairs = 4 * asked.left_rows;
  asked.k = k;
  asked.space = space;
  return asked;
}

device_profile gpu() { return *fixture("server-h200.json").find("cuda"); }

double seconds_of(const cost& all, std::string_view name, const device_profile& on) {
  for (const auto& one : all.phases) {
    if (one.name == name) return seconds(one, on);
  }
  FAIL("no phase is called " << name);
  return 0;
}

}  // namespace

TEST_CASE("each column of a join over the link begins as a short copy, and the kernels wait for the last") {
  auto on = gpu();
  on.host_to_device = 50e9;
  on.rates["link.short_copy"] = 1e-10;
  for (const auto* const strategy : {"full", "threshold_first"}) {
    INFO(strategy);
    const double there = seconds(top_k_spatial_join_cost(strategy, problem(18, 16, memory_space::device), on), on);
    const auto over_link = top_k_spatial_join_cost(strategy, problem(18, 16), on);
    // six columns of a MiB, of which one copy of six MiB would have four at this speed
    const double copies = 6 * double{1 << 20} * 1e-10;
    CHECK(seconds(over_link, on) > there + copies);
    CHECK(seconds(over_link, on) < there + copies + 100e-6);
  }
  // all pairs are two columns more
  auto all = spatial_join_problem(problem(18, 0));
  all.pairs = std::uint64_t{1} << 18;
  const double two = seconds_of(spatial_join_cost("grid", all, on), "columns", on);
  CHECK(two == Approx(on.link_latency + 4 * (double{1 << 20} * 1e-10 + on.launch_overhead)));
}

TEST_CASE("a row's tests on a GPU follow each other, however few rows there are") {
  const auto on = gpu();
  auto few = problem(8, 16);
  few.tests = few.left_rows * 400;
  auto many = problem(12, 16);
  many.tests = many.left_rows * 400;
  const double of_few = seconds_of(top_k_spatial_join_cost("full", few, on), "count", on);
  const double of_many = seconds_of(top_k_spatial_join_cost("full", many, on), "count", on);
  CHECK(of_few > 400 * 0.5e-6);
  CHECK(of_many < 1.5 * of_few);
}

TEST_CASE("a guess on a host takes as long as its samples, of which a large side has no more") {
  auto on = *fixture("emerald-rapids-2-cores.json").find("cpu");
  const auto guess = [&](int log_rows) {
    const auto all = top_k_spatial_join_cost("threshold_first", problem(log_rows, 1), on);
    return seconds_of(all, "guess", on) + seconds_of(all, "near", on);
  };
  CHECK(guess(6) < 0.5 * guess(10));
  CHECK(guess(12) < 1.01 * guess(10));
  CHECK(guess(20) < guess(10));  // of more pairs fewer are listed
  CHECK(guess(20) < 200e-6);
  // a register of fewer lanes compares fewer places at a time
  const double wide = guess(12);
  on.simd_bytes = 16;
  CHECK(guess(12) > 1.2 * wide);
}

TEST_CASE("a pair costs a host less where points crowd, and each where few partners follow one another") {
  auto on = *fixture("server-h200.json").find("cpu");
  on.rates.clear();
  const auto of_a_pair = [&](int log_rows, std::uint64_t partners) {
    auto asked = problem(log_rows, 16);
    asked.pairs = asked.left_rows * partners;
    const auto all = top_k_spatial_join_cost("full", asked, on);
    return seconds_of(all, "select", on) / static_cast<double>(asked.pairs);
  };
  CHECK(of_a_pair(10, 4) > 2.5 * of_a_pair(10, 400));
  CHECK(of_a_pair(14, 4) == Approx(of_a_pair(10, 4)).epsilon(0.1));
}

TEST_CASE("all pairs on a GPU are predicted as measured, whether rows share candidates or not") {
  auto on = gpu();
  on.rates.clear();
  struct measurement {
    unsigned dimensions;
    double partners;  // of each of 2^20 points
    double seconds;   // on an H200 at 623be0e
  };
  for (const auto& one : {measurement{2, 3.3, .359e-3},
                          {2, 8, .50e-3},
                          {2, 16, .77e-3},
                          {2, 32, 1.03e-3},
                          {2, 64, 1.53e-3},
                          {2, 128, 2.20e-3},
                          {2, 512, 5.8e-3},
                          {3, 3.3, .54e-3},
                          {3, 8, .88e-3},
                          {3, 16, 1.17e-3},
                          {3, 32, 1.84e-3},
                          {3, 64, 3.12e-3},
                          {3, 128, 4.33e-3}}) {
    INFO(one.partners << " partners, " << one.dimensions << " dimensions");
    auto asked = spatial_join_problem(problem(20, 0, memory_space::device));
    asked.dimensions = one.dimensions;
    asked.pairs = static_cast<std::uint64_t>(one.partners * (1 << 20));
    const double predicted = seconds(spatial_join_cost("grid", asked, on), on);
    CHECK(predicted < 1.3 * one.seconds);
    CHECK(predicted > one.seconds / 1.3);
  }
}

TEST_CASE("all pairs on a host are predicted as measured, with few threads and with many") {
  auto all = *fixture("server-h200.json").find("cpu");
  // medians of the probe, and of the calls beside it
  all.rates.clear();
  all.rates["core.own_levels"] = 2;
  all.rates["core.estimate"] = 1.37;
  all.rates["core.all_busy"] = 1.02;
  struct measurement {
    std::uint64_t rows;
    double pairs;
    double seconds[3];  // of 1, 2 and 16 threads; perf/notes/spatial-join.md
  };
  for (const auto& one : {measurement{65536, 215600, {4.0e-3, 3.2e-3, 1.08e-3}},
                          {1048576, 3451468, {91e-3, 63e-3, 13.0e-3}},
                          {4194304, 13811480, {451e-3, 261e-3, 56e-3}},
                          {262144, 2488806, {122e-3, 55e-3, 8.4e-3}},
                          {262145, 7730523, {585e-3, 262e-3, 41.8e-3}},
                          {65536, 6406447, {557e-3, 226e-3, 68.6e-3}}}) {
    auto asked = spatial_join_problem(problem(20, 0));
    asked.left_rows = asked.right_rows = one.rows;
    asked.pairs = static_cast<std::uint64_t>(one.pairs);
    constexpr int threads[] = {1, 2, 16};
    for (std::size_t i = 0; i < 3; ++i) {
      INFO(one.rows << " rows, " << one.pairs << " pairs, " << threads[i] << " threads");
      const auto on = all.with_threads(threads[i]);
      const double predicted = seconds(spatial_join_cost("grid", asked, on), on);
      CHECK(predicted < 1.5 * one.seconds[i]);
      CHECK(predicted > one.seconds[i] / 1.5);
    }
  }
}

TEST_CASE("a host lists the partners of all left rows, but writes those of crowded points by fewer workers") {
  auto on = *fixture("server-h200.json").find("cpu");
  on.rates.clear();
  on.cores = 16;
  auto one = on;
  one.cores = 1;
  const auto all = [&](double partners) {
    auto asked = spatial_join_problem(problem(14, 0));
    asked.pairs = static_cast<std::uint64_t>(partners * (1 << 14));
    return asked;
  };
  const auto of = [&](std::string_view name, double partners, const device_profile& by) {
    return seconds_of(spatial_join_cost("grid", all(partners), by), name, by);
  };
  CHECK(of("list", 90, one) > 10 * of("list", 90, on));
  // two parts of 8192 rows
  CHECK(of("write", 90, one) > 1.8 * of("write", 90, on));
  CHECK(of("write", 90, one) < 2.2 * of("write", 90, on));
  // partners that were not listed are looked for again, and sorted
  CHECK(of("write", 16, one) > 4 * of("write", 8, one));
  CHECK(of("write", 9, one) > 1.2 * of("write", 8, one));
}

TEST_CASE("scores that oppose each other are seen in a sample, which spares a host's bound half of a join") {
  constexpr std::size_t rows = 5000;
  std::mt19937_64 random{zenith_test::seed_of("opposing scores", 0)};
  std::uniform_real_distribution<float> place(0, 1000);
  std::vector<float> x[2];
  std::vector<float> y[2];
  std::vector<float> rising[2];
  std::vector<float> drawn[2];
  for (int side = 0; side < 2; ++side) {
    for (std::size_t i = 0; i < rows; ++i) {
      x[side].push_back(place(random));
      y[side].push_back(place(random));
      rising[side].push_back(side == 0 ? x[side][i] : 1000 - x[side][i]);
      drawn[side].push_back(place(random));
    }
  }
  const auto together = [&](const std::vector<float>* scores, const top_k_spatial_join_options& options) {
    const scored_points<float> left{{x[0], y[0]}, scores[0]};
    const scored_points<float> right{{x[1], y[1]}, scores[1]};
    const auto problem = top_k_spatial_join_problem_of(left, right, 10, options);
    CHECK(problem.left_rows == rows);
    CHECK(problem.k == 10);
    CHECK(!(problem.scores_oppose && problem.scores_agree));
    return problem.scores_oppose ? -1 : problem.scores_agree ? 1 : 0;
  };
  CHECK(together(rising, {}) == -1);
  CHECK(together(rising, {.select = selection::smallest}) == -1);
  CHECK(together(rising, {.score = pair_score::minimum}) == -1);
  CHECK(together(rising, {.score = pair_score::maximum}) == 0);
  CHECK(together(drawn, {}) == 0);
  // a weight below 0 turns one side around
  CHECK(together(rising, {.score = pair_score::weighted_sum, .right_weight = -1}) == 1);
  const std::vector<float> same[2] = {rising[0], x[1]};
  CHECK(together(same, {}) == 1);
  CHECK(together(same, {.score = pair_score::maximum}) == 0);
  CHECK(together(same, {.score = pair_score::weighted_sum, .right_weight = -1}) == -1);

  const auto on = *fixture("server-h200.json").find("cpu");
  auto asked = problem(18, 100);
  const auto seconds_by = [&](std::string_view strategy) {
    return seconds(top_k_spatial_join_cost(strategy, asked, on), on);
  };
  CHECK(seconds_by("threshold_first") < seconds_by("full"));
  asked.scores_oppose = true;
  CHECK(seconds_by("threshold_first") < 0.9 * seconds_by("full"));
  auto others = asked;
  others.scores_oppose = false;
  CHECK(seconds_by("threshold_first") > 2 * seconds(top_k_spatial_join_cost("threshold_first", others, on), on));
  // on a GPU no pairs are sampled
  asked.space = memory_space::device;
  const auto there = gpu();
  CHECK(seconds(top_k_spatial_join_cost("threshold_first", asked, there), there) >
        seconds(top_k_spatial_join_cost("full", asked, there), there));
}

TEST_CASE("pairs are expected to tie with the k-th best, where most scores are equal") {
  constexpr std::size_t rows = 50000;
  std::mt19937_64 random{zenith_test::seed_of("ties", 0)};
  std::uniform_real_distribution<float> place(0, 200);
  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> drawn;
  std::vector<float> rated;  // a row of eight
  for (std::size_t i = 0; i < rows; ++i) {
    x.push_back(place(random));
    y.push_back(place(random));
    drawn.push_back(place(random));
    rated.push_back(i % 8 == 0 ? 1 + place(random) : 0);
  }
  const auto asked = [&](const std::vector<float>& scores, std::size_t k, const top_k_spatial_join_options& options) {
    const scored_points<float> points{{x, y}, scores};
    return top_k_spatial_join_problem_of(points, points, k, options);
  };
  const auto share_tied = [&](const std::vector<float>& scores, std::size_t k, pair_score score,
                              selection select = selection::largest) {
    const auto problem = asked(scores, k, {.predicate = {1}, .score = score, .select = select});
    return static_cast<double>(problem.tied) / static_cast<double>(problem.pairs);
  };
  // 200,000 pairs, of which a 64th are of two that are rated, and 15 of 64 of one
  INFO("seed " << zenith_test::seed());
  CHECK(share_tied(rated, 20000, pair_score::product) >= .5);
  CHECK(share_tied(rated, 20000, pair_score::minimum) >= .5);
  CHECK(share_tied(rated, 20000, pair_score::sum) == 0);
  CHECK(share_tied(rated, 100000, pair_score::sum) >= .5);
  CHECK(share_tied(rated, 20000, pair_score::sum, selection::smallest) >= .5);
  CHECK(share_tied(rated, 10, pair_score::product) == 0);
  CHECK(share_tied(drawn, 20000, pair_score::product) == 0);
  CHECK(share_tied(rated, 10000000, pair_score::product) == 0);

  const auto on = *fixture("server-h200.json").find("cpu");
  const auto seconds_by = [&](std::string_view strategy, const top_k_spatial_join_problem& problem) {
    return seconds(top_k_spatial_join_cost(strategy, problem, on), on);
  };
  const auto tied = asked(rated, 20000, {.predicate = {1}, .score = pair_score::product});
  CHECK(seconds_by("full", tied) < seconds_by("threshold_first", tied));
  const auto others = asked(drawn, 20000, {.predicate = {1}, .score = pair_score::product});
  CHECK(seconds_by("threshold_first", others) < seconds_by("full", others));
}

TEST_CASE("where pairs may hide, threshold_first is expected to take less time than full, but not much") {
  const auto on = *fixture("server-h200.json").find("cpu");
  for (const std::uint64_t rows : {20000, 100000, 1000000}) {
    top_k_spatial_join_problem asked{{rows, rows, 1}, 1000};
    const auto seconds_by = [&](std::string_view strategy) {
      return seconds(top_k_spatial_join_cost(strategy, asked, on), on);
    };
    CHECK(seconds_by("full") < seconds_by("threshold_first"));
    const double known = seconds_by("full");
    asked.may_hide_pairs = true;
    INFO(rows << " rows");
    CHECK(seconds_by("threshold_first") < seconds_by("full"));
    CHECK(seconds_by("full") < 2 * known + 1e-4);
    asked.pairs = 100 * rows;  // then a bound spares most rows, and counting is most of it
    CHECK(seconds_by("threshold_first") < seconds_by("full") / 4);
  }
}

TEST_CASE("pairs are expected in clusters that lie apart, where a sample meets none") {
  constexpr std::size_t rows = 50000;
  std::mt19937_64 random{zenith_test::seed_of("clusters", 0)};
  std::uniform_real_distribution<float> place(0, 1);
  for (const std::size_t clusters : {1, 2, 10, 20}) {
    for (int draw = 0; draw < 4; ++draw) {
      std::vector<float> x;
      std::vector<float> y;
      for (std::size_t i = 0; i < rows; ++i) {
        const auto cluster = static_cast<float>(random() % clusters);
        x.push_back(place(random) + 100 * cluster);
        y.push_back(place(random) + 100 * cluster);
      }
      const column_set<float> side{x, y};
      const auto pairs = static_cast<double>(spatial_join_problem_of(side, side, {.predicate = {.003}}).pairs);
      constexpr double of_one = 0.003 * 0.003 * 3.14159 * rows * rows;
      INFO(clusters << " clusters, seed " << zenith_test::seed() << ": " << pairs);
      CHECK(pairs > of_one / static_cast<double>(clusters) / 3);
      CHECK(pairs < of_one / static_cast<double>(clusters) * 3);
    }
  }
}

TEST_CASE("pairs are expected of a quarter of the points in one place") {
  constexpr std::size_t rows = 50000;
  const auto on = *fixture("server-h200.json").find("cpu");
  std::mt19937_64 random{zenith_test::seed_of("a place", 0)};
  std::uniform_real_distribution<float> place(0, 1);
  for (int draw = 0; draw < 8; ++draw) {
    std::vector<float> x;
    std::vector<float> y;
    std::vector<float> scores;
    for (std::size_t i = 0; i < rows; ++i) {
      const float wide = i % 4 == 0 ? 1 : 1000;
      x.push_back(wide * place(random));
      y.push_back(wide * place(random));
      scores.push_back(place(random));
    }
    const scored_points<float> points{{x, y}, scores};
    const auto asked = top_k_spatial_join_problem_of(points, points, 100, {.predicate = {.01}});
    const auto pairs = static_cast<double>(asked.pairs);
    constexpr double there = 0.01 * 0.01 * 3.14159 * rows * rows / 16;
    INFO("seed " << zenith_test::seed() << ": " << pairs << " of " << there);
    CHECK(pairs > there / 6);
    CHECK(pairs < there * 3);
    const auto seconds_by = [&](std::string_view strategy) {
      return seconds(top_k_spatial_join_cost(strategy, asked, on), on);
    };
    CHECK(seconds_by("threshold_first") < seconds_by("dfa"));
  }
}

TEST_CASE("points that lie unevenly are seen in a sample, and joined by trees where many are in a cell") {
  const auto on = *fixture("server-h200.json").find("cpu");
  std::mt19937_64 random{zenith_test::seed_of("uneven points", 0)};
  std::uniform_real_distribution<double> place(0, 1);
  // of every `each`-th point x is far away; `apart` points are in so many clusters, so far from each other, the others
  // in the first
  const auto asked = [&](std::size_t rows, std::size_t each, std::size_t clusters, std::size_t apart,
                         double between = 1e9, double distance = .003) {
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t i = 0; i < rows; ++i) {
      const auto cluster = static_cast<double>(i < apart ? random() % clusters : 0) * between;
      x.push_back(each != 0 && i % each == 0 ? 1e9 * place(random) : place(random) + cluster);
      y.push_back(place(random) + cluster);
    }
    const column_set<double> side{x, y};
    return spatial_join_problem_of(side, side, {.predicate = {distance}});
  };
  const auto gain_of_trees = [&](const spatial_join_problem& problem) {
    return seconds(spatial_join_cost("grid", problem, on), on) /
           seconds(spatial_join_cost("index_nested_loop", problem, on), on);
  };
  // of 1.4 partners each, of which a sample meets one or none
  constexpr std::size_t rows = 50000;
  constexpr double partners = 0.003 * 0.003 * 3.14159 * rows;
  for (int draw = 0; draw < 8; ++draw) {
    // far points are left out, on the grid's border and where pairs are counted
    for (const std::size_t each : {0, 1000, 100, 50}) {
      INFO("far: every " << each);
      const auto even = asked(rows, each, 1, rows);
      CHECK(even.tests <= 8 * rows);
      CHECK(static_cast<double>(even.pairs) > partners * rows / 2);
      CHECK(static_cast<double>(even.pairs) < partners * rows * 1.5);
      CHECK(gain_of_trees(even) < 1);
    }
    // few are near, but others share a cell's number
    CHECK(asked(rows, 50, 1, rows, 1e9, .0005).tests > rows / 4);
    // those that lie together beyond all cells are in one of them
    const std::size_t apart = rows / 10;
    const auto cluster = asked(rows, 0, 2, apart);
    CHECK(static_cast<double>(cluster.tests) > .3 * apart * apart / 4);
    CHECK(static_cast<double>(cluster.tests) < 3. * apart * apart / 4);
  }
  CHECK(gain_of_trees(asked(8 * rows, 0, 2, rows)) > 1.5);
  // cells cover both clusters
  const auto uneven = asked(rows, 0, 2, rows, 1e5);
  CHECK(uneven.tests < 100 * rows);
  CHECK(gain_of_trees(uneven) < 1);
}

TEST_CASE("pairs that share the best score are seen in a sample, and spare a tree what they cost a bound") {
  constexpr std::size_t rows = 20000;
  const auto on = *fixture("server-h200.json").find("cpu");
  std::mt19937_64 random{zenith_test::seed_of("tied pairs", 0)};
  std::uniform_real_distribution<float> place(0, 100);
  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> drawn;
  for (std::size_t i = 0; i < rows; ++i) {
    x.push_back(place(random));
    y.push_back(place(random));
    drawn.push_back(place(random));
  }
  const auto asked = [&](const std::vector<float>& left, const std::vector<float>& right,
                         const top_k_spatial_join_options& more = {}) {
    auto options = more;
    options.predicate = {5};
    return top_k_spatial_join_problem_of(scored_points<float>{{x, y}, left}, scored_points<float>{{x, y}, right}, 10,
                                         options);
  };
  const std::vector<float> same(rows, 3);
  std::vector<float> rising(same);
  for (std::size_t i = 0; i < rows; i += 2) rising[i] = 1;
  CHECK(asked(drawn, drawn).tied == 0);
  CHECK(asked(drawn, same).tied == 0);
  const auto gain_of_trees = [&](const top_k_spatial_join_problem& problem) {
    return seconds(top_k_spatial_join_cost("threshold_first", problem, on), on) /
           seconds(top_k_spatial_join_cost("ba", problem, on), on);
  };
  CHECK(gain_of_trees(asked(drawn, drawn)) < 1);
  const auto all = asked(same, same);
  CHECK(all.tied >= all.pairs / 2);
  CHECK(gain_of_trees(all) > 4);
  // one in two has the best score on each side, and as many the worst
  const auto half = asked(rising, rising);
  CHECK(half.tied < all.tied);
  CHECK(half.tied > all.tied / 16);
  CHECK(asked(rising, rising, {.select = selection::smallest}).tied > all.tied / 16);
  // a weight below 0 makes the smallest of one side the best
  std::vector<float> mostly(same);
  for (std::size_t i = 0; i < rows; i += 8) mostly[i] = 1;
  const auto turned = asked(same, mostly, {.score = pair_score::weighted_sum, .right_weight = -1});
  CHECK(turned.tied > all.tied / 64);
  CHECK(turned.tied < all.tied / 2);
  CHECK(asked(same, mostly).tied >= all.tied / 2);
}

TEST_CASE("the build of an index counts where a join of columns is chosen") {
  const auto host = *fixture("server-h200.json").find("cpu");
  const auto fastest = [](const top_k_index_join_problem& join, const device_profile& on) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& one : spatial_index_detail::join_strategies) {
      least = std::min(least, seconds(one.model(join, on), on));
    }
    return least;
  };
  top_k_index_join_problem join{1 << 20, 1 << 20, 10};
  join.pairs = 4 << 20;
  const double built = fastest(join, host);
  CHECK(built < fastest(join, gpu()));
  join.to_build = 1 << 20;
  const double one_side = fastest(join, host);
  CHECK(built < one_side);
  join.to_build = 2 << 20;
  CHECK(one_side < fastest(join, host));
  // a GPU builds in a millisecond what takes a host tens of them
  CHECK(fastest(join, host) > fastest(join, gpu()));
  // of few items a host has both before a GPU has begun
  const top_k_index_join_problem few{.left_items = 500, .right_items = 500, .k = 10, .to_build = 1000};
  CHECK(fastest(few, host) < fastest(few, gpu()));
  // Where scores agree, the best items are each other's partners: few nodes are opened.
  top_k_index_join_problem agreeing{.left_items = 100000, .right_items = 100000, .k = 1000, .pairs = 16384};
  const double of_any = fastest(agreeing, host);
  agreeing.scores_agree = true;
  CHECK(fastest(agreeing, host) < of_any);
  // all pairs
  const auto nested_loop = [&](std::uint64_t to_build) {
    const index_join_problem all{1 << 20, 1 << 20, key_type::float32, memory_space::host, to_build};
    return seconds(spatial_index_detail::all_pairs_strategies[0].model(all, host), host);
  };
  CHECK(nested_loop(0) < nested_loop(1 << 20));
}
