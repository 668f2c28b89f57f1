// The cases that every target of spatial indexes is put through.

#include <algorithm>

#include <catch.hpp>
#include <index_suite.hpp>

using namespace conformance::spatial_index;
using zenith_test::verdict;

namespace {

bool nothing_to_run_on() { return the_suite().joins.empty(); }

/// `ask` about questions of both types, `often` times scaled.
template <class Ask>
void ask_often(const char* name, unsigned often, const Ask& ask) {
  verdict seen;
  const auto number =
      std::max(4U, static_cast<unsigned>(often * the_suite().effort * std::min(1.0, zenith_test::scale())));
  for (unsigned i = 0; i < number; ++i) {
    random_source random{zenith_test::seed_of(name, i)};
    ask(seen, i, random);
  }
  seen.require_none();
  CHECK(seen.cases() > 0);
}

void ask_about(verdict& seen, unsigned i, std::size_t left, std::size_t right, random_source& random) {
  const auto one = every_shape[random() % std::size(every_shape)];
  if (i % 2 == 0) {
    const auto asked = make_question<float32>(one, left, right, random);
    ask_join(seen, asked, random);
    ask_range(seen, asked, random);
  } else {
    const auto asked = make_question<float64>(one, left, right, random);
    ask_join(seen, asked, random);
    ask_range(seen, asked, random);
  }
}

}  // namespace

TEST_CASE("queries of indexes of every size", "[index]") {
  if (nothing_to_run_on()) return;
  constexpr std::size_t sizes[] = {0, 1, 2, 15, 16, 17, 64, 65, 256, 257};
  ask_often("index.sizes", 200, [&](verdict& seen, unsigned i, random_source& random) {
    const std::size_t left = sizes[i / 2 % std::size(sizes)];
    ask_about(seen, i, std::min(left, the_suite().most_items),
              std::min(sizes[random() % std::size(sizes)], the_suite().most_items), random);
  });
}

TEST_CASE("queries of indexes of sides of very different size", "[index]") {
  if (nothing_to_run_on()) return;
  ask_often("index.skew", 12, [](verdict& seen, unsigned i, random_source& random) {
    const std::size_t few = 1 + random() % 9;
    const std::size_t many = the_suite().most_items;
    ask_about(seen, i, i / 2 % 2 == 0 ? few : many, i / 2 % 2 == 0 ? many : few, random);
  });
}

TEST_CASE("ranges of indexes of thousands of items", "[index]") {
  if (nothing_to_run_on()) return;
  ask_often("index.ranges", 60, [](verdict& seen, unsigned i, random_source& random) {
    const auto one = every_shape[random() % std::size(every_shape)];
    if (i % 2 == 0) {
      ask_range(seen, make_question<float32>(one, the_suite().most_items, 0, random), random);
    } else {
      ask_range(seen, make_question<float64>(one, the_suite().most_items, 0, random), random);
    }
  });
}

TEST_CASE("indexes built on a device", "[index]") {
  if (the_suite().builds.empty()) return;
  constexpr std::size_t sizes[] = {0, 1, 2, 15, 16, 17, 64, 65, 256, 257};
  ask_often("index.builds", 160, [&](verdict& seen, unsigned i, random_source& random) {
    const auto one = every_shape[random() % std::size(every_shape)];
    const std::size_t most = the_suite().most_items;
    const std::size_t items = i % 4 < 2 ? std::min(sizes[i / 4 % std::size(sizes)], 4 * most) : most + random() % most;
    if (i % 2 == 0) {
      ask_build(seen, make_question<float32>(one, items, 0, random), random);
    } else {
      ask_build(seen, make_question<float64>(one, items, 0, random), random);
    }
  });
}

TEST_CASE("joins of indexes of thousands of items", "[index]") {
  if (nothing_to_run_on()) return;
  ask_often("index.joins", 8, [](verdict& seen, unsigned i, random_source& random) {
    const std::size_t most = the_suite().most_items;
    auto asked = make_question<float32>(shape::uniform, most, most - i, random);
    asked.k = 1 + random() % 1000;
    ask_join(seen, asked, random);
  });
}

TEST_CASE("joins of indexes in several rounds", "[index]") {
  if (nothing_to_run_on()) return;
  // the bound that pairs of one round set cuts the next ones, ties included
  ask_often("index.rounds", 80, [](verdict& seen, unsigned i, random_source& random) {
    const auto one = every_shape[random() % std::size(every_shape)];
    auto asked = make_question<float32>(one, 2 * the_suite().most_items, 1 + random() % 40, random);
    asked.k = 1 + random() % (i % 2 == 0 ? 20 : 2000);
    ask_join(seen, asked, random);
  });
}
