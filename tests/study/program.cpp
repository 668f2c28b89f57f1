#include <catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <program_runs.hpp>
#include <sstream>
#include <string>
#include <utility>

using Catch::Matchers::Contains;
using namespace zenith_study_test;

namespace {

const std::string sample = std::string{ZENITH_TEST_DATA} + "/flights-2013-sample.csv";

ran study(const std::string& arguments) { return run("top-k --output '" + output.string() + "' " + arguments); }

ran query(const std::string& file, const std::string& arguments) {
  return run("top-k --input '" + file + "' " + arguments);
}

std::size_t lines_with(const std::string& text, const std::string& word) {
  std::istringstream in(text);
  std::size_t count = 0;
  for (std::string line; std::getline(in, line);) count += line.find(word) != std::string::npos ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("study: every type and distribution gives a table, numbers and a picture") {
  for (const std::string type : {"float32", "float64", "int32", "uint32", "int64", "uint64"}) {
    for (const std::string values : {"uniform", "normal", "ascending", "descending", "all-equal", "bucket-killer"}) {
      const auto result =
          study("--count 3000 --k 1,5,2000 --repeat 1 --budget 5 --type " + type + " --distribution " + values);
      INFO(result.out << result.err);
      REQUIRE(result.status == 0);
      CHECK_THAT(result.out, Contains("reference/sort") && Contains("cpu/filter") && Contains("GB/s"));
      CHECK_THAT(result.out, Contains("Every result equals a selection by the standard library"));
      const auto base = output / ("top-k-" + type + "-" + values + "-3000");
      const auto numbers = nlohmann::json::parse(read(base.string() + ".json"));
      CHECK(numbers.at("problem").at("count") == 3000);
      CHECK(numbers.at("points").size() >= 6);
      for (const auto& point : numbers.at("points")) CHECK(point.at("result") == "measured");
      const auto picture = read(base.string() + ".svg");
      CHECK_THAT(picture, Catch::StartsWith("<svg") && Catch::EndsWith("</svg>\n"));
    }
  }
}

TEST_CASE("study: what was asked for, and only that") {
  const auto result = study("--count 1000 --k 1..16 --smallest --backend reference --strategy sort --repeat 2");
  REQUIRE(result.status == 0);
  CHECK(lines_with(result.out, "reference/sort ") == 5);
  CHECK_THAT(result.out, !Contains("cpu/filter"));
  const auto numbers = nlohmann::json::parse(read(output / "top-k-float32-uniform-1000-smallest.json"));
  for (const auto& point : numbers.at("points")) CHECK(point.at("seconds").size() == 2);
  CHECK(study("--count 1 --k 1").status == 0);
  CHECK_THAT(study("--count 100 --k 3 --backend cpu:isa=sse2").out, Contains("cpu:isa=sse2/filter"));
}

TEST_CASE("study: the time budget thins slow lines and says so") {
  const auto result = study("--count 2^20 --k 1..64 --backend reference --budget 0.1");
  REQUIRE(result.status == 0);
  CHECK_THAT(result.out, Contains("skipped") && Contains("past its share of --budget"));
}

TEST_CASE("study: wrong options are refused before any work") {
  const auto refused = [](const std::string& arguments, int status, const std::string& word) {
    const auto result = study(arguments);
    INFO(arguments << ": " << result.err);
    CHECK(result.status == status);
    CHECK_THAT(result.err, Contains(word));
  };
  refused("--count 10 --k 11", 1, "--k is 11, but --count is only 10");
  refused("--count 0", 1, "--count is 0");
  refused("--count many", 1, "--count is 'many'");
  refused("--k 0", 1, "--k is 0");
  refused("--count 2^40", 1, "--count");
  refused("--type float16", 1, "--type is 'float16'");
  refused("--distribution gauss", 2, "gauss");
  refused("--backend abacus", 1, "abacus");
  refused("--backend auto", 1, "auto");
  refused("--backend cpu:wings=2", 1, "wings");
  refused("--count 10 --k 1 --strategy magic", 1, "which no backend of this run offers");
  refused("--repeat 0", 2, "--repeat");
  refused("--column x", 2, "--input");
  refused("--count 10 --input x", 2, "excludes");
  CHECK(run("").status == 2);
  CHECK(run("bottom-k").status == 2);
  CHECK(run("--help").status == 0);
  CHECK(run("top-k --help").status == 0);
  CHECK(run("--version").status == 0);
  const auto file = write("file", "x");
  CHECK(run("top-k --count 10 --k 1 --output '" + file + "/folder'").status == 1);
}

TEST_CASE("study: a skyline, a weighted sum and a join have rows and columns, and the best are at least one") {
  const auto refused = [](const std::string& arguments, const std::string& word) {
    const auto result = run(arguments + " --repeat 1 --backend cpu --output '" + output.string() + "'");
    INFO(arguments << ": " << result.err);
    CHECK(result.status == 1);
    CHECK_THAT(result.err, Catch::StartsWith("zenith-study: ") && Contains(word));
    CHECK(count_of(result.err, "\n") == 1);  // no progress: nothing was measured
    CHECK(result.out.empty());
  };
  refused("skyline --rows 100 --columns 0,2", "--columns has 0");
  refused("skyline --rows 100 --columns 33", "--columns has 33, but a skyline has at most 32");
  refused("threshold --rows 100 --weights 0,2 --k 4", "--weights has 0");
  refused("threshold --rows 100 --weights 2 --k 0,4", "--k is 0");
  refused("spatial-join --rows 100 --k 0,4", "--k is 0");
  refused("skyline --rows 0,100 --columns 2", "--rows must be from 1 to 2^28");
  refused("threshold --rows 0 --weights 2 --k 4", "--rows must be from 1 to 2^28");
  refused("spatial-join --rows 0,100 --k 4", "--rows must be from 1 to 2^26");
}

TEST_CASE("file: the sample of real flights") {
  const auto result = query(sample, "--column dep_delay -k 3");
  INFO(result.out << result.err);
  REQUIRE(result.status == 0);
  CHECK_THAT(result.out, Contains("N384HA") && Contains("2,000 rows, 51 of them without a value and not ranked"));
  CHECK_THAT(result.out, Contains("read ") && Contains("parse ") && Contains("top-k "));
  CHECK(lines_with(result.out, ":00:00Z") == 3);
  const auto first = result.out.find("1301");
  CHECK(first < result.out.find("494"));
  const auto smallest = query(sample, "--column dep_delay -k 1 --smallest --backend cpu --strategy filter --threads 1");
  CHECK(smallest.status == 0);
  CHECK_THAT(smallest.out, Contains("filter on cpu"));
  CHECK_THAT(query(sample, "--column dep_delay -k 2000").err, Contains("only 1,949 of the 2,000 rows can be ranked"));
}

TEST_CASE("file: what is wrong with it is said") {
  const auto refused = [](const ran& result, const std::string& word) {
    INFO(result.out);
    CHECK(result.status == 1);
    CHECK_THAT(result.err, Contains(word));
    CHECK(result.out.empty());
  };
  refused(query("/nowhere/at/all.csv", "--column a"), "there is no such file");
  refused(query(output.string(), "--column a"), "which is a folder");
  refused(query(write("empty.csv", ""), "--column a"), "is empty");
  refused(query(write("empty.npy", ""), ""), "is empty");
  refused(query(sample, "--column dep_dely"), "did you mean 'dep_delay'?");
  refused(query(sample, "--column carrier"), "has text in row 1:");
  refused(query(sample, ""), "--column names no column. The columns are: year,");
  refused(query(write("ragged.csv", "a,b\n1,2\n3\n"), "--column a"), "row 2 has 1 fields");
  refused(query(write("damaged.npy", "\x93NUMPY"), ""), "npy");
  refused(query(write("three.csv", "a\n1\n2\n3\n"), "--column a -k 4"), "only 3 of the 3 rows");
  refused(query(write("text.npy", "a,b\n1,2\n"), ""), "does not begin as a .npy");
  refused(query(sample, "--column dep_delay --backend abacus"), "abacus");
  refused(query(sample, "--column dep_delay --threads 1"), "--threads needs --backend");
}

TEST_CASE("file: quotes, CRLF and missing values") {
  const auto file = write("quoted.csv", "name,score\r\n\"Doe, J\",2.5\r\nRoe,NA\r\n\"Poe \"\"E\"\"\",10\r\n");
  const auto result = query(file, "--column score -k 2 --backend reference");
  REQUIRE(result.status == 0);
  CHECK_THAT(result.out, Contains("Poe \"E\"") && Contains("Doe, J") && !Contains("Roe"));
}

TEST_CASE("file: a .npy array with NaN") {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  header.resize(117, ' ');
  header += '\n';
  const float values[] = {1, std::nanf(""), 7};
  const auto file = write("values.npy", std::string("\x93NUMPY\1\0\x76\0", 10) + header +
                                            std::string(reinterpret_cast<const char*>(values), sizeof(values)));
  const auto result = query(file, "-k 3 --backend reference");
  INFO(result.err);
  REQUIRE(result.status == 0);
  CHECK_THAT(result.out, Contains("missing") && Contains("3 rows, 1 of them without a value"));
}

TEST_CASE("doctor: says what there is, and survives a damaged profile") {
  const auto result = run("doctor");
  CHECK(result.status == 0);
  CHECK_THAT(result.out, Contains("cpu") && Contains("reference") && Contains("Profile") && Contains("avx2"));
  const auto damaged = write("damaged.json", "{\"devices\": [");
  const auto found = run("doctor", "ZENITH_PROFILE='" + damaged + "'");
  CHECK(found.status == 1);
  CHECK_THAT(found.out, Contains("damaged") && Contains("calibrate"));
}

TEST_CASE("decide: the choice and the rest") {
  const auto result = run("decide --count 2^20 -k 16");
  INFO(result.err);
  REQUIRE(result.status == 0);
  CHECK_THAT(result.out, Contains("predicted") && Contains("chosen"));
  CHECK_THAT(run("decide --count 5 -k 6").err, Contains("--k is 6, but --count is only 5"));
  CHECK_THAT(run("decide --count 5 -k 0").err, Contains("--k is 0"));
  CHECK_THAT(run("decide join --count 0").err, Contains("--count is 0"));
  CHECK_THAT(run("decide skyline --columns 33").err, Contains("--columns is 33; a skyline has 1 to 32"));
  CHECK_THAT(run("decide table --share 0").err, Contains("--share"));
  CHECK_THAT(run("decide table --type int64").err, Contains("a table takes float32, float64, int32 or uint32"));
  CHECK_THAT(run("decide join --type int32").err, Contains("a join takes float32 or float64"));
  const std::pair<const char*, const char*> asked[] = {
      {"weighted-sum --count 1e6 -k 5 --columns 3", "cpu/scan"},
      {"table --count 2^24 -k 16 --columns 8 --share 0.05", "cpu/blocks"},
      {"skyline --count 1e6 --columns 8", "cpu/bitmap_tiles"},
      {"join --count 1e6", "cpu/grid"},
      {"ranked-join --count 1e6 --right 1e5 --pairs 1e6 -k 100", "cpu/threshold_first"},
  };
  for (const auto& [query, choice] : asked) {
    const auto other = run(std::string{"decide "} + query);
    INFO(query << "\n" << other.out << other.err);
    CHECK(other.status == 0);
    CHECK_THAT(other.out, Contains(choice) && Contains("in host memory"));
  }
}

TEST_CASE("pack: every numeric column of a table, in every encoding") {
  const auto done = run("pack --backend cpu --time-limit 0.001 --input '" + sample + "'");
  CHECK(done.status == 0);
  CHECK_THAT(done.out, Contains("dep_delay") && Contains("times smaller"));
  CHECK_THAT(done.out, Contains("left out: ") && Contains("carrier (text)"));
  // a mark at one encoding of each column
  CHECK(lines_with(done.out, " * ") == lines_with(done.out, " plain "));
}

TEST_CASE("pack: decimals are packed as integers, and what cannot be is said") {
  const auto done = run("pack --backend cpu --time-limit 0.001 --input '" +
                        write("decimals.csv", "price,ratio,empty\n1.25,0.333333333333,\n-3.5,0.1,\n2,7,NA\n") + "'");
  CHECK(done.status == 0);
  CHECK_THAT(done.out, Contains("int32 / 10^2"));
  CHECK_THAT(done.out, Contains("ratio (no integers of 64 bits, nor decimals of six places)"));
  CHECK_THAT(done.out, Contains("empty (no values)"));
  for (const char* text : {"name\nzenith\n", "name\n", "name\n1e30\n"}) {
    const auto none = run("pack --input '" + write("text.csv", text) + "'");
    CHECK(none.status == 1);
    CHECK_THAT(none.err, Contains("text.csv has no column of numbers"));
  }
  CHECK(run("pack --input /nowhere.csv").status == 1);
}

TEST_CASE("pack: columns of any name, and integers that only unsigned words hold") {
  const auto done =
      run("pack --backend cpu --time-limit 0.001 --input '" +
          write("names.csv", "a,a,\"b\x1b[2J\nc\",a\n1,x,18446744073709551615,-5\n2,y,0,5000000000\n") + "'");
  CHECK(done.status == 0);
  CHECK_THAT(done.out, Contains("uint64") && Contains("int64") && Contains("left out: a (text)"));
  CHECK_THAT(done.out + done.err, Contains("b [2J c") && !Contains("\x1b"));
  CHECK(lines_with(done.out, " plain ") == 3);
}

TEST_CASE("where results would go is no option beside an input") {
  const auto folder = "ZENITH_STUDY_OUTPUT='" + (output / "elsewhere").string() + "'";
  CHECK(run("pack --backend cpu --time-limit 0.001 --input '" + sample + "'", folder).status == 0);
  CHECK(run("top-k --column dep_delay --k 3 --input '" + sample + "'", folder).status == 0);
  CHECK(run("pack --backend cpu --count 100 --time-limit 0.001 --figure sorted", folder).status == 0);
  for (const std::string command : {"pack", "skyline"}) {
    CHECK_THAT(run(command + " --time-limit nan").err, Contains("'nan' is not a number"));
  }
  for (const std::string command : {"top-k", "pack", "skyline", "threshold", "spatial-join"}) {
    CHECK_THAT(run(command + " --seed -1").err, Contains("--seed: '-1' is not a whole number from 0 to "));
  }
  CHECK(fs::exists(output / "elsewhere/pack-sorted-100-cpu.svg"));
  CHECK_THAT(run("pack --output there --input '" + sample + "'").err, Contains("excludes"));
}

TEST_CASE("pack: figures as tables, numbers and pictures") {
  const auto done =
      run_into(output, "pack --backend cpu --count 5000 --time-limit 0.001 --figure sorted --figure zipf");
  CHECK(done.status == 0);
  CHECK(fs::exists(output / "pack-sorted-5000-cpu.svg"));
  const auto numbers = nlohmann::json::parse(read(output / "pack-zipf-5000.json"));
  REQUIRE(numbers["points"].size() == 9 * 7);
  for (const auto& point : numbers["points"]) {
    CHECK(point["sum_seconds"].get<double>() > 0);
    if (point["encoding"] == "plain") CHECK(point["bits_per_value"].get<double>() > 32);
  }
  CHECK(run("pack --count 0").status == 1);
  CHECK(run("pack --figure circles").status == 2);
}

TEST_CASE("study: the skyline of standard points, all strategies agree") {
  const auto result =
      run_into(output, "skyline --rows 500,3000 --columns 2,5 --repeat 1 --backend cpu --backend reference");
  INFO(result.out << result.err);
  REQUIRE(result.status == 0);
  CHECK_THAT(result.out, Contains("cpu/skyalign") && Contains("reference/bnl") && Contains("anticorrelated points") &&
                             Contains("work/row") && Contains("All strategies found the same ids."));
  const auto numbers = nlohmann::json::parse(read(output / "skyline-columns.json"));
  CHECK(numbers.at("points").size() == 3 * 4 * (10 + 1));
  for (const auto& point : numbers.at("points")) {
    CHECK(point.at("result") == "measured");
    CHECK(point.at("skyline") >= 1);
  }
  CHECK_THAT(read(output / "skyline-columns-time.svg"), Catch::StartsWith("<svg") && Catch::EndsWith("</svg>\n"));
  CHECK_THAT(read(output / "skyline-columns-work.svg"), Contains("work a row") && Contains("cpu/skyalign"));
  const auto over_rows =
      run_into(output,
               "skyline --rows 2^8..2^10 --columns 3 --repeat 1 --correlation correlated --strategy sfs "
               "--backend cpu");
  CHECK(over_rows.status == 0);
  CHECK_THAT(over_rows.out, !Contains("independent points") && !Contains("skyalign"));
  CHECK(nlohmann::json::parse(read(output / "skyline-rows.json")).at("points").size() == 3);
}

TEST_CASE("study: the skyline of a table") {
  const auto file =
      write("hotels.csv", "name,price,rating,city\na,10,3,X\nb,20,5,X\nc,15,3,X\nd,,9,X\ne,30,1,Y\nf,10,3,X\n");
  const auto ask = [&](const std::string& arguments) { return run("skyline --input '" + file + "' " + arguments); };
  const auto all = ask("--min price --max rating");
  INFO(all.out << all.err);
  REQUIRE(all.status == 0);
  CHECK_THAT(all.out, Contains("3 of 6 rows are in the skyline; 1 rows without a value"));
  CHECK_THAT(ask("--min price --max rating --first").out, Contains("2 of 6 rows"));
  CHECK_THAT(ask("--min price --max rating --different city").out, Contains("4 of 6 rows"));
  CHECK_THAT(ask("--min price --max rating --most 1").out, Contains("the first 1 are shown"));
  CHECK_THAT(ask("--min price --max rating --most 1e0").out, Contains("the first 1 are shown"));
  const auto negative = ask("--min price --max rating --most -1");
  CHECK(negative.status == 1);
  CHECK_THAT(negative.err, Contains("--most is '-1'; it must be a whole number from 0 on"));
  CHECK(negative.out.empty());
  CHECK_THAT(ask("--different city").err, Contains("--min and --max name no column"));
  CHECK_THAT(ask("--min prize").err, Contains("--min names 'prize', which the table does not have; did you mean "
                                              "'price'? The columns are: name, price, rating, city\n"));
  CHECK_THAT(ask("--min price --max x").err, Contains("--max names 'x', which the table does not have. The columns"));
  CHECK_THAT(ask("--min ''").err, Contains("--min names no column. The columns are: name, "));
  CHECK_THAT(ask("--min price --different x").err, Contains("--different names 'x', which the table does not have."));
  const auto twins = "skyline --input '" + write("twins.csv", "a,b,b\n1,2,3\n") + "' ";
  CHECK_THAT(run(twins + "--max b").err, Contains("--max names 'b', and the table has two columns of that name"));
  CHECK_THAT(run(twins + "--min a --different b").err, Contains("--different names 'b', and the table has two"));
  CHECK_THAT(ask("--min name").err, Contains("name"));
  for (const char* twice : {"--min price --max price", "--min rating,price,price", "--max price --different price"}) {
    const auto refused = ask(twice);
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Contains("name 'price' twice"));
    CHECK(refused.out.empty());
  }
  CHECK_THAT(ask("--min price --rows 10").err, Contains("--rows"));
  CHECK(run("skyline --min price").status == 2);
}

TEST_CASE("study: a picture of the layers of two columns") {
  const auto file =
      write("boats.csv", "name,price,speed,age\na,10,3,1\nb,20,5,2\nc,15,3,0\nd,,9,1\ne,30,1,7\nf,10,3,1\n");
  const auto picture = (output / "boats.svg").string();
  const auto ask = [&](const std::string& arguments) {
    return run("skyline --input '" + file + "' --min price,age --max speed " + arguments);
  };
  const auto drawn = ask("--picture '" + picture + "' --axes price,speed");
  INFO(drawn.out << drawn.err);
  REQUIRE(drawn.status == 0);
  CHECK_THAT(drawn.out, Contains("4 of 6 rows are in the skyline") && Contains("picture: " + picture));
  const auto shown = read(picture);
  CHECK_THAT(shown, Catch::StartsWith("<svg") && Catch::EndsWith("</svg>\n"));
  CHECK_THAT(shown, Contains("price (less is better)") && Contains("speed (more is better)") && Contains("boats.csv"));
  // the five rows with a price: a, b and f in the front, c behind it, then e; a, b, c and f are in the skyline of all
  CHECK(count_of(shown, "r=\"3.2\" fill=\"#0072b2\"") == 3);
  CHECK(count_of(shown, "r=\"3.2\" fill=\"#d55e00\"") == 1);
  CHECK(count_of(shown, "r=\"3.2\" fill=\"#009e73\"") == 1);
  CHECK(count_of(shown, "r=\"5.5\"") == 4);
  CHECK_THAT(ask("--picture '" + picture + "'").err, Contains("--picture and --axes belong together"));
  CHECK_THAT(ask("--picture '" + picture + "' --axes price,price").err, Contains("--axes names 'price' twice"));
  const auto refused = ask("--picture '" + picture + "' --axes price,name");
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, Contains("--axes has 'name', which neither --min nor --max names"));
  CHECK(refused.out.empty());
}

