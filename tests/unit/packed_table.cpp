// Tables of packed columns in files.

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include <catch.hpp>
#include <expect_error.hpp>
#include <packed_bytes.hpp>
#include <zenith/packed_table.hpp>

using namespace zenith;
using unit::bytes;
using zenith_test::expect_error;

namespace {

constexpr auto corrupt = error_code::corrupt_data;
constexpr auto invalid = error_code::invalid_argument;

// A folder of its own for each test, gone with it.
class folder {
 public:
  folder()
      : path_(std::filesystem::temp_directory_path() / ("zenith-table-" + std::to_string(std::random_device{}()))) {
    std::filesystem::create_directory(path_);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::filesystem::path operator/(const char* name) const { return path_ / name; }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator());
  }

 private:
  std::filesystem::path path_;
};

bytes read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> chars{std::istreambuf_iterator<char>(in), {}};
  const auto all = std::as_bytes(std::span(chars));
  return {all.begin(), all.end()};
}

void write_file(const std::filesystem::path& file, const bytes& all) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size()));
}

template <class T>
std::vector<T> counting(std::size_t count, T first) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

template <class T>
std::vector<T> decoded(const packed_view<T>& column) {
  std::vector<T> values(column.size());
  unpack(reference(), column, values);
  return values;
}

// Four columns of four types and lengths.
struct example {
  std::vector<std::int32_t> prices = counting<std::int32_t>(1000, -77);
  std::vector<std::uint32_t> codes = std::vector<std::uint32_t>(333, 5);
  std::vector<std::int64_t> times = counting<std::int64_t>(129, std::int64_t{1} << 50);
  std::vector<std::uint64_t> none;

  void save(const std::filesystem::path& file) const {
    const auto packed_prices = pack(reference(), prices);
    const auto packed_codes = pack(reference(), codes, encoding::run_length);
    const auto packed_times = pack(reference(), times, encoding::delta);
    const auto packed_none = pack(reference(), none, encoding::vertical);
    save_packed_table(
        file, {{"price", packed_prices}, {"Länge", packed_codes.view()}, {"a time", packed_times}, {"x", packed_none}});
  }

  void check(const packed_table& table) const {
    CHECK(table.names() == std::vector<std::string>{"price", "Länge", "a time", "x"});
    CHECK(table.size() == 4);
    CHECK(table.type("a time") == key_type::int64);
    CHECK(table.column<std::uint32_t>("Länge").encoding() == encoding::run_length);
    CHECK(decoded(table.column<std::int32_t>("price")) == prices);
    CHECK(decoded(table.column<std::uint32_t>("Länge")) == codes);
    CHECK(decoded(table.column<std::int64_t>("a time")) == times);
    CHECK(decoded(table.column<std::uint64_t>("x")) == none);
  }
};

// Makes the head's checksum right.
void seal_head(bytes& table, std::size_t head) {
  unit::write(table, 24, packed::checksum(std::span(table).first(head)));
}

}  // namespace

TEST_CASE("a packed table comes back as it was saved") {
  const folder here;
  const example saved;
  saved.save(here / "table");
  CHECK(here.files() == 1);
  auto table = packed_table::open(here / "table");
  saved.check(table);
  for (const auto* name : {"price", "a time"}) CHECK(table.contains(name));
  CHECK_FALSE(table.contains(""));
  CHECK_FALSE(table.contains("pric"));

  const auto view = table.column<std::int32_t>("price");
  CHECK(reinterpret_cast<std::uintptr_t>(view.bytes().data()) % packed_alignment == 0);
  const packed_table moved = std::move(table);
  CHECK(sum(reference(), view) == std::accumulate(saved.prices.begin(), saved.prices.end(), std::int64_t{0}));
  saved.check(moved);
}

TEST_CASE("a packed table of borrowed bytes at any alignment") {
  const folder here;
  const example saved;
  saved.save(here / "table");
  const auto whole = read_file(here / "table");
  for (const std::size_t offset : {0, 1, 7}) {
    bytes held(offset + whole.size());
    std::ranges::copy(whole, held.begin() + static_cast<std::ptrdiff_t>(offset));
    saved.check(packed_table::parse(std::span<const std::byte>(held).subspan(offset)));
  }
}

TEST_CASE("a packed table of no columns") {
  const folder here;
  save_packed_table(here / "empty", {});
  CHECK(std::filesystem::file_size(here / "empty") == 64);
  const auto table = packed_table::open(here / "empty");
  CHECK(table.size() == 0);
  CHECK(table.names().empty());
  expect_error(invalid, {"empty", "'a'"}, [&] { (void)table.column<std::int32_t>("a"); });
  CHECK(packed_table{}.size() == 0);
  expect_error(invalid, {"'a'"}, [] { (void)packed_table{}.type("a"); });
}

