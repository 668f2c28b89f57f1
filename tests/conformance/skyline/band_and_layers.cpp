// The skyband and the layers against a double loop, on every target.

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <string>
#include <string_view>

#include <catch.hpp>
#include <expect_error.hpp>
#include <settings.hpp>
#include <shipped_models.hpp>
#include <tables.hpp>
#include <zenith/error.hpp>
#include <zenith/skyband.hpp>
#include <zenith/skyline_layers.hpp>

using namespace conformance::skyline;

using zenith_test::expect_error;

namespace {

struct band {
  std::vector<std::uint64_t> ids;
  std::vector<std::uint32_t> dominated_by;
};

/// The rows that take part, and what row q is to row p.
struct rows_of_table {
  std::vector<std::size_t> all;
  std::size_t count = 0;
  std::function<relation(std::size_t q, std::size_t p)> compare;
};

/// Without copies of those before them, where these do not count.
template <class T>
rows_of_table rows_of(const table<T>& of, const request& asked) {
  rows_of_table rows{{}, of.rows, [&](std::size_t q, std::size_t p) { return compare_rows(of, asked, q, p); }};
  for (const auto p : rows_in(of, asked)) {
    const bool is_copy = asked.duplicates == zenith::duplicate_rows::keep_first &&
                         std::ranges::any_of(rows.all, [&](auto q) { return rows.compare(q, p) == relation::equals; });
    if (!is_copy) rows.all.push_back(p);
  }
  return rows;
}

band expected_band(const rows_of_table& of, std::uint32_t k) {
  band found;
  for (const auto p : of.all) {
    const auto count = static_cast<std::uint32_t>(
        std::ranges::count_if(of.all, [&](auto q) { return of.compare(q, p) == relation::dominates; }));
    if (count >= k) continue;
    found.ids.push_back(p);
    found.dominated_by.push_back(count);
  }
  return found;
}

/// Row by row: its layer is one behind the last of its dominators'.
std::vector<std::uint32_t> expected_layers(const rows_of_table& of) {
  std::vector<std::uint32_t> layers(of.count, zenith::no_layer);
  for (const auto p : of.all) layers[p] = 0;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const auto p : of.all) {
      for (const auto q : of.all) {
        if (layers[p] > layers[q] || of.compare(q, p) != relation::dominates) continue;
        layers[p] = layers[q] + 1;
        has_changed = true;
      }
    }
  }
  return layers;
}

/// Layers of which so many, or rows enough, are wanted. Returns how many there then are.
/// By how many rows each is dominated.
std::vector<std::uint32_t> dominators_of(const rows_of_table& of) {
  std::vector<std::uint32_t> counts(of.count, zenith::no_layer);
  for (const auto p : of.all) {
    counts[p] = static_cast<std::uint32_t>(
        std::ranges::count_if(of.all, [&](auto q) { return of.compare(q, p) == relation::dominates; }));
  }
  return counts;
}

/// The first layers alone: a row that is dominated is mostly so by one that was met soon.
std::vector<std::uint32_t> first_layers(const rows_of_table& of, std::uint32_t most) {
  std::vector<std::uint32_t> layers(of.count, zenith::no_layer);
  auto left = of.all;
  for (std::uint32_t layer = 0; layer < most && !left.empty(); ++layer) {
    std::vector<std::size_t> behind;
    for (const auto p : left) {
      const auto dominates = [&](std::size_t q) { return of.compare(q, p) == relation::dominates; };
      if (std::any_of(left.rbegin(), left.rend(), dominates)) {
        behind.push_back(p);
      } else {
        layers[p] = layer;
      }
    }
    left = behind;
  }
  return layers;
}

std::size_t cut_layers(std::vector<std::uint32_t>& layers, std::uint32_t most, std::size_t enough) {
  std::uint32_t count = 0;
  for (std::size_t placed = 0; count < most && placed < enough; ++count) {
    const auto more = static_cast<std::size_t>(std::ranges::count(layers, count));
    if (more == 0) break;
    placed += more;
  }
  for (auto& layer : layers) {
    if (layer >= count) layer = zenith::no_layer;
  }
  return count;
}

template <class T>
auto view_of(const table<T>& of) {
  return zenith::matrix_view<const T>::row_major(of.values, of.rows, of.columns);
}

std::string where(const zenith_test::target& on, const std::string& table, std::size_t rows, std::size_t columns,
                  const request& asked, std::uint64_t number) {
  return on.name() + " " + table + " n=" + std::to_string(rows) + " d=" + std::to_string(columns) + " " + asked.text() +
         " " + std::to_string(number);
}

