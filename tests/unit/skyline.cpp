// The strategies of the skyline as a device runs them, on the sequential context against a double loop. What they do on
// hosts the conformance suite tests.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <catch.hpp>
#include <groups.hpp>
#include <settings.hpp>
#include <tables.hpp>
#include <tests/unit/skyline_on_device.hpp>

namespace {

using namespace conformance::skyline;

/// A table without its type.
struct untyped_table {
  zenith::key_type type;
  const void* values;
  std::size_t value_bytes;
  std::size_t rows;
  std::size_t columns;
};

std::vector<std::uint64_t> run(const skyline_on_device::named_strategy& strategy, const untyped_table& of,
                               const request& asked) {
  std::vector<const void*> columns(of.columns);
  for (std::size_t c = 0; c < of.columns; ++c) columns[c] = static_cast<const char*>(of.values) + c * of.value_bytes;
  auto preferences = asked.preferences;
  preferences.resize(of.columns, zenith::preference::minimise);
  std::vector<std::uint64_t> ids;
  zenith::skyline_outcome outcome;
  zenith::skyline_call call;
  call.type = of.type;
  call.columns = columns.data();
  call.column_count = static_cast<unsigned>(of.columns);
  call.rows = of.rows;
  call.row_stride = of.columns;
  call.preferences = preferences.data();
  call.duplicates = asked.duplicates;
  call.nans = asked.nans;
  call.provide_state = &ids;
  call.provide_ids = [](void* state, std::uint64_t count) -> void* {
    auto& to = *static_cast<std::vector<std::uint64_t>*>(state);
    to.resize(count);
    return to.data();
  };
  call.outcome = &outcome;
  strategy.run(call);
  CHECK(outcome.count == ids.size());
  return ids;
}

void check(const untyped_table& of, const std::string& name, const request& asked,
           const std::vector<std::uint64_t>& ids) {
  static const auto all = skyline_on_device::every_strategy();
  for (const auto& strategy : all) {
    INFO(strategy.name << " " << name << " n=" << of.rows << " d=" << of.columns << " " << asked.text() << " seed "
                       << zenith_test::seed());
    CHECK((run(strategy, of, asked) == ids));
  }
}

template <class T>
void check_shape(shape one, std::size_t rows, std::uint64_t number) {
  if (!zenith_test::is_drawn("sequential", number)) return;
  random_source random{zenith_test::seed_of("sequential", number)};
  const std::size_t columns = 1 + random() % 12;
  const auto made = make_table<T>(one, rows, columns, random);
  const auto asked = some_request(columns, random);
  check({zenith::key_type_of<T>, made.values.data(), sizeof(T), rows, columns}, made.name, asked,
        expected(made, asked));
}

}  // namespace

TEST_CASE("strategies on the sequential context", "[skyline]") {
  std::uint64_t number = 0;
  for (const auto one : every_shape) {
    for (const std::size_t rows : {1, 64, 65, 700, 2500}) {
      check_shape<float32>(one, rows, number++);
      check_shape<float64>(one, rows, number++);
      check_shape<int32>(one, rows, number++);
      check_shape<uint64>(one, rows, number++);
    }
  }
}