TEST_CASE("two readers of a packed table, and one who replaces it") {
  const folder here;
  const example saved;
  saved.save(here / "table");
  const auto first = packed_table::open(here / "table");
  {
    const auto second = packed_table::open(here / "table");
    std::thread other([&] { (void)decoded(second.column<std::int32_t>("price")); });
    (void)decoded(first.column<std::int32_t>("price"));
    other.join();
    saved.check(second);
  }
  save_packed_table(here / "table", {{"other", pack(reference(), saved.codes)}});
  saved.check(first);
  CHECK(packed_table::open(here / "table").names() == std::vector<std::string>{"other"});
  CHECK(here.files() == 1);
}

TEST_CASE("asking a packed table for what it has not got") {
  const folder here;
  example{}.save(here / "table");
  const auto table = packed_table::open(here / "table");
  expect_error(invalid, {"table'", "no column 'prices'"}, [&] { (void)table.column<std::int32_t>("prices"); });
  expect_error(invalid, {"no column ''"}, [&] { (void)table.type(""); });
  expect_error(invalid, {"table'", "'price'", "int32", "uint32"}, [&] { (void)table.column<std::uint32_t>("price"); });
}

TEST_CASE("files that are no packed table") {
  const folder here;
  expect_error(invalid, {"missing"}, [&] { (void)packed_table::open(here / "missing"); });
  std::filesystem::create_directory(here / "folder");
  expect_error(invalid, {"folder", "not a file"}, [&] { (void)packed_table::open(here / "folder"); });
  expect_error(invalid, {"null", "not a file"}, [&] { (void)packed_table::open("/dev/null"); });
  write_file(here / "nothing", {});
  expect_error(corrupt, {"nothing"}, [&] { (void)packed_table::open(here / "nothing"); });
  write_file(here / "short", bytes(63));
  expect_error(corrupt, {"short"}, [&] { (void)packed_table::open(here / "short"); });
  write_file(here / "zeros", bytes(4096));
  expect_error(corrupt, {"zeros", "ZPTB"}, [&] { (void)packed_table::open(here / "zeros"); });
}

TEST_CASE("packed tables that cannot be written leave nothing behind") {
  const folder here;
  const example saved;
  expect_error(invalid, {"nowhere"}, [&] { saved.save(here / "nowhere" / "table"); });
  expect_error(invalid, {"/proc/"}, [&] { saved.save("/proc/zenith.table"); });
  expect_error(invalid, {"names no file"}, [&] { saved.save(here / ""); });
  std::filesystem::create_directory(here / "taken");
  write_file(here / "taken" / "by", bytes(3));
  expect_error(invalid, {"taken"}, [&] { saved.save(here / "taken"); });
  CHECK(here.files() == 1);
  // neither what is no file, nor what a link to it leads to
  REQUIRE(::mkfifo((here / "pipe").c_str(), 0600) == 0);
  std::filesystem::create_symlink("pipe", here / "link");
  std::filesystem::create_symlink("circle", here / "circle");
  for (const char* name : {"pipe", "link"}) {
    expect_error(invalid, {name, "not a file"}, [&] { saved.save(here / name); });
  }
  expect_error(invalid, {"circle"}, [&] { saved.save(here / "circle"); });
  CHECK(std::filesystem::is_fifo(here / "pipe"));
  CHECK(std::filesystem::is_symlink(here / "link"));
  CHECK(here.files() == 4);
}

TEST_CASE("a packed table is saved where links lead, with the permissions of what it replaces") {
  const folder here;
  const example saved;
  std::filesystem::create_directory(here / "below");
  std::filesystem::create_symlink("below/link", here / "link");
  std::filesystem::create_symlink("table", here / "below/link");
  for (const auto permissions : {std::filesystem::perms{0640}, std::filesystem::perms{0600}}) {
    saved.save(here / "link");  // first to where nothing is
    CHECK(std::filesystem::is_symlink(here / "link"));
    CHECK(std::filesystem::is_symlink(here / "below/link"));
    saved.check(packed_table::open(here / "below/table"));
    std::filesystem::permissions(here / "below/table", permissions);
    saved.save(here / "below/table");
    CHECK(std::filesystem::status(here / "below/table").permissions() == permissions);
  }
  const std::string longest(255, 'a');
  saved.save(here / longest.c_str());
  saved.check(packed_table::open(here / longest.c_str()));
  CHECK(here.files() == 3);
}

TEST_CASE("names that a packed table does not take") {
  const folder here;
  const auto column = pack(reference(), counting<std::int32_t>(5, 1));
  save_packed_table(here / "table", {{"good", column}});
  const auto refuses = [&](std::string_view why, std::initializer_list<named_packed_column> columns) {
    expect_error(invalid, {"table'", why}, [&] { save_packed_table(here / "table", columns); });
  };
  refuses("column 1 is empty", {{"a", column}, {"", column}});
  refuses("1024", {{std::string(1025, 'a'), column}});
  refuses("control", {{"a\nb", column}});
  refuses("control", {{std::string("a\0b", 3), column}});
  refuses("'twice'", {{"twice", column}, {"once", column}, {"twice", column}});
  refuses("no bytes", {{"a", packed_view<std::int32_t>{}}});
  CHECK(packed_table::open(here / "table").contains("good"));
  CHECK(here.files() == 1);
  save_packed_table(here / "table", {{std::string(1024, 'a'), column}});
  CHECK(packed_table::open(here / "table").contains(std::string(1024, 'a')));
}

