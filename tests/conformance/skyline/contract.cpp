// What the call promises beyond its results: errors, statistics, the choice.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catch.hpp>
#include <expect_error.hpp>
#include <tables.hpp>
#include <zenith/error.hpp>
#include <zenith/skyband.hpp>
#include <zenith/skyline_layers.hpp>

using namespace conformance::skyline;

using zenith_test::expect_error;

namespace {

using view = zenith::matrix_view<const float>;
constexpr auto wrong = zenith::error_code::invalid_argument;

/// Kokkos takes the host's memory, and may run on a device all the same.
bool runs_on_host(const zenith_test::target& on) {
  const auto here = zenith::machine::defaults();
  const auto& all = here.devices();
  const auto found = std::ranges::find(all, on.on.backend(), &zenith::device_profile::backend);
  return on.memory == zenith::memory_space::host && (found == all.end() || found->kind == zenith::device_kind::cpu);
}

}  // namespace

TEST_CASE("what a skyline refuses", "[skyline-contract]") {
  const std::vector<float> values(33 * 4, 1.0F);
  for (const auto& on : zenith_test::targets("skyline")) {
    INFO(on.name());
    std::vector<std::uint32_t> ids(4, 77);
    const zenith::skyline_options plain{.strategy = on.strategy};
    expect_error(wrong, {"points has no column"},
                 [&] { (void)zenith::skyline(on.on, view::row_major(values, 4, 0), ids, plain); });
    expect_error(wrong, {"points has 33 columns", "32"},
                 [&] { (void)zenith::skyline(on.on, view::row_major(values, 4, 33), ids, plain); });
    const std::vector preferences(3, zenith::preference::maximise);
    expect_error(wrong, {"options.preferences has 3 elements", "2 columns"}, [&] {
      (void)zenith::skyline(on.on, view::row_major(values, 4, 2), ids,
                            {.preferences = preferences, .strategy = on.strategy});
    });
    // values that no enumerator has
    constexpr auto unknown = std::uint8_t{77};
    const std::vector odd{zenith::preference::minimise, static_cast<zenith::preference>(unknown)};
    const auto nans = static_cast<zenith::nan_rows>(unknown);
    const auto duplicates = static_cast<zenith::duplicate_rows>(unknown);
    const auto points = view::row_major(values, 4, 2);
    expect_error(wrong, {"skyline: options.preferences[1] is 77, which is not one of the known ones"},
                 [&] { (void)zenith::skyline(on.on, points, ids, {.preferences = odd, .strategy = on.strategy}); });
    expect_error(wrong, {"skyline: options.nans is 77, which is not"},
                 [&] { (void)zenith::skyline(on.on, points, ids, {.nans = nans, .strategy = on.strategy}); });
    expect_error(wrong, {"skyline: options.duplicates is 77, which is not"}, [&] {
      (void)zenith::skyline(on.on, points, ids, {.duplicates = duplicates, .strategy = on.strategy});
    });
    expect_error(wrong, {"skyband: options.preferences[1] is 77, which is not"},
                 [&] { (void)zenith::skyband(on.on, points, 1, {.preferences = odd}); });
    expect_error(wrong, {"skyband: options.nans is 77, which is not"},
                 [&] { (void)zenith::skyband(on.on, points, 1, {.nans = nans}); });
    expect_error(wrong, {"skyband: options.duplicates is 77, which is not"},
                 [&] { (void)zenith::skyband(on.on, points, 1, {.duplicates = duplicates}); });
    expect_error(wrong, {"skyline_layers: options.duplicates is 77, which is not"},
                 [&] { (void)zenith::skyline_layers(on.on, points, {.duplicates = duplicates}); });
    expect_error(wrong, {"skyline_layers: options.preferences[1] is 77, which is not"},
                 [&] { (void)zenith::skyline_layers(on.on, points, {.preferences = odd}); });
    expect_error(wrong, {"skyline_layers: options.nans is 77, which is not"},
                 [&] { (void)zenith::skyline_layers(on.on, points, {.nans = nans}); });
    CHECK(ids == std::vector<std::uint32_t>(4, 77));
    std::vector<float> with_nan(values.begin(), values.begin() + 12);
    with_nan[2 * 3 + 1] = std::numeric_limits<float>::quiet_NaN();
    with_nan[3 * 3] = std::numeric_limits<float>::quiet_NaN();
    expect_error(wrong, {"points has a NaN in row 2, column 1", "drop", "worst"},
                 [&] { (void)zenith::skyline(on.on, view::row_major(with_nan, 4, 3), ids, plain); });
    expect_error(wrong, {"ids_out has 3 elements", "4 rows"},
                 [&] { (void)zenith::skyline(on.on, view::row_major(values, 4, 2), std::span(ids).first(3), plain); });
    std::vector<std::uint8_t> mask(3, 77);
    expect_error(wrong, {"mask_out has 3 elements", "4 rows"},
                 [&] { (void)zenith::skyline_mask(on.on, view::row_major(values, 4, 2), mask, plain); });
    CHECK(ids == std::vector<std::uint32_t>(4, 77));
    CHECK(mask == std::vector<std::uint8_t>(3, 77));
  }
}