TEST_CASE("study: a line has predictions with any number of threads, and none of an instruction set of its own") {
  const auto result = run_into(
      output, "top-k --count 3000 -k 5 --repeat 1 --strategy filter --backend cpu:threads=1 --backend cpu:isa=sse2");
  INFO(result.out << result.err);
  REQUIRE(result.status == 0);
  const auto numbers = nlohmann::json::parse(read(output / "top-k-float32-uniform-3000.json"));
  CHECK(numbers.at("points").size() == 2);
  for (const auto& point : numbers.at("points")) {
    INFO(point.dump());
    CHECK(point.at("predicted").is_number() == (point.at("executor") != "cpu:isa=sse2"));
  }
}

TEST_CASE("study: threshold tables, every result equals the scan of the columns") {
  const auto result =
      run_into(output, "threshold --rows 3000 --weights 2,5 --k 4,100 --repeat 1 --backend cpu --backend reference");
  INFO(result.out << result.err);
  REQUIRE(result.status == 0);
  CHECK_THAT(result.out, Contains("cpu/blocks") && Contains("cpu/gta_shared") && Contains("cpu/auto (") &&
                             Contains("Every result equals the scan of the columns."));
  const auto numbers = nlohmann::json::parse(read(output / "threshold.json"));
  CHECK(numbers.at("points").size() == 3 * 2 * 2 * (7 + 2));
  for (const auto& point : numbers.at("points")) {
    CHECK(point.at("result") == "measured");
    CHECK(point.at("scan_seconds").get<double>() > 0);
    // a strategy of the CPU has a model, what "auto" took has none of its own
    const auto line = point.at("strategy").get<std::string>();
    CHECK(point.at("predicted_seconds").is_number() == (line.starts_with("cpu/") && line != "cpu/auto"));
  }
  CHECK_THAT(read(output / "threshold-rows.svg"), Catch::StartsWith("<svg") && Catch::EndsWith("</svg>\n"));
  const auto one = run_into(output,
                            "threshold --rows 2000 --weights 3 --k 7 --repeat 1 --correlation correlated --partitions "
                            "--block-rows 32 --backend cpu --strategy gta");
  CHECK(one.status == 0);
  CHECK_THAT(one.out, Contains("cpu/gta") && !Contains("blocks") && !Contains("independent"));
  CHECK_THAT(run("threshold --rows 10 --k 11").err, Contains("--k is 11, but --rows is only 10"));
  CHECK_THAT(run("threshold --rows 10 --weights 65 --k 1").err, Contains("--weights has 65"));
}

