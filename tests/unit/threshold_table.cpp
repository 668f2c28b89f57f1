// Threshold tables in files: what is saved comes back, and damage is found.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include <algorithms/threshold_table/src/file.hpp>
#include <catch.hpp>
#include <expect_error.hpp>
#include <settings.hpp>
#include <zenith/threshold_table.hpp>

using namespace zenith;
using zenith_test::expect_error;

namespace {

constexpr auto corrupt = error_code::corrupt_data;
constexpr auto invalid = error_code::invalid_argument;

// A file's bytes as `parse` takes them: aligned, and not one more, so that a read past the end is seen.
class aligned_bytes {
 public:
  explicit aligned_bytes(std::size_t size)
      : size_(size), data_(static_cast<std::byte*>(::operator new (size, std::align_val_t{64}))) {}
  explicit aligned_bytes(const std::vector<char>& from) : aligned_bytes(from.size()) {
    if (!from.empty()) std::memcpy(data_.get(), from.data(), from.size());
  }
  [[nodiscard]] std::span<std::byte> all() { return {data_.get(), size_}; }
  template <class Field>
  [[nodiscard]] Field read(std::size_t at) const {
    Field field;
    std::memcpy(&field, data_.get() + at, sizeof field);
    return field;
  }
  template <class Field>
  void write(std::size_t at, Field field) {
    std::memcpy(data_.get() + at, &field, sizeof field);
  }
  void seal() { write(24, packed::checksum(all())); }

 private:
  struct freed {
    void operator()(std::byte* at) const { ::operator delete (at, std::align_val_t{64}); }
  };
  std::size_t size_;
  std::unique_ptr<std::byte[], freed> data_;
};

class saved_table {
 public:
  template <class T>
  explicit saved_table(const threshold_table<T>& table)
      : file_(std::filesystem::temp_directory_path() / ("zenith-tt-" + std::to_string(std::random_device{}()))) {
    table.save(file_);
  }
  saved_table(const saved_table&) = delete;
  saved_table& operator=(const saved_table&) = delete;
  ~saved_table() { std::filesystem::remove(file_); }

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] std::vector<char> bytes() const {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path file_;
};

template <class T>
threshold_table<T> some_table(std::size_t rows, std::size_t columns, const table_options& options) {
  std::mt19937_64 random(rows + columns);
  std::vector<std::vector<T>> values(columns, std::vector<T>(rows));
  column_set<T> set;
  for (auto& column : values) {
    for (auto& one : column) one = static_cast<T>(static_cast<std::int32_t>(random() % 1000) - 500);
    if (rows > 0) column[random() % rows] = std::numeric_limits<T>::max();
    if (std::is_floating_point_v<T> && rows > 0) column[random() % rows] = std::numeric_limits<T>::quiet_NaN();
    set.add(column);
  }
  return threshold_table<T>::build(set, options);
}

template <class T>
auto best_of(const threshold_table<T>& table, std::size_t k) {
  std::vector<score_t<T>> weights(table.columns(), 1);
  weights.back() = -2;
  const auto best = top_k(cpu({.threads = 1}), table, weights, k, {.strategy = "blocks"});
  return std::pair{best.keys, best.indices};
}

template <class T>
void comes_back(const table_options& options) {
  for (const std::size_t rows : {0, 1, 64, 3001}) {
    for (const std::size_t columns : {1, 3}) {
      const auto table = some_table<T>(rows, columns, options);
      const saved_table saved(table);
      const auto opened = threshold_table<T>::open(saved.file());
      CHECK(opened.rows() == rows);
      CHECK(opened.columns() == columns);
      CHECK(opened.blocks() == table.blocks());
      CHECK(opened.partitions() == table.partitions());
      CHECK(opened.bytes() == table.bytes());
      CHECK(best_of(opened, rows / 2) == best_of(table, rows / 2));
      aligned_bytes bytes(saved.bytes());
      CHECK(best_of(threshold_table<T>::parse(bytes.all()), rows / 2) == best_of(table, rows / 2));
      // what was opened can be saved, to the same bytes
      CHECK(saved_table(opened).bytes() == saved.bytes());
    }
  }
}

// What is accepted must be harmless to query, whatever it holds.
bool is_accepted(std::span<const std::byte> bytes) {
  try {
    const auto table = threshold_table<float>::parse(bytes);
    (void)best_of(table, std::min<std::size_t>(table.rows(), 20));
    return true;
  } catch (const error& refused) {
    CHECK((refused.code() == corrupt || refused.code() == invalid));
    return false;
  }
}

}  // namespace

