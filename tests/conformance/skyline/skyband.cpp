// The skyband of tables whose sizes, copies and numbers of dominators are at the limits of what strategies do at once.

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <catch.hpp>
#include <expect_error.hpp>
#include <settings.hpp>
#include <tables.hpp>
#include <zenith/skyband.hpp>

using namespace conformance::skyline;

namespace {

constexpr std::uint32_t no_limit = ~std::uint32_t{0};

struct band {
  std::vector<std::uint64_t> ids;
  std::vector<std::uint32_t> dominated_by;
};

/// The rows that take part, and ranks of their values, column by column: of two values the better has the smaller one.
struct ranked_rows {
  std::vector<std::size_t> rows;
  std::vector<std::vector<std::uint32_t>> ranks;
  std::vector<bool> groups;

  [[nodiscard]] bool dominates(std::size_t q, std::size_t p) const {
    bool is_better = false;
    for (std::size_t c = 0; c < ranks.size(); ++c) {
      const auto a = ranks[c][q];
      const auto b = ranks[c][p];
      if (a > b || (a != b && groups[c])) return false;
      is_better = is_better || a < b;
    }
    return is_better;
  }
};

template <class T>
std::vector<std::uint32_t> ranks_of(const table<T>& of, const std::vector<std::size_t>& rows, std::size_t column,
                                    zenith::preference by) {
  table<T> alone{"column", rows.size(), 1, {}};
  for (const auto row : rows) alone.values.push_back(of.at(row, column));
  request asked;
  asked.preferences = {by == zenith::preference::different ? zenith::preference::minimise : by};
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto is_better = [&](std::size_t q, std::size_t p) {
    return compare_rows(alone, asked, q, p) == relation::dominates;
  };
  std::ranges::stable_sort(order, is_better);
  std::vector<std::uint32_t> ranks(rows.size());
  for (std::size_t i = 1; i < order.size(); ++i) {
    ranks[order[i]] = ranks[order[i - 1]] + (is_better(order[i - 1], order[i]) ? 1 : 0);
  }
  return ranks;
}

template <class T>
ranked_rows rank(const table<T>& of, const request& asked) {
  ranked_rows made{rows_in(of, asked), {}, {}};
  for (std::size_t c = 0; c < of.columns; ++c) {
    const auto by = asked.preferences.empty() ? zenith::preference::minimise : asked.preferences[c];
    made.ranks.push_back(ranks_of(of, made.rows, c, by));
    made.groups.push_back(by == zenith::preference::different);
  }
  if (asked.duplicates == zenith::duplicate_rows::keep_all) return made;
  std::map<std::vector<std::uint32_t>, std::size_t> firsts;
  ranked_rows different{{}, std::vector<std::vector<std::uint32_t>>(of.columns), made.groups};
  for (std::size_t i = 0; i < made.rows.size(); ++i) {
    std::vector<std::uint32_t> row;
    for (const auto& column : made.ranks) row.push_back(column[i]);
    if (!firsts.emplace(row, i).second) continue;
    different.rows.push_back(made.rows[i]);
    for (std::size_t c = 0; c < of.columns; ++c) different.ranks[c].push_back(row[c]);
  }
  return different;
}

/// By a double loop.
band expected_band(const ranked_rows& of, std::uint32_t k) {
  band found;
  for (std::size_t p = 0; p < of.rows.size(); ++p) {
    std::uint32_t count = 0;
    for (std::size_t q = 0; q < of.rows.size() && count < k; ++q) count += of.dominates(q, p) ? 1 : 0;
    if (count >= k) continue;
    found.ids.push_back(of.rows[p]);
    found.dominated_by.push_back(count);
  }
  return found;
}

zenith::skyband_options options_of(const zenith_test::target& on, const request& asked) {
  return {
      .preferences = asked.preferences, .duplicates = asked.duplicates, .nans = asked.nans, .strategy = on.strategy};
}

/// What is wrong with a target's band; empty if nothing is. Counts are asked for or not.
template <class T>
std::string fault_of_band(const zenith_test::target& on, const table<T>& of, const request& asked, std::uint32_t k,
                          const band& right, random_source& random) {
  const auto points = zenith::matrix_view<const T>::row_major(of.values, of.rows, of.columns);
  const auto options = options_of(on, asked);
  if (random() % 2 == 0) {
    const auto found = zenith::skyband(on.on, points, k, options);
    if (found.ids != right.ids) return "ids differ: " + std::to_string(found.ids.size());
    if (found.dominated_by != right.dominated_by) return "counts differ";
    if (found.strategy != on.strategy) return "ran as " + found.strategy;
    return {};
  }
  std::vector<std::uint32_t> ids(right.ids.size() + 1, 77);
  const auto count = zenith::skyband(on.on, points, k, ids, options);
  if (count != right.ids.size()) return std::to_string(count) + " rows";
  if (!std::equal(right.ids.begin(), right.ids.end(), ids.begin())) return "ids differ";
  return ids.back() == 77 ? "" : "wrote behind the ids";
}

const std::vector<zenith_test::target>& the_targets() {
  static const auto all = zenith_test::targets("skyband");
  return all;
}

/// On one target of each strategy, and some more.
template <class T>
void check_somewhere(zenith_test::verdict& seen, const table<T>& of, const request& asked, std::uint32_t k,
                     random_source& random) {
  constexpr std::size_t most_for_reference = 1000;
  const auto right = expected_band(rank(of, asked), k);
  const auto share = [&](const zenith_test::place& at) {
    if (at.on_device || (at.is_reference() && of.rows > most_for_reference)) return 0.0;
    return zenith_test::one_of_each(at);
  };
  zenith_test::judge(
      seen, the_targets(), random, share, [&] { return of.text() + " " + asked.text() + " k=" + std::to_string(k); },
      [&](const zenith_test::place& at) { return fault_of_band(at.on, of, asked, k, right, random); });
}

template <class T>
shape some_shape(random_source& random) {
  constexpr auto last = std::is_floating_point_v<T> ? shape::with_nans : shape::specials;
  return static_cast<shape>(random() % (static_cast<unsigned>(last) + 1));
}

/// Rows of which each stands there up to so many times.
template <class T>
table<T> table_of_copies(std::size_t rows, std::size_t columns, std::size_t different, random_source& random) {
  table<T> made{"copies of " + std::to_string(different), rows, columns, {}};
  std::vector<T> firsts;
  for (std::size_t i = 0; i < different * columns; ++i) firsts.push_back(static_cast<T>(random() % (different + 1)));
  for (std::size_t i = 0; i < rows; ++i) {
    const auto like = random() % different;
    for (std::size_t c = 0; c < columns; ++c) made.values.push_back(firsts[like * columns + c]);
  }
  return made;
}

}  // namespace

