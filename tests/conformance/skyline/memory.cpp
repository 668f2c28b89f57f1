// How much memory skylines, bands and layers take: at most twice that of their input, beside that, or 28 bytes a row if
// that is more, and what does not grow with the rows. What a device takes the unit tests look at.

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <catch.hpp>
#include <counting_memory.hpp>
#include <settings.hpp>
#include <tables.hpp>
#include <zenith/skyband.hpp>
#include <zenith/skyline_layers.hpp>

using namespace conformance::skyline;

namespace {

constexpr std::size_t many_rows = 1'000'000;
constexpr std::size_t fixed_bytes = std::size_t{1} << 18;

std::vector<float> independent_points(std::size_t columns, std::size_t rows = many_rows) {
  random_source random{zenith_test::seed_of("memory", columns)};
  std::vector<float> values(rows * columns);
  for (auto& value : values) value = static_cast<float>(random() >> 40);
  return values;
}

/// Of which a large part is in the skyline: their sums differ little.
std::vector<float> points_near_a_plane(std::size_t columns, std::size_t rows = many_rows) {
  auto values = independent_points(columns, rows);
  random_source random{zenith_test::seed_of("distance", columns)};
  std::uniform_real_distribution<float> distance(1, 1.5F);
  for (std::size_t i = 0; i < rows; ++i) {
    float* const row = values.data() + i * columns;
    float sum = 0;
    for (std::size_t c = 0; c < columns; ++c) sum += row[c];
    const float factor = distance(random) / sum;
    for (std::size_t c = 0; c < columns; ++c) row[c] *= factor;
  }
  return values;
}

/// All of which are in the skyline: the last column falls as the sum of the others rises.
std::vector<float> points_on_a_plane(std::size_t columns) {
  auto values = independent_points(columns);
  for (std::size_t i = 0; i < many_rows; ++i) {
    float* const row = values.data() + i * columns;
    std::uint64_t sum = 0;
    for (std::size_t c = 0; c + 1 < columns; ++c) {
      const auto value = static_cast<std::uint32_t>(row[c]) % 1'000'000;  // sums are exact
      row[c] = static_cast<float>(value);
      sum += value;
    }
    row[columns - 1] = -static_cast<float>(sum);
  }
  return values;
}

/// run(on, points, strategy) returns how many ids or layers it found.
template <class Run>
void check_memory_of(const Run& run, const std::vector<float>& values, std::size_t columns,
                     std::span<const char* const> strategies, std::size_t least_found) {
  const std::size_t input = values.size() * sizeof(float);
  const std::size_t rows = values.size() / columns;
  for (const std::string strategy : strategies) {
    counting_memory memory;
    const auto on = zenith::cpu({.threads = 1, .memory = &memory});
    const auto points = zenith::matrix_view<const float>::row_major(values, rows, columns);
    const std::size_t found = run(on, points, strategy);
    INFO(strategy << ", " << columns << " columns, " << found << " ids or layers, seed " << zenith_test::seed() << ": "
                  << static_cast<double>(memory.most()) / static_cast<double>(input) << " times the input");
    CHECK(found >= least_found);
    CHECK(memory.most() > 0);
    CHECK(memory.most() <= std::max(2 * input, 28 * rows) + fixed_bytes);
    CHECK(memory.now() == 0);
  }
}

void check_memory(const std::vector<float>& values, std::size_t columns, std::span<const char* const> strategies,
                  std::size_t least_ids) {
  std::vector<std::uint32_t> ids(values.size() / columns);
  const auto run = [&](const auto& on, const auto& points, const std::string& strategy) {
    return zenith::skyline(on, points, std::span(ids), {.strategy = strategy});
  };
  check_memory_of(run, values, columns, strategies, least_ids);
}

}  // namespace