namespace {

/// Where a caller wants ids or a mask, on the sequential context.
enum class wanted { ids, ids_of_four_bytes, too_many_ids, ids_on_host, ids_of_four_bytes_on_host, mask };

const skyline_on_device::named_strategy& bitmap_tiles() {
  static const auto found = skyline_on_device::strategies_with<skyline_on_device::only_bitmap_tiles>().at(0);
  return found;
}

/// The skyline by bitmap_tiles to memory that is known before; empty where that is too small.
template <class T>
std::vector<std::uint64_t> by_bitmap_tiles(const table<T>& of, const request& asked, wanted form, std::size_t most,
                                           zenith::skyline_outcome& outcome) {
  constexpr auto unwritten = ~std::uint32_t{0};
  struct memory {
    std::vector<std::uint64_t> longs;
    std::vector<std::uint32_t> words;
    bool is_long;
  } here{std::vector<std::uint64_t>(most, unwritten), std::vector<std::uint32_t>(most, unwritten),
         form != wanted::ids_of_four_bytes && form != wanted::ids_of_four_bytes_on_host};
  std::vector<const void*> columns(of.columns);
  for (std::size_t c = 0; c < of.columns; ++c) columns[c] = of.values.data() + c;
  auto preferences = asked.preferences;
  preferences.resize(of.columns, zenith::preference::minimise);
  std::vector<std::uint8_t> mask(of.rows, 9);
  zenith::skyline_call call;
  call.type = zenith::key_type_of<T>;
  call.columns = columns.data();
  call.column_count = static_cast<unsigned>(of.columns);
  call.rows = of.rows;
  call.row_stride = of.columns;
  call.preferences = preferences.data();
  call.duplicates = asked.duplicates;
  call.nans = asked.nans;
  call.outcome = &outcome;
  const bool is_on_host = form == wanted::ids_on_host || form == wanted::ids_of_four_bytes_on_host;
  call.out_space = is_on_host ? zenith::memory_space::host : zenith::memory_space::device;
  if (form == wanted::mask) {
    call.out_mask = mask.data();
  } else {
    call.index_bytes = here.is_long ? 8 : 4;
    call.known_ids = here.is_long ? static_cast<void*>(here.longs.data()) : here.words.data();
    call.known_count = most;
    call.provide_state = &here;
    call.provide_ids = [](void* state, std::uint64_t count) -> void* {
      auto& to = *static_cast<memory*>(state);
      if (count > to.longs.size()) return nullptr;
      return to.is_long ? static_cast<void*>(to.longs.data()) : to.words.data();
    };
  }
  bitmap_tiles().run(call);
  if (form == wanted::mask) {
    std::vector<std::uint64_t> ids;
    for (std::size_t i = 0; i < of.rows; ++i) {
      if (mask[i] == 1) ids.push_back(i);
      CHECK(mask[i] <= 1);
    }
    return ids;
  }
  auto ids = here.longs;
  if (!here.is_long) ids.assign(here.words.begin(), here.words.end());
  while (!ids.empty() && ids.back() == unwritten) ids.pop_back();
  return ids;
}

template <class T>
void check_known(const table<T>& made, const request& asked, const std::vector<std::uint64_t>& ids) {
  INFO(made.name << " n=" << made.rows << " d=" << made.columns << " " << asked.text() << " seed "
                 << zenith_test::seed());
  for (const auto form : {wanted::ids, wanted::ids_of_four_bytes, wanted::too_many_ids, wanted::ids_on_host,
                          wanted::ids_of_four_bytes_on_host, wanted::mask}) {
    const bool is_small = form == wanted::too_many_ids && !ids.empty();
    zenith::skyline_outcome outcome;
    const auto found = by_bitmap_tiles(made, asked, form, is_small ? ids.size() - 1 : ids.size() + 2, outcome);
    CHECK(outcome.count == ids.size());
    CHECK((found == (is_small ? std::vector<std::uint64_t>{} : ids)));
  }
}
template <class T>
void check_known(const table<T>& made, const request& asked) {
  check_known(made, asked, expected(made, asked));
}

}  // namespace

TEST_CASE("ids in memory that is known before they are counted", "[skyline]") {
  for (const std::size_t rows : {1, 63, 64, 65, 256, 257, 700}) {
    for (const std::size_t columns : {2, 4, 7, 13, 20, 32}) {
      random_source random{zenith_test::seed_of("known", rows * 100 + columns)};
      check_known(table_of_neighbours<float32>(rows, columns, random), some_request(columns, random));
      check_known(table_of_neighbours<int64>(rows, columns, random), {});
    }
    random_source random{zenith_test::seed_of("known", rows)};
    request asked = some_request(3, random);
    asked.nans = zenith::nan_rows::drop;
    check_known(make_table<float64>(shape::with_nans, rows, 3, random), asked);
  }
}

TEST_CASE("few rows and many", "[skyline]") {
  for (const std::size_t rows : {4095, 4096, 4097}) {
    if (!zenith_test::is_drawn("few", rows)) continue;
    random_source random{zenith_test::seed_of("few", rows)};
    request asked;
    check_known(table_of_twins<float32>(rows, 3), asked);
    asked.duplicates = zenith::duplicate_rows::keep_first;
    check_known(table_of_neighbours<float32>(rows, 2, random), asked);
    if (zenith_test::is_drawn("few of 16 columns", rows)) check_known(table_of_twins<uint32>(rows, 16), asked);
  }
  for (const std::int32_t pairs : {3, 40}) {
    const auto number = static_cast<std::uint64_t>(2 * pairs);
    if (zenith_test::is_drawn("close sums", number)) check_known(table_of_close_sums(pairs), {});
    if (zenith_test::is_drawn("close sums", number + 1)) check_known(table_of_close_sums<int64>(pairs), {});
  }
}

