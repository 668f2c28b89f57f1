#include <algorithm>
#include <catch.hpp>
#include <nlohmann/json.hpp>
#include <program_runs.hpp>
#include <string>
#include <vector>

// The study of spatial joins: what two tables take, and the figures of the thesis.

using Catch::Matchers::Contains;
using namespace zenith_study_test;

namespace {

// What is wrong is said in one line of at most `most` characters and a hint.
void check_refused(const ran& result, const std::string& word, std::size_t most = 200) {
  INFO(result.out << result.err);
  CHECK(result.status != 0);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, Catch::StartsWith("zenith-study: ") && Contains(word));
  CHECK(result.err.find('\n') < most);
}

}  // namespace

TEST_CASE("spatial tables: what is wrong names the option, and the row of the file") {
  // the second row has no place and is left out
  const auto bad = write("spatial-bad.csv", "x,y,z,s\n0,0,0,5\n,1,1,3\n1,1,inf,4\n2,2,0,-7\n");
  const auto good = write("spatial-good.csv", "x,y,z,s\n0,0,0,1\n1,1,1,1e300\n");
  const auto ask = [&](const std::string& left, const std::string& right, const std::string& more) {
    return run("spatial-join --left '" + left + "' --right '" + right + "' " + more);
  };
  check_refused(ask(bad + ":x,z,s", good + ":x,y,s", ""),
                "--left: column 'z' has inf in row 3; a finite number is needed");
  check_refused(ask(good + ":x,y,s", bad + ":x,z,s", ""), "--right: column 'z' has inf in row 3");
  check_refused(ask(bad + ":x,y,s", good + ":x,y,s", "--score product"),
                "--left: column 's' has -7 in row 4; a product takes scores of 0 and more");
  check_refused(ask(bad + ":x,y,s", good + ":x,y,s", "--score weighted_sum:1,1e10"),
                "--right: column 's' has 1e+300 in row 2; times its weight it is infinite");
  check_refused(ask(good + ":x,y,s", "/nowhere/none.csv:x,y,s", ""),
                "--right is '/nowhere/none.csv': there is no such");
  check_refused(ask("/nowhere/none.csv:x,y,s", good + ":x,y,s", ""), "--left is '/nowhere/none.csv': there is no such");
  check_refused(ask(good + ":x,y,z,s", good + ":x,y,s", ""), "--left names 3 coordinates and --right 2");
  check_refused(ask(good + ":x,s", good + ":x,y,s", ""), "FILE:x,y,z,score");
  for (const char* score : {"weighted_sum", "weighted_sum:1", "weighted_sum:1,2,3", "weighted_sum:1,x"}) {
    check_refused(ask(good + ":x,y,s", good + ":x,y,s", std::string{"--score "} + score),
                  std::string{"--score is '"} + score + "'");
  }
}

TEST_CASE("spatial tables: a distance that is none is refused in a line") {
  check_refused(run("spatial-join --rows 10 --distance -1"), "--distance: '-1' is negative", 80);
  check_refused(run("spatial-join --rows 10 --distance inf"), "--distance: 'inf' is not finite", 80);
  check_refused(run("spatial-join --rows 10 --distance 1e999"), "--distance: '1e999' is not finite", 80);
  check_refused(run("spatial-join --rows 10 --distance nan"), "--distance: 'nan' is not a number", 80);
  check_refused(run("spatial-join --rows 10 --distance near"), "--distance: 'near' is not a number", 80);
}

TEST_CASE("spatial tables: weights, three dimensions and any distance") {
  const auto left = write("spatial-left.csv", "x,y,z,s\n0,0,0,5\n0,0,9,6\n");
  const auto right = write("spatial-right.csv", "x,y,z,s\n1,2,2,1\n0,0,9,4\n");
  const auto ask = [&](const std::string& names, const std::string& more) {
    auto result = run("spatial-join --left '" + left + ":" + names + "' --right '" + right + ":" + names + "' " + more);
    INFO(result.err);
    CHECK(result.status == 0);
    return result.out;
  };
  // by y and x all are near each other
  CHECK_THAT(ask("x,y,s", "--distance 3"), Contains("4 pairs of 2 rows"));
  const auto deep = ask("x,y,z,s", "--distance 3");
  CHECK_THAT(deep,
             Contains("2 pairs of 2 rows") && Contains("   1     10         0") && Contains("   2      6         3"));
  CHECK_THAT(ask("x,y,z,s", "--distance 3 -k 1 --score weighted_sum:2,-5"), Contains("   1      5         3"));
  CHECK_THAT(ask("x,y,s", "--distance 1e308"), Contains("within 1e+308"));
}

