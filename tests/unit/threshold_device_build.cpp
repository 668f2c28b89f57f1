// Threshold tables as a device builds them, on the sequential context: what a reader of a file checks holds of them,
// and queries give what they give of a table that the host built, from about as many rows.

#include <algorithms/threshold_build/strategies.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <algorithms/threshold_table/src/storage.hpp>
#include <catch.hpp>
#include <expect_error.hpp>
#include <sequential_backend.hpp>
#include <tests/device/listing_context.hpp>
#include <zenith/threshold_table.hpp>

using namespace zenith;

namespace {

namespace family = threshold_build_family;

const executor& sequential() {
  static const executor on = [] {
    execution settings;
    settings.target = &zenith_test::sequential_backend<family::kernels, family::strategies>;
    return executor(settings);
  }();
  return on;
}

enum class kind { uniform, correlated, anticorrelated, equal, few_far_ones, few_values, rising, with_nan, infinite };
constexpr kind all_kinds[] = {kind::uniform, kind::correlated,   kind::anticorrelated,
                              kind::equal,   kind::few_far_ones, kind::few_values,
                              kind::rising,  kind::with_nan,     kind::infinite};

template <class T>
std::vector<std::vector<T>> drawn(std::size_t rows, std::size_t columns, kind of) {
  std::mt19937_64 random(rows * 100 + columns * 10 + static_cast<unsigned>(of));
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<std::vector<T>> values(columns, std::vector<T>(rows));
  const double far = std::is_same_v<T, double> ? 1e300 : 1e9;
  for (std::size_t i = 0; i < rows; ++i) {
    const double common = unit(random);
    double sum = 0;
    std::vector<double> own(columns);
    for (auto& one : own) sum += one = unit(random);
    for (std::size_t j = 0; j < columns; ++j) {
      double x = own[j];
      if (of == kind::correlated) x = 0.9 * common + 0.1 * x;
      if (of == kind::anticorrelated) x = 0.5 + 0.5 * (x - sum / static_cast<double>(columns));
      if (of == kind::equal) x = 0.25;
      if (of == kind::few_values) x = x < 0.5 ? 0.25 : 0.5;
      if (of == kind::rising) x = static_cast<double>(i) / static_cast<double>(rows);
      x *= 1e6;
      if (of == kind::few_far_ones && own[j] < 0.001) x = far * unit(random);
      values[j][i] = static_cast<T>(x);
      if constexpr (std::is_floating_point_v<T>) {
        using limits = std::numeric_limits<T>;
        if (of == kind::with_nan && own[j] < 0.01) values[j][i] = limits::quiet_NaN();
        if (of == kind::infinite && own[j] < 0.01)
          values[j][i] = own[j] < 0.005 ? limits::infinity() : limits::lowest();
      }
    }
  }
  return values;
}

/// A table that was built there and then went through a file, whose reader checks it.
template <class T>
threshold_table<T> built_there(const column_set<T>& columns, const table_options& options) {
  const auto made =
      detail::build_table_there(sequential(), detail::input_of_columns(columns), memory_space::host, options);
  const auto file = std::filesystem::temp_directory_path() / ("zenith-tb-" + std::to_string(std::random_device{}()));
  detail::save_table(made.get(), file);
  auto opened = threshold_table<T>::open(file);
  std::filesystem::remove(file);
  return opened;
}

struct evaluated {
  double here = 0;
  double there = 0;
};

template <class T>
void answer_the_same(const threshold_table<T>& here, const threshold_table<T>& there, unsigned seed, evaluated& seen) {
  std::mt19937_64 random(seed);
  const auto on = cpu({.threads = 1});
  for (int question = 0; question < 6; ++question) {
    std::vector<score_t<T>> weights(here.columns());
    for (auto& one : weights) {
      one = static_cast<score_t<T>>(random() % 3 == 0 ? 0 : static_cast<int>(random() % 9) - 4);
    }
    weights[random() % weights.size()] = 3;
    const std::size_t k = std::min<std::size_t>(here.rows(), question == 0 ? 1 : random() % 40);
    threshold_statistics of_here;
    threshold_statistics of_there;
    table_query_options options{.strategy = question == 1 ? "gta_shared" : "blocks"};
    if (question % 2 == 1) options.nans = nan_policy::first;
    if (question % 3 == 1) options.select = selection::smallest;
    options.statistics = &of_here;
    const auto expected = top_k(on, here, weights, k, options);
    options.statistics = &of_there;
    const auto found = top_k(on, there, weights, k, options);
    REQUIRE(found.indices == expected.indices);
    CHECK(std::ranges::equal(found.keys, expected.keys, [](auto a, auto b) { return a == b || (a != a && b != b); }));
    if (options.strategy != "blocks") continue;
    seen.here += static_cast<double>(of_here.rows_evaluated);
    seen.there += static_cast<double>(of_there.rows_evaluated);
  }
}

template <class T>
void check(std::size_t rows, std::size_t columns, kind of, std::uint32_t block_rows = 64) {
  INFO(rows << " rows, " << columns << " columns, kind " << static_cast<int>(of) << ", blocks of " << block_rows);
  const auto values = drawn<T>(rows, columns, of);
  column_set<T> set;
  for (const auto& column : values) set.add(column);
  const table_options options{.block_rows = block_rows};
  const auto there = built_there(set, options);
  CHECK(there.rows() == rows);
  CHECK(there.columns() == columns);
  evaluated seen;
  answer_the_same(threshold_table<T>::build(set, options), there, static_cast<unsigned>(rows + columns), seen);
}

}  // namespace

