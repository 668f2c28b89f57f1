#include <catch.hpp>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <program_runs.hpp>
#include <string>

// The study of skylines by iteration.

using Catch::Matchers::Contains;
using namespace zenith_study_test;

TEST_CASE("study: what each iteration of a skyline prunes") {
  const auto result = run_into(output, "skyline --iterations --rows 9000 --columns 5,8 --repeat 2 --backend cpu");
  INFO(result.out << result.err);
  REQUIRE(result.status == 0);
  CHECK_THAT(result.out, Contains("9,000 rows of 8 anticorrelated columns") && Contains("cpu/bitmap_tiles") &&
                             Contains("All strategies found the same ids.") &&
                             !Contains("correlated columns, skyline 0"));
  const auto numbers = nlohmann::json::parse(read(output / "skyline-iterations.json"));
  CHECK(numbers.at("rows") == 9000);
  struct sums {
    std::uint64_t rounds = 0;
    std::uint64_t decided = 0;
    double seconds = 0;
  };
  std::map<std::string, sums> lines;
  for (const auto& point : numbers.at("points")) {
    const auto text = [&](const char* key) { return point.at(key).dump() + " "; };
    auto& line = lines[text("correlation") + text("columns") + text("strategy")];
    CHECK(point.at("iteration") == line.rounds);
    ++line.rounds;
    line.decided += point.at("pruned").get<std::uint64_t>() + point.at("members").get<std::uint64_t>();
    line.seconds += point.at("seconds").get<double>();
  }
  CHECK(lines.size() == 8);  // two correlations, two counts of columns, two strategies
  for (const auto& [name, line] : lines) {
    INFO(name);
    CHECK(line.decided == 9000);
    CHECK(line.rounds > 1);
    CHECK(line.seconds > 0);
  }
  for (const auto* file : {"skyline-iterations-pruned.svg", "skyline-iterations-time.svg"}) {
    CHECK_THAT(read(output / file), Catch::StartsWith("<svg") && Contains("cpu/skyalign") && Contains("iteration"));
  }

  const auto refused = run_into(output, "skyline --iterations --rows 100,200 --columns 2");
  CHECK(refused.status != 0);
  CHECK_THAT(refused.err, Contains("--rows has several counts"));
  const auto unknown = run_into(output, "skyline --iterations --rows 100 --columns 2 --backend cpu --strategy ggs2");
  CHECK(unknown.status != 0);
  CHECK_THAT(unknown.err, Contains("ggs2"));
}