TEST_CASE("a problem of no columns has no cost", "[skyline-contract]") {
  const auto here = zenith::machine::defaults();
  for (const unsigned columns : {0U, 33U}) {
    const zenith::skyline_problem problem{.rows = 1000, .columns = columns};
    expect_error(wrong, {"problem.columns is " + std::to_string(columns), "from 1 to 32"},
                 [&] { (void)zenith::decide(problem, here); });
    for (const auto& device : here.devices()) {
      expect_error(wrong, {"problem.columns is"}, [&] { (void)zenith::skyline_cost("sfs", problem, device); });
    }
  }
}

TEST_CASE("a table of no rows has a skyline and layers of none", "[skyline-contract]") {
  for (const auto& on : zenith_test::targets("skyline", {"cpu"})) {
    const auto points = view::row_major({}, 0, 3);
    CHECK(zenith::skyline(zenith::executor{}, points, {.strategy = on.strategy}).ids.empty());
    CHECK(zenith::skyline(on.on, points, {.strategy = on.strategy}).ids.empty());
  }
}

TEST_CASE("a strategy that no backend offers", "[skyline-contract]") {
  const std::vector<float> values(4, 1.0F);
  for (const auto& on : zenith_test::executors("skyline")) {
    INFO(on.executor_string);
    expect_error(zenith::error_code::unsupported, {"options.strategy is 'quick'", "it offers: "},
                 [&] { (void)zenith::skyline(on.on, view::row_major(values, 2, 2), {.strategy = "quick"}); });
  }
}

TEST_CASE("a matrix must lie within its span", "[skyline-contract]") {
  const std::vector<float> values(11, 1.0F);
  expect_error(wrong, {"matrix_view", "4 rows and 3 columns", "need 12 elements, values has 11"},
               [&] { (void)view::row_major(values, 4, 3); });
  expect_error(wrong, {"need 14 elements"}, [&] { (void)view::row_major(values, 4, 2, 4); });
  expect_error(wrong, {"need more elements"},
               [&] { (void)view::strided(values, 3, 3, std::numeric_limits<std::size_t>::max() / 2 + 1, 1); });
  CHECK(view::row_major(values, 5, 2).rows() == 5);
  CHECK(view::column_major({}, 0, 3).columns() == 3);
}

TEST_CASE("a choice is made and statistics are kept", "[skyline-contract]") {
  random_source random{7};
  // of 4 columns some hundred rows are left by the prefilter, of 8 more than are compared by their values on a host
  for (const std::size_t columns : {4, 8}) {
    const auto made = make_table<float>(shape::independent, 5000, columns, random);
    const auto points = view::row_major(made.values, made.rows, made.columns);
    const auto ids = expected(made, {});
    for (const auto& on : zenith_test::targets("skyline")) {
      INFO(on.name() << ", " << columns << " columns");
      zenith::skyline_statistics statistics;
      const auto found = zenith::skyline(on.on, points, {.strategy = on.strategy, .statistics = &statistics});
      CHECK(found.ids == ids);
      CHECK(statistics.candidates >= ids.size());
      CHECK(statistics.candidates <= made.rows);
      CHECK(statistics.dominance_tests > 0);
      CHECK(statistics.rounds > 0);
      REQUIRE(!statistics.by_round.empty());
      // the prefilter prunes what are no candidates; a few rows on a device are all decided with it
      if (statistics.by_round.size() > 1) CHECK(statistics.by_round[0].pruned >= made.rows - statistics.candidates);
      CHECK(statistics.by_round.back().seconds > 0);
      if (on.strategy == "skyalign") CHECK(statistics.mask_tests > 0);
      if (on.strategy == "bitmap_tiles") {
        const bool is_host = runs_on_host(on);
        if (statistics.candidates > (is_host ? 1024 : 4096)) CHECK(statistics.mask_tests > 0);
        if (is_host) CHECK((statistics.mask_tests > 0) == (columns == 8));
      }
      CHECK(zenith::skyline(on.on, points).ids == ids);
    }
    CHECK(zenith::skyline(zenith::executor{}, points).ids == ids);
  }
}

