// The cases that every target of predicated top-k is put through.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

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

template <class T>
question<T> make_question(std::size_t rows, random_source& random) {
  question<T> asked;
  asked.name = "random";
  asked.offset = random() % 4;
  asked.select = random() % 2 == 0 ? zenith::selection::largest : zenith::selection::smallest;
  for (std::size_t i = 0; i < rows; ++i) asked.keys.push_back(some_value<T>(random, 5000));
  const std::size_t ks[] = {0, 1, 16, 300, rows / 3, rows};
  asked.k = std::min(ks[random() % std::size(ks)], rows);
  return asked;
}

// The values are 0 to 999, so that a share of them is a range.
template <class U>
std::unique_ptr<column_of<U>> make_column(std::size_t rows, share taken, random_source& random) {
  auto column = std::make_unique<column_of<U>>();
  for (std::size_t i = 0; i < rows; ++i) column->values.push_back(static_cast<U>(random() % 1000));
  switch (taken) {
    case share::none: column->low = 1000, column->high = 2000; break;
    case share::few: column->low = 500, column->high = 501; break;
    case share::half: column->low = 250, column->high = 749; break;
    default: column->low = 0, column->high = 999;
  }
  return column;
}

// make(some type), whose column it returns.
template <class Make>
std::unique_ptr<some_column> of_any_type(random_source& random, const Make& make) {
  switch (random() % 6) {
    case 0: return make(std::type_identity<int32>{});
    case 1: return make(std::type_identity<uint32>{});
    case 2: return make(std::type_identity<int64>{});
    case 3: return make(std::type_identity<uint64>{});
    case 4: return make(std::type_identity<float32>{});
    default: return make(std::type_identity<float64>{});
  }
}

std::unique_ptr<some_column> column_of_any_type(std::size_t rows, share taken, random_source& random) {
  return of_any_type(random, [&]<class U>(std::type_identity<U>) { return make_column<U>(rows, taken, random); });
}

// Exactly these rows are taken.
std::unique_ptr<some_column> column_that_takes(const std::vector<std::size_t>& taken, std::size_t rows,
                                               random_source& random) {
  return of_any_type(random, [&]<class U>(std::type_identity<U>) {
    auto column = make_column<U>(rows, share::none, random);
    for (const auto row : taken) column->values[row] = static_cast<U>(1000 + random() % 1001);
    return column;
  });
}

// The worst key that the question can have, and the next one.
template <class T>
std::array<T, 2> worst_keys(const question<T>& asked) {
  using limits = std::numeric_limits<T>;
  const bool is_least = asked.select == zenith::selection::largest;
  if constexpr (std::is_floating_point_v<T>) {
    const T infinity = is_least ? -limits::infinity() : limits::infinity();
    if (asked.nans == zenith::nan_policy::last) return {limits::quiet_NaN(), infinity};
    return {infinity, is_least ? limits::lowest() : limits::max()};
  } else {
    const T worst = is_least ? limits::lowest() : limits::max();
    return {worst, static_cast<T>(is_least ? worst + 1 : worst - 1)};
  }
}

// Plain, and packed in whatever encoding.
template <class T>
void ask_plain_and_packed(verdict& seen, const question<T>& asked, some_column& column, random_source& random) {
  column.is_packed = false;
  ask_everywhere(seen, asked, column, random);
  if (!column.can_be_packed()) return;
  column.is_packed = true;
  column.kind = static_cast<zenith::encoding>(random() % (std::size(zenith::packed_encodings) + 1));
  ask_everywhere(seen, asked, column, random);
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
      for (int repeat = 0; repeat < 2; ++repeat) {
        const auto column = column_of_any_type(rows, taken, random);
        ask_plain_and_packed(seen, make_question<TestType>(rows, random), *column, random);
      }
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
        const auto column = make_column<int32>(rows, share::half, random);
        auto asked = make_question<TestType>(rows, random);
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
            ask_plain_and_packed(seen, asked, *column, random);
          }
        }
      }
    }
  }
  seen.require_none();
}

// A row that is not taken is as bad as can be, and so is the bound of a sample where hardly k rows are taken, or fewer.
TEMPLATE_TEST_CASE("hardly as many rows as are wanted", "[predicated]", float32, float64, int32, uint32, int64,
                   uint64) {
  if (nothing_to_run_on()) return;
  using limits = std::numeric_limits<TestType>;
  verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t rows : {300, 5003, 20011, 200003}) {
    if (rows > the_suite().most_rows) continue;
    random_source random{zenith_test::seed_of("predicated.hardly", number++)};
    for (const std::size_t k : {std::size_t{1}, 2 + random() % 40, 100 + random() % 200}) {
      for (const std::size_t taken : {std::size_t{0}, k / 2, k - 1, k, k + 1, 2 * k + 3, 10 * k}) {
        if (taken > rows) continue;
        std::vector<std::size_t> numbers(rows);
        std::iota(numbers.begin(), numbers.end(), std::size_t{0});
        // anywhere, or side by side
        if (random() % 4 != 0) std::ranges::shuffle(numbers, random);
        if (random() % 2 == 0) std::ranges::reverse(numbers);
        numbers.resize(taken);
        const auto column = column_that_takes(numbers, rows, random);
        auto asked = make_question<TestType>(rows, random);
        asked.k = k;
        asked.nans = random() % 2 == 0 ? zenith::nan_policy::last : zenith::nan_policy::first;
        const auto worst = worst_keys(asked);
        const TestType extremes[] = {limits::lowest(), limits::max(), worst[0], worst[1]};
        for (auto& key : asked.keys) {
          if (random() % 50 == 0) key = extremes[random() % std::size(extremes)];
        }
        // of those that are taken none, some or all
        const auto share = random() % 3;
        for (const auto row : numbers) {
          if (share == 2 || (share == 1 && random() % 2 == 0)) asked.keys[row] = worst[random() % 5 == 0 ? 1 : 0];
        }
        asked.name = "hardly k, worst keys: " + std::to_string(share);
        ask_plain_and_packed(seen, asked, *column, random);
      }
    }
  }
  seen.require_none();
  CHECK(seen.cases() > 0);
}