TEST_CASE("a threshold table comes back as it was saved") {
  const table_options partitions{.layout = table_layout::partitions, .block_rows = 7, .partitions = 16};
  comes_back<float>({});
  comes_back<float>(partitions);
  comes_back<double>(partitions);
  auto regular = partitions;
  regular.splits = angle_splits::regular;
  comes_back<float>(regular);
  comes_back<std::int32_t>({});
  comes_back<std::uint32_t>({});
}

TEST_CASE("an opened threshold table outlives its file's name") {
  threshold_table<float> opened;
  const auto table = some_table<float>(500, 2, {});
  {
    const saved_table saved(table);
    opened = threshold_table<float>::open(saved.file());
    table.save(saved.file());  // in its place, while it is open
  }
  CHECK(best_of(opened, 50) == best_of(table, 50));
}

TEST_CASE("a threshold table's file says what is wrong with it") {
  const auto missing = std::filesystem::temp_directory_path() / "zenith-no-such-table";
  expect_error(invalid, {"threshold table '", "zenith-no-such-table' cannot be read"},
               [&] { (void)threshold_table<float>::open(missing); });
  expect_error(invalid, {"threshold table '", "it has no columns"}, [&] { threshold_table<float>{}.save(missing); });
  expect_error(invalid, {"cannot be written"},
               [&] { some_table<float>(3, 1, {}).save(missing / "there is no such folder"); });
  const saved_table saved(some_table<float>(300, 2, {}));
  expect_error(invalid, {saved.file().string(), "its columns are of float32, not of int32"},
               [&] { (void)threshold_table<std::int32_t>::open(saved.file()); });
  const auto good = saved.bytes();
  aligned_bytes shifted(good.size() + 4);
  expect_error(invalid, {"multiple of 64"}, [&] { (void)threshold_table<float>::parse(shifted.all().subspan(4)); });

  struct damage {
    std::size_t at;
    std::uint64_t to;
    std::size_t bytes;
    std::string_view says;
  };
  const damage all[] = {{0, 'X', 1, "does not begin with"},
                        {4, 2, 2, "version 2"},
                        {6, 4, 1, "its type"},
                        {7, 1, 1, "reserved"},
                        {8, 0xffffffff, 8, "more than 2^32 - 2 rows"},
                        {8, 301, 8, "fewer than its rows"},
                        {8, 299, 8, "blocks do not follow"},
                        {16, 64, 8, "by its header, but"},
                        {32, 299, 8, "fewer than its rows"},
                        {32, std::uint64_t{1} << 32, 8, "more than 2^32 - 1"},
                        {32, 100000, 8, "sizes contradict"},
                        {40, 301, 4, "rows, blocks and partitions contradict"},
                        {40, 4, 4, "blocks do not follow"},
                        {44, 0, 4, "rows, blocks and partitions contradict"},
                        {44, 6, 4, "rows, blocks and partitions contradict"},
                        {48, 0, 4, "no column"},
                        {48, 65, 4, "more than 64"},
                        {48, 3, 4, "sizes contradict"},
                        {52, 0, 4, "blocks have no row"},
                        {52, 1025, 4, "over 1024"},
                        {52, 63, 4, "blocks do not follow"},
                        {56, 1, 8, "reserved"}};
  for (const auto& one : all) {
    aligned_bytes bytes(good);
    std::memcpy(bytes.all().data() + one.at, &one.to, one.bytes);
    bytes.seal();
    expect_error(corrupt, {"threshold table: ", one.says}, [&] { (void)threshold_table<float>::parse(bytes.all()); });
  }
  aligned_bytes unsealed(good);
  unsealed.write(100, 1.5F);
  expect_error(corrupt, {"checksum"}, [&] { (void)threshold_table<float>::parse(unsealed.all()); });
}

