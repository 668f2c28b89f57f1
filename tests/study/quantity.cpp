#include <catch.hpp>
#include <cstdint>
#include <limits>
#include <vector>

#include <perf/study/quantity.hpp>
#include <zenith/error.hpp>

using namespace zenith_study;
using counts = std::vector<std::uint64_t>;

TEST_CASE("quantity: counts as people write them") {
  CHECK(parse_count("n", "65536") == 65536);
  CHECK(parse_count("n", "2^26") == 67108864);
  CHECK(parse_count("n", "1e6") == 1000000);
  CHECK(parse_count("n", "64M") == 64000000);
  CHECK(parse_count("n", "64Mi") == 67108864);
  CHECK(parse_count("n", "1.5k") == 1500);
  CHECK(parse_count("n", "9223372036854775807") == 9223372036854775807U);
  for (const char* bad : {"", "x", "-1", "1.5", "2^64", "2^", "^2", "1e30", "1Q", "1kk", "1Mi2", "nan", "inf", " 1",
                          "18446744073709551616", "9223372036854775808"}) {
    CHECK_THROWS_AS(parse_count("n", bad), zenith::error);
  }
}

TEST_CASE("quantity: lists and ranges of k") {
  CHECK(parse_counts("k", "16") == counts{16});
  CHECK(parse_counts("k", "1000,16,16") == counts{16, 1000});
  CHECK(parse_counts("k", "1..10") == counts{1, 2, 4, 8, 10});
  CHECK(parse_counts("k", "3..12,7") == counts{3, 6, 7, 12});
  CHECK(parse_counts("k", "5..5") == counts{5});
  for (const char* bad : {"", ",", "1,", "..", "4..2", "1..", "1..2..3"}) {
    CHECK_THROWS_AS(parse_counts("k", bad), zenith::error);
  }
}

TEST_CASE("quantity: numbers to read") {
  CHECK(with_commas(0) == "0");
  CHECK(with_commas(999) == "999");
  CHECK(with_commas(336776) == "336,776");
  CHECK(format_seconds(0.0103) == "10.3 ms");
  CHECK(format_seconds(2.5) == "2.50 s");
  CHECK(format_seconds(1.5e-7) == "150 ns");
  CHECK(format_seconds(std::numeric_limits<double>::infinity()) == "never");
  CHECK(format_bytes(268435456) == "256 MiB");
  CHECK(format_bytes(1536) == "1.5 KiB");
}
