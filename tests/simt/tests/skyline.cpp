// The skyline, its bands and its layers by bitmap_tiles over the emulated CUDA backend, against a double loop.

#include <algorithm>
#include <cstdlib>
#include <string>

#include <catch.hpp>
#include <groups.hpp>
#include <settings.hpp>
#include <tables.hpp>
#include <tests/simt/backend/emulated_cuda.hpp>
#include <tests/simt/engine/kernel_words.hpp>
#include <zenith/skyband.hpp>
#include <zenith/skyline_layers.hpp>

using namespace conformance::skyline;

namespace {

zenith_test::target the_target(std::string_view operation) {
  zenith_test::register_emulated_cuda();
  if (std::getenv("ZENITH_SIMT_SEED") == nullptr) zenith::simt_engine::set_seed(zenith_test::seed());
  for (auto& one : zenith_test::targets(operation, {"cuda-emulated"})) {
    if (one.strategy == "bitmap_tiles") return one;
  }
  throw std::logic_error("the emulation has no bitmap_tiles");
}

template <class T>
void compare_with_double_loop(const std::string& label, int tables) {
  const auto on = the_target("skyline");
  zenith_test::verdict seen;
  constexpr auto shapes = static_cast<unsigned>(shape::with_nans) + (std::is_floating_point_v<T> ? 1 : 0);
  for (int number = 0; number < tables; ++number) {
    random_source random{zenith_test::seed_of(label, static_cast<std::uint64_t>(number))};
    const auto kind = static_cast<shape>(static_cast<unsigned>(number) % shapes);
    const std::size_t columns = 1 + random() % (random() % 4 == 0 ? zenith::most_skyline_columns : 12);
    const std::size_t rows = 1 + random() % (random() % 4 == 0 ? 700 : 300);
    const auto made = make_table<T>(kind, rows, columns, random);
    const auto asked = some_request(columns, random);
    zenith_test::judge(
        seen, {on}, random, [](const zenith_test::place& at) { return at.on_device ? 0 : 1; },
        [&] { return made.text() + " " + asked.text(); },
        [&](const zenith_test::place& at) { return fault_of(at.on, made, asked, expected(made, asked), random); });
  }
  seen.require_none();
}

/// Layers, in a loop of skylines.
std::vector<std::uint32_t> expected_layers(const table<float>& of, const request& asked) {
  std::vector<std::uint32_t> layers(of.rows, zenith::no_layer);
  auto left = rows_in(of, asked);
  for (std::uint32_t layer = 0; !left.empty(); ++layer) {
    std::vector<std::size_t> rest;
    for (const auto p : left) {
      const bool is_out = std::any_of(left.begin(), left.end(), [&](std::size_t q) {
        return compare_rows(of, asked, q, p) == relation::dominates;
      });
      if (is_out) {
        rest.push_back(p);
      } else {
        layers[p] = layer;
      }
    }
    left = rest;
  }
  return layers;
}

}  // namespace

TEST_CASE("emulated bitmap_tiles finds the skyline of a double loop") {
  compare_with_double_loop<float>("simt.skyline", static_cast<int>(22 * std::max(0.3, zenith_test::scale())));
  compare_with_double_loop<std::int64_t>("simt.skyline.int64", 5);
}

TEST_CASE("emulated bitmap_tiles finds an order where rounded sums are equal") {
  const auto on = the_target("skyline");
  random_source random{zenith_test::seed_of("simt.skyline.sums", 0)};
  for (const std::int32_t pairs : {3, 40}) {
    const auto number = static_cast<std::uint64_t>(2 * pairs);
    if (zenith_test::is_drawn("simt.skyline.sums", number)) {
      const auto made = table_of_close_sums(pairs);
      CHECK(fault_of(on, made, {}, expected(made, {}), random).empty());
    }
    if (zenith_test::is_drawn("simt.skyline.sums", number + 1)) {
      const auto longs = table_of_close_sums<std::int64_t>(pairs);
      CHECK(fault_of(on, longs, {}, expected(longs, {}), random).empty());
    }
  }
}