TEST_CASE("a threshold table whose parts contradict each other is refused") {
  const auto table = some_table<float>(300, 2, {});
  const saved_table saved(table);
  const auto good = saved.bytes();
  const auto& of = detail::layout_of(*table.storage());
  const auto refused = [&](std::uint64_t at, auto value, std::string_view says) {
    aligned_bytes bytes(good);
    bytes.write(64 + at, value);
    bytes.seal();
    expect_error(corrupt, {says}, [&] { (void)threshold_table<float>::parse(bytes.all()); });
  };
  const auto ids = "ids and positions";
  refused(of.ids, std::uint32_t{300}, ids);
  refused(of.ids, ~std::uint32_t{0}, ids);
  refused(of.ids + 4, aligned_bytes(good).read<std::uint32_t>(64 + of.ids), ids);
  refused(of.positions, ~std::uint32_t{0}, ids);
  refused(of.positions, std::uint32_t{1 << 30}, ids);
  const auto blocks = "blocks do not follow";
  refused(of.begins, std::uint32_t{1}, blocks);
  refused(of.begins + 4, std::uint32_t{0}, blocks);
  refused(of.begins + 4, std::uint32_t{65}, blocks);
  refused(of.begins + 5 * 4, std::uint32_t{301}, blocks);
  refused(of.partition_begins + 4, std::uint32_t{4}, "partitions do not follow");
  refused(of.partition_begins, ~std::uint32_t{0}, "partitions do not follow");
  const auto extremes = "extremes are not those";
  refused(of.values, 1e9F, extremes);
  for (const auto* one : {&of.of_blocks, &of.of_groups, &of.of_partitions, &of.behind_blocks}) {
    const auto item = one == &of.behind_blocks ? 0 : one->count - 1;
    refused(one->maxima + item * 4, std::nanf(""), extremes);
    refused(one->minima + (one->stride + item) * 4, 0.25F, extremes);
    refused(one->nans + item * 8, std::uint64_t{4}, extremes);
    refused(one->first_ids + item * 4, std::uint32_t{299}, extremes);
  }
}

TEST_CASE("no damage of a threshold table's bytes does harm") {
  const auto table = some_table<float>(257, 2, {.block_rows = 16});
  const saved_table saved(table);
  const auto good = saved.bytes();
  for (std::size_t size = 0; size < good.size(); size += size < 200 ? 1 : 61) {
    aligned_bytes cut(std::vector<char>(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)));
    CHECK_FALSE(is_accepted(cut.all()));
    if (size < 64 || size % 64 != 0) continue;
    cut.write(16, std::uint64_t{size});
    cut.seal();
    CHECK_FALSE(is_accepted(cut.all()));
  }
  for (std::size_t at = 0; at < good.size(); at += 1 + at / 16 % 5) {
    aligned_bytes bytes(good);
    bytes.write(at, static_cast<char>(good[at] ^ (1 << at % 8)));
    CHECK_FALSE(is_accepted(bytes.all()));
  }
  // with the checksum put right
  std::mt19937_64 random(zenith_test::seed_of("table.damage", 0));
  const int rounds = static_cast<int>(zenith_test::scale() * 3000);
  int accepted = 0;
  for (int i = 0; i < rounds; ++i) {
    aligned_bytes bytes(good);
    const auto changes = 1 + random() % 3;
    for (std::uint64_t c = 0; c < changes; ++c) {
      const auto at = random() % (random() % 2 == 0 ? 64 : good.size());
      bytes.write(at, static_cast<char>(random()));
    }
    bytes.seal();
    accepted += is_accepted(bytes.all()) ? 1 : 0;
  }
  CHECK(accepted < rounds);  // a value between the extremes may change
}
