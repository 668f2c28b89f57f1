// The cases that every target of predicated top-k is put through.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

#include <catch.hpp>
#include <predicated_suite.hpp>

using namespace conformance::predicated;
using zenith_test::verdict;

namespace {

using zenith_test::random_source;
using float32 = float;
using float64 = double;
using int32 = std::int32_t;
using uint32 = std::uint32_t;
using int64 = std::int64_t;
using uint64 = std::uint64_t;

template <class T>
T some_value(random_source& random, unsigned of) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(std::normal_distribution<>{}(random));
  } else {
    return static_cast<T>(random() % of) - static_cast<T>(of / 2);
  }
}

/// How many of the rows are taken.
enum class share { none, few, half, all };

// The column's values are 0 to 999, so that a share of them is a range.
template <class T, class U>
question<T, U> make_question(std::size_t rows, share taken, random_source& random) {
  question<T, U> asked;
  asked.name = "random";
  asked.offset = random() % 4;
  asked.select = random() % 2 == 0 ? zenith::selection::largest : zenith::selection::smallest;
  for (std::size_t i = 0; i < rows; ++i) {
    asked.keys.push_back(some_value<T>(random, 5000));
    asked.column.push_back(static_cast<U>(random() % 1000));
  }
  switch (taken) {
    case share::none: asked.low = 1000, asked.high = 2000; break;
    case share::few: asked.low = 500, asked.high = 501; break;
    case share::half: asked.low = 250, asked.high = 749; break;
    default: asked.low = 0, asked.high = 999;
  }
  const std::size_t ks[] = {0, 1, 16, 300, rows / 3, rows};
  asked.k = std::min(ks[random() % std::size(ks)], rows);
  return asked;
}

// Plain, and packed in whatever encoding.
template <class T, class U>
void ask_plain_and_packed(verdict& seen, question<T, U> asked, random_source& random) {
  ask_everywhere(seen, asked, random);
  if constexpr (zenith::packable<U>) {
    asked.is_packed = true;
    asked.kind = static_cast<zenith::encoding>(random() % (std::size(zenith::packed_encodings) + 1));
    ask_everywhere(seen, asked, random);
  }
}

template <class T>
void ask_with_every_column(verdict& seen, std::size_t rows, share taken, random_source& random) {
  switch (random() % 6) {
    case 0: return ask_plain_and_packed(seen, make_question<T, int32>(rows, taken, random), random);
    case 1: return ask_plain_and_packed(seen, make_question<T, uint32>(rows, taken, random), random);
    case 2: return ask_plain_and_packed(seen, make_question<T, int64>(rows, taken, random), random);
    case 3: return ask_plain_and_packed(seen, make_question<T, uint64>(rows, taken, random), random);
    case 4: return ask_plain_and_packed(seen, make_question<T, float32>(rows, taken, random), random);
    default: return ask_plain_and_packed(seen, make_question<T, float64>(rows, taken, random), random);
  }
}

bool nothing_to_run_on() { return the_suite().targets.empty(); }

}  // namespace

TEMPLATE_TEST_CASE("every number of rows, k, and share of the rows", "[predicated]", float32, float64, int32, uint32,
                   int64, uint64) {
  if (nothing_to_run_on()) return;
  verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t rows : {1, 2, 63, 64, 127, 128, 129, 1000, 4099, 20011, 200003}) {
    if (rows > the_suite().most_rows) continue;
    for (const auto taken : {share::none, share::few, share::half, share::all}) {
      random_source random{zenith_test::seed_of("predicated.sizes", number++)};
      for (int repeat = 0; repeat < 2; ++repeat) ask_with_every_column<TestType>(seen, rows, taken, random);
    }
  }
  seen.require_none();
  CHECK(seen.cases() > 0);
}

// A row that is not taken has the type's worst key inside: those that are taken and have it must still be told apart.
TEMPLATE_TEST_CASE("keys that are as bad as can be", "[predicated]", float32, float64, int32, uint32, int64, uint64) {
  if (nothing_to_run_on()) return;
  using limits = std::numeric_limits<TestType>;
  verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t rows : {5, 700, 9000}) {
    if (rows > the_suite().most_rows) continue;
    for (const unsigned one_in : {1, 2, 40}) {
      random_source random{zenith_test::seed_of("predicated.worst", number++)};
      for (const auto nans : {zenith::nan_policy::last, zenith::nan_policy::first, zenith::nan_policy::reject}) {
        auto asked = make_question<TestType, int32>(rows, share::half, random);
        asked.name = "one in " + std::to_string(one_in) + " extreme";
        asked.nans = nans;
        const TestType extremes[] = {
            limits::lowest(), limits::max(), limits::has_infinity ? limits::infinity() : limits::max(),
            limits::has_infinity ? static_cast<TestType>(-limits::infinity()) : limits::lowest(),
            limits::has_quiet_NaN ? limits::quiet_NaN() : limits::lowest()};
        for (auto& key : asked.keys) {
          if (random() % one_in == 0) key = extremes[random() % std::size(extremes)];
        }
        for (const auto select : {zenith::selection::largest, zenith::selection::smallest}) {
          asked.select = select;
          for (const std::size_t k : {std::size_t{3}, rows / 2, rows}) {
            asked.k = k;
            ask_plain_and_packed(seen, asked, random);
          }
        }
      }
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("keys that are all equal, and columns in order", "[predicated]", float32, int64) {
  if (nothing_to_run_on()) return;
  verdict seen;
  for (const std::size_t rows : {300, 50021}) {
    if (rows > the_suite().most_rows) continue;
    for (int kind = 0; kind < 4; ++kind) {
      random_source random{zenith_test::seed_of("predicated.equal", static_cast<std::uint64_t>(kind))};
      auto asked = make_question<TestType, uint32>(rows, share::half, random);
      asked.name = "kind " + std::to_string(kind);
      for (std::size_t i = 0; i < rows; ++i) {
        if (kind != 3) asked.keys[i] = 7;
        if (kind == 1) asked.column[i] = static_cast<uint32>(i * 1000 / rows);
        if (kind == 2) asked.column[i] = i % 64 == 63 ? 500 : 0;
        if (kind == 3) asked.keys[i] = static_cast<TestType>(i), asked.column[i] = i + 40 > rows ? 0 : 500;
      }
      for (const std::size_t k : {1, 100, 300}) {
        asked.k = k;
        ask_plain_and_packed(seen, asked, random);
      }
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("ranges at the ends of the column's type", "[predicated]", int32, uint32, int64, uint64, float32,
                   float64) {
  if (nothing_to_run_on()) return;
  using limits = std::numeric_limits<TestType>;
  verdict seen;
  random_source random{zenith_test::seed_of("predicated.ends", 0)};
  auto asked = make_question<float32, TestType>(std::min<std::size_t>(1500, the_suite().most_rows), share::all, random);
  asked.k = 70;
  const TestType ends[] = {limits::lowest(), TestType(-1), TestType(0), TestType(1), limits::max()};
  for (auto& value : asked.column) value = ends[random() % std::size(ends)];
  if constexpr (limits::has_quiet_NaN) {
    for (std::size_t i = 0; i < asked.column.size(); i += 7) asked.column[i] = limits::quiet_NaN();
  }
  for (const auto low : ends) {
    for (const auto high : ends) {
      if (the_suite().most_rows < 1000 && random() % 5 != 0) continue;
      asked.low = low;
      asked.high = high;
      asked.name = "ends";
      ask_plain_and_packed(seen, asked, random);
    }
  }
  seen.require_none();
}