TEST_CASE("study: the best rows of a table by a weighted sum") {
  const auto file = write("rated.csv", "name,price,rating\na,10,3\nb,20,5\nc,,5\nd,5,1\n");
  const auto ask = [&](const std::string& arguments) { return run("threshold --input '" + file + "' " + arguments); };
  const auto best = ask("--by rating=2,price=-0.1 -k 2");
  INFO(best.out << best.err);
  REQUIRE(best.status == 0);
  CHECK_THAT(best.out, Contains("4 rows; the 2 best by rating=2,price=-0.1") && Contains("  b ") && Contains("  a "));
  CHECK(best.out.find("  b ") < best.out.find("  a "));
  CHECK_THAT(ask("--weights rating=2,price=-0.1 -k 2").out, Contains("the 2 best by rating=2,price=-0.1"));
  CHECK_THAT(ask("--by rating=2 --weights price=1").err, Contains("give one"));
  CHECK_THAT(ask("--by rating=2,price=-0.1 -k 4").out, Contains("missing"));
  CHECK_THAT(ask("--by rating=2 -k 5").err, Contains("--k is 5, but"));
  CHECK_THAT(ask("--by rating").err, Contains("column=weight"));
  CHECK_THAT(ask("--by rating=high").err, Contains("the weight of 'rating' is 'high'"));
  CHECK_THAT(ask("--by stars=1 -k 1").err, Contains("--by names 'stars', which") && Contains("rating"));
  CHECK_THAT(ask("").err, Contains("--by names no column"));
}