TEST_CASE("the expected size of a skyline", "[skyline-contract]") {
  // harmonic numbers: H(10^6) = 14.3927, and of order two (H^2 + H2) / 2
  CHECK(zenith::expected_skyline(1e6, 1) == Approx(1).epsilon(0.01));
  CHECK(zenith::expected_skyline(1e6, 2) == Approx(14.39).epsilon(0.01));
  CHECK(zenith::expected_skyline(1e6, 3) == Approx(104.4).epsilon(0.01));
  CHECK(zenith::expected_skyline(100, 2) == Approx(5.187).epsilon(0.02));
  CHECK(zenith::expected_skyline(0, 3) == 0);
  CHECK(zenith::expected_skyline(1, 3) == 1);
}

TEST_CASE("the choice is that of the measured times", "[skyline-contract]") {
  zenith::device_profile one;
  one.levels = {{"memory", std::uint64_t{1} << 40, 50e9, 50e9, 50e9}};
  for (const auto* name : {"bitmap_tiles", "skyalign", "sfs", "salsa", "ggs", "hybrid", "skyalign_no_sync"}) {
    one.offers.push_back(std::string{"skyline/"} + name);
  }
  auto host = one;
  host.backend = "cpu";
  host.grain_bytes = 512 * 1024;
  auto gpu = one;
  gpu.backend = "cuda";
  gpu.kind = zenith::device_kind::gpu;
  gpu.memory = zenith::memory_space::device;
  gpu.cores = 132;
  gpu.launch_overhead = 2.5e-6;
  const auto choice = [](const zenith::device_profile& on, std::uint64_t rows, unsigned columns, double independent) {
    const zenith::skyline_problem problem{rows, columns, zenith::key_type::float32, on.memory, independent};
    return zenith::decide(problem, zenith::machine{{on}}).strategy;
  };
  for (const unsigned columns : {2U, 3U, 4U, 6U, 8U, 12U, 16U}) {
    for (const std::uint64_t rows : {1000, 10'000, 100'000, 1'000'000}) {
      CHECK(choice(gpu, rows, columns, 0) == "bitmap_tiles");
    }
    // where few rows are left, it compares them as the best of the others does
    if (columns <= 4) CHECK(choice(host, 1000, columns, 0) == "bitmap_tiles");
    CHECK(choice(host, 1'000'000, columns, 1) == "bitmap_tiles");
    if (columns >= 6) CHECK(choice(host, 1'000'000, columns, columns) == "bitmap_tiles");
    if (columns >= 4) CHECK(choice(host, 10'000, columns, 1.8 * columns) == "bitmap_tiles");
  }
}

// Few rows wake no worker, so that a backend of one thread is no better choice.
TEST_CASE("one thread with short vectors is not chosen beside many with long ones", "[skyline-contract]") {
  zenith::device_profile many;
  many.backend = "cpu";
  many.cores = 16;
  many.simd_bytes = 64;
  many.grain_bytes = 512 * 1024;
  many.launch_overhead = 10e-6;
  many.levels = {{"L2", std::uint64_t{1} << 25, 1400e9, 700e9, 1400e9},
                 {"memory", std::uint64_t{1} << 40, 160e9, 80e9, 80e9}};
  many.rates["core.own_levels"] = 1;
  for (const auto* name : {"bitmap_tiles", "skyalign", "sfs", "salsa", "ggs", "hybrid"}) {
    many.offers.push_back(std::string{"skyline/"} + name);
  }
  auto one = many.with_threads(1);
  one.backend = "kokkos";
  one.simd_bytes = 16;
  one.launch_overhead = 0.2e-6;
  for (const unsigned columns : {2U, 3U, 4U, 8U, 12U, 16U}) {
    for (const std::uint64_t rows : {64U, 128U, 512U, 1024U, 2048U, 8192U, 65536U, 1'000'000U}) {
      const zenith::skyline_problem problem{rows, columns, zenith::key_type::float32, zenith::memory_space::host, 0};
      INFO(rows << " x " << columns);
      CHECK(zenith::decide(problem, zenith::machine{{many, one}}).backend == "cpu");
    }
  }
}

TEST_CASE("a problem knows how its columns hang together", "[skyline-contract]") {
  random_source random{11};
  const auto columns_of = [&](shape one, const zenith::skyline_options& options = {}) {
    const auto made = make_table<float>(one, 20000, 4, random);
    const auto problem = zenith::skyline_problem_of(view::row_major(made.values, made.rows, made.columns), options);
    CHECK((problem.rows == 20000 && problem.columns == 4));
    return problem.independent_columns;
  };
  const auto independent = columns_of(shape::independent);
  CHECK((independent > 2.5 && independent < 5.5));
  CHECK(columns_of(shape::antichain) > 20);
  CHECK(columns_of(shape::chain) < 1.5);
  const std::vector groups(4, zenith::preference::different);
  CHECK(columns_of(shape::independent, {.preferences = groups}) > 20);
  CHECK(zenith::skyline_problem_of(view::row_major(std::vector<float>(40), 10, 4)).independent_columns == 0);
}

TEST_CASE("a problem knows how many groups its rows are of", "[skyline-contract]") {
  random_source random{13};
  constexpr std::size_t rows = 20'000;
  auto made = make_table<float>(shape::chain, rows, 3, random);
  const auto problem_of = [&](std::size_t groups, zenith::preference by) {
    for (std::size_t i = 0; i < rows; ++i) made.values[3 * i] = static_cast<float>(random() % groups);
    const std::vector preferences{by, zenith::preference::minimise, zenith::preference::minimise};
    return zenith::skyline_problem_of(view::row_major(made.values, rows, 3), {.preferences = preferences});
  };
  CHECK(problem_of(10, zenith::preference::minimise).groups == 0);
  for (const std::size_t groups : {1, 2, 10, 100, 500}) {
    const auto problem = problem_of(groups, zenith::preference::different);
    INFO(groups << " groups, found " << problem.groups);
    CHECK(problem.groups > 0.5 * static_cast<double>(groups));
    CHECK(problem.groups < 2 * static_cast<double>(groups) + 1);
    CHECK(problem.independent_columns < 1.5);
  }
  CHECK(problem_of(~std::uint32_t{0}, zenith::preference::different).groups > 2000);
  // of too few rows for a sample, that there are groups is known
  const std::vector<float> few(30);
  const std::vector preferences{zenith::preference::minimise, zenith::preference::different};
  CHECK(zenith::skyline_problem_of(view::row_major(few, 15, 2), {.preferences = preferences}).groups == 1);
  CHECK(zenith::skyline_problem_of(view::row_major(few, 15, 2)).groups == 0);
}

TEST_CASE("rows of small groups are candidates, too", "[skyline-contract]") {
  random_source random{14};
  auto made = make_table<float>(shape::independent, 5000, 4, random);
  for (std::size_t i = 0; i < made.rows; ++i) made.values[4 * i] = static_cast<float>(random() % 500);
  std::vector<zenith::preference> preferences(4, zenith::preference::minimise);
  preferences[0] = zenith::preference::different;
  for (const auto& on : zenith_test::targets("skyline", {"cpu", "cuda"})) {
    zenith::skyline_statistics seen;
    const auto found = zenith::skyline(on.on, view::row_major(made.values, made.rows, made.columns),
                                       {.preferences = preferences, .strategy = on.strategy, .statistics = &seen});
    INFO(on.name());
    CHECK(seen.candidates >= found.ids.size());
    CHECK(seen.candidates <= made.rows);
  }
}

TEST_CASE("few rows of a problem are sampled where they have many values", "[skyline-contract]") {
  random_source random{12};
  const auto columns_of = [&](shape one, std::size_t rows, std::size_t columns) {
    const auto made = make_table<float>(one, rows, columns, random);
    return zenith::skyline_problem_of(view::row_major(made.values, made.rows, made.columns)).independent_columns;
  };
  CHECK(columns_of(shape::independent, 1023, 2) == 0);
  CHECK(columns_of(shape::independent, 127, 32) == 0);
  for (const std::size_t rows : {128, 256, 1024, 1999}) {
    INFO(rows << " rows");
    const std::size_t columns = 2048 / rows + 2;
    CHECK(columns_of(shape::antichain, rows, columns) > 20);
    CHECK(columns_of(shape::chain, rows, columns) < 1.5);
  }
}

// Of many equal rows in a block each is compared with the first, not with all before it.
TEST_CASE("equal rows are compared with the first of them", "[skyline-contract]") {
  constexpr std::size_t rows = 3000;
  constexpr std::size_t most_pivots = 64;
  for (const std::size_t columns : {3, 8, 12}) {
    const std::vector<float> values(rows * columns, 1.0F);
    const auto points = view::row_major(values, rows, columns);
    for (const auto& on : zenith_test::targets("skyline", {"cpu"})) {
      if (on.strategy != "bitmap_tiles") continue;
      INFO(on.name() << ", " << columns << " columns");
      zenith::skyline_statistics seen;
      CHECK(zenith::skyline(on.on, points, {.strategy = on.strategy, .statistics = &seen}).ids.size() == rows);
      CHECK(seen.dominance_tests <= most_pivots * rows);
      CHECK(zenith::skyline_layers(on.on, points, {.strategy = on.strategy, .statistics = &seen}).layers == 1);
      CHECK(seen.dominance_tests <= most_pivots * rows);
    }
  }
}