TEST_CASE("a table that a device builds answers what the host's does", "[unit]") {
  for (const auto of : all_kinds) {
    for (const std::size_t rows : {1, 2, 63, 64, 65, 1000, 1024, 1025, 5003}) check<float>(rows, 3, of);
    for (const std::size_t columns : {1, 2, 8, 9, 64}) check<float>(3001, columns, of);
    check<double>(9001, 5, of);
    check<std::int32_t>(4001, 10, of);
    check<std::uint32_t>(20011, 4, of);
  }
  check<float>(0, 3, kind::uniform);
  check<double>(3001, 64, kind::few_far_ones);
}

TEST_CASE("a device takes blocks of any size", "[unit]") {
  for (const std::uint32_t block_rows : {1, 2, 7, 100, 700, 1024}) {
    check<float>(6007, 3, kind::uniform, block_rows);
    check<double>(6007, 40, kind::few_values, block_rows);
  }
}

TEST_CASE("a device writes positions by windows of rows", "[unit]") {
  constexpr std::uint32_t window = family::put_positions::window_rows;
  for (const std::uint32_t rows : {1U, window, window + 1, 5 * window - 7}) {
    std::vector<std::uint32_t> ids(rows);
    std::iota(ids.begin(), ids.end(), 0U);
    std::ranges::shuffle(ids, std::mt19937_64(rows));
    std::vector<std::uint32_t> keys(rows);
    std::vector<std::uint32_t> listed(rows);
    std::vector<std::uint32_t> positions(rows);
    device_suite::device_like on;
    family::detail::write_positions(on, ids.data(), rows, keys.data(), listed.data(), positions.data());
    std::uint32_t wrong = 0;
    for (std::uint32_t p = 0; p < rows; ++p) wrong += positions[ids[p]] == p ? 0 : 1;
    CHECK(wrong == 0);
  }
}