TEST_CASE("emulated bitmap_tiles finds a skyline of few rows and of many") {
  const auto on = the_target("skyline");
  zenith_test::verdict seen;
  for (const std::size_t rows : {4096, 4097}) {
    if (!zenith_test::is_drawn("simt.skyline.few", rows)) continue;
    random_source random{zenith_test::seed_of("simt.skyline.few", rows)};
    const auto made = table_of_neighbours<float>(rows, 3, random);
    for (const auto duplicates : {zenith::duplicate_rows::keep_all, zenith::duplicate_rows::keep_first}) {
      request asked;
      asked.duplicates = duplicates;
      seen.add(on, fault_of(on, made, asked, expected(made, asked), random));
    }
    const auto twins = table_of_twins<float>(rows, 3);
    const request first{.preferences = {}, .duplicates = zenith::duplicate_rows::keep_first};
    seen.add(on, fault_of(on, twins, first, expected(twins, first), random));
  }
  seen.require_none();
}

TEST_CASE("emulated bitmap_tiles finds the skylines of many groups") {
  const auto on = the_target("skyline");
  zenith_test::verdict seen;
  for (const std::size_t largest : {0, 4097}) {
    random_source random{zenith_test::seed_of("simt.skyline.groups", largest)};
    std::vector<std::size_t> sizes(largest == 0 ? 100 : 3000, 1);
    if (largest != 0) sizes.push_back(largest);
    auto made = make_table<float>(shape::antichain, largest == 0 ? 2048 : largest + 3000, 3, random);
    auto asked = some_request(3, random);
    asked.preferences.resize(3, zenith::preference::minimise);
    group_rows(made, asked, sizes, random);
    seen.add(on, fault_of(on, made, asked, expected_by_group(made, asked), random));
  }
  seen.require_none();
}

TEST_CASE("emulated bitmap_tiles finds the layers of a loop of skylines") {
  const auto on = the_target("skyline_layers");
  // the filter is compiled for some numbers of columns, and for any
  for (const std::size_t columns : {3, 4, 8, 12, 16, 17}) {
    for (const auto kind : {shape::independent, shape::few_values, shape::copies}) {
      random_source random{zenith_test::seed_of("simt.layers", columns * 16 + static_cast<std::uint64_t>(kind))};
      const auto made = make_table<float>(kind, 150, columns, random);
      std::vector<std::uint32_t> layers(made.rows);
      zenith::skyline_layers(on.on, zenith::matrix_view<const float>::row_major(made.values, made.rows, made.columns),
                             layers, {.strategy = on.strategy});
      CHECK(layers == expected_layers(made, {}));
    }
  }
}

namespace {

template <class T>
void check_band(const zenith_test::target& on, const table<T>& made, const request& asked, std::uint32_t k) {
  static const auto reference = zenith::make_executor("reference");
  const auto points = zenith::matrix_view<const T>::row_major(made.values, made.rows, made.columns);
  zenith::skyband_options options{
      .preferences = asked.preferences, .duplicates = asked.duplicates, .nans = zenith::nan_rows::drop};
  const auto right = zenith::skyband(reference, points, k, options);
  options.strategy = on.strategy;
  const auto found = zenith::skyband(on.on, points, k, options);
  INFO(made.text() << " " << asked.text() << " k=" << k);
  CHECK(found.ids == right.ids);
  CHECK(found.dominated_by == right.dominated_by);
}

}  // namespace

TEST_CASE("emulated bitmap_tiles finds the bands of the reference") {
  const auto on = the_target("skyband");
  for (const std::size_t columns : {1, 2, 4, 7, 8, 11, 12, 17, 32}) {
    for (const auto kind : {shape::independent, shape::few_values, shape::copies, shape::antichain, shape::with_nans}) {
      const auto number = columns * 16 + static_cast<std::uint64_t>(kind);
      if (!zenith_test::is_drawn("simt.bands", number)) continue;
      random_source random{zenith_test::seed_of("simt.bands", number)};
      const auto made = make_table<float>(kind, 20 + random() % 280, columns, random);
      const std::uint32_t k = random() % 4 == 0 ? ~std::uint32_t{0} : static_cast<std::uint32_t>(1 + random() % 24);
      check_band(on, made, some_request(columns, random), k);
    }
  }
}

TEST_CASE("emulated bitmap_tiles finds bands of rows in buckets, and where rounded sums are equal") {
  const auto on = the_target("skyband");
  random_source random{zenith_test::seed_of("simt.bands.order", 0)};
  check_band(on, make_table<float>(shape::antichain, 4500, 3, random), {}, 2);
  if (zenith_test::is_drawn("simt.bands.order", 0)) check_band(on, table_of_close_sums(10), {}, 3);
  if (zenith_test::is_drawn("simt.bands.order", 1)) check_band(on, table_of_close_sums<std::int64_t>(10), {}, 3);
}
