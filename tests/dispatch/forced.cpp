#include <numeric>
#include <vector>

#include <catch.hpp>
#include <expect_error.hpp>
#include <zenith/error.hpp>
#include <zenith/top_k.hpp>
#include "scenes.hpp"

using namespace zenith;
using zenith_test::environment;
using zenith_test::recorded;

namespace {

using names = std::vector<std::string>;

std::vector<float> rising(std::size_t count) {
  std::vector<float> keys(count);
  std::iota(keys.begin(), keys.end(), 0.0F);
  return keys;
}

top_k_result<float, std::uint32_t> best_three(const executor& on, std::string_view strategy = "auto") {
  return top_k<std::uint32_t>(on, rising(1000), 3, {.strategy = strategy});
}

}  // namespace

TEST_CASE("auto runs what the decision says") {
  const environment none("ZENITH_PROFILE", "/nonexistent/zenith-profile.json");
  zenith_test::register_recorders();
  (void)recorded();
  const auto result = best_three(make_executor("auto"));
  CHECK(result.keys == std::vector<float>{999, 998, 997});
  CHECK(recorded() == names{"recorder_fast/filter"});
  CHECK(result.backend == "recorder_fast");
  CHECK(result.strategy == "filter");
  const auto decided = decide({1000, 3}, machine::local());
  CHECK(decided.backend == "recorder_fast");
  CHECK(decided.strategy == "filter");
}

TEST_CASE("a strategy that nobody has, asked of auto, names those that there are") {
  const environment none("ZENITH_PROFILE", "/nonexistent/zenith-profile.json");
  zenith_test::register_recorders();
  zenith_test::expect_error(error_code::unsupported, {"options.strategy is 'absent'", "there are: filter, bitonic"},
                            [] { (void)best_three(make_executor("auto"), "absent"); });
}

TEST_CASE("the environment's backend is what auto runs, against the decision") {
  const environment none("ZENITH_PROFILE", "/nonexistent/zenith-profile.json");
  zenith_test::register_recorders();
  const executor made_before;
  (void)recorded();
  {
    const environment forced("ZENITH_FORCE_BACKEND", "recorder_slow");
    CHECK(make_executor("auto").backend() == "recorder_slow");
    const auto result = best_three(make_executor("auto"));
    CHECK(result.backend == "recorder_slow");
    CHECK(recorded() == names{"recorder_slow/filter"});
    // an executor that was automatic before the variable was set obeys it too
    (void)best_three(made_before);
    CHECK(recorded() == names{"recorder_slow/filter"});
    (void)best_three(made_before, "bitonic");
    CHECK(recorded() == names{"recorder_slow/bitonic"});
    // an executor that names its backend is not touched
    (void)best_three(make_executor("recorder_fast"));
    CHECK(recorded() == names{"recorder_fast/filter"});
  }
  (void)best_three(made_before);
  CHECK(recorded() == names{"recorder_fast/filter"});
  const environment unknown("ZENITH_FORCE_BACKEND", "nonesuch");
  CHECK_THROWS_AS(best_three(made_before), error);
  CHECK(recorded().empty());
}

TEST_CASE("the option's strategy is what runs") {
  const environment none("ZENITH_PROFILE", "/nonexistent/zenith-profile.json");
  zenith_test::register_recorders();
  (void)recorded();
  const auto automatic = best_three(make_executor("auto"), "bitonic");
  CHECK(automatic.strategy == "bitonic");
  CHECK(recorded() == names{"recorder_fast/bitonic"});
  (void)best_three(make_executor("recorder_slow"), "bitonic");
  CHECK(recorded() == names{"recorder_slow/bitonic"});
  (void)best_three(make_executor("recorder_slow"), "own");
  CHECK(recorded() == names{"recorder_slow/own"});
}

TEST_CASE("a strategy that nobody offers is an error, and nothing runs") {
  const environment none("ZENITH_PROFILE", "/nonexistent/zenith-profile.json");
  zenith_test::register_recorders();
  (void)recorded();
  for (const auto* spec : {"auto", "recorder_fast"}) {
    try {
      (void)best_three(make_executor(spec), "bubble");
      FAIL("an unknown strategy was accepted");
    } catch (const error& fault) {
      CHECK(fault.code() == error_code::unsupported);
      CHECK(std::string{fault.what()}.find("bubble") != std::string::npos);
    }
  }
  CHECK(recorded().empty());
}

TEST_CASE("what is forced runs whatever state the profile is in") {
  zenith_test::register_recorders();
  const zenith_test::temporary_folder folder;
  const auto file = folder.file("profile.json");
  std::filesystem::create_directory(file);  // not even a file
  const environment damaged("ZENITH_PROFILE", file.string());
  (void)recorded();
  (void)best_three(make_executor("recorder_slow"), "filter");
  CHECK(recorded() == names{"recorder_slow/filter"});
  (void)best_three(make_executor("reference"));
  CHECK_THROWS_AS(best_three(make_executor("auto")), error);
  CHECK(recorded().empty());
  {
    const environment forced("ZENITH_FORCE_BACKEND", "reference");
    CHECK(best_three(executor{}).backend == "reference");
  }
}