TEST_CASE("a packed table that is cut short or damaged anywhere is corrupt") {
  const folder here;
  example{}.save(here / "table");
  const auto whole = read_file(here / "table");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    try {
      (void)packed_table::parse(cut);
      FAIL_CHECK("took " << size << " of " << whole.size() << " bytes");
    } catch (const error& refused) {
      if (refused.code() != corrupt) FAIL_CHECK(refused.what());
    }
  }
  auto flipped = whole;
  for (std::size_t bit = 0; bit < whole.size() * 8; bit += bit < 8192 ? 1 : 7) {
    flipped[bit / 8] ^= std::byte{1} << (bit % 8);
    try {
      (void)packed_table::parse(flipped);
      FAIL_CHECK("bit " << bit);
    } catch (const error& refused) {
      if (refused.code() != corrupt) FAIL_CHECK(refused.what());
    }
    flipped[bit / 8] = whole[bit / 8];
  }
  // on the disk, with the file's name
  flipped[whole.size() - 100] ^= std::byte{1};
  write_file(here / "damaged", flipped);
  expect_error(corrupt, {"damaged", "'x'"}, [&] { (void)packed_table::open(here / "damaged"); });
}

TEST_CASE("a packed table with a forged directory is corrupt") {
  const folder here;
  const auto column = pack(reference(), counting<std::int32_t>(5, 1));
  save_packed_table(here / "table", {{"ab", column}, {"ac", column}});
  const auto whole = read_file(here / "table");
  constexpr std::size_t head = 128;
  REQUIRE(whole.size() == head + 2 * column.bytes().size());
  const auto refuses = [&](std::string_view why, auto&& change) {
    auto forged = whole;
    change(forged);
    seal_head(forged, std::min(head, forged.size()));
    expect_error(corrupt, {why}, [&] { (void)packed_table::parse(forged); });
  };
  constexpr std::uint64_t most = ~std::uint64_t{0};
  using std::uint64_t;
  const uint64_t size = column.bytes().size();
  refuses("version 9", [](bytes& to) { unit::write(to, 4, std::uint16_t{9}); });
  refuses("reserved", [](bytes& to) { unit::write(to, 6, std::uint16_t{1}); });
  refuses("reserved", [](bytes& to) { unit::write(to, 56, uint64_t{1}); });
  for (const uint64_t columns : {uint64_t{1} << 60, most, most / 16, uint64_t{100}}) {
    refuses("more columns", [&](bytes& to) { unit::write(to, 8, columns); });
  }
  for (const uint64_t columns : {0, 1, 3}) {
    refuses("", [&](bytes& to) { unit::write(to, 8, columns); });
  }
  for (const uint64_t names : {most, most - 63, uint64_t{1} << 63, size * 3}) {
    refuses("names", [&](bytes& to) { unit::write(to, 32, names); });
  }
  for (const uint64_t names : {0, 3, 5}) {
    refuses("", [&](bytes& to) { unit::write(to, 32, names); });
  }
  for (const uint64_t length : {most, most - 63, uint64_t{0} - size, size + 1, size * 3}) {
    refuses("columns do not follow", [&](bytes& to) { unit::write(to, 64, length); });
  }
  refuses("'ab'", [&](bytes& to) { unit::write(to, 64, uint64_t{0}); });
  refuses("'ab'", [&](bytes& to) { unit::write(to, 64, size * 2); });
  refuses("'ac'", [&](bytes& to) { unit::write(to, 80, size - 64); });
  for (const uint64_t end : {most, uint64_t{5}}) {
    refuses("names do not follow", [&](bytes& to) { unit::write(to, 72, end); });
  }
  refuses("names do not follow", [&](bytes& to) { unit::write(to, 88, uint64_t{1}); });
  refuses("of no column", [&](bytes& to) { unit::write(to, 88, uint64_t{3}); });
  refuses("empty", [&](bytes& to) { unit::write(to, 72, uint64_t{0}); });
  refuses("called 'ab'", [&](bytes& to) { to[99] = std::byte{'b'}; });
  refuses("control", [&](bytes& to) { to[99] = std::byte{0}; });
  refuses("control", [&](bytes& to) { to[99] = std::byte{127}; });
  for (const std::size_t at : {100, 127}) {
    refuses("behind its names", [&](bytes& to) { to[at] = std::byte{1}; });
  }
  auto longer = whole;
  longer.resize(whole.size() + 64);
  unit::write(longer, 16, uint64_t{longer.size()});
  seal_head(longer, head);
  expect_error(corrupt, {"of no column"}, [&] { (void)packed_table::parse(longer); });
}
