// Tables that are built in a device's memory, by way of the public calls: a device whose memory is the host's, and
// whose kernels run on the sequential context.

#include <algorithms/threshold_build/strategies.hpp>
#include <algorithms/threshold_table/strategies.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <algorithms/threshold_table/src/storage.hpp>
#include <catch.hpp>
#include <expect_error.hpp>
#include <sequential_backend.hpp>
#include <zenith/threshold_table.hpp>
#include <zenith/updatable_threshold_table.hpp>

using namespace zenith;

namespace {

constexpr std::size_t alignment = 64;
std::size_t copies_to_the_host = 0;

const backend& device_of_tests() {
  static const auto kernels = [] {
    const auto builds =
        zenith_test::sequential_table<threshold_build_family::kernels, threshold_build_family::strategies>;
    std::vector<kernel> all(builds.begin(), builds.end());
    const auto queries =
        zenith_test::sequential_table<threshold_table_family::kernels, threshold_table_family::strategies>;
    all.insert(all.end(), queries.begin(), queries.end());
    return all;
  }();
  static const backend device{
      .name = "sequential device",
      .description = "the sequential context",
      .needs = "nothing",
      .memory = memory_space::device,
      .kernels = kernels,
      .allocate = [](const execution&,
                     std::size_t bytes) { return ::operator new (bytes, std::align_val_t{alignment}); },
      .deallocate = [](const execution&, void* at,
                       std::size_t) noexcept { ::operator delete (at, std::align_val_t{alignment}); },
      .copy =
          [](const execution&, void* to, memory_space to_space, const void* from, memory_space from_space,
             std::size_t bytes) {
            copies_to_the_host += from_space == memory_space::device && to_space == memory_space::host ? 1 : 0;
            std::memcpy(to, from, bytes);
          },
      .synchronize = [](const execution&) {}};
  return device;
}

executor on_device() {
  execution settings;
  settings.target = &device_of_tests();
  return executor(settings);
}

std::vector<std::vector<float>> drawn(std::size_t rows, std::size_t columns) {
  std::mt19937 random(static_cast<unsigned>(rows + columns));
  std::vector<std::vector<float>> values(columns, std::vector<float>(rows));
  for (auto& column : values) {
    for (auto& one : column) one = static_cast<float>(random() % 100000) / 1000;
  }
  return values;
}

struct temporary_file {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("zenith-tb-" + std::to_string(std::random_device{}()));

  temporary_file() = default;
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() { std::filesystem::remove(path); }
};

}  // namespace

TEST_CASE("a table that was built on a device is queried there and copied when the host asks for it", "[unit]") {
  const auto on = on_device();
  for (const std::size_t rows : {0, 1, 64, 20001}) {
    const auto values = drawn(rows, 4);
    column_set<float> here;
    std::vector<array<float>> arrays;
    device_column_set<float> there;
    for (const auto& column : values) {
      here.add(column);
      arrays.emplace_back(on, std::span<const float>(column));
    }
    for (const auto& one : arrays) there.add(std::as_const(one).device());
    const std::vector<float> weights{1, -2, 0, 0.5F};
    const std::size_t k = std::min<std::size_t>(rows, 20);
    const auto expected = top_k(cpu({.threads = 1}), here, weights, k);

    copies_to_the_host = 0;
    const auto of_host = device_threshold_table<float>::build(on, here);
    const auto of_device = device_threshold_table<float>::build(on, there);
    for (const auto* const table : {&of_host, &of_device}) {
      CHECK(table->host().rows() == rows);
      CHECK(table->residence() == table_residence::device);
      for (const char* const strategy : {"blocks", "scan", "gta_shared"}) {
        const auto found = top_k(on, *table, weights, k, {.strategy = strategy});
        CHECK(found.keys == expected.keys);
        CHECK(found.indices == expected.indices);
      }
    }
    CHECK(copies_to_the_host == 0);

    const auto by_cpu = top_k(cpu({.threads = 1}), of_host.host(), weights, k, {.strategy = "blocks"});
    CHECK(by_cpu.keys == expected.keys);
    CHECK(by_cpu.indices == expected.indices);
    CHECK(copies_to_the_host == 1);
    const temporary_file file;
    of_host.host().save(file.path);
    const auto opened = threshold_table<float>::open(file.path);
    CHECK(opened.rows() == rows);
    CHECK(opened.blocks() == of_host.host().blocks());
    CHECK(copies_to_the_host == 1);
    // the same bytes from the same columns, wherever they were
    CHECK(
        std::ranges::equal(detail::bytes_of(*of_host.host().storage()), detail::bytes_of(*of_device.host().storage())));
    const updatable_threshold_table<float> rows_of(of_host.host());
    CHECK(rows_of.rows() == rows);
  }
}

