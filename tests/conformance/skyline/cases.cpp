// The cases that every target is put through.

#include <algorithm>
#include <numeric>
#include <string_view>

#include <catch.hpp>
#include <groups.hpp>
#include <tables.hpp>

using namespace conformance::skyline;

namespace {

const std::vector<zenith_test::target>& the_targets() {
  static const auto all = zenith_test::targets("skyline");
  return all;
}

/// Strategies that are one text but for a few launches take turns.
bool takes_turns(std::string_view strategy) {
  return strategy != "bitmap_tiles" && strategy != "skyalign" && strategy != "sfs" && strategy != "bskytree" &&
         strategy != "bnl";
}

/// Runs the request on a share of the targets that each seed draws anew: on one of each strategy, and of those that
/// take turns on one of some.
template <class T>
void run_somewhere(zenith_test::verdict& seen, const table<T>& of, const request& asked,
                   const std::vector<std::uint64_t>& ids, random_source& random) {
  constexpr std::size_t most_for_reference = 2000;
  const auto share = [&](const zenith_test::place& at) {
    if (at.on_device || (at.is_reference() && of.rows > most_for_reference)) return 0.0;
    return zenith_test::one_of_each(at) * (takes_turns(at.on.strategy) ? 0.3 : 1);
  };
  zenith_test::judge(
      seen, the_targets(), random, share, [&] { return of.text() + " " + asked.text(); },
      [&](const zenith_test::place& at) { return fault_of(at.on, of, asked, ids, random); });
}

template <class T>
void run_somewhere(zenith_test::verdict& seen, const table<T>& of, const request& asked, random_source& random) {
  run_somewhere(seen, of, asked, expected(of, asked), random);
}

template <class T>
constexpr shape last_shape = std::is_floating_point_v<T> ? shape::with_nans : shape::specials;

template <class T>
shape some_shape(random_source& random) {
  return static_cast<shape>(random() % (static_cast<unsigned>(last_shape<T>) + 1));
}

}  // namespace

TEMPLATE_TEST_CASE("every number of rows", "[skyline]", ZENITH_EVERY_KEY_TYPE) {
  if (the_targets().empty()) return;
  zenith_test::verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t rows :
       {0, 1, 2, 3, 31, 63, 64, 65, 127, 128, 129, 511, 512, 513, 768, 769, 1000, 1024, 1025, 1537, 5000}) {
    for (const std::size_t columns : {1, 2, 5, 9}) {
      random_source random{zenith_test::seed_of("rows", number++)};
      const auto made = make_table<TestType>(some_shape<TestType>(random), rows, columns, random);
      run_somewhere(seen, made, some_request(columns, random), random);
    }
  }
  seen.require_none();
  CHECK(seen.cases() > 0);
}

TEST_CASE("keys that rounding or a sample does not tell apart", "[skyline]") {
  if (the_targets().empty()) return;
  zenith_test::verdict seen;
  random_source random{zenith_test::seed_of("close sums", 0)};
  for (const std::size_t pairs : {3, 40}) {  // rounding orders a few of them wrong, or too many
    const auto made = table_of_close_sums(static_cast<std::int32_t>(pairs));
    CHECK(expected(made, {}).size() == made.rows - pairs);
    run_somewhere(seen, made, {}, random);
    run_somewhere(seen, table_of_close_sums<std::int64_t>(static_cast<std::int32_t>(pairs)), {}, random);
  }
  run_somewhere(seen, table_of_a_crowd(), {}, random);
  seen.require_none();
}

