// The band and the layers by bitmaps as a device finds them, on the sequential context.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <catch.hpp>
#include <settings.hpp>
#include <tables.hpp>
#include <tests/unit/skyline_strategies_with.hpp>
#include <zenith/skyband.hpp>
#include <zenith/skyline_layers.hpp>

namespace {

using namespace conformance::skyline;

struct band {
  std::vector<std::uint64_t> ids;
  std::vector<std::uint32_t> dominated_by;
  zenith::skyline_statistics statistics;
};

template <class T>
band find(const table<T>& of, const request& asked, std::uint32_t k) {
  std::vector<const void*> columns(of.columns);
  for (std::size_t c = 0; c < of.columns; ++c) columns[c] = of.values.data() + c;
  auto preferences = asked.preferences;
  preferences.resize(of.columns, zenith::preference::minimise);
  band found;
  zenith::skyline_outcome outcome;
  zenith::skyband_call call;
  call.type = zenith::key_type_of<T>;
  call.columns = columns.data();
  call.column_count = static_cast<unsigned>(of.columns);
  call.rows = of.rows;
  call.row_stride = of.columns;
  call.preferences = preferences.data();
  call.nans = zenith::nan_rows::drop;
  call.duplicates = asked.duplicates;
  call.most = k;
  call.statistics = &found.statistics;
  call.outcome = &outcome;
  call.provide_state = &found;
  call.provide = [](void* state, std::uint64_t count) -> zenith::skyband_output {
    auto& to = *static_cast<band*>(state);
    to.ids.resize(count);
    to.dominated_by.resize(count);
    return {to.ids.data(), to.dominated_by.data()};
  };
  skyline_on_device::counting_device on;
  zenith::skyline_family::band_by_bitmaps::run(on, call);
  CHECK(outcome.count == found.ids.size());
  return found;
}

template <class T>
void check(const table<T>& of, const request& asked, std::uint32_t k) {
  INFO(of.text() << " " << asked.text() << " k=" << k << " seed " << zenith_test::seed());
  const auto points = zenith::matrix_view<const T>::row_major(of.values, of.rows, of.columns);
  const auto right = zenith::skyband(
      zenith::reference(), points, k,
      {.preferences = asked.preferences, .duplicates = asked.duplicates, .nans = zenith::nan_rows::drop});
  const auto found = find(of, asked, k);
  CHECK((found.ids == right.ids));
  CHECK((found.dominated_by == right.dominated_by));
}

template <class T>
void check_shapes(const std::string& label) {
  std::uint64_t number = 0;
  for (const auto one : {shape::independent, shape::few_values, shape::copies, shape::antichain, shape::all_equal}) {
    for (const std::size_t rows : {1, 64, 257, 700, 2500}) {
      if (!zenith_test::is_drawn(label, ++number)) continue;
      random_source random{zenith_test::seed_of(label, number)};
      const std::size_t columns = 1 + random() % (random() % 4 == 0 ? zenith::most_skyline_columns : 10);
      const auto made = make_table<T>(one, rows, columns, random);
      // up to 16 dominators there is a prefilter
      constexpr std::uint32_t ks[] = {1, 2, 3, 15, 16, 17, 40, ~std::uint32_t{0}};
      for (int some = 0; some < 3; ++some) {
        check(made, some_request(columns, random), ks[random() % std::size(ks)]);
      }
    }
  }
}

/// Of any two rows one dominates the other.
template <class T>
table<T> table_on_a_line(std::size_t rows, std::size_t columns, random_source& random) {
  table<T> made{"a line", rows, columns, {}};
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  for (const auto place : order) made.values.insert(made.values.end(), columns, static_cast<T>(place));
  return made;
}

/// No row dominates another: the last column falls as the sum of the others, which is exact, rises. `copies` of each.
table<float32> table_on_a_plane(std::size_t rows, std::size_t columns, std::size_t copies) {
  random_source random{zenith_test::seed_of("band memory", columns)};
  table<float32> made{"all in the band", rows, columns, {}};
  made.values.reserve(rows * columns);
  for (std::size_t i = 0; i < rows; ++i) {
    float32 sum = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      const auto at = i % copies == 0 ? made.values.size() : made.values.size() - columns;
      const auto value = static_cast<float32>(c == 0 ? i : random() % 1'000'000);
      made.values.push_back(i % copies != 0 ? made.values[at] : c + 1 < columns ? value : -sum);
      sum += made.values.back();
    }
  }
  return made;
}

}  // namespace

