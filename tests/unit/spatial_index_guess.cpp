// What samples of boxes say of a ranked join of indexes.

#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include <algorithms/spatial_index/src/sampled_boxes.hpp>
#include <catch.hpp>
#include <settings.hpp>
#include <zenith/executor.hpp>
#include <zenith/spatial_index.hpp>

using namespace zenith;

namespace {

template <class T>
struct boxes {
  std::vector<std::vector<T>> low;
  std::vector<std::vector<T>> high;
  std::vector<T> scores;

  [[nodiscard]] scored_boxes<T> columns() const {
    const std::vector<std::span<const T>> lows(low.begin(), low.end());
    const std::vector<std::span<const T>> highs(high.begin(), high.end());
    return {column_set<T>(lows), column_set<T>(highs), scores};
  }
};

/// In [0, 1000]^dimensions, as wide as `width` at most. `slope`: how scores rise with x; 0: they are random.
template <class T>
boxes<T> drawn(std::mt19937_64& random, std::size_t dimensions, std::size_t rows, T width, T slope) {
  boxes<T> to{std::vector<std::vector<T>>(dimensions, std::vector<T>(rows)),
              std::vector<std::vector<T>>(dimensions, std::vector<T>(rows)), std::vector<T>(rows)};
  std::uniform_real_distribution<T> share(0, 1);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t a = 0; a < dimensions; ++a) {
      to.low[a][i] = 1000 * share(random);
      to.high[a][i] = to.low[a][i] + width * share(random);
    }
    to.scores[i] = slope == 0 ? share(random) : slope * to.low[0][i];
  }
  return to;
}

template <class T>
top_k_spatial_join_problem asked(const detail::index_join_arguments& given, double distance, std::size_t k) {
  const detail::sampled_boxes<T> samples(given, distance);
  return detail::describe(samples.sides(), k, {.predicate = {samples.distance()}}, samples.pairs_of_one());
}

}  // namespace

TEMPLATE_TEST_CASE("samples of boxes say how many pairs there are", "[index]", float, double) {
  using T = TestType;
  std::mt19937_64 random{zenith_test::seed_of("boxes", sizeof(T))};
  const auto check = [&]<unsigned D>(std::integral_constant<unsigned, D>, std::size_t rows, T width, double distance) {
    const auto left = drawn<T>(random, D, rows, width, 0);
    const auto right = drawn<T>(random, D, rows, width / 2, 0);
    const auto index = spatial_index<T, D>::build(left.columns());
    const auto others = spatial_index<T, D>::build(right.columns());
    const auto pairs = static_cast<double>(
        count_spatial_join(cpu(), index, others, index_join_options{.predicate = within{distance}}).count);
    const auto of_indexes = asked<T>(detail::join_of<std::uint32_t>(index, others), distance, 100);
    const auto of_columns = asked<T>(detail::join_of<std::uint32_t>(index, right.columns()), distance, 100);
    for (const auto& one : {of_indexes, of_columns}) {
      INFO(D << "-D, " << rows << " boxes, " << width << " wide, distance " << distance << ", seed "
             << zenith_test::seed() << ": " << one.pairs << " of " << pairs);
      CHECK(static_cast<double>(one.pairs) > pairs / 3);
      CHECK(static_cast<double>(one.pairs) < pairs * 3);
      CHECK_FALSE(one.scores_oppose);
    }
  };
  const std::integral_constant<unsigned, 2> plane;
  const std::integral_constant<unsigned, 3> space;
  check(plane, 20000, T{5}, 0);
  check(plane, 20000, T{1}, 3);
  check(plane, 300, T{200}, 0);
  check(space, 20000, T{40}, 0);
  check(space, 20000, T{10}, 20);
}

TEST_CASE("samples of boxes say whether scores oppose each other", "[index]") {
  std::mt19937_64 random{zenith_test::seed_of("opposing boxes", 0)};
  for (const float slope : {1.F, -1.F}) {
    const auto left = drawn<float>(random, 2, 20000, 4, 1);
    const auto right = drawn<float>(random, 2, 20000, 4, slope);
    INFO("seed " << zenith_test::seed());
    const auto one = asked<float>(detail::join_of<std::uint32_t>(left.columns(), right.columns()), 0, 100);
    CHECK(one.scores_oppose == (slope < 0));
    CHECK(one.scores_agree == (slope > 0));
  }
}