bool is_too_slow(const zenith_test::target& on, std::size_t rows) {
  return on.on.backend() == "reference" && rows > 1000;
}

/// The answers of one target, in both forms. The memory that was given has one element more than the result.
struct band_answer {
  zenith::skyband_result<std::uint32_t> value;
  std::vector<std::int64_t> ids;
  std::vector<std::uint32_t> counts;
  std::size_t count = 0;
};

template <class T>
band_answer band_of(const zenith_test::target& on, const table<T>& of, const request& asked, std::uint32_t k,
                    std::size_t size) {
  const zenith::skyband_options options{
      .preferences = asked.preferences, .duplicates = asked.duplicates, .nans = asked.nans, .strategy = on.strategy};
  band_answer found;
  found.value = zenith::skyband<std::uint32_t>(on.on, view_of(of), k, options);
  found.ids.assign(size + 1, 77);
  found.counts.assign(size + 1, 77);
  found.count = zenith::skyband(on.on, view_of(of), k, found.ids, found.counts, options);
  return found;
}

void check_answer(const std::string& where, const band_answer& found, const band& right) {
  INFO(where);
  CHECK(std::ranges::equal(found.value.ids, right.ids));
  CHECK(found.value.dominated_by == right.dominated_by);
  CHECK(found.count == right.ids.size());
  CHECK(std::equal(right.ids.begin(), right.ids.end(), found.ids.begin(),
                   [](std::uint64_t a, std::int64_t b) { return a == static_cast<std::uint64_t>(b); }));
  CHECK(std::ranges::equal(right.dominated_by, std::span(found.counts).first(right.ids.size())));
  CHECK((found.ids.back() == 77 && found.counts.back() == 77));
}

template <class T>
void check_band(const table<T>& of, const request& asked, std::uint32_t k, random_source& random) {
  const auto right = expected_band(rows_of(of, asked), k);
  for (const auto& on : zenith_test::targets("skyband")) {
    if (random() % 3 == 0 || is_too_slow(on, of.rows)) continue;
    check_answer(where(on, of.name, of.rows, of.columns, asked, k), band_of(on, of, asked, k, right.ids.size()), right);
  }
}

zenith::skyline_layers_options layers_wanted(std::size_t rows, const request& asked, random_source& random) {
  zenith::skyline_layers_options options{
      .preferences = asked.preferences, .nans = asked.nans, .duplicates = asked.duplicates};
  if (random() % 2 == 0) options.most_layers = static_cast<std::uint32_t>(1 + random() % 4);
  if (random() % 3 == 0) options.enough_rows = 1 + random() % (rows + 1);
  return options;
}

void check_answer(const std::string& where, const zenith::skyline_layers_result& found,
                  std::vector<std::uint32_t> right, const zenith::skyline_layers_options& options) {
  INFO(where << " " << options.enough_rows);
  CHECK(found.layers == cut_layers(right, options.most_layers, options.enough_rows));
  CHECK(found.layer_of == right);
}

template <class T>
void check_layers(const table<T>& of, const request& asked, random_source& random) {
  const auto all = expected_layers(rows_of(of, asked));
  for (const auto& on : zenith_test::targets("skyline_layers")) {
    if (random() % 3 == 0 || is_too_slow(on, of.rows)) continue;
    auto options = layers_wanted(of.rows, asked, random);
    options.strategy = on.strategy;
    std::vector<std::uint32_t> counts(random() % 4 == 0 ? of.rows : 0, 77);
    options.dominated_by = counts;
    check_answer(where(on, of.name, of.rows, of.columns, asked, options.most_layers),
                 zenith::skyline_layers(on.on, view_of(of), options), all, options);
    if (!counts.empty()) CHECK(counts == dominators_of(rows_of(of, asked)));
  }
}

/// The first layers of a table that is large enough for a prefilter.
template <class T>
void check_first_layers(const table<T>& of, const request& asked, random_source& random) {
  auto targets = zenith_test::targets("skyline_layers");
  std::erase_if(targets, [&](const auto& on) { return is_too_slow(on, of.rows); });
  if (targets.empty()) return;
  const auto most = static_cast<std::uint32_t>(1 + random() % 6);
  const auto right = first_layers(rows_of(of, asked), most);
  for (const auto& on : targets) {
    auto options = layers_wanted(of.rows, asked, random);
    options.most_layers = most;
    options.strategy = on.strategy;
    check_answer(where(on, of.name, of.rows, of.columns, asked, most),
                 zenith::skyline_layers(on.on, view_of(of), options), right, options);
  }
}

