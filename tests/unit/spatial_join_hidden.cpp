// Pairs that samples of runs sides do not meet: of points much nearer to each other than samples are.

#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <catch.hpp>
#include <settings.hpp>
#include <spatial_suite.hpp>
#include <zenith/executor.hpp>
#include <zenith/spatial_join.hpp>

using namespace zenith;

namespace {

// With 20,000 pairs, samples meet one or two. From 2^16 rows on, a host joins samples where all pairs seem to be
// wanted.
constexpr std::size_t rows = 60000;

template <class T>
struct side {
  std::vector<std::vector<T>> at;
  std::vector<T> scores;

  [[nodiscard]] scored_points<T> points() const {
    std::vector<std::span<const T>> columns(at.begin(), at.end());
    return {column_set<T>(columns), scores};
  }
};

/// place(random, i, coordinates) of row i, with a score of its own.
template <class T, class Place>
side<T> drawn(std::mt19937_64& random, std::size_t dimensions, const Place& place) {
  side<T> to{std::vector<std::vector<T>>(dimensions, std::vector<T>(rows)), std::vector<T>(rows)};
  std::uniform_real_distribution<T> score(0, 100);
  for (std::size_t i = 0; i < rows; ++i) {
    T one[3] = {};
    place(random, i, one);
    for (std::size_t a = 0; a < dimensions; ++a) to.at[a][i] = one[a];
    to.scores[i] = score(random);
  }
  return to;
}

/// What `threshold_first` did on a host by one thread and by two, and on a device, where it found what `full` finds.
struct seen {
  spatial_join_statistics on_host;
  spatial_join_statistics by_two;
  spatial_join_statistics on_device;
};
template <class T>
seen checked(const side<T>& left, const side<T>& right, std::size_t k, double distance) {
  REQUIRE(!conformance::spatial::the_suite().ranked.empty());  // which has the device
  seen runs;
  const auto check = [&](const executor& on, spatial_join_statistics& statistics) {
    const auto all =
        top_k_spatial_join(on, left.points(), right.points(), k, {.predicate = {distance}, .strategy = "full"});
    const auto best =
        top_k_spatial_join(on, left.points(), right.points(), k,
                           {.predicate = {distance}, .strategy = "threshold_first", .statistics = &statistics});
    CHECK(all.left == best.left);
    CHECK(all.right == best.right);
    CHECK(all.scores == best.scores);
  };
  check(cpu({.threads = 1}), runs.on_host);
  check(cpu({.threads = 2}), runs.by_two);
  check(make_executor("device"), runs.on_device);
  return runs;
}

}  // namespace

TEMPLATE_TEST_CASE("pairs that samples do not meet spare threshold_first rows", "[spatial]", float, double) {
  using T = TestType;
  std::mt19937_64 random{zenith_test::seed_of("hidden pairs", sizeof(T))};
  std::uniform_real_distribution<T> place(0, 1000);
  const auto check = [&](const std::string& name, std::size_t dimensions, double distance, const auto& at,
                         const auto& of_right) {
    const auto left = drawn<T>(random, dimensions, at);
    const auto right = drawn<T>(random, dimensions, of_right);
    INFO(name << ", seed " << zenith_test::seed());
    const auto [on_host, by_two, on_device] = checked(left, right, 100, distance);
    CHECK(on_host.left_rows < rows / 3);
    CHECK(on_host.right_rows < rows / 3);
    CHECK(by_two.left_rows < rows / 3);
    CHECK(by_two.right_rows < rows / 3);
    // its samples may be believed where they say that a bound spares some rows
    CHECK(on_device.left_rows < rows);
    CHECK(on_device.right_rows < rows);
  };
  const auto lattice = [](std::size_t shift) {
    return [shift](auto&, std::size_t i, T* at) {
      at[0] = static_cast<T>(i / 200 + shift);
      at[1] = static_cast<T>(i % 200);
    };
  };
  check("lattices that share a third of their points", 2, 0, lattice(0), lattice(200));
  const auto places = [](auto& from, std::size_t, T* at) {
    for (int a = 0; a < 2; ++a) at[a] = static_cast<T>(from() % 450);
  };
  check("equal places", 2, 0, places, places);
  const auto diagonal = [&](auto& from, std::size_t, T* at) { at[0] = at[1] = place(from); };
  check("a diagonal", 2, .0039, diagonal, diagonal);
  const auto line = [&](auto& from, std::size_t, T* at) {
    at[0] = place(from);
    at[1] = -at[0];
    at[2] = at[0] / 2;
  };
  check("a line", 3, .0042, line, line);
  // it must not make one cell of all others
  const auto with_far_point = [&](auto& from, std::size_t i, T* at) {
    at[0] = at[1] = i == 7 ? static_cast<T>(1e12) : place(from);
  };
  check("a diagonal and a far point", 2, .0039, with_far_point, with_far_point);
}

TEST_CASE("where there are hardly any pairs, threshold_first joins all", "[spatial]") {
  std::mt19937_64 random{zenith_test::seed_of("no pairs", 0)};
  std::uniform_real_distribution<float> place(0, 1000);
  const auto at = [&](auto& from, std::size_t, float* to) {
    for (int a = 0; a < 2; ++a) to[a] = place(from);
  };
  const auto whole = [&](auto& from, std::size_t, float* to) {
    for (int a = 0; a < 2; ++a) to[a] = std::floor(place(from));
  };
  const auto left = drawn<float>(random, 2, at);
  const auto right = drawn<float>(random, 2, at);
  INFO("seed " << zenith_test::seed());
  CHECK(checked(left, right, 1000, 1e-5).on_host.rounds == 1);
  auto apart = drawn<float>(random, 2, whole);
  const auto lattice = drawn<float>(random, 2, whole);
  for (auto& column : apart.at) {
    for (auto& one : column) one += .5F;
  }
  // samples say that there are thousands
  const auto [on_host, by_two, on_device] = checked(apart, lattice, 10, .4);
  CHECK(on_host.candidates == 0);
  CHECK(on_host.rounds == 2);
  CHECK(by_two.candidates == 0);
  CHECK(on_device.candidates == 0);
  // sides that lie apart
  auto far = right;
  for (auto& one : far.at[0]) one += 2000;
  CHECK(checked(left, far, 100, 1).on_host.rounds == 1);
}

TEST_CASE("samples say where more pairs may hide", "[spatial]") {
  std::mt19937_64 random{zenith_test::seed_of("may hide", 0)};
  std::uniform_real_distribution<float> place(0, 1000);
  const auto even = [&](auto& from, std::size_t, float* at) {
    for (int a = 0; a < 2; ++a) at[a] = place(from);
  };
  const auto line = [&](auto& from, std::size_t, float* at) { at[0] = at[1] = place(from); };
  const auto asked = [&](const auto& at, std::size_t k, double distance) {
    const auto left = drawn<float>(random, 2, at);
    const auto right = drawn<float>(random, 2, at);
    return top_k_spatial_join_problem_of(left.points(), right.points(), k, {.predicate = {distance}});
  };
  INFO("seed " << zenith_test::seed());
  // of 3 partners each: not of even points, but of a line
  CHECK_FALSE(asked(even, 30000, 5).may_hide_pairs);
  CHECK(asked(line, 30000, .053).may_hide_pairs);
  CHECK(asked(even, 100, 0).may_hide_pairs);
  // so many are expected that more need not be known
  CHECK_FALSE(asked(even, 10, .5).may_hide_pairs);
  // met by samples
  CHECK_FALSE(asked(line, 30000, 10).may_hide_pairs);
}
