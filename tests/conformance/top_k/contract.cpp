// What the call promises beyond its results: errors, the value-returning form, statistics.

#include <algorithm>

#include <catch.hpp>
#include <most_reads.hpp>
#include <suite.hpp>
#include <types.hpp>
#include <zenith/error.hpp>

using namespace conformance;

TEMPLATE_TEST_CASE("k above n is refused", "[top_k]", ZENITH_EVERY_KEY_TYPE) {
  random_source random{zenith_test::seed_of("above", 0)};
  for (const auto& on : the_suite().targets) {
    for (const std::size_t size : {0, 1, 1000}) {
      INFO(on.name() << " n=" << size);
      auto input = make_column<TestType>(distribution::uniform, size, random);
      guarded<TestType> keys(size + 1);
      guarded<std::uint32_t> indices(size + 1);
      try {
        zenith::top_k(on.on, input.keys(), keys.span(), indices.span(), {.strategy = on.strategy});
        FAIL_CHECK("did not throw");
      } catch (const zenith::error& thrown) {
        CHECK(thrown.code() == zenith::error_code::invalid_argument);
        CHECK(std::string_view{thrown.what()}.find("k is " + std::to_string(size + 1)) != std::string_view::npos);
      }
      CHECK(keys.is_unwritten());
      CHECK(indices.is_unwritten());
    }
  }
}

TEMPLATE_TEST_CASE("the form that returns a value", "[top_k]", ZENITH_EVERY_KEY_TYPE) {
  random_source random{zenith_test::seed_of("value", 0)};
  const std::size_t size = std::min<std::size_t>(3001, the_suite().most_items);
  auto input = make_column<TestType>(distribution::few_values, size, random);
  for (const auto& on : the_suite().targets) {
    INFO(on.name());
    const auto best = zenith::top_k<std::uint32_t>(on.on, input.keys(), 40, {.strategy = on.strategy});
    CHECK(best.backend == on.on.backend());
    CHECK(best.strategy == on.strategy);
    CHECK(best.keys.size() == 40);
    request asked;
    asked.k = 40;
    CHECK(difference<TestType, std::uint32_t>(input, asked, best.keys, best.indices) == "");
    CHECK(zenith::top_k(on.on, input.keys(), 0, {.strategy = on.strategy}).keys.empty());
  }
}

TEMPLATE_TEST_CASE("the filter reads the data once, and seldom more", "[top_k]", ZENITH_EVERY_KEY_TYPE) {
  random_source random{zenith_test::seed_of("reads", 0)};
  const std::size_t size = std::min<std::size_t>(200003, the_suite().most_items);
  verdict seen;
  const auto share = [](const zenith_test::place& at) {
    return at.on.strategy != "filter" || at.on_device ? 0 : the_suite().share;
  };
  for (const auto which : distributions<TestType>()) {
    const auto input = make_column<TestType>(which, size, random);
    const bool is_easy = which == distribution::uniform || which == distribution::normal;
    for (const std::size_t k : {std::size_t{1}, std::size_t{100}, size / 50}) {
      const auto ask = [&](const zenith_test::place& at) -> std::string {
        zenith::top_k_statistics seen_by;
        seen_by.reads = 99;
        (void)zenith::top_k(at.on.on, input.keys(), k, {.strategy = "filter", .statistics = &seen_by});
        if (seen_by.reads > (is_easy ? 1 : most_reads<TestType>(at.on.on.backend()))) {
          return "reads the data " + std::to_string(seen_by.reads) + " times";
        }
        return seen_by.survivors == 0 || seen_by.survivors >= k ? "" : std::to_string(seen_by.survivors) + " survive";
      };
      zenith_test::judge(
          seen, the_suite().targets, random, share, [&] { return input.describe() + " k=" + std::to_string(k); }, ask);
    }
  }
  seen.require_none();
}