template <class T>
shape some_shape(random_source& random) {
  constexpr auto last = std::is_floating_point_v<T> ? shape::with_nans : shape::specials;
  return static_cast<shape>(random() % (static_cast<unsigned>(last) + 1));
}

constexpr auto wrong = zenith::error_code::invalid_argument;

}  // namespace

TEMPLATE_TEST_CASE("bands and layers of every shape", "[skyline]", float32, float64, int32, uint64) {
  if (zenith_test::targets("skyband").empty()) return;
  std::uint64_t number = 0;
  for (const auto one : every_shape) {
    for (const std::size_t rows : {0, 1, 2, 65, 700}) {
      random_source random{zenith_test::seed_of("bands", number++)};
      const std::size_t columns = 1 + random() % 9;
      const auto made = make_table<TestType>(one, rows, columns, random);
      const auto asked = some_request(columns, random);
      check_band(made, asked, static_cast<std::uint32_t>(random() % 9), random);
      check_layers(made, asked, random);
    }
  }
}

TEMPLATE_TEST_CASE("bands and layers of several blocks", "[skyline]", float32, int64) {
  if (zenith_test::targets("skyband").empty()) return;
  random_source random{zenith_test::seed_of("bands of blocks", 0)};
  const auto rows = static_cast<std::size_t>(5000 * std::min(1.0, std::max(0.1, zenith_test::scale())));
  for (const auto one : {shape::independent, shape::few_values, shape::copies, shape::antichain, shape::all_equal}) {
    for (const auto duplicates : {zenith::duplicate_rows::keep_all, zenith::duplicate_rows::keep_first}) {
      const auto made = make_table<TestType>(one, rows, 3, random);
      request asked;
      asked.duplicates = duplicates;
      check_band(made, asked, 5, random);
      if (one != shape::independent) check_layers(made, asked, random);
    }
  }
}

TEMPLATE_TEST_CASE("bands and layers of any number of columns", "[skyline]", float32, uint64) {
  if (zenith_test::targets("skyband").empty()) return;
  for (std::size_t columns = 1; columns <= zenith::most_skyline_columns; columns += 3) {
    random_source random{zenith_test::seed_of("bands of columns", columns)};
    const auto made = make_table<TestType>(some_shape<TestType>(random), 150 + random() % 100, columns, random);
    const auto asked = some_request(columns, random);
    check_band(made, asked, static_cast<std::uint32_t>(1 + random() % 100), random);
    check_layers(made, asked, random);
  }
}

/// Preferences of which up to two are not `different`.
std::vector<zenith::preference> up_to_two(std::size_t columns, random_source& random) {
  std::vector<zenith::preference> all(columns, zenith::preference::different);
  const auto either = [&] { return random() % 2 == 0 ? zenith::preference::minimise : zenith::preference::maximise; };
  for (std::uint64_t i = random() % 3; i > 0; --i) all[random() % columns] = either();
  return all;
}

// No row dominates another, and of some tables hardly two are equal.
TEMPLATE_TEST_CASE("bands and layers and skylines of columns that all are different", "[skyline]",
                   ZENITH_EVERY_KEY_TYPE) {
  if (zenith_test::targets("skyband").empty()) return;
  std::uint64_t number = 0;
  for (const std::size_t rows : {1, 2, 65, 700, 2100}) {
    for (int repeat = 0; repeat < 4; ++repeat) {
      random_source random{zenith_test::seed_of("all different", number++)};
      const auto one = repeat == 0 ? shape::copies : repeat == 1 ? shape::few_values : some_shape<TestType>(random);
      const std::size_t columns = 1 + random() % (random() % 4 == 0 ? 32 : 5);
      const auto made = make_table<TestType>(one, rows, columns, random);
      auto asked = some_request(columns, random);
      asked.preferences.assign(columns, zenith::preference::different);
      asked.duplicates = random() % 3 == 0 ? zenith::duplicate_rows::keep_all : zenith::duplicate_rows::keep_first;
      check_band(made, asked, static_cast<std::uint32_t>(1 + random() % 3), random);
      check_layers(made, asked, random);
      const auto ids = expected(made, asked);
      for (const auto& on : zenith_test::targets("skyline")) {
        if (random() % 3 != 0 || is_too_slow(on, rows)) continue;
        INFO(where(on, made.name, rows, columns, asked, 0));
        CHECK(fault_of(on, made, asked, ids, random).empty());
      }
    }
  }
}