TEST_CASE("memory of a skyline", "[skyline-memory]") {
  constexpr std::array all{"auto",     "bitmap_tiles", "sfs",    "salsa",          "ggs",
                           "bskytree", "skyalign",     "hybrid", "skyalign_padded"};
  constexpr std::array fast{"auto", "bitmap_tiles"};
  check_memory(independent_points(8), 8, all, 10'000);
  constexpr std::array by_values{"sfs", "salsa", "ggs", "bskytree", "skyalign", "hybrid", "skyalign_padded"};
  check_memory(points_near_a_plane(8, 50'000), 8, by_values, 20'000);
  check_memory(points_near_a_plane(8), 8, fast, 300'000);
  check_memory(points_on_a_plane(8), 8, fast, many_rows);
}

// All rows are in the skyline: of more than one column, because some rise where others fall. The time grows with their
// square.
TEST_CASE("memory of a skyline of few columns", "[skyline-memory]") {
  constexpr std::array one{"bitmap_tiles"};
  constexpr std::size_t rows = 200'000;
  for (const std::size_t columns : {1, 2, 3, 4, 5, 12}) {
    std::vector<float> values(rows * columns);
    for (std::size_t i = 0; i < rows && columns > 1; ++i) {
      for (std::size_t c = 0; c < columns; ++c) {
        values[i * columns + c] = static_cast<float>(c % 2 == 0 ? i : rows - i);
      }
    }
    check_memory(values, columns, one, rows);
  }
}

// Of a skyline as large as this, a host keeps the bitmaps of the first points alone.
TEST_CASE("a skyline of more points than bitmaps", "[skyline-memory]") {
  constexpr std::size_t all = 100'000;
  constexpr std::size_t of_plane = all / 10 * 9;
  constexpr std::size_t columns = 3;
  random_source random{zenith_test::seed_of("rest", 0)};
  std::vector<std::size_t> places(all);
  for (std::size_t i = 0; i < all; ++i) places[i] = i;
  std::shuffle(places.begin(), places.end(), random);
  std::vector<std::int32_t> values(all * columns);
  std::vector<std::uint32_t> with_copies;
  std::vector<std::uint32_t> firsts;
  for (std::size_t i = 0; i < all; ++i) {
    auto* const row = values.data() + places[i] * columns;
    const auto id = static_cast<std::uint32_t>(places[i]);
    if (i < of_plane) {
      row[0] = static_cast<std::int32_t>(i);
      row[1] = static_cast<std::int32_t>(random() % (1U << 30));
      row[2] = -row[0] - row[1];
      with_copies.push_back(id);
      firsts.push_back(id);
      continue;
    }
    // what is behind a point of the plane, and what equals one, each of another
    const std::size_t like = i - of_plane;
    const bool is_copy = i % 2 == 0;
    for (std::size_t c = 0; c < columns; ++c) {
      row[c] = values[places[like * 9] * columns + c] + (is_copy ? 0 : 1);
    }
    if (!is_copy) continue;
    with_copies.push_back(id);
    firsts[like * 9] = std::min(firsts[like * 9], id);
  }
  std::ranges::sort(with_copies);
  std::ranges::sort(firsts);
  const auto points = zenith::matrix_view<const std::int32_t>::row_major(values, all, columns);
  for (const int threads : {1, 2}) {
    const auto on = zenith::cpu({.threads = threads});
    CHECK((zenith::skyline<std::uint32_t>(on, points, {.strategy = "bitmap_tiles"}).ids == with_copies));
    const zenith::skyline_options first{.duplicates = zenith::duplicate_rows::keep_first, .strategy = "bitmap_tiles"};
    CHECK((zenith::skyline<std::uint32_t>(on, points, first).ids == firsts));
  }
}

// Beside what a skyline takes there is the number of dominators of each row, and where rows are equal, which are and
// how many. How many rows the prefilter leaves depends on the points, so the bound is that of all of them.
TEST_CASE("memory of a skyband", "[skyline-memory]") {
  for (const std::size_t columns : {4, 8}) {
    for (const bool has_copies : {false, true}) {
      auto values = points_near_a_plane(columns);
      if (has_copies) std::copy_n(values.begin(), values.size() / 2, values.begin() + values.size() / 2);
      counting_memory memory;
      const auto on = zenith::cpu({.threads = 1, .memory = &memory});
      std::vector<std::uint32_t> ids(many_rows);
      const auto points = zenith::matrix_view<const float>::row_major(values, many_rows, columns);
      const auto found = zenith::skyband(on, points, 8, ids, {.strategy = "bitmap_tiles"});
      const std::size_t input = values.size() * sizeof(float);
      INFO(columns << " columns, " << found << " ids: "
                   << static_cast<double>(memory.most()) / static_cast<double>(input) << " times the input");
      CHECK(found > 100'000);
      CHECK(memory.most() <= input + std::max(input, 32 * many_rows) + fixed_bytes);
      CHECK(memory.now() == 0);
    }
  }
}

TEST_CASE("memory of a skyband by values", "[skyline-memory]") {
  constexpr std::array sfs{"sfs"};
  const auto values = points_near_a_plane(8, 20'000);
  std::vector<std::uint32_t> ids(20'000);
  const auto run = [&](const auto& on, const auto& points, const std::string& strategy) {
    return zenith::skyband(on, points, 8, ids, {.strategy = strategy});
  };
  check_memory_of(run, values, 8, sfs, 10'000);
}

// Most rows are in the first layers, which take part in nothing that comes after.
TEST_CASE("memory of layers", "[skyline-memory]") {
  constexpr std::array bitmaps{"bitmap_tiles"};
  constexpr std::array values{"sfs", "skyalign"};
  const auto run = [&](const auto& on, const auto& points, const std::string& strategy) {
    std::vector<std::uint32_t> layer_of(points.rows());
    return zenith::skyline_layers(on, points, layer_of, {.most_layers = 2, .strategy = strategy});
  };
  check_memory_of(run, points_near_a_plane(8), 8, bitmaps, 2);
  check_memory_of(run, points_near_a_plane(8, 50'000), 8, values, 2);
}

// Of one column or two, and of a chain, in whose thousands of layers rows are searched.
TEST_CASE("memory of many layers", "[skyline-memory]") {
  constexpr std::size_t rows = 200'000;
  std::vector<std::uint32_t> layer_of(rows);
  constexpr std::array strategies{"bitmap_tiles"};
  const auto run = [&](const auto& on, const auto& points, const std::string& strategy) {
    return zenith::skyline_layers(on, points, std::span(layer_of), {.strategy = strategy});
  };
  for (const std::size_t columns : {1, 2}) {
    check_memory_of(run, independent_points(columns, rows), columns, strategies, 100);
  }
  std::vector<float> chain(rows * 8);
  for (std::size_t i = 0; i < chain.size(); ++i) chain[i] = static_cast<float>(i / 8);
  check_memory_of(run, chain, 8, strategies, rows);
}

// Rows are settled group by group: beside their flags there are their order, their groups and what is found of them.
TEST_CASE("memory of bands and layers of many groups", "[skyline-memory]") {
  constexpr std::size_t rows = 200'000;
  constexpr std::array strategies{"bitmap_tiles", "sfs"};
  std::vector<std::uint32_t> found(rows);
  for (const std::size_t columns : {4, 5, 8}) {
    auto values = independent_points(columns, rows);
    for (std::size_t i = 0; i < rows; ++i) values[i * columns] = static_cast<float>(i / 5);
    std::vector<zenith::preference> preferences(columns, zenith::preference::minimise);
    preferences[0] = zenith::preference::different;
    const auto band = [&](zenith::duplicate_rows duplicates) {
      return [&, duplicates](const auto& on, const auto& points, const std::string& strategy) {
        return zenith::skyband(on, points, 3, std::span(found),
                               {.preferences = preferences, .duplicates = duplicates, .strategy = strategy});
      };
    };
    check_memory_of(band(zenith::duplicate_rows::keep_all), values, columns, strategies, rows / 2);
    check_memory_of(band(zenith::duplicate_rows::keep_first), values, columns, strategies, rows / 2);
    const auto layers = [&](const auto& on, const auto& points, const std::string& strategy) {
      return zenith::skyline_layers(on, points, std::span(found), {.preferences = preferences, .strategy = strategy});
    };
    check_memory_of(layers, values, columns, strategies, 2);
  }
}

// Workers have scratch of their own: where more of them are allowed and no more is taken, none was woken.
TEST_CASE("a small skyline has one worker", "[skyline-memory]") {
  constexpr std::size_t few = 100;
  random_source random{zenith_test::seed_of("few", 0)};
  std::vector<float> values(few * 8);
  for (auto& value : values) value = static_cast<float>(random() >> 40);
  const auto points = zenith::matrix_view<const float>::row_major(values, few, 8);
  for (const std::string strategy : {"bitmap_tiles", "sfs", "ggs", "skyalign", "hybrid", "bskytree"}) {
    std::array<std::size_t, 2> most{};
    for (const bool has_many : {false, true}) {
      counting_memory memory;
      const auto on = zenith::cpu({.threads = has_many ? 16 : 1, .memory = &memory});
      CHECK(!zenith::skyline(on, points, {.strategy = strategy}).ids.empty());
      most[has_many ? 1 : 0] = memory.most();
    }
    INFO(strategy);
    CHECK(most[0] == most[1]);
  }
}