TEST_CASE("bands on the sequential context", "[skyline]") {
  check_shapes<float32>("bands of float32");
  check_shapes<std::int64_t>("bands of int64");
  random_source random{zenith_test::seed_of("bands on a line", 0)};
  for (const std::size_t columns : {3, 16, 17, 30}) {
    for (const std::uint32_t k : {1U, 2U, 16U, 17U}) check(table_on_a_line<float32>(500, columns, random), {}, k);
  }
  for (const int pairs : {3, 40}) {
    for (const std::uint32_t k : {1U, 2U, 3U}) {
      check(table_of_close_sums(pairs), {}, k);
      check(table_of_close_sums<std::int64_t>(pairs), {}, k);
    }
  }
  check(table_of_a_crowd(), {}, 1);
  check(table_of_a_crowd(), {}, 2);
}

TEST_CASE("a device's bands of more rows than a block, and a prefilter that leaves few", "[skyline]") {
  random_source random{zenith_test::seed_of("bands of blocks", 0)};
  if (zenith_test::is_drawn("bands of blocks", 0)) {
    check(make_table<float32>(shape::antichain, 18'000, 3, random), {}, 2);
  }
  request first;
  first.duplicates = zenith::duplicate_rows::keep_first;
  if (zenith_test::is_drawn("bands of blocks", 1)) check(table_on_a_plane(17'000, 3, 3), first, 1);
  const auto independent = make_table<float32>(shape::independent, 17'000, 4, random);
  check(independent, {}, 3);
  const auto found = find(independent, {}, 3);
  CHECK(found.statistics.candidates < independent.rows / 4);
  CHECK(found.statistics.mask_tests > 0);
}

// From some rows on, those that are in none of few layers are left out before.
TEST_CASE("a device's first layers of rows that a prefilter leaves", "[skyline]") {
  random_source random{zenith_test::seed_of("first layers", 0)};
  const auto made = make_table<float32>(shape::independent, 131'072 + random() % 1000, 3, random);
  const std::vector<const void*> begins{made.values.data(), made.values.data() + 1, made.values.data() + 2};
  const std::vector preferences(3, zenith::preference::minimise);
  const auto most = static_cast<std::uint32_t>(1 + random() % 5);
  std::vector<std::uint32_t> layers(made.rows);
  zenith::skyline_statistics seen;
  zenith::skyline_outcome outcome;
  zenith::skyline_layers_call call;
  call.type = zenith::key_type::float32;
  call.columns = begins.data();
  call.column_count = 3;
  call.rows = made.rows;
  call.row_stride = 3;
  call.preferences = preferences.data();
  call.most_layers = most;
  call.enough_rows = made.rows;
  call.statistics = &seen;
  call.outcome = &outcome;
  call.out_layers = layers.data();
  skyline_on_device::counting_device on;
  zenith::skyline_family::layers_by<zenith::skyline_family::bitmap_tiles>::run(on, call);
  const auto points = zenith::matrix_view<const float32>::row_major(made.values, made.rows, made.columns);
  // without a limit there is no prefilter
  auto right = zenith::skyline_layers(zenith::cpu(), points).layer_of;
  for (auto& layer : right) layer = layer < most ? layer : zenith::no_layer;
  INFO(most << " layers, seed " << zenith_test::seed());
  CHECK(outcome.count == most);
  CHECK((layers == right));
  CHECK(seen.candidates < made.rows / 8);
}

// As the page of skylines says: to sort the hashes of equal rows takes 16 bytes a row more than on a host.
TEST_CASE("memory of a band on a device", "[skyline][memory]") {
  constexpr std::size_t rows = 250'000;
  constexpr std::uint64_t little = std::uint64_t{2} << 20;
  skyline_on_device::skips_filters = true;
  for (const std::size_t columns : {3, 4, 8}) {
    for (const std::size_t copies : {1, 2}) {
      const auto made = table_on_a_plane(rows, columns, copies);
      const std::uint64_t input = rows * columns * sizeof(float32);
      for (const std::uint32_t k : {2U, 100U}) {
        skyline_on_device::most_bytes = 0;
        CHECK(find(made, {}, k).ids.size() == rows);
        const auto taken = skyline_on_device::most_bytes;
        INFO(columns << " columns, " << copies << " copies, k = " << k << ": "
                     << static_cast<double>(taken) / static_cast<double>(input) << " inputs, "
                     << static_cast<double>(taken) / static_cast<double>(rows) << " bytes a row");
        CHECK(taken <= std::max(2 * input, input + 48 * rows) + little);
      }
    }
  }
  skyline_on_device::skips_filters = false;
}