TEST_CASE("study: spatial joins, all strategies agree") {
  const auto result = run_into(output, "spatial-join --rows 300,3000 --k 5,500 --distance 30 --repeat 1 --backend cpu");
  INFO(result.out << result.err);
  REQUIRE(result.status == 0);
  CHECK_THAT(result.out, Contains("cpu/threshold_first") && Contains("cpu/full") && Contains("cpu/grid") &&
                             Contains("clustered points") && Contains("All strategies found the same pairs."));
  const auto numbers = nlohmann::json::parse(read(output / "spatial-join.json"));
  CHECK(numbers.at("points").size() == 3 * 2 * (2 + 2 * 6));
  for (const auto& point : numbers.at("points")) {
    CHECK(point.at("result") == "measured");
    CHECK(point.at("predicted_seconds").is_number());
    const auto strategy = point.at("strategy").get<std::string>();
    CHECK(point.at("k").is_string() == (strategy == "cpu/grid" || strategy == "cpu/index_nested_loop"));
  }
  CHECK_THAT(read(output / "spatial-join.svg"), Catch::StartsWith("<svg") && Catch::EndsWith("</svg>\n"));
  for (const char* kind : {"uniform", "clustered", "anticorrelated"}) {
    const auto map = read(output / (std::string{"spatial-join-map-"} + kind + ".svg"));
    CHECK_THAT(map, Catch::StartsWith("<svg") && Catch::EndsWith("</svg>\n") && Contains(kind) &&
                        Contains("3,000 a side: the 5 best pairs within 30"));
    CHECK(count_of(map, "r=\"6\"") == 5);
  }
}

