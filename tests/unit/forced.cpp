// What was forced is what ran.

#include <cstdint>
#include <numeric>
#include <vector>

#include <catch.hpp>
#include <environment.hpp>
#include <expect_error.hpp>
#include <targets.hpp>
#include <zenith/zenith.hpp>

using zenith::error_code;
using zenith_test::environment;
using zenith_test::expect_error;

namespace {

std::vector<float> keys() {
  std::vector<float> all(5000);
  std::iota(all.begin(), all.end(), 0.0F);
  return all;
}

}  // namespace

TEST_CASE("ZENITH_FORCE_BACKEND decides for automatic executors, old and new") {
  const zenith::executor made_before;
  for (const auto& on : zenith_test::executors("top_k")) {
    const std::string name{on.on.backend()};
    INFO(name);
    const environment forced("ZENITH_FORCE_BACKEND", name.c_str());
    CHECK(zenith::make_executor("auto").backend() == name);
    CHECK(zenith::top_k(made_before, keys(), 3).backend == name);
    CHECK(zenith::top_k(zenith::make_executor("auto"), keys(), 3).backend == name);
    // a backend that the caller names is not overridden
    CHECK(zenith::top_k(zenith::reference(), keys(), 3).backend == "reference");
  }
}

TEST_CASE("ZENITH_FORCE_BACKEND may be a whole executor string") {
  const environment forced("ZENITH_FORCE_BACKEND", "cpu:threads=1,isa=sse2");
  const auto on = zenith::make_executor("auto");
  CHECK(on.backend() == "cpu");
  CHECK(on.isa() == "sse2");
  zenith::top_k_statistics statistics;
  const auto best = zenith::top_k(zenith::executor{}, keys(), 3, {.strategy = "filter", .statistics = &statistics});
  CHECK(best.backend == "cpu");
  CHECK(statistics.variant == "sse2");
}

TEST_CASE("a forced backend that there is not is an error") {
  const environment forced("ZENITH_FORCE_BACKEND", "abacus");
  expect_error(error_code::backend_unavailable, {"abacus"}, [] { (void)zenith::make_executor("auto"); });
  expect_error(error_code::backend_unavailable, {"abacus"}, [] { (void)zenith::top_k(zenith::executor{}, keys(), 3); });
}

TEST_CASE("a forced strategy is what ran, on every target and by choice of the backend") {
  for (const auto& on : zenith_test::targets("top_k")) {
    INFO(on.name());
    const auto best = zenith::top_k(on.on, keys(), 3, {.strategy = on.strategy});
    CHECK(best.backend == on.on.backend());
    CHECK(best.strategy == on.strategy);
    const environment forced("ZENITH_FORCE_BACKEND", on.executor_string.c_str());
    const auto chosen = zenith::top_k(zenith::executor{}, keys(), 3, {.strategy = on.strategy});
    CHECK(chosen.backend == on.on.backend());
    CHECK(chosen.strategy == on.strategy);
  }
}

TEST_CASE("ZENITH_FORCE_ISA is the instruction set that runs, unless the caller names one") {
  for (const char* isa : {"sse2", "avx2", "avx512"}) {
    INFO(isa);
#if !defined(ZENITH_TEST_AVX512)
    if (isa == std::string_view{"avx512"}) continue;
#endif
    const environment forced("ZENITH_FORCE_ISA", isa);
    try {
      const auto on = zenith::make_executor("cpu");
      CHECK(on.isa() == isa);
      zenith::top_k_statistics statistics;
      (void)zenith::top_k(on, keys(), 3, {.strategy = "filter", .statistics = &statistics});
      CHECK(statistics.variant == isa);
      CHECK(zenith::make_executor("cpu:isa=sse2").isa() == "sse2");
    } catch (const zenith::error& thrown) {
      CHECK(thrown.code() == error_code::unsupported);
      CHECK(std::string_view{thrown.what()}.find("ZENITH_FORCE_ISA") != std::string_view::npos);
    }
  }
  const environment forced("ZENITH_FORCE_ISA", "mmx");
  expect_error(error_code::invalid_argument, {"ZENITH_FORCE_ISA", "mmx"}, [] { (void)zenith::make_executor("cpu"); });
}

TEST_CASE("the statistics tell the instruction set and the threads that ran") {
  for (const auto& on : zenith_test::targets("top_k")) {
    INFO(on.name());
    zenith::top_k_statistics statistics;
    (void)zenith::top_k(on.on, keys(), 3, {.strategy = on.strategy, .statistics = &statistics});
    CHECK(!statistics.variant.empty());
    if (on.on.backend() == "cpu") {
      CHECK(statistics.variant == on.on.isa());
      CHECK(statistics.threads >= 1);
      CHECK(statistics.threads <= on.on.threads());
    }
  }
}
