#include <catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <program_runs.hpp>
#include <set>
#include <string>

// The study of threshold tables: preference vectors, bytes, points of many columns, and building.

using Catch::Matchers::Contains;
using namespace zenith_study_test;

namespace {

void check_refused(const std::string& arguments, const std::string& word) {
  const auto result = run_into(output, "threshold " + arguments);
  INFO(arguments << "\n" << result.out << result.err);
  CHECK(result.status != 0);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, Contains(word));
}

}  // namespace

TEST_CASE("study: preference vectors of threshold tables, and the bytes that were read") {
  const auto result =
      run_into(output,
               "threshold --rows 3000 --weights 2,10 --k 4 --repeat 1 --backend cpu --strategy scan --strategy blocks "
               "--correlation independent --preferences Q0,Q1,Q4");
  INFO(result.out << result.err);
  REQUIRE(result.status == 0);
  CHECK_THAT(result.out, Contains("preference") && Contains("bytes read"));
  const auto numbers = nlohmann::json::parse(read(output / "threshold.json"));
  std::set<std::uint64_t> preferences;
  std::set<double> by_blocks;  // bytes that blocks read of ten columns
  for (const auto& point : numbers.at("points")) {
    INFO(point.dump());
    CHECK(point.at("result") == "measured");
    preferences.insert(point.at("preference").get<std::uint64_t>());
    const auto read_bytes = point.at("bytes_read").get<double>();
    if (point.at("strategy") == "cpu/blocks" && point.at("weights") == 10) by_blocks.insert(read_bytes);
    const auto whole = 3000.0 * 4 * point.at("weights").get<double>();
    if (point.at("strategy").get<std::string>().ends_with("scan")) {
      CHECK(read_bytes == whole);
    } else {
      CHECK(read_bytes > 0);
    }
  }
  CHECK(preferences == std::set<std::uint64_t>{0, 1, 4});
  CHECK(by_blocks.size() > 1);
  CHECK_THAT(read(output / "threshold-preferences.svg"), Contains("preference vector"));

  check_refused("--rows 100 --k 1 --preferences Q5", "--preferences has 'Q5'; it takes Q0 to Q4");
  check_refused("--rows 100 --k 1 --preferences Q1,Q1", "--preferences has Q1 twice");
}

TEST_CASE("study: points of more columns than the standard generator makes anticorrelated") {
  const std::string many = "--rows 200 --weights 64 --k 4 --repeat 1 --backend cpu --strategy scan";
  const auto result = run_into(output, "threshold " + many);
  INFO(result.out << result.err);
  CHECK(result.status == 0);
  CHECK_THAT(result.out, Contains("Left out: anticorrelated points") && Contains("independent"));
  check_refused(many + " --correlation anticorrelated", "at most 32 columns");
}

TEST_CASE("study: how long threshold tables take to build") {
  const auto result = run_into(
      output, "threshold --building --rows 3000 --weights 4 --k 4 --repeat 1 --backend cpu --correlation correlated");
  INFO(result.out << result.err);
  REQUIRE(result.status == 0);
  CHECK_THAT(result.out, Contains("cpu, partitions by angle ") && Contains("cpu, partitions by angle, regular") &&
                             Contains("reads of the columns") &&
                             Contains("Every table answers as a scan of its columns does."));
  const auto numbers = nlohmann::json::parse(read(output / "threshold-building.json"));
  // three sizes, four kinds of table
  CHECK(numbers.at("points").size() == 12);
  for (const auto& point : numbers.at("points")) {
    INFO(point.dump());
    CHECK(point.at("seconds").get<double>() > 0);
    CHECK(point.at("read_seconds").get<double>() > 0);
    CHECK(point.at("is_right") == true);
  }
  CHECK_THAT(read(output / "threshold-building.svg"), Catch::StartsWith("<svg") && Contains("one read of the columns"));
}