TEMPLATE_TEST_CASE("every number of columns", "[skyline]", ZENITH_EVERY_KEY_TYPE) {
  if (the_targets().empty()) return;
  zenith_test::verdict seen;
  for (std::size_t columns = 1; columns <= zenith::most_skyline_columns; ++columns) {
    random_source random{zenith_test::seed_of("columns", columns)};
    const auto made = make_table<TestType>(some_shape<TestType>(random), 150 + random() % 250, columns, random);
    run_somewhere(seen, made, some_request(columns, random), random);
    request groups;
    groups.preferences.assign(columns, zenith::preference::different);
    run_somewhere(seen, made, groups, random);
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("every shape of table", "[skyline]", ZENITH_EVERY_KEY_TYPE) {
  if (the_targets().empty()) return;
  zenith_test::verdict seen;
  std::uint64_t number = 0;
  for (const auto one : every_shape) {
    for (const std::size_t columns : {2, 4, 8, 16}) {
      random_source random{zenith_test::seed_of("shapes", number++)};
      const auto made = make_table<TestType>(one, 600, columns, random);
      request asked;
      run_somewhere(seen, made, asked, random);
      asked.duplicates = zenith::duplicate_rows::keep_first;
      run_somewhere(seen, made, asked, random);
      run_somewhere(seen, made, some_request(columns, random), random);
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("every policy on NaN", "[skyline]", float32, float64) {
  if (the_targets().empty()) return;
  zenith_test::verdict seen;
  for (const std::size_t rows : {1, 2, 100, 3000}) {
    for (const std::size_t columns : {1, 3, 6}) {
      random_source random{zenith_test::seed_of("nan", rows * 100 + columns)};
      const auto made = make_table<TestType>(shape::with_nans, rows, columns, random);
      for (const auto nans : {zenith::nan_rows::drop, zenith::nan_rows::worst}) {
        auto asked = some_request(columns, random);
        asked.nans = nans;
        run_somewhere(seen, made, asked, random);
      }
    }
  }
  seen.require_none();
}

// A device compares few rows that are left otherwise than many: few are up to 4096.
TEMPLATE_TEST_CASE("few rows and many", "[skyline]", float32, int64) {
  if (the_targets().empty()) return;
  zenith_test::verdict seen;
  for (const std::size_t rows : {4095, 4096, 4097, 5000}) {
    if (rows != 4097 && zenith_test::scale() < 0.3) continue;
    for (const std::size_t columns : {2, 5}) {
      random_source random{zenith_test::seed_of("few", rows * 100 + columns)};
      const auto twins = table_of_twins<TestType>(rows, columns);
      const auto made = table_of_neighbours<TestType>(rows, columns, random);
      for (const auto duplicates : {zenith::duplicate_rows::keep_all, zenith::duplicate_rows::keep_first}) {
        request asked;
        asked.duplicates = duplicates;
        run_somewhere(seen, twins, asked, random);
        run_somewhere(seen, made, asked, random);
      }
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("several blocks", "[skyline]", ZENITH_EVERY_KEY_TYPE) {
  if (the_targets().empty()) return;
  zenith_test::verdict seen;
  random_source random{zenith_test::seed_of("blocks", 0)};
  const auto most = static_cast<std::size_t>(std::min(1.0, zenith_test::scale()) * (1 << 15));
  const auto independent = make_table<TestType>(shape::independent, most, 4, random);
  run_somewhere(seen, independent, {}, random);
  // all of it is skyline, and more than one block
  const auto antichain = make_table<TestType>(shape::antichain, most / 6, 3, random);
  run_somewhere(seen, antichain, {}, random);
  const auto copies = make_table<TestType>(shape::all_equal, most, 3, random);
  request asked;
  asked.duplicates = zenith::duplicate_rows::keep_first;
  run_somewhere(seen, copies, asked, random);
  seen.require_none();
}

// A strategy may go group by group where there are many (algorithms/skyline/row_groups.hpp): of 2048 rows and more.
TEMPLATE_TEST_CASE("many groups", "[skyline]", ZENITH_EVERY_KEY_TYPE) {
  if (the_targets().empty()) return;
  zenith_test::verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t rows : {2047, 2048, 2700}) {
    for (const std::size_t groups : {80, 300, 2700}) {
      random_source random{zenith_test::seed_of("groups", number++)};
      const std::size_t columns = 2 + random() % (random() % 3 == 0 ? 20 : 6);
      auto made = make_table<TestType>(some_shape<TestType>(random), rows, columns, random);
      auto asked = some_request(columns, random);
      asked.preferences.resize(columns, zenith::preference::minimise);
      group_rows(made, asked, std::vector<std::size_t>(groups, 1), random);
      run_somewhere(seen, made, asked, expected_by_group(made, asked), random);
    }
  }
  seen.require_none();
}

// Rows of groups of more than 4096 are settled elsewhere than others.
TEMPLATE_TEST_CASE("groups of very different sizes", "[skyline]", float32, int64) {
  if (the_targets().empty()) return;
  zenith_test::verdict seen;
  for (const std::size_t largest : {4095, 4096, 4097, 5000}) {
    if (largest != 4097 && zenith_test::scale() < 0.3) continue;
    random_source random{zenith_test::seed_of("sizes of groups", largest)};
    std::vector<std::size_t> sizes(4500, 1);
    sizes[random() % sizes.size()] = largest;
    if (random() % 2 == 0) sizes[random() % sizes.size()] = 4200;
    sizes[random() % sizes.size()] = 300;
    const std::size_t rows = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    for (const auto one : {shape::independent, shape::few_values, shape::antichain, shape::copies}) {
      auto made = make_table<TestType>(one, rows, 3 + random() % 2, random);
      request asked;
      asked.preferences.resize(made.columns, zenith::preference::minimise);
      if (random() % 2 == 0) asked.duplicates = zenith::duplicate_rows::keep_first;
      group_rows(made, asked, sizes, random);
      run_somewhere(seen, made, asked, expected_by_group(made, asked), random);
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("random tables", "[skyline]", ZENITH_EVERY_KEY_TYPE) {
  if (the_targets().empty()) return;
  zenith_test::verdict seen;
  zenith_test::for_a_while("random", 0.5 * zenith_test::scale(), [&](random_source& random) {
    const std::size_t columns = 1 + random() % (random() % 4 == 0 ? zenith::most_skyline_columns : 8);
    const std::size_t rows = random() % (random() % 4 == 0 ? 3000 : 300);
    const auto made = make_table<TestType>(some_shape<TestType>(random), rows, columns, random);
    run_somewhere(seen, made, some_request(columns, random), random);
  });
  seen.require_none();
}
