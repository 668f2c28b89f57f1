#include <catch.hpp>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <perf/study/csv.hpp>
#include <zenith/error.hpp>

using namespace zenith_study;
using Catch::Matchers::Contains;

namespace {

using strings = std::vector<std::string>;

std::string fault(std::string_view text, std::string_view column = "a") {
  try {
    const auto table = parse_csv(text);
    static_cast<void>(read_numbers(table, column));
  } catch (const zenith::error& caught) {
    return caught.what();
  }
  return "no error";
}

std::vector<double> floating(const csv_table& table, std::string_view column) {
  return std::get<std::vector<double>>(read_numbers(table, column).values);
}

std::vector<std::int64_t> whole(const csv_table& table, std::string_view column) {
  return std::get<std::vector<std::int64_t>>(read_numbers(table, column).values);
}

}  // namespace

TEST_CASE("csv: fields are cut as RFC 4180 has them") {
  const std::string text = "name,\"the \"\"value\"\"\",c\r\n\"a, b\",1,\r\n\"two\nlines\",2,\"\"\n\"\"\"q\"\"\",3,x";
  const auto table = parse_csv(text);
  CHECK(table.columns() == strings{"name", "the \"value\"", "c"});
  REQUIRE(table.rows() == 3);
  CHECK(table.row(0) == strings{"a, b", "1", ""});
  CHECK(table.row(1) == strings{"two\nlines", "2", ""});
  CHECK(table.row(2) == strings{"\"q\"", "3", "x"});
  CHECK(table.field(1, 0) == "two\nlines");
  CHECK(table.field(2, 2) == "x");
}

TEST_CASE("csv: a byte order mark, blank lines and a missing last line end are nothing") {
  const auto table = parse_csv("\xef\xbb\xbf\n\r\na,b\n\n1,2\r\n\r\n3,4\n\n");
  CHECK(table.columns() == strings{"a", "b"});
  REQUIRE(table.rows() == 2);
  CHECK(whole(table, "a") == std::vector<std::int64_t>{1, 3});
  CHECK(parse_csv("a,b\r\n1,2\r").row(0) == strings{"1", "2"});
}

TEST_CASE("csv: in a table of one column, a blank line is a missing value") {
  const auto table = parse_csv("a\n1\n\n3\n");
  REQUIRE(table.rows() == 3);
  const auto found = read_numbers(table, "a");
  CHECK(found.missing == 1);
  CHECK(found.rows == std::vector<std::uint32_t>{0, 2});
}

TEST_CASE("csv: a header alone is a table without rows") {
  CHECK(parse_csv("a,b\n").rows() == 0);
  CHECK(parse_csv("a,b").rows() == 0);
  CHECK(whole(parse_csv("a,b"), "b").empty());
}

TEST_CASE("csv: numbers are whole when all are, and missing ones are left out") {
  const auto table = parse_csv(
      "whole,floating,gaps\n"
      "9223372036854775807,1.5, NA \n"
      "-9223372036854775808,+2,4\n"
      "+0,-1e300,nan\n"
      " 7 ,inf,\n"
      "1,0,N/A\n"
      "1,0,null\n"
      "1,0,5\n");
  CHECK(whole(table, "whole").front() == INT64_MAX);
  CHECK(whole(table, "whole")[1] == INT64_MIN);
  CHECK(floating(table, "floating")[2] == -1e300);
  const auto gaps = read_numbers(table, "gaps");
  CHECK(gaps.missing == 5);
  CHECK(gaps.rows == std::vector<std::uint32_t>{1, 6});
  CHECK(std::get<std::vector<std::int64_t>>(gaps.values) == std::vector<std::int64_t>{4, 5});
  CHECK(read_numbers(table, "whole").rows.empty());
  using naturals = std::vector<std::uint64_t>;
  CHECK(std::get<naturals>(read_numbers(parse_csv("a\n1\n18446744073709551615\n"), 0).values) ==
        naturals{1, UINT64_MAX});
  CHECK(floating(parse_csv("a\n-1\n18446744073709551615\n"), "a").size() == 2);
  CHECK(floating(parse_csv("a\n1\n18446744073709551616\n"), "a").size() == 2);
}