TEST_CASE("many groups", "[skyline]") {
  for (const std::size_t groups : {80, 1000}) {
    for (const std::size_t columns : {3, 5, 20}) {
      random_source random{zenith_test::seed_of("groups", groups * 100 + columns)};
      const auto one = columns == 3 ? shape::few_values : shape::independent;  // rows of a group are equal, or not
      auto made = make_table<float32>(one, 2048 + random() % 1000, columns, random);
      auto asked = some_request(columns, random);
      asked.preferences.resize(columns, zenith::preference::minimise);
      if (columns == 3) asked.duplicates = zenith::duplicate_rows::keep_first;
      group_rows(made, asked, std::vector<std::size_t>(groups, 1), random);
      check_known(made, asked, expected_by_group(made, asked));
    }
  }
  // rows of one group of more than 4096 are left to the rounds: few of them, and many
  for (const auto one : {shape::independent, shape::antichain}) {
    random_source random{zenith_test::seed_of("sizes of groups", static_cast<std::uint64_t>(one))};
    std::vector<std::size_t> sizes(4500, 1);
    sizes.push_back(5000);
    auto made = make_table<int64>(one, 9500, 3, random);
    request asked;
    asked.preferences.resize(3, zenith::preference::minimise);
    group_rows(made, asked, sizes, random);
    check_known(made, asked, expected_by_group(made, asked));
  }
}

TEST_CASE("an order by buckets", "[skyline]") {
  for (const std::size_t columns : {3, 8, 20, 21}) {
    if (!zenith_test::is_drawn("buckets", columns)) continue;
    random_source random{zenith_test::seed_of("buckets", columns)};
    check_known(table_of_neighbours<float32>(4200 + random() % 1000, columns, random), some_request(columns, random));
    check_known(table_of_neighbours<int32>(4200 + random() % 1000, columns, random), {});
  }
  request first;
  first.duplicates = zenith::duplicate_rows::keep_first;
  check_known(table_of_twins<float32>(6000, 3), first);
  // a sample does not show that a bucket is too large
  check_known(table_of_a_crowd(), {});
}