/// Cuts and rows of few values too, so that words do not tell and numbers of rows decide.
template <class Route>
void check_deep_tree(std::uint32_t levels, std::uint32_t column_count, std::uint32_t most_value) {
  INFO(levels << " levels, " << column_count << " columns, values up to " << most_value);
  constexpr std::uint32_t rows = 3001;
  std::mt19937 random(levels * 100 + column_count);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  const auto value = [&] { return static_cast<float>(below(most_value + 1)) - static_cast<float>(most_value / 2); };
  std::vector<family::cell_cut<float>> nodes(std::size_t{1} << levels);
  for (auto& node : nodes) node = family::cell_cut<float>::make(value(), below(rows), below(column_count));
  std::vector<std::vector<float>> values(column_count, std::vector<float>(rows));
  family::input_columns<float> from{};
  from.columns = column_count;
  for (std::uint32_t j = 0; j < column_count; ++j) {
    std::ranges::generate(values[j], value);
    from.column[j] = values[j].data();
  }

  device_suite::device_like on;
  const auto order = family::word_order::of(levels);
  std::vector<int> taken(order.size());
  for (std::uint32_t level = 0; level < levels; ++level) {
    for (std::uint32_t at = 1U << level; at < 2U << level; ++at) ++taken.at(order.place(at, level));
  }
  CHECK(std::ranges::count(taken, 1) == static_cast<std::ptrdiff_t>(nodes.size()) - 1);
  auto* const words = on.zeroed<std::uint32_t>(order.size());
  on.for_each(nodes.size(), family::shorten_cuts<float>{nodes.data(), order, words});
  const auto stride = family::row_list<float>::padded(column_count);
  const family::row_list<float> to{on.buffer<float>(rows * stride), stride};
  std::vector<std::uint32_t> cells(rows);
  std::vector<std::uint32_t> numbers(rows);
  on.for_teams(Route::parts(rows),
               Route{from, from.column, nodes.data(), words, order, levels, rows, to, cells.data(), numbers.data()});
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < rows; ++i) {
    std::uint32_t at = 1;
    while (at < nodes.size()) at = 2 * at + (nodes[at].goes_right(values[nodes[at].column()][i], i) ? 1 : 0);
    wrong += cells[i] == at - nodes.size() && numbers[i] == i ? 0 : 1;
    for (std::uint32_t j = 0; j < column_count; ++j) wrong += to.at(i, j) == values[j][i] ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("rows go down a tree of any depth as its cuts say", "[unit]") {
  for (const std::uint32_t levels : {1, 2, 13, 14, 15, 16, 17, 18}) {
    for (const std::uint32_t most_value : {3U, 1000U, 1U << 23}) {
      check_deep_tree<family::route_short_rows<float>>(levels, 5, most_value);
      check_deep_tree<family::route_short_rows<float>>(levels, 8, most_value);
      check_deep_tree<family::route_long_rows<float>>(levels, 11, most_value);
    }
  }
}

TEST_CASE("a table that a device builds evaluates about as many rows as the host's", "[unit]") {
  constexpr std::size_t rows = std::size_t{1} << 17;
  for (const auto of : {kind::uniform, kind::correlated, kind::anticorrelated, kind::rising, kind::few_far_ones}) {
    for (const std::size_t columns : {2, 4, 8}) {
      INFO("kind " << static_cast<int>(of) << ", " << columns << " columns");
      const auto values = drawn<float>(rows, columns, of);
      column_set<float> set;
      for (const auto& column : values) set.add(column);
      const auto here = threshold_table<float>::build(set);
      const auto there = built_there(set, {});
      CHECK(there.blocks() <= here.blocks() + here.blocks() / 6);
      evaluated seen;
      for (unsigned seed = 0; seed < 8; ++seed) answer_the_same(here, there, seed, seen);
      CAPTURE(seen.here, seen.there);
      CHECK(seen.there <= 1.25 * seen.here);
    }
  }
}

TEST_CASE("a device says what it does not build", "[unit]") {
  using zenith_test::expect_error;
  const std::vector<float> column(100);
  const column_set<float> set{column};
  const auto build = [&](const table_options& options) {
    return detail::build_table_there(sequential(), detail::input_of_columns(set), memory_space::host, options);
  };
  expect_error(error_code::unsupported, {"partitions"}, [&] { (void)build({.layout = table_layout::partitions}); });
  expect_error(error_code::unsupported, {"sorted_lists"}, [&] { (void)build({.sorted_lists = true}); });
  expect_error(error_code::invalid_argument, {"block_rows"}, [&] { (void)build({.block_rows = 0}); });
}