TEMPLATE_TEST_CASE("layers of one column and of two", "[skyline]", ZENITH_EVERY_KEY_TYPE) {
  if (zenith_test::targets("skyline_layers").empty()) return;
  std::uint64_t number = 0;
  for (const auto one : every_shape) {
    for (const std::size_t rows : {1, 2, 3, 70, 400}) {
      for (const std::size_t columns : {1, 2, 3, 4}) {
        random_source random{zenith_test::seed_of("two columns", number++)};
        const auto made = make_table<TestType>(one, rows, columns, random);
        auto asked = some_request(columns, random);
        asked.preferences = up_to_two(columns, random);
        check_layers(made, asked, random);
      }
    }
  }
}

// Layer by layer this would take minutes.
TEMPLATE_TEST_CASE("the first layers of many rows", "[skyline]", float32, int64) {
  if (zenith_test::targets("skyline_layers").empty()) return;
  std::uint64_t number = 0;
  // where hardly any row dominates another, a prefilter says nothing, and the double loop takes long
  std::vector<shape> shapes{shape::independent, shape::correlated, shape::few_values, shape::one_dominates,
                            shape::chain,       shape::copies,     shape::specials};
  if (std::is_floating_point_v<TestType>) shapes.push_back(shape::with_nans);
  for (const auto one : shapes) {
    random_source random{zenith_test::seed_of("first layers", number++)};
    if (zenith_test::scale() < 0.2 && number % 3 != 1) continue;
    const std::size_t columns = 2 + random() % 4;
    const auto made = make_table<TestType>(one, 4096 + random() % 1000, columns, random);
    auto asked = some_request(columns, random);
    for (auto& by : asked.preferences) {
      if (random() % 4 != 0 && by == zenith::preference::different) by = zenith::preference::minimise;
    }
    check_first_layers(made, asked, random);
  }
}

TEST_CASE("few layers are searched in few rows", "[skyline-contract]") {
  constexpr std::size_t columns = 3;
  random_source random{zenith_test::seed_of("few layers", 0)};
  for (const auto& on : zenith_test::targets("skyline_layers", {"cpu", "cuda"})) {
    // a device leaves few rows as they are
    const std::size_t rows = on.memory == zenith::memory_space::host ? 6000 : 140'000;
    const auto made = make_table<float>(shape::independent, rows, columns, random);
    zenith::skyline_statistics seen;
    zenith::skyline_layers_options options{.strategy = on.strategy, .statistics = &seen};
    options.most_layers = 2;
    INFO(on.name());
    CHECK(zenith::skyline_layers(on.on, view_of(made), options).layers == 2);
    CHECK(seen.candidates < made.rows / 2);
  }
}

TEST_CASE("layers are chosen by a sample", "[skyline-contract]") {
  random_source random{zenith_test::seed_of("choice of layers", 0)};
  const auto made = make_table<float>(shape::antichain, 20000, 4, random);
  const zenith_test::shipped_models here;
  CHECK(zenith::skyline_layers(zenith::cpu({.threads = 1}), view_of(made)).strategy == "bitmap_tiles");
}

TEST_CASE("as many layers as rows", "[skyline-contract]") {
  constexpr std::size_t rows = 200'000;
  std::vector<std::uint32_t> ranks(rows);
  std::iota(ranks.begin(), ranks.end(), 0U);
  random_source random{zenith_test::seed_of("many layers", 0)};
  std::shuffle(ranks.begin(), ranks.end(), random);
  for (const std::size_t columns : {1, 2}) {
    std::vector<double> values;
    for (const std::uint32_t rank : ranks) values.insert(values.end(), columns, 0.5 * rank);
    for (const auto& on : zenith_test::targets("skyline_layers", {"cpu"})) {
      const auto points = zenith::matrix_view<const double>::row_major(values, rows, columns);
      const auto found = zenith::skyline_layers(on.on, points, {.strategy = on.strategy});
      CHECK(found.layers == rows);
      CHECK((found.layer_of == ranks));
      const auto some = zenith::skyline_layers(on.on, points, {.enough_rows = 1000, .strategy = on.strategy});
      CHECK(some.layers == 1000);
      CHECK(std::ranges::count(some.layer_of, zenith::no_layer) == rows - 1000);
    }
  }
}

