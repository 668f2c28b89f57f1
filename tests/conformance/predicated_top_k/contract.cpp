// What is refused, in which words, and the forms of the call.

#include <cmath>

#include <catch.hpp>
#include <predicated_suite.hpp>

using namespace conformance::predicated;

namespace {

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const zenith::error& fault) {
    CHECK(fault.code() == zenith::error_code::invalid_argument);
    return fault.what();
  }
  return "nothing was thrown";
}

void has(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
}

template <class Column, class Bound>
constexpr bool is_testable = requires(const Column& column, Bound bound) {
  zenith::where(column, bound, bound);
};

// a fraction among whole numbers would be cut off
static_assert(is_testable<std::vector<int>, int> && !is_testable<std::vector<int>, double>);
static_assert(is_testable<zenith::packed_column<int>, int> && !is_testable<zenith::packed_column<int>, float>);
static_assert(is_testable<zenith::device_span<const int>, int> && !is_testable<zenith::device_span<const int>, double>);
static_assert(is_testable<std::vector<float>, int> && is_testable<std::vector<float>, double>);

}  // namespace

TEST_CASE("predicated top-k says what is wrong with its arguments", "[predicated][contract]") {
  const std::vector<float> keys{1, 2, 3, 4};
  const std::vector<int> column{5, 6, 7, 8};
  const auto on = zenith::reference();
  const auto rows = zenith::where(column, 6, 7);
  has(message_of([&] { (void)zenith::top_k(on, keys, zenith::where(std::span(column).first(3), 1, 9), 1); }),
      "keys has 4 elements, the predicate's column 3");
  has(message_of([&] { (void)zenith::top_k(on, keys, rows, 5); }), "k is 5");
  std::vector<float> out(2);
  std::vector<std::uint64_t> indices(1);
  has(message_of([&] { zenith::top_k(on, keys, rows, out, indices); }), "both must have k");
  const zenith::device_span<const int> there(column.data(), column.size());
  has(message_of([&] { (void)zenith::top_k(on, keys, zenith::where(there, 6, 7), 1); }), "both must lie in one memory");
  CHECK_THROWS_AS(zenith::top_k(on, keys, rows, 1, {.strategy = "other"}), zenith::error);
  const std::vector<float> with_nan{1, NAN, 3, NAN};
  has(message_of([&] { (void)zenith::top_k(on, with_nan, rows, 1, {.nans = zenith::nan_policy::reject}); }),
      "keys holds NaN in a row that is taken");
  // the other NaN does no harm
  CHECK(zenith::top_k(on, with_nan, zenith::where(column, 7, 7), 1, {.nans = zenith::nan_policy::reject}).keys ==
        std::vector<float>{3});
}

TEST_CASE("predicated top-k gives as many as there are", "[predicated][contract]") {
  const std::vector<float> keys{1, 2, 3, 4};
  const std::vector<int> column{5, 6, 7, 8};
  const auto packed = zenith::pack(zenith::reference(), column);
  for (const auto& on : the_suite().targets) {
    INFO(on.name());
    for (const auto& rows : {zenith::where(column, 6, 7), zenith::where(packed, 6, 7)}) {
      const auto found = zenith::top_k<std::uint32_t>(on.on, keys, rows, 4);
      CHECK(found.keys == std::vector<float>{3, 2});
      CHECK(found.indices == std::vector<std::uint32_t>{2, 1});
      CHECK(found.backend == on.on.backend());
      CHECK(zenith::top_k(on.on, keys, rows, 0).keys.empty());
    }
    CHECK(zenith::top_k(on.on, keys, zenith::where(column, 7, 6), 4).keys.empty());
    CHECK(zenith::top_k(on.on, keys, zenith::where(column, 9, 90), 4).keys.empty());
    const std::vector<float> scores{NAN, 1, 2, 3};
    CHECK(zenith::top_k(on.on, keys, zenith::where(scores, 0, 2), 4).keys == std::vector<float>{3, 2});
    CHECK(zenith::top_k(on.on, keys, zenith::where(scores, NAN, 2), 4).keys.empty());
    CHECK(zenith::top_k(on.on, std::vector<float>{}, zenith::where(std::vector<int>{}, 1, 2), 0).keys.empty());
  }
  CHECK(zenith::top_k(zenith::make_executor("auto"), keys, zenith::where(column, 6, 8), 1).keys ==
        std::vector<float>{4});
}