TEST_CASE("the cost model expects of a table on a device what it expects of its copy on the host", "[unit]") {
  const auto on = on_device();
  auto values = drawn(std::size_t{1} << 16, 6);
  for (std::size_t j = 1; j < values.size(); ++j) {
    for (std::size_t i = 0; i < values[j].size(); ++i) values[j][i] = 0.9F * values[0][i] + 0.1F * values[j][i];
  }
  column_set<float> set;
  for (const auto& column : values) set.add(column);
  const auto there = device_threshold_table<float>::build(on, set);
  const temporary_file file;
  there.host().save(file.path);
  const auto here = threshold_table<float>::open(file.path);
  // the rows that it holds of some blocks are those of the table
  const auto& sample = detail::sample_of<float>(*there.host().storage());
  const auto& of = detail::layout_of(*here.storage());
  const std::byte* const bytes = detail::bytes_of(*here.storage()).data();
  const auto* const begins = reinterpret_cast<const std::uint32_t*>(bytes + of.begins);
  REQUIRE(sample.block_counts.size() == sample.blocks.size());
  for (std::size_t s = 0; s < sample.blocks.size(); ++s) {
    const std::uint32_t begin = begins[sample.blocks[s]];
    REQUIRE(sample.block_counts[s] == begins[sample.blocks[s] + 1] - begin);
    for (std::size_t j = 0; j < set.size(); ++j) {
      const auto* const column = reinterpret_cast<const float*>(bytes + of.values) + j * of.row_stride;
      REQUIRE(std::equal(column + begin, column + begin + sample.block_counts[s],
                         sample.block_values.data() + (j * sample.blocks.size() + s) * sample.block_rows));
    }
  }
  const std::vector<std::uint32_t> columns{0, 2, 3, 5};
  for (const std::vector<double>& weights : {std::vector<double>{1, 1, 2, 0.5}, {-1, -1, -3, -1}, {1, -1, 2, 0.5}}) {
    for (const std::uint64_t k : {1, 2, 4, 8, 16, 64, 1000}) {
      CHECK(detail::expected_share(*there.host().storage(), columns, weights, k) ==
            detail::expected_share(*here.storage(), columns, weights, k));
    }
  }
}

TEST_CASE("a device makes a large table for the host, and the host others", "[unit]") {
  const auto on = on_device();
  const std::vector<float> weights{1, -2};
  for (const std::size_t rows : {detail::least_rows_made_there - 1, detail::least_rows_made_there}) {
    const auto values = drawn(rows, 2);
    const column_set<float> columns{values[0], values[1]};
    const bool is_large = rows == detail::least_rows_made_there;
    copies_to_the_host = 0;
    const auto table = threshold_table<float>::build(on, columns);
    CHECK(copies_to_the_host == (is_large ? 1U : 0U));
    CHECK(table.rows() == rows);
    const auto expected = top_k(cpu({.threads = 1}), columns, weights, 20);
    for (const char* const strategy : {"auto", "blocks", "scan"}) {
      const auto found = top_k(cpu({.threads = 1}), table, weights, 20, {.strategy = strategy});
      CHECK(found.keys == expected.keys);
      CHECK(found.indices == expected.indices);
    }
    const temporary_file file;
    table.save(file.path);
    CHECK(threshold_table<float>::open(file.path).blocks() == table.blocks());
    if (!is_large) continue;
    copies_to_the_host = 0;
    CHECK(threshold_table<float>::build(on, columns, {.layout = table_layout::partitions}).rows() == rows);
    CHECK(copies_to_the_host == 0);
    CHECK(threshold_table<float>::build(on, columns, {.sorted_lists = true}).has_sorted_lists());
    CHECK(copies_to_the_host == 0);
  }
}

TEST_CASE("a table on a device tells an executor of the host what to use instead", "[unit]") {
  using zenith_test::expect_error;
  constexpr auto invalid = error_code::invalid_argument;
  constexpr std::string_view remedy =
      "use an executor of one device, such as make_executor(\"cuda\"), or threshold_table";
  const auto values = drawn(100, 2);
  const column_set<float> columns{values[0], values[1]};
  const auto table = threshold_table<float>::build(columns);
  struct wrong {
    executor on;
    std::string_view says;
  };
  for (const auto& one : {wrong{make_executor("cpu"), "device_threshold_table: this executor works on host memory"},
                          wrong{make_executor("reference"), "this executor works on host memory"},
                          wrong{make_executor("auto"), "device_threshold_table: this executor is \"auto\""}}) {
    INFO(one.says);
    expect_error(invalid, {one.says, remedy}, [&] { (void)device_threshold_table<float>::build(one.on, columns); });
    for (const auto residence : {table_residence::device, table_residence::host_blocks}) {
      expect_error(invalid, {one.says, remedy}, [&] { (void)device_threshold_table<float>(one.on, table, residence); });
      expect_error(invalid, {one.says, remedy},
                   [&] { (void)device_threshold_table<float>(one.on, threshold_table<float>{}, residence); });
    }
  }

  const std::vector<float> weights{1, 2};
  for (const auto residence : {table_residence::device, table_residence::host_blocks}) {
    const device_threshold_table<float> there(on_device(), table, residence);
    for (const char* const strategy : {"auto", "blocks", "ta"}) {
      INFO(strategy);
      expect_error(invalid,
                   {"top_k: table is a device_threshold_table, but this executor works on host memory",
                    "use an executor of the table's device, or table.host()"},
                   [&] { (void)top_k(make_executor("cpu"), there, weights, 3, {.strategy = strategy}); });
    }
  }
}