TEST_CASE("study: the best pairs of two tables") {
  const auto hotels = write("places-a.csv", "name,x,y,stars\na,0,0,5\nb,3,4,3\nc,100,100,5\nd,,1,9\n");
  const auto food = write("places-b.csv", "what,x,y,stars\nbar,0,1,2\ncafe,3,3,4\n");
  const auto ask = [&](const std::string& arguments) {
    return run("spatial-join --left '" + hotels + ":x,y,stars' --right '" + food + ":x,y,stars' " + arguments);
  };
  const auto best = ask("--distance 5 -k 2");
  INFO(best.out << best.err);
  REQUIRE(best.status == 0);
  CHECK_THAT(best.out, Contains("2 pairs of 3 rows") && Contains("1 rows without a value") && Contains("cafe"));
  CHECK_THAT(ask("--distance 5 -k 20").out, Contains("4 pairs of 3 rows"));
  CHECK_THAT(ask("--distance 5 --score mean").err, Contains("--score is 'mean'"));
  CHECK_THAT(run("spatial-join --left '" + hotels + "' --right '" + food + "'").err, Contains("FILE:x,y,score"));
  CHECK_THAT(run("spatial-join --left '" + hotels + ":x,y,stars' --right '" + food + ":x,y,taste'").err,
             Contains("--right names 'taste', which the table does not have. The columns are: what, x, y, stars"));
  CHECK(run("spatial-join --left '" + hotels + ":x,y,stars'").status == 2);

  const auto picture = (output / "places.svg").string();
  const auto drawn = ask("--distance 5 -k 3 --picture '" + picture + "'");
  CHECK(drawn.status == 0);
  CHECK_THAT(drawn.out, Contains("picture: " + picture));
  const auto map = read(picture);
  CHECK_THAT(map, Catch::StartsWith("<svg") && Catch::EndsWith("</svg>\n") && Contains("places-a.csv") &&
                      Contains("places-b.csv") && Contains("The 3 best pairs within 5"));
  // three rows and two with a place; a line, two points and a ring for each pair
  CHECK(count_of(map, "r=\"1.4\" fill=\"#0072b2\"") == 3);
  CHECK(count_of(map, "r=\"1.4\" fill=\"#d55e00\"") == 2);
  CHECK(count_of(map, "r=\"2.6\"") == 6);
  CHECK(count_of(map, "r=\"6\"") == 3);
  CHECK(count_of(map, "cx=\"") == 3 + 2 + 9 + 2);
  CHECK(ask("--distance 5 --picture '" + (output / "no folder/map.svg").string() + "'").status != 0);
  CHECK(run("spatial-join --rows 10 --picture map.svg").status == 2);
}