TEST_CASE("a block of points and several", "[skyline]") {
  for (const std::size_t rows : {6000, 40'000}) {
    // every second row is dominated by some that no pivot is
    table<int32> made{"steps", rows, 2, {}};
    std::vector<std::uint64_t> ids;
    for (std::size_t i = 0; i < rows; ++i) {
      const auto x = static_cast<int32>(i / 2);
      const int32 more = i % 2 == 0 ? 0 : 2;
      made.values.insert(made.values.end(), {x + more, more - x});
      if (more == 0) ids.push_back(i);
    }
    check_known(made, {}, ids);
  }
}

TEST_CASE("bitmaps of a part of the points at a time", "[skyline]") {
  // of three rows the second equals the first, and they and others dominate the third
  table<int32> made{"steps with copies", 170'000, 2, {}};
  std::vector<std::uint64_t> with_copies;
  std::vector<std::uint64_t> firsts;
  for (std::size_t i = 0; i < made.rows; ++i) {
    const auto x = static_cast<int32>(i / 3);
    const int32 more = i % 3 == 2 ? 2 : 0;
    made.values.insert(made.values.end(), {x + more, more - x});
    if (more == 0) with_copies.push_back(i);
    if (i % 3 == 0) firsts.push_back(i);
  }
  zenith::skyline_outcome outcome;
  if (zenith_test::is_drawn("parts", 0)) {
    CHECK((by_bitmap_tiles(made, {}, wanted::ids, made.rows, outcome) == with_copies));
  }
  request first;
  first.duplicates = zenith::duplicate_rows::keep_first;
  if (zenith_test::is_drawn("parts", 1)) {
    CHECK((by_bitmap_tiles(made, first, wanted::ids, made.rows, outcome) == firsts));
  }
}

namespace {

/// All of which are in the skyline: the last column falls as the sum of the others, which is exact, rises.
table<float32> table_on_a_plane(std::size_t rows, std::size_t columns) {
  random_source random{zenith_test::seed_of("device memory", columns)};
  table<float32> made{"all in the skyline", rows, columns, {}};
  made.values.reserve(rows * columns);
  for (std::size_t i = 0; i < rows; ++i) {
    float32 sum = 0;
    for (std::size_t c = 0; c + 1 < columns; ++c) {
      made.values.push_back(static_cast<float32>(c == 0 ? i : random() % 1'000'000));
      sum += made.values.back();
    }
    made.values.push_back(columns == 1 ? 0 : -sum);
  }
  return made;
}

/// The most memory of a call, which finds all rows.
std::uint64_t bytes_for_all(const table<float32>& made, wanted form) {
  skyline_on_device::most_bytes = 0;
  zenith::skyline_outcome outcome;
  CHECK(by_bitmap_tiles(made, {}, form, made.rows, outcome).size() == made.rows);
  CHECK(skyline_on_device::most_bytes > 0);
  return skyline_on_device::most_bytes;
}

}  // namespace

// What a device takes beside the table: what the public header says.
TEST_CASE("memory of a skyline on a device", "[skyline][memory]") {
  constexpr std::size_t rows = 1'000'000;
  constexpr std::uint64_t bytes_of_row = 28;
  skyline_on_device::skips_filters = true;
  for (const std::size_t columns : {1, 2, 3, 4, 5, 8}) {
    if ((columns == 3 || columns == 4 || columns == 8) && zenith_test::scale() < 0.3) continue;
    const auto made = table_on_a_plane(rows, columns);
    const std::uint64_t input = rows * columns * sizeof(float32);
    for (const bool has_ties : {false, true}) {
      skyline_on_device::finds_ties = has_ties;
      for (const auto form : {wanted::ids_of_four_bytes, wanted::ids_on_host}) {
        const auto taken = bytes_for_all(made, form);
        INFO(columns << " columns, ties " << has_ties << ", form " << static_cast<int>(form) << ": "
                     << static_cast<double>(taken) / static_cast<double>(input) << " times the input, "
                     << static_cast<double>(taken) / rows << " bytes a row");
        CHECK(taken <= std::max(2 * input, rows * bytes_of_row));
      }
    }
  }
  skyline_on_device::skips_filters = false;
  skyline_on_device::finds_ties = false;
}

// Of equal rows none is left out before, and each is compared with the first alone.
TEST_CASE("memory of strategies by values on a device", "[skyline][memory]") {
  constexpr std::size_t rows = 300'000;
  constexpr std::uint64_t little = std::uint64_t{1} << 20;
  for (const std::size_t columns : {8, 12}) {
    const table<float32> made{"equal rows", rows, columns, std::vector<float32>(rows * columns, 1)};
    const std::uint64_t input = rows * columns * sizeof(float32);
    for (const auto& strategy : skyline_on_device::strategies_with<zenith::skyline_family::by_values>()) {
      skyline_on_device::most_bytes = 0;
      const auto ids =
          run(strategy, {zenith::key_type::float32, made.values.data(), sizeof(float32), rows, columns}, {});
      INFO(strategy.name << ", " << columns << " columns: "
                         << static_cast<double>(skyline_on_device::most_bytes) / static_cast<double>(input)
                         << " times the input");
      CHECK(ids.size() == rows);
      CHECK(skyline_on_device::most_bytes <= 2 * input + little);
    }
  }
}

TEST_CASE("a NaN that is rejected leaves memory for ids untouched", "[skyline]") {
  table<float32> made{"a NaN", 3, 2, {0, 1, 1, 0, 2, std::numeric_limits<float>::quiet_NaN()}};
  request asked;
  asked.nans = zenith::nan_rows::reject;
  zenith::skyline_outcome outcome;
  CHECK(by_bitmap_tiles(made, asked, wanted::ids, 3, outcome).empty());
  CHECK(outcome.has_nan);
  CHECK(outcome.nan_row == 2);
  CHECK(outcome.nan_column == 1);
}