TEMPLATE_TEST_CASE("keys that are all equal, and columns in order", "[predicated]", float32, int64) {
  if (nothing_to_run_on()) return;
  verdict seen;
  for (const std::size_t rows : {300, 50021}) {
    if (rows > the_suite().most_rows) continue;
    for (int kind = 0; kind < 4; ++kind) {
      random_source random{zenith_test::seed_of("predicated.equal", static_cast<std::uint64_t>(kind))};
      const auto column = make_column<uint32>(rows, share::half, random);
      auto asked = make_question<TestType>(rows, random);
      asked.name = "kind " + std::to_string(kind);
      for (std::size_t i = 0; i < rows; ++i) {
        if (kind != 3) asked.keys[i] = 7;
        if (kind == 1) column->values[i] = static_cast<uint32>(i * 1000 / rows);
        if (kind == 2) column->values[i] = i % 64 == 63 ? 500 : 0;
        if (kind == 3) asked.keys[i] = static_cast<TestType>(i), column->values[i] = i + 40 > rows ? 0 : 500;
      }
      for (const std::size_t k : {1, 100, 300}) {
        asked.k = k;
        ask_plain_and_packed(seen, asked, *column, random);
      }
    }
  }
  seen.require_none();
}

// A column of each encoding, about the edges of its words, blocks and groups.
TEMPLATE_TEST_CASE("packed columns of every encoding", "[predicated]", int32, uint32, int64, uint64) {
  if (nothing_to_run_on()) return;
  verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t rows : {1, 31, 33, 63, 64, 65, 127, 129, 257, 2047, 2048, 2049, 4999, 70001}) {
    if (rows > the_suite().most_packed_rows) continue;
    for (const auto kind : zenith::packed_encodings) {
      if (!zenith_test::is_drawn("predicated.encodings", ++number)) continue;
      random_source random{zenith_test::seed_of("predicated.encodings", number)};
      // each seed draws others where rows are many
      if (rows > 300 && random() % 4 != 0) continue;
      const auto column = make_column<TestType>(rows, static_cast<share>(random() % 4), random);
      column->is_packed = true;
      column->kind = kind;
      auto& values = column->values;
      if (random() % 2 == 0) {
        const std::size_t run = 1 + random() % 90;
        for (std::size_t i = 0; i < rows; ++i) values[i] = values[i / run * run];
      }
      if (random() % 3 == 0) std::ranges::sort(values);
      if (random() % 3 == 0) {  // one row is taken
        column->low = column->high = 1500;
        values[random() % 2 == 0 ? rows - 1 : random() % rows] = 1500;
      }
      const auto ask = [&](auto asked) {
        asked.name = "encodings";
        for (const std::size_t k : {std::size_t{1}, std::min<std::size_t>(rows, 100), rows}) {
          asked.k = k;
          ask_everywhere(seen, asked, *column, random);
        }
      };
      random() % 2 == 0 ? ask(make_question<float32>(rows, random)) : ask(make_question<int64>(rows, random));
    }
  }
  seen.require_none();
  CHECK(seen.cases() > 0);
}

TEMPLATE_TEST_CASE("ranges at the ends of the column's type", "[predicated]", int32, uint32, int64, uint64, float32,
                   float64) {
  if (nothing_to_run_on()) return;
  using limits = std::numeric_limits<TestType>;
  verdict seen;
  random_source random{zenith_test::seed_of("predicated.ends", 0)};
  const auto rows = std::min<std::size_t>(1500, the_suite().most_rows);
  const auto column = make_column<TestType>(rows, share::all, random);
  auto asked = make_question<float32>(rows, random);
  asked.k = 70;
  const TestType ends[] = {limits::lowest(), TestType(-1), TestType(0), TestType(1), limits::max()};
  for (auto& value : column->values) value = ends[random() % std::size(ends)];
  if constexpr (limits::has_quiet_NaN) {
    for (std::size_t i = 0; i < rows; i += 7) column->values[i] = limits::quiet_NaN();
  }
  for (const auto low : ends) {
    for (const auto high : ends) {
      if (the_suite().most_rows < 1000 && random() % 5 != 0) continue;
      column->low = low;
      column->high = high;
      asked.name = "ends";
      ask_plain_and_packed(seen, asked, *column, random);
    }
  }
  seen.require_none();
}