TEMPLATE_TEST_CASE("bands at the sizes of tiles and blocks", "[skyline]", ZENITH_EVERY_KEY_TYPE) {
  if (the_targets().empty()) return;
  zenith_test::verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t rows : {511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049, 8191, 8192, 8193}) {
    random_source random{zenith_test::seed_of("sizes of bands", number++)};
    if (rows > 4000 && (random() % 3 != 0 || zenith_test::scale() < 0.3)) continue;
    const std::size_t columns = 1 + random() % 8;
    const auto made = make_table<TestType>(some_shape<TestType>(random), rows, columns, random);
    const std::uint32_t ks[] = {1, 2, 3, 31, 32, 33, 100, static_cast<std::uint32_t>(rows), no_limit};
    for (int some = 0; some < 3; ++some) {
      check_somewhere(seen, made, some_request(columns, random), ks[random() % std::size(ks)], random);
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("bands of every number of columns and dominators", "[skyline]", ZENITH_EVERY_KEY_TYPE) {
  if (the_targets().empty()) return;
  zenith_test::verdict seen;
  constexpr std::uint32_t ks[] = {1, 2, 3, 31, 32, 33, 100, 300, no_limit};
  for (std::size_t columns = 1; columns <= zenith::most_skyline_columns; ++columns) {
    random_source random{zenith_test::seed_of("columns of bands", columns)};
    const auto made = make_table<TestType>(some_shape<TestType>(random), 200 + random() % 900, columns, random);
    check_somewhere(seen, made, some_request(columns, random), ks[columns % std::size(ks)], random);
    request groups;
    groups.preferences.assign(columns, zenith::preference::different);
    check_somewhere(seen, made, groups, 2, random);
  }
  seen.require_none();
}

// Copies do not dominate each other, but each of them dominates what one does.
TEMPLATE_TEST_CASE("bands of many copies", "[skyline]", float32, int64) {
  if (the_targets().empty()) return;
  zenith_test::verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t rows : {700, 3000}) {
    for (const std::size_t different : {1, 2, 40, 600}) {
      random_source random{zenith_test::seed_of("copies in bands", number++)};
      const std::size_t columns = 1 + random() % 5;
      const auto made = table_of_copies<TestType>(rows, columns, different, random);
      for (const auto duplicates : {zenith::duplicate_rows::keep_all, zenith::duplicate_rows::keep_first}) {
        request asked;
        asked.duplicates = duplicates;
        const std::uint32_t ks[] = {1, 3, 20, 100, static_cast<std::uint32_t>(rows), no_limit};
        check_somewhere(seen, made, asked, ks[random() % 3], random);
        check_somewhere(seen, made, asked, ks[3 + random() % 3], random);
      }
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("bands under every policy on NaN", "[skyline]", float32, float64) {
  if (the_targets().empty()) return;
  zenith_test::verdict seen;
  for (const std::size_t rows : {1, 2, 100, 1500, 3000}) {
    random_source random{zenith_test::seed_of("NaN in bands", rows)};
    const std::size_t columns = 1 + random() % 5;
    const auto made = make_table<TestType>(shape::with_nans, rows, columns, random);
    for (const auto nans : {zenith::nan_rows::drop, zenith::nan_rows::worst}) {
      auto asked = some_request(columns, random);
      asked.nans = nans;
      check_somewhere(seen, made, asked, static_cast<std::uint32_t>(1 + random() % 20), random);
    }
  }
  seen.require_none();
}

TEST_CASE("all rows are in the band, however many equal ones there are", "[skyline-contract]") {
  const auto rows = static_cast<std::size_t>(200'000 * std::min(1.0, zenith_test::scale()));
  const std::vector<float> values(rows * 3, 7);
  const auto points = zenith::matrix_view<const float>::row_major(values, rows, 3);
  for (const auto& on : zenith_test::targets("skyband")) {
    if (on.on.backend() == "reference" || on.strategy == "sfs") continue;
    INFO(on.name());
    for (const std::uint32_t k : {1U, 2U, no_limit}) {
      const auto all = zenith::skyband(on.on, points, k, {.strategy = on.strategy});
      CHECK(all.ids.size() == rows);
      CHECK(std::ranges::count(all.dominated_by, 0U) == static_cast<std::ptrdiff_t>(rows));
      const auto one = zenith::skyband(on.on, points, k,
                                       {.duplicates = zenith::duplicate_rows::keep_first, .strategy = on.strategy});
      CHECK(one.ids == std::vector<std::uint64_t>{0});
    }
  }
}

TEST_CASE("statistics of a band are kept, and a NaN is named", "[skyline-contract]") {
  random_source random{zenith_test::seed_of("statistics of bands", 0)};
  auto made = make_table<float>(shape::independent, 20'000, 4, random);
  made.values[4 * 777 + 2] = std::numeric_limits<float>::quiet_NaN();
  const auto points = zenith::matrix_view<const float>::row_major(made.values, made.rows, made.columns);
  for (const auto& on : zenith_test::targets("skyband")) {
    if (on.on.backend() == "reference") continue;
    INFO(on.name());
    zenith::skyline_statistics statistics;
    zenith_test::expect_error(
        zenith::error_code::invalid_argument, {"skyband: points has a NaN in row 777, column 2"},
        [&] { (void)zenith::skyband(on.on, points, 3, {.strategy = on.strategy, .statistics = &statistics}); });
    CHECK(statistics.candidates == 0);
    const auto found = zenith::skyband(
        on.on, points, 3, {.nans = zenith::nan_rows::drop, .strategy = on.strategy, .statistics = &statistics});
    CHECK(statistics.candidates >= found.ids.size());
    CHECK(statistics.candidates < made.rows);  // one has a NaN
    CHECK(statistics.dominance_tests > 0);
    CHECK(statistics.rounds > 0);
    if (on.strategy == "bitmap_tiles") {
      CHECK(statistics.mask_tests > 0);
      CHECK(statistics.candidates < made.rows / 4);
    }
  }
}

namespace {

/// No row dominates another, but every tenth stands there twice, and every eleventh is behind one that another equals.
table<std::int32_t> table_of_a_plane(std::size_t rows, random_source& random) {
  table<std::int32_t> made{"plane", rows, 3, {}};
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t like = random() % (i + 1);
    const auto is_like = i % 10 == 9 || i % 11 == 10;
    std::int32_t row[3] = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(random() % (1U << 30)), 0};
    row[2] = -row[0] - row[1];
    for (std::size_t c = 0; c < 3; ++c) {
      made.values.push_back(is_like ? made.at(like < i ? like : 0, c) + (i % 11 == 10 ? 1 : 0) : row[c]);
    }
  }
  return made;
}

template <class T>
void check_strategies_agree(const table<T>& of, std::uint32_t k, const request& asked) {
  const auto points = zenith::matrix_view<const T>::row_major(of.values, of.rows, of.columns);
  band first;
  bool has_sums = false;  // which take long
  for (const auto& on : zenith_test::targets("skyband")) {
    if (on.on.backend() == "reference" || (has_sums && on.strategy == "sfs")) continue;
    has_sums = has_sums || on.strategy == "sfs";
    INFO(on.name() << " " << of.text() << " " << asked.text() << " k=" << k);
    auto found = zenith::skyband(on.on, points, k, options_of(on, asked));
    CHECK(!found.ids.empty());
    if (first.ids.empty()) {
      first = {std::move(found.ids), std::move(found.dominated_by)};
    } else {
      CHECK((found.ids == first.ids && found.dominated_by == first.dominated_by));
    }
  }
}

}  // namespace

TEST_CASE("large bands are the same by every strategy", "[skyline-contract]") {
  const auto rows = static_cast<std::size_t>(45'000 * std::min(1.0, std::max(0.3, zenith_test::scale())));
  random_source random{zenith_test::seed_of("large bands", 0)};
  request asked;
  for (const auto duplicates : {zenith::duplicate_rows::keep_all, zenith::duplicate_rows::keep_first}) {
    asked.duplicates = duplicates;
    check_strategies_agree(make_table<float>(shape::independent, rows, 5, random), 7, asked);
    check_strategies_agree(table_of_a_plane(rows, random), 3, asked);  // more points than a host keeps bitmaps of
    auto few = make_table<std::int64_t>(shape::independent, rows / 2, 6, random);
    for (auto& value : few.values) value = value % 12;
    check_strategies_agree(few, 40, asked);
  }
}

namespace {

/// Of rows of two columns how many dominate each: those that are not behind it in either, but for its like. Sums of
/// prefixes in a Fenwick tree over the second column, rows by the first.
std::vector<std::uint32_t> counts_in_plane(const table<std::int32_t>& of, std::int32_t most) {
  std::vector<std::size_t> order(of.rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint32_t> alike;
  for (std::size_t i = 0; i < of.rows; ++i) ++alike[{of.at(i, 0), of.at(i, 1)}];
  std::ranges::sort(order, {}, [&](std::size_t i) { return of.at(i, 0); });
  std::vector<std::uint32_t> tree(static_cast<std::size_t>(most) + 2);
  std::vector<std::uint32_t> counts(of.rows);
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    for (; end < order.size() && of.at(order[end], 0) == of.at(order[begin], 0); ++end) {
      for (auto at = static_cast<std::size_t>(of.at(order[end], 1)) + 1; at < tree.size(); at += at & -at) ++tree[at];
    }
    for (; begin < end; ++begin) {
      const auto row = order[begin];
      for (auto at = static_cast<std::size_t>(of.at(row, 1)) + 1; at > 0; at -= at & -at) counts[row] += tree[at];
      counts[row] -= alike[{of.at(row, 0), of.at(row, 1)}];
    }
  }
  return counts;
}

}  // namespace

// A host keeps the bitmaps of 32768 points, and of the others as many as there is memory for.
TEST_CASE("numbers of dominators among more points than bitmaps", "[skyline-contract]") {
  constexpr std::int32_t most = 1 << 16;
  constexpr std::size_t rows = 60'000;
  random_source random{zenith_test::seed_of("counts", 0)};
  table<std::int32_t> made{"pairs", rows, 2, {}};
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t like = i % 3 == 2 ? random() % i : i;
    for (std::size_t c = 0; c < 2; ++c) {
      made.values.push_back(like < i ? made.at(like, c) : static_cast<std::int32_t>(random() % most));
    }
  }
  const auto counts = counts_in_plane(made, most);
  const auto points = zenith::matrix_view<const std::int32_t>::row_major(made.values, rows, 2);
  for (const auto& on : zenith_test::targets("skyband")) {
    if (on.strategy != "bitmap_tiles") continue;
    INFO(on.name());
    const auto all = zenith::skyband(on.on, points, no_limit, {.strategy = on.strategy});
    CHECK(all.ids.size() == rows);
    CHECK(all.dominated_by == counts);
    const auto some = zenith::skyband(on.on, points, 20'000, {.strategy = on.strategy});
    CHECK(some.ids.size() ==
          static_cast<std::size_t>(std::ranges::count_if(counts, [](auto n) { return n < 20'000; })));
    std::vector<std::uint32_t> wanted(some.ids.size());
    std::ranges::transform(some.ids, wanted.begin(), [&](auto id) { return counts[static_cast<std::size_t>(id)]; });
    CHECK(some.dominated_by == wanted);
  }
}
