// The cases that every target of spatial joins is put through.

#include <algorithm>

#include <catch.hpp>
#include <spatial_suite.hpp>

using namespace conformance::spatial;
using zenith_test::verdict;

namespace {

template <class T>
question<T> make_question(shape one, scores kind, std::size_t left, std::size_t right, random_source& random) {
  question<T> asked;
  const unsigned dimensions = random() % 2 == 0 ? 2 : 3;
  asked.name = name_of(one);
  zenith_test::spatial::draw_scoring(asked.options, random);
  const bool positive = asked.options.score == zenith::pair_score::product;
  asked.options.predicate.distance = some_distance(one, random);
  asked.left = make_points<T>(one, kind, left, dimensions, false, positive, random);
  asked.right = make_points<T>(one, kind, right, dimensions, true, positive, random);
  return asked;
}

template <class Item, std::size_t Count>
const Item& one_of(const Item (&all)[Count], random_source& random) {
  return all[random() % Count];
}

template <class T>
void ask_about(verdict& seen, const question<T>& asked, random_source& random) {
  ask(seen, asked, some_ks(all_pairs(asked).size(), random), random);
}

bool nothing_to_run_on() { return the_suite().ranked.empty(); }

}  // namespace

TEMPLATE_TEST_CASE("joins of every number of rows", "[spatial]", float32, float64) {
  if (nothing_to_run_on()) return;
  verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t left : {0, 1, 2, 63, 64, 65, 300}) {
    for (const std::size_t right : {0, 1, 2, 63, 64, 65, 300}) {
      if (std::max(left, right) > the_suite().most_rows) continue;
      random_source random{zenith_test::seed_of("spatial.sizes", number++)};
      ask_about(seen,
                make_question<TestType>(one_of(every_shape, random), one_of(every_scores, random), left, right, random),
                random);
    }
  }
  seen.require_none();
  CHECK(seen.cases() > 0);
}

TEMPLATE_TEST_CASE("joins of every shape of points and scores", "[spatial]", float32, float64) {
  if (nothing_to_run_on()) return;
  verdict seen;
  std::uint64_t number = 0;
  for (const auto one : every_shape) {
    for (const auto kind : every_scores) {
      for (const std::size_t rows : {40, 500}) {
        if (rows > the_suite().most_rows) continue;
        if (!zenith_test::is_drawn("spatial.shapes", ++number)) continue;
        random_source random{zenith_test::seed_of("spatial.shapes", number)};
        ask_about(seen, make_question<TestType>(one, kind, rows, rows + random() % 30, random), random);
      }
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("joins by every score", "[spatial]", float32, float64) {
  if (nothing_to_run_on()) return;
  verdict seen;
  for (unsigned number = 0; number < 20; ++number) {
    if (!zenith_test::is_drawn("spatial.scores", number)) continue;
    random_source random{zenith_test::seed_of("spatial.scores", number)};
    const auto score = static_cast<zenith::pair_score>(number % 5);
    const bool positive = score == zenith::pair_score::product;
    auto asked = make_question<TestType>(shape::uniform, scores::real, 0, 0, random);
    const auto kind = one_of(every_scores, random);
    const unsigned dimensions = 2 + number % 2;
    asked.options.score = score;
    asked.options.left_weight = number % 3 - 1.0;
    asked.options.right_weight = 0.7;
    asked.options.select = number / 5 % 2 == 0 ? zenith::selection::largest : zenith::selection::smallest;
    asked.options.predicate.distance = dimensions == 2 ? 5 : 12;
    const auto rows = std::min<std::size_t>(1000, the_suite().most_rows);
    asked.left = make_points<TestType>(shape::uniform, kind, rows, dimensions, false, positive, random);
    asked.right = make_points<TestType>(shape::uniform, kind, rows - rows / 10, dimensions, true, positive, random);
    ask(seen, asked, {1, 10, 100, 1000}, random);
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("joins of sides of thousands of rows", "[spatial]", float32, float64) {
  if (nothing_to_run_on()) return;
  verdict seen;
  std::uint64_t number = 0;
  for (const auto kind : {scores::real, scores::against, scores::whole}) {
    random_source random{zenith_test::seed_of("spatial.large", number++)};
    auto asked = make_question<TestType>(shape::uniform, kind, the_suite().most_rows, the_suite().most_rows, random);
    asked.options.predicate.distance = asked.left.columns.size() == 2 ? 1 : 4;
    ask(seen, asked, {1, 50, 1000}, random);
    // some points against many
    asked = make_question<TestType>(shape::clustered, kind, random() % 2 == 0 ? 100 : the_suite().most_rows,
                                    std::min<std::size_t>(700, the_suite().most_rows), random);
    asked.options.predicate.distance = 0.5;
    ask(seen, asked, {10, 100000}, random);
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("joins of sides of which one or both have far points", "[spatial]", float32, float64) {
  if (nothing_to_run_on()) return;
  verdict seen;
  constexpr shape sides[][2] = {{shape::far, shape::far}, {shape::far, shape::uniform}, {shape::uniform, shape::far}};
  std::uint64_t number = 0;
  for (const auto& [left, right] : sides) {
    for (const std::size_t rows : {60, 1000}) {
      if (rows > the_suite().most_rows) continue;
      if (!zenith_test::is_drawn("spatial.far", ++number)) continue;
      random_source random{zenith_test::seed_of("spatial.far", number)};
      auto asked = make_question<TestType>(left, scores::real, 0, 0, random);
      const auto dimensions = static_cast<unsigned>(asked.left.columns.size());
      const bool positive = asked.options.score == zenith::pair_score::product;
      // of the right side's cells of this width there are more than it has points
      asked.options.predicate.distance = dimensions == 2 ? 1.5 : 5;
      asked.left = make_points<TestType>(left, scores::real, rows, dimensions, false, positive, random);
      asked.right = make_points<TestType>(right, scores::real, rows, dimensions, true, positive, random);
      ask_about(seen, asked, random);
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("random joins", "[spatial]", float32, float64) {
  if (nothing_to_run_on()) return;
  verdict seen;
  const auto most = std::min<std::size_t>(300, the_suite().most_rows);
  zenith_test::for_a_while("spatial.random", zenith_test::scale(), [&](random_source& random) {
    ask_about(seen,
              make_question<TestType>(one_of(every_shape, random), one_of(every_scores, random), random() % most,
                                      random() % most, random),
              random);
  });
  seen.require_none();
}