TEST_CASE("study: sides of very different size are joined") {
  const auto result =
      run_into(output / "sides",
               "spatial-join --rows 200,2000x20,20x2000 --k 5 --distance 30 --repeat 1 --backend cpu --kind uniform");
  INFO(result.out << result.err);
  REQUIRE(result.status == 0);
  CHECK_THAT(result.out, Contains("left rows  right rows") && Contains("All strategies found the same pairs."));
  const auto numbers = nlohmann::json::parse(read(output / "sides" / "spatial-join.json"));
  CHECK(numbers.at("points").size() == 3 * (2 + 6));
  std::size_t wide = 0;
  std::size_t narrow = 0;
  for (const auto& point : numbers.at("points")) {
    wide += point.at("rows") == 2000 && point.at("right_rows") == 20 ? 1 : 0;
    narrow += point.at("rows") == 20 && point.at("right_rows") == 2000 ? 1 : 0;
  }
  CHECK(wide == 8);
  CHECK(narrow == 8);
  CHECK_THAT(read(output / "sides" / "spatial-join.svg"), Contains("2,000 x 20"));
  for (const char* rows : {"0x5", "5x0", "5x2^27"}) {
    check_refused(run(std::string{"spatial-join --k 4 --rows "} + rows), "--rows must be from 1 to 2^26");
  }
  check_refused(run("spatial-join --rows 5x5x5"), "--rows is '5x5'");
}

TEST_CASE("study: the figures of the thesis") {
  const auto folder = output / "figures";
  const auto result =
      run_into(folder, "spatial-join --figures --rows 300,300x50,40 --k 5,50 --distance 30 --repeat 1 --backend cpu");
  INFO(result.out << result.err);
  REQUIRE(result.status == 0);
  CHECK(count_of(result.out, "All strategies found the same pairs.") == 4);
  CHECK_THAT(result.out, Contains("Figures 7.1 and 7.2") && Contains("Figure 7.3") && Contains("Figure 7.4"));
  const auto points = [&](const char* of) {
    auto numbers = nlohmann::json::parse(read(folder / (std::string{"spatial-join-"} + of + ".json"))).at("points");
    for (const auto& point : numbers) CHECK(point.at("result") == "measured");
    return numbers;
  };
  // sizes, k and strategies
  CHECK(points("sizes").size() == 3 * 2 * 2);
  CHECK(points("threads").front().at("threads") == 1);
  const auto blocks = points("blocks_at_once");
  CHECK(blocks.size() == 8);
  CHECK(blocks.back().at("blocks_at_once") == 1024);
  const auto fanouts = points("fanout");
  CHECK(fanouts.size() == 6);
  CHECK(fanouts.front().at("fanout") == 2);
  CHECK(fanouts.front().at("strategy") == "cpu/ba");
  CHECK_THAT(read(folder / "spatial-join-figure-7.1.svg"), Contains("300 x 50") && Contains("cpu/ba"));
  CHECK_THAT(read(folder / "spatial-join-figure-7.2.svg"), Catch::StartsWith("<svg") && Contains(">40<"));
  CHECK_THAT(read(folder / "spatial-join-figure-7.3.svg"), Contains("threads") && Contains(">ba<"));
  CHECK_THAT(read(folder / "spatial-join-figure-7.4.svg"), Contains("blocks_at_once"));
  CHECK_THAT(read(folder / "spatial-join-fanout.svg"), Contains("fanout"));
  CHECK(run("spatial-join --figures --kind uniform").status == 2);
}

TEST_CASE("study: hard joins, of nearly all pairs and of a tiny distance") {
  const auto folder = output / "hard";
  const std::string rest = " --repeat 1 --backend cpu --kind clustered --output '" + folder.string() + "'";
  const auto ks_of = [&](const std::string& arguments) {
    const auto result = run("spatial-join --rows 500 " + arguments + rest);
    INFO(result.out << result.err);
    CHECK(result.status == 0);
    std::vector<double> shares;  // of all pairs, of each question for the best
    const auto numbers = nlohmann::json::parse(read(folder / "spatial-join.json"));
    for (const auto& point : numbers.at("points")) {
      if (point.at("strategy") != "cpu/full") continue;
      shares.push_back(point.at("k").get<double>() / std::max(1.0, point.at("pairs").get<double>()));
    }
    return shares;
  };
  const auto shares = ks_of("--k 1,50%,100% --distance 20");
  REQUIRE(shares.size() == 3);
  CHECK(shares[0] < 0.01);
  CHECK(shares[1] == Approx(0.5).margin(0.01));
  CHECK(shares[2] == 1);
  // no pairs, of which the share is still a question
  CHECK(ks_of("--k 100% --distance 1e-6").size() == 1);
  for (const char* k : {"0%", "101%", "x%", "nan%", "-5%", "1,0"}) {
    check_refused(run(std::string{"spatial-join --rows 10 --k "} + k), "--k is");
  }
}