TEST_CASE("what a band and layers refuse", "[skyline-contract]") {
  const std::vector<float> values{1, 4, 2, 3, 3, 2, 4, 1};
  const auto points = zenith::matrix_view<const float>::row_major(values, 4, 2);
  for (const auto& on : zenith_test::targets("skyband")) {
    INFO(on.name());
    std::vector<std::uint32_t> ids(4, 77);
    std::vector<std::uint32_t> counts(3, 77);
    expect_error(wrong, {"skyband", "dominated_by_out has 3 elements", "4 rows"},
                 [&] { (void)zenith::skyband(on.on, points, 2, ids, counts, {.strategy = on.strategy}); });
    expect_error(wrong, {"skyband", "ids_out has 2 elements", "4 rows"},
                 [&] { (void)zenith::skyband(on.on, points, 2, std::span(ids).first(2), {.strategy = on.strategy}); });
    CHECK((ids == std::vector<std::uint32_t>(4, 77) && counts == std::vector<std::uint32_t>(3, 77)));
    CHECK(zenith::skyband(on.on, points, 0, ids, {.strategy = on.strategy}) == 0);
    // the answer of the skyline
    CHECK(zenith::skyband(on.on, points, 1, {.strategy = on.strategy}).ids == zenith::skyline(on.on, points).ids);
    auto with_nan = values;
    with_nan[5] = std::numeric_limits<float>::quiet_NaN();
    const auto rejected = zenith::matrix_view<const float>::row_major(with_nan, 4, 2);
    for (const std::uint32_t k : {0U, 1U}) {
      expect_error(wrong, {"skyband: points has a NaN in row 2, column 1"},
                   [&] { (void)zenith::skyband(on.on, rejected, k, ids, {.strategy = on.strategy}); });
    }
    CHECK(zenith::skyband(on.on, rejected, 0, ids, {.nans = zenith::nan_rows::worst, .strategy = on.strategy}) == 0);
    CHECK(zenith::skyband(on.on, points, 0, {.strategy = on.strategy}).dominated_by.empty());
  }
  for (const auto& on : zenith_test::targets("skyline_layers")) {
    INFO(on.name());
    std::vector<std::uint32_t> layers(3, 77);
    expect_error(wrong, {"skyline_layers", "layers_out has 3 elements", "4 rows"},
                 [&] { (void)zenith::skyline_layers(on.on, points, std::span(layers)); });
    layers.resize(4, 77);
    expect_error(wrong, {"options.most_layers is 0"}, [&] {
      (void)zenith::skyline_layers(on.on, points, std::span(layers), {.most_layers = 0, .strategy = on.strategy});
    });
    expect_error(wrong, {"options.enough_rows is 0"}, [&] {
      (void)zenith::skyline_layers(on.on, points, std::span(layers), {.enough_rows = 0, .strategy = on.strategy});
    });
    std::vector<std::uint32_t> counts(3, 77);
    expect_error(wrong, {"skyline_layers", "options.dominated_by has 3 elements", "4 rows"}, [&] {
      (void)zenith::skyline_layers(on.on, points, std::span(layers),
                                   {.strategy = on.strategy, .dominated_by = std::span(counts)});
    });
    counts.resize(4, 77);
    auto with_nan = values;
    with_nan[5] = std::numeric_limits<float>::quiet_NaN();
    expect_error(wrong, {"skyline_layers: points has a NaN in row 2, column 1"}, [&] {
      (void)zenith::skyline_layers(on.on, zenith::matrix_view<const float>::row_major(with_nan, 4, 2),
                                   std::span(layers), {.strategy = on.strategy, .dominated_by = std::span(counts)});
    });
    CHECK((layers == std::vector<std::uint32_t>(4, 77) && counts == layers));
  }
}

// A thread remembers its last choice, and these have the same problem.
TEST_CASE("layers and a band and a skyline of one table are chosen one by one", "[skyline-contract]") {
  random_source random{8};
  const auto made = make_table<float>(shape::independent, 20000, 8, random);
  const auto points = zenith::matrix_view<const float>::row_major(made.values, made.rows, made.columns);
  const auto ids = expected(made, {});
  std::string last;
  for (const auto& on : zenith_test::targets("skyline")) {
    if (on.on.backend() == last || on.on.backend() == "reference") continue;
    last = on.on.backend();
    INFO(last);
    for (int repeat = 0; repeat < 2; ++repeat) {
      const auto layers = zenith::skyline_layers(on.on, points, {.most_layers = 1});
      CHECK(static_cast<std::size_t>(std::ranges::count(layers.layer_of, 0U)) == ids.size());
      CHECK(zenith::skyband(on.on, points, 1).ids == ids);
      CHECK(zenith::skyline(on.on, points).ids == ids);
    }
  }
}
