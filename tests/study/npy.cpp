#include <bit>
#include <catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <perf/study/npy.hpp>
#include <perf/study/python_literal.hpp>
#include <zenith/error.hpp>

using namespace zenith_study;
using Catch::Matchers::Contains;

namespace {

// A file of format version 1 as numpy.save writes it: the header padded to 64 bytes.
std::string npy(const std::string& header, const std::string& data, char version = 1) {
  std::string padded = header;
  const std::size_t digits = version == 1 ? 2 : 4;
  while ((8 + digits + padded.size() + 1) % 64 != 0) padded += ' ';
  padded += '\n';
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  for (std::size_t i = 0; i < digits; ++i) file += static_cast<char>(padded.size() >> (8 * i) & 0xff);
  return file + padded + data;
}

std::string describe(const std::string& type, const std::string& shape, const std::string& order = "False") {
  return "{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

template <class T>
std::string bytes_of(std::vector<T> values, bool is_big_endian = false) {
  std::string out;
  for (const T value : values) {
    std::string one(sizeof(T), '\0');
    std::memcpy(one.data(), &value, sizeof(T));
    if (is_big_endian) one = std::string(one.rbegin(), one.rend());
    out += one;
  }
  return out;
}

std::span<const std::byte> view(const std::string& text) { return std::as_bytes(std::span{text}); }

std::string fault(const std::string& text, std::string_view column = "") {
  const std::vector<char> heap(text.begin(), text.end());  // where a sanitizer sees the end
  try {
    const auto table = parse_npy(std::as_bytes(std::span{heap}));
    static_cast<void>(read_numbers(table, column));
    for (std::size_t row = 0; row < table.rows(); ++row) static_cast<void>(table.row(row));
  } catch (const zenith::error& caught) {
    return caught.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("npy: one dimension, both byte orders, all versions") {
  for (const char version : {'\1', '\2', '\3'}) {
    const auto file = npy(describe("'<f4'", "(3,)"), bytes_of<float>({1.5F, -2, 3}), version);
    const auto table = parse_npy(view(file));
    CHECK(table.rows() == 3);
    CHECK(std::get<std::vector<float>>(read_numbers(table, "")) == std::vector<float>{1.5F, -2, 3});
    CHECK(table.row(0) == std::vector<std::string>{"1.5"});
  }
  const auto file = npy(describe("'>i8'", "(2,)"), bytes_of<std::int64_t>({INT64_MIN, 7}, true));
  CHECK(std::get<std::vector<std::int64_t>>(read_numbers(parse_npy(view(file)), "value")) ==
        std::vector<std::int64_t>{INT64_MIN, 7});
}

TEST_CASE("npy: narrow types are widened") {
  const auto small = npy(describe("'|i1'", "(2,)"), std::string("\x80\x7f", 2));
  CHECK(std::get<std::vector<std::int32_t>>(read_numbers(parse_npy(view(small)), "")) ==
        std::vector<std::int32_t>{-128, 127});
  const auto half = npy(describe("'<f2'", "(5,)"), bytes_of<std::uint16_t>({0x3c00, 0xc000, 0x7c00, 0x0001, 0x7e00}));
  const auto values = std::get<std::vector<float>>(read_numbers(parse_npy(view(half)), ""));
  CHECK(values[0] == 1);
  CHECK(values[1] == -2);
  CHECK(std::isinf(values[2]));
  CHECK(values[3] == std::ldexp(1.0F, -24));
  CHECK(std::isnan(values[4]));
}

TEST_CASE("npy: a matrix has numbered columns") {
  const auto file = npy(describe("'<u4'", "(2, 3)"), bytes_of<std::uint32_t>({1, 2, 3, 4, 5, 6}));
  const auto table = parse_npy(view(file));
  CHECK(table.column_names() == std::vector<std::string>{"0", "1", "2"});
  CHECK(std::get<std::vector<std::uint32_t>>(read_numbers(table, "2")) == std::vector<std::uint32_t>{3, 6});
  CHECK(table.row(1) == std::vector<std::string>{"4", "5", "6"});
  CHECK_THAT(fault(file), Contains("--column names no column"));
  CHECK_THAT(fault(file, "3"), Contains("--column names '3'"));
}

TEST_CASE("npy: a structure has named columns, padding has none") {
  std::string data;
  for (int i = 0; i < 2; ++i) {
    data += std::string("AB\0", 3) + std::string(1, '\0') + bytes_of<std::uint32_t>({'x', 0xe9}) +
            bytes_of<double>({i + 0.5}, true);
  }
  const auto file = npy(describe("[('s', '|S3'), ('', '|V1'), (('title', 'u'), '<U2'), ('v', '>f8')]", "(2,)"), data);
  const auto table = parse_npy(view(file));
  CHECK(table.column_names() == std::vector<std::string>{"s", "u", "v"});
  CHECK(std::get<std::vector<double>>(read_numbers(table, "v")) == std::vector<double>{0.5, 1.5});
  CHECK(table.row(1) == std::vector<std::string>{"AB", "x\xc3\xa9", "1.5"});
  CHECK_THAT(fault(file, "s"), Contains("unsupported") && Contains("'S3'"));
  CHECK_THAT(fault(file, "w"), Contains("The columns are: s, u, v"));
}

TEST_CASE("npy: what cannot be read is said clearly") {
  const auto data = bytes_of<float>({1, 2, 3, 4});
  CHECK_THAT(fault(npy(describe("'<f4'", "(2, 2)", "True"), data)), Contains("Fortran order"));
  CHECK_THAT(fault(npy(describe("'<f4'", "(1, 2, 2)"), data)), Contains("3 dimensions"));
  CHECK_THAT(fault(npy(describe("'<f4'", "()"), data)), Contains("0 dimensions"));
  CHECK_THAT(fault(npy(describe("'|O'", "(2,)"), data)), Contains("Python objects"));
  CHECK_THAT(fault(npy(describe("'<c8'", "(2,)"), data)), Contains("not a number"));
  CHECK_THAT(fault(npy(describe("[('a', '<f4', (2,))]", "(2,)"), data), "a"), Contains("arrays inside structures"));
  CHECK_THAT(fault(npy(describe("[('a', [('b', '<f4')])]", "(2,)"), data), "a"), Contains("structures inside"));
}

TEST_CASE("npy: damage is corrupt data") {
  const auto good = npy(describe("'<f4'", "(4,)"), bytes_of<float>({1, 2, 3, 4}));
  REQUIRE(fault(good) == "no error");
  for (std::size_t length = 0; length < good.size(); ++length) {
    const auto said = fault(good.substr(0, length));
    if (said.find("corrupt_data") == std::string::npos) FAIL("cut at " << length << ": " << said);
  }
  CHECK_THAT(fault(good + "x"), Contains("needs 16 bytes of data, but 17 follow"));
  CHECK_THAT(fault(npy(describe("'<f4'", "(4611686018427387904, 4)"), "")), Contains("larger than any memory"));
  CHECK_THAT(fault(npy(describe("'<f4'", "(4, 99999999999)"), "")), Contains("columns"));
  CHECK_THAT(fault(npy(describe("'|S0'", "(99999999999,)"), "")), Contains("no bytes"));
  CHECK_THAT(fault(npy(describe("'<f3'", "(1,)"), "abc")), Contains("there is no type"));
  CHECK_THAT(fault(npy(describe("'?f4'", "(1,)"), "abcd")), Contains("byte order"));
  CHECK_THAT(fault(npy(describe("'<f4'", "(-1,)"), "abcd")), Contains("header is damaged"));
  CHECK_THAT(fault(npy(describe("'<f4'", "4"), "abcd")), Contains("'shape'"));
  CHECK_THAT(fault(npy("{'descr': '<f4'}", "")), Contains("it must have"));
  CHECK_THAT(fault(npy(std::string(2000, '['), "")), Contains("nested too deep"));
  CHECK_THAT(fault(npy("{'descr': '<f4", "")), Contains("not closed"));
}

TEST_CASE("npy: a flipped byte anywhere gives a table or an error") {
  const auto good = npy(describe("[('a', '<f4'), ('b', '|S2'), ('c', '<U1')]", "(2,)"), std::string(20, 'x'));
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      auto bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      static_cast<void>(fault(bad, "a"));
    }
  }
  SUCCEED("nothing was read past the end");
}

TEST_CASE("python literals: what headers are made of") {
  const auto value = parse_python_literal(" {'a': (1, 2L, ), \"b\": [True, 'it\\'s'], 'c': ()} \n");
  REQUIRE(value.find("a") != nullptr);
  CHECK(value.find("a")->items.size() == 2);
  CHECK(value.find("a")->items[1].number == 2);
  CHECK(value.find("b")->items[0].number == 1);
  CHECK(value.find("b")->items[1].text == "it's");
  CHECK(value.find("c")->items.empty());
  CHECK(value.find("d") == nullptr);
  CHECK(parse_python_literal("1").find("a") == nullptr);
  for (const char* bad : {"", "{", "{1}", "{1:", "(1", "(1 2)", "'a", "1 2", "None", "{'a': 1} x", "'\\", "-1"}) {
    CHECK_THROWS_AS(parse_python_literal(bad), zenith::error);
  }
}