TEST_CASE("csv: a whole number that a double would round is refused") {
  const auto as_double = [](const std::string& number) {
    return read_doubles(parse_csv("a\n1\n" + number + "\n"), "a");
  };
  CHECK(as_double("9007199254740992").back() == 0x1p53);
  CHECK(as_double("-9007199254740992").back() == -0x1p53);
  for (const char* number : {"9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808",
                             "18446744073709551615"}) {
    CHECK_THROWS_WITH(as_double(number), Contains("invalid_argument") && Contains("column 'a' has ") &&
                                             Contains(number) && Contains("a double does not hold exactly"));
  }
}

TEST_CASE("csv: what is wrong is said, with the row") {
  CHECK_THAT(fault(""), Contains("corrupt_data") && Contains("empty"));
  CHECK_THAT(fault("\n\r\n\n"), Contains("empty"));
  CHECK_THAT(fault("a,b\n1,2\n3\n"), Contains("row 2 has 1 fields, but the header has 2"));
  CHECK_THAT(fault("a,b\n1,2,3\n"), Contains("row 1 has 3 fields"));
  CHECK_THAT(fault("a,b\n\"1,2\n3,4\n"), Contains("row 1 has a quote that is never closed"));
  CHECK_THAT(fault("a,\"b\n"), Contains("the header has a quote that is never closed"));
  CHECK_THAT(fault("a,b\n\"1\"x,2\n"), Contains("row 1 has text after a closing quote"));
  CHECK_THAT(fault("a\n1\nabc\n"), Contains("corrupt_data") && Contains("row 2") && Contains("'abc'"));
  CHECK_THAT(fault("a\n1.5.2\n"), Contains("'1.5.2'"));
  CHECK_THAT(fault("a\n1e999\n"), Contains("'1e999'"));
  CHECK_THAT(fault("a\n+-1\n"), Contains("'+-1'"));
  CHECK_THAT(fault("a\n0x10\n"), Contains("'0x10'"));
  CHECK_THAT(fault(std::string("a\n\0\n", 4)), Contains("row 1"));
}

TEST_CASE("csv: a column that is not there is an invalid argument that lists what is") {
  const auto said = fault("dep_time,dep_delay,arr_delay\n1,2,3\n", "dep_dealy");
  CHECK_THAT(said, Contains("invalid_argument") && Contains("did you mean 'dep_delay'?"));
  CHECK_THAT(said, Contains("dep_time, dep_delay, arr_delay"));
  CHECK_THAT(fault("b,c\n1,2\n", "completely different"), !Contains("did you mean"));
  CHECK_THAT(fault("b,c\n1,2\n", ""), Contains("--column names no column. The columns are: b, c"));
  CHECK_THAT(fault("b,c\n1,2\n", "completely different"), Contains("which the table does not have. The columns"));
  CHECK_THAT(fault("a,a\n1,2\n"), Contains("two columns"));
  std::string wide = "c0";
  for (int i = 1; i < 1000; ++i) wide += ",c" + std::to_string(i);
  CHECK(fault(wide, "none").size() < 1000);
}

TEST_CASE("csv: no text makes a reader look past its end") {
  // every text of up to six of the characters that mean something
  const std::string alphabet = "a1,\"\n\r";
  for (std::size_t length = 0; length <= 6; ++length) {
    std::size_t combinations = 1;
    for (std::size_t i = 0; i < length; ++i) combinations *= alphabet.size();
    for (std::size_t code = 0; code < combinations; ++code) {
      std::string written;
      for (std::size_t i = 0, rest = code; i < length; ++i, rest /= alphabet.size()) {
        written += alphabet[rest % alphabet.size()];
      }
      const std::vector<char> text(written.begin(), written.end());  // on the heap, where a sanitizer sees the end
      try {
        const auto table = parse_csv({text.data(), text.size()});
        for (std::size_t row = 0; row < table.rows(); ++row) {
          const auto fields = table.row(row);
          if (fields.size() != table.columns().size() || fields.back() != table.field(row, fields.size() - 1)) {
            FAIL("fields of '" << written << "' differ");
          }
        }
      } catch (const zenith::error& caught) {
        if (caught.code() != zenith::error_code::corrupt_data) FAIL(caught.what());
      }
    }
  }
}
