// Parts of spatial joins: extremes, what a first round learns, what a host picks, and sorting of few ids.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include <algorithms/spatial_join/strategies.hpp>
#include <catch.hpp>
#include <spatial_suite.hpp>
#include <tests/unit/sequential_backend.hpp>

using namespace zenith;

TEMPLATE_TEST_CASE("extremes are those of all bit patterns in the order of numbers", "[spatial]", float, double) {
  using T = TestType;
  using limits = std::numeric_limits<T>;
  std::mt19937_64 random{zenith_test::seed_of("spatial.extremes", 0)};
  const std::vector<T> special{T{0},
                               -T{0},
                               limits::denorm_min(),
                               -limits::denorm_min(),
                               limits::max(),
                               -limits::max(),
                               limits::infinity(),
                               -limits::infinity(),
                               limits::quiet_NaN(),
                               -limits::quiet_NaN()};
  // many are taken some at a time
  std::vector<std::size_t> sizes(200);
  std::iota(sizes.begin(), sizes.end(), std::size_t{0});
  for (const std::size_t n : {511, 512, 513, 1024, 5000}) sizes.push_back(n);
  for (const std::size_t n : sizes) {
    for (const int kind : {0, 1, 2, 3}) {
      std::vector<T> values(n);
      for (auto& value : values) {
        value = static_cast<T>(random() % 1000 + 1);
        if (kind == 1 || (kind > 1 && random() % 2 == 0)) value = -value;
        if (kind == 3 && random() % 8 == 0) value = special[random() % special.size()];
      }
      spatial_join_family::number_extremes<T> expected;
      for (const T value : values) {
        const auto image = spatial_join_family::total_order(value);
        expected.least = std::min(expected.least, image);
        expected.greatest = std::max(expected.greatest, image);
      }
      spatial_join_family::value_extremes<T> all;
      all.take(values.data(), T{1}, n, 0);
      const auto found = all.found();
      INFO(n << " values of kind " << kind);
      REQUIRE(found.least == expected.least);
      REQUIRE(found.greatest == expected.greatest);
    }
  }
}

TEMPLATE_TEST_CASE("a first round learns what the other rounds do", "[spatial]", float, double) {
  using namespace spatial_join_family;
  using T = TestType;
  using context = device_suite::device_like;
  std::mt19937_64 random{zenith_test::seed_of("spatial.learn", 0)};
  for (int i = 0; i < 40; ++i) {
    const auto any = [&] { return std::uniform_real_distribution<T>(-50, 50)(random); };
    std::array<std::vector<T>, 6> columns;
    const std::size_t rows[] = {1 + random() % 9000, 1 + random() % 9000};
    for (std::size_t c = 0; c < columns.size(); ++c) {
      columns[c].resize(rows[c / 3]);
      for (auto& value : columns[c]) {
        value = any();
        if (c % 3 == 2 && i % 3 == 0) value = std::floor(value / 10);
      }
    }
    top_k_spatial_join_call call;
    for (std::size_t side = 0; side < 2; ++side) {
      auto& to = side == 0 ? call.left : call.right;
      for (std::size_t a = 0; a < 2; ++a) to.coordinates[a] = columns[3 * side + a].data();
      to.scores = columns[3 * side + 2].data();
      to.rows = rows[side];
    }
    call.distance = 0.5 + static_cast<double>(random() % 8);
    call.k = 1 + random() % 3000;
    const pair_scorer<T> scorer{i % 2 == 0 ? pair_score::sum : pair_score::maximum, i % 4 > 1};
    context on;
    auto input = open_input<T, 2>(on, call, {true});
    const auto plan = spatial_join_family::detail::plan_first_round(on, input, call, scorer);
    on.for_teams(learn_sides<T, 2>{plan}.teams(), learn_sides<T, 2>{plan});
    on.for_teams(1, choose_bound<T, 2>{plan});

    spatial_join_family::detail::side_samples<T, 2, context> samples(scorer);
    auto* const near = on.template zeroed<std::uint32_t>(1);
    samples.draw(on, input, near);
    input.known = read_extremes(on, input.left, input.right);
    input.near = *near;
    samples.learn(on, input, input.left, input.right);
    for (unsigned c = 0; c < most_all_columns; ++c) {
      CHECK(plan.state->known().least[c] == input.known.least[c]);
      CHECK(plan.state->known().greatest[c] == input.known.greatest[c]);
    }
    CHECK(plan.state->near == input.near);
    INFO("k = " << call.k << ", " << rows[0] << " and " << rows[1] << " rows");
    if (plan.goal == 0) continue;
    const spatial_join_family::detail::bound_search<T, 2, context> search(on, samples, call);
    CHECK(plan.state->bound == search.bound());
    for (unsigned cell = 0; cell < plan.most_cells; ++cell) REQUIRE(plan.heads[cell] == 0);
  }
}

TEST_CASE("every page is touched, and nothing beside the memory", "[spatial]") {
  using touch = spatial_join_family::touch_pages;
  constexpr std::size_t margin = 64;
  std::vector<char> memory(2 * touch::large + 3 * margin, 1);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{5000}, std::size_t{touch::large + 7}}) {
    for (const std::size_t skipped : {std::size_t{0}, std::size_t{8}, std::size_t{margin}}) {
      INFO(bytes << " bytes after " << skipped);
      std::fill(memory.begin(), memory.end(), char{1});
      char* const first = memory.data() + margin + skipped;
      std::vector<char> other(bytes + 1, 1);
      const touch all{{first, other.data()}, bytes};
      device::sequential_context on;
      on.for_teams(all.teams(), all);
      CHECK(std::all_of(memory.data(), first, [](char c) { return c == 1; }));
      CHECK(std::all_of(first + bytes, memory.data() + memory.size(), [](char c) { return c == 1; }));
      CHECK(other.back() == 1);
      for (const char* const at : {static_cast<const char*>(first), static_cast<const char*>(other.data())}) {
        for (std::size_t page = 0; page + touch::page <= bytes; page += touch::page) {
          CHECK(std::count(at + page, at + page + touch::page, char{0}) >= 1);
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("partners are sorted", "[spatial]", std::uint32_t, std::uint64_t) {
  using Index = TestType;
  std::mt19937_64 random{zenith_test::seed_of("spatial.ids", 0)};
  constexpr auto most = std::numeric_limits<Index>::max();
  for (const std::size_t n : {0, 1, 2, 23, 24, 25, 63, 64, 65, 66, 127, 128, 129, 130, 1000, 5000}) {
    // near each other; apart; in order; in order but for one; the highest ones; some from far away
    for (const int kind : {0, 1, 2, 3, 4, 5}) {
      std::vector<Index> ids(n);
      for (std::size_t i = 0; i < n; ++i) {
        ids[i] = static_cast<Index>(kind == 1 ? i * 65537 + random() % 65537 : 77 + i);
        if (kind == 4) ids[i] = static_cast<Index>(most - i);
        if (kind == 5 && i % 2 == 0) ids[i] = static_cast<Index>(ids[i] + most / 2);
      }
      const auto expected = [&] {
        auto sorted = ids;
        std::sort(sorted.begin(), sorted.end());
        return sorted;
      }();
      if (kind != 2 && kind != 3) std::shuffle(ids.begin(), ids.end(), random);
      if (kind == 3 && n > 1) std::swap(ids[n - 1], ids[random() % (n - 1)]);
      std::vector<Index> spare(n);
      spatial_join_family::sort_ids(ids.data(), n, spare.data());
      INFO(n << " ids of kind " << kind);
      REQUIRE(ids == expected);
    }
  }
}

TEST_CASE("lists of a few partners are sorted", "[spatial]") {
  constexpr std::uint32_t most = spatial_join_family::kept_partners;
  // a network that sorts all words of zeros and ones sorts all words
  constexpr std::uint32_t lists = 1U << most;
  std::uint32_t words[lists * most];
  for (std::uint32_t i = 0; i < lists * most; ++i) words[i] = (i / most >> i % most) % 2;
  spatial_join_family::sort_lists<lists>(words);
  for (std::uint32_t list = 0; list < lists; ++list) {
    INFO(list);
    const auto* const at = words + list * most;
    CHECK(std::is_sorted(at, at + most));
    CHECK(std::count(at, at + most, 1U) == std::popcount(list));
  }
}

TEMPLATE_TEST_CASE("every value of a column is in one part, wherever the column begins", "[spatial]", float, double) {
  constexpr std::size_t part = 64;
  constexpr std::size_t line = 64 / sizeof(TestType);
  const std::vector<TestType> values(5 * part + 3 * line);
  for (std::size_t shift = 0; shift < 2 * line; ++shift) {
    for (std::size_t rows = 0; rows < 4 * part + 2; ++rows) {
      const TestType* const column = values.data() + shift;
      std::size_t next = 0;
      for (std::size_t p = 0; p < (rows + part - 1) / part; ++p) {
        const auto of = spatial_join_family::part_of(column, rows, p, part);
        REQUIRE(of.begin == next);
        if (p > 0 && of.count > 0) REQUIRE(reinterpret_cast<std::uintptr_t>(column + of.begin) % 64 == 0);
        next += of.count;
      }
      REQUIRE(next == rows);
    }
  }
}

namespace {

/// Scans two sides of so many rows, of which every column begins elsewhere in a line of the cache, and compares.
template <class T, unsigned D>
void check_scan(std::size_t left_rows, std::size_t right_rows, double share, std::mt19937_64& random) {
  using scan = spatial_join_family::scan_sides<T, D>;
  using point = spatial_join_family::packed_point<T, D, true>;
  std::uniform_real_distribution<T> draw(-1, 1);
  const std::size_t rows[] = {left_rows, right_rows};
  std::vector<T> columns[2][D + 1];
  spatial_join_family::point_columns<T, D> sides[2] = {};
  for (std::size_t s = 0; s < 2; ++s) {
    for (std::size_t c = 0; c <= D; ++c) {
      const std::size_t shift = 3 * c + s;
      columns[s][c].resize(rows[s] + shift);
      for (auto& value : columns[s][c]) value = draw(random);
      const T* const from = columns[s][c].data() + shift;
      if (c < D) {
        sides[s].at[c] = from;
      } else {
        sides[s].scores = from;
      }
    }
    sides[s].weight = 2;
    sides[s].rows = rows[s];
  }
  const T limit = 2 - 4 * static_cast<T>(share);
  // few points are wanted where there is space for few
  std::vector<point> points[2];
  for (std::size_t s = 0; s < 2; ++s)
    points[s].resize(share < 0.05 ? std::max(rows[s] / 16, std::size_t{64}) : rows[s]);
  const std::size_t parts = (std::max(left_rows, right_rows) + scan::part - 1) / scan::part;
  using image = typename scan::image;
  std::vector<image> least(parts * spatial_join_family::most_all_columns);
  std::vector<image> greatest(least.size());
  for (const bool has_extremes : {true, false}) {
    spatial_join_family::picked_counts found{};
    device::sequential_context on;
    on.for_teams(2 * parts, scan{{{sides[0], 2, limit, points[0].data(), points[0].size()},
                                  {sides[1], 2, limit, points[1].data(), points[1].size()}},
                                 parts,
                                 &found,
                                 has_extremes ? least.data() : nullptr,
                                 has_extremes ? greatest.data() : nullptr});
    for (std::size_t s = 0; s < 2; ++s) {
      auto& picked = points[s];
      const std::size_t count = s == 0 ? found.left : found.right;
      REQUIRE(count <= picked.size());
      std::sort(picked.begin(), picked.begin() + static_cast<std::ptrdiff_t>(count),
                [](const point& a, const point& b) { return a.row < b.row; });
      std::size_t next = 0;
      for (std::size_t row = 0; row < rows[s]; ++row) {
        if (sides[s].scores[row] * 2 < limit) continue;
        REQUIRE(next < count);
        CHECK(picked[next].row == row);
        CHECK(picked[next].value == sides[s].scores[row] * 2);
        for (std::size_t a = 0; a < D; ++a) CHECK(picked[next].at[a] == sides[s].at[a][row]);
        ++next;
      }
      REQUIRE(next == count);
    }
  }
  for (std::size_t s = 0; s < 2; ++s) {
    for (std::size_t c = 0; c < spatial_join_family::most_side_columns; ++c) {
      const bool is_score = c + 1 == spatial_join_family::most_side_columns;
      const T* const column = is_score ? sides[s].scores : c < D ? sides[s].at[c] : nullptr;
      spatial_join_family::number_extremes<T> expected;
      for (std::size_t row = 0; column != nullptr && row < rows[s]; ++row) {
        const auto here = spatial_join_family::total_order(column[row] * (is_score ? T{2} : T{1}));
        expected.least = std::min(expected.least, here);
        expected.greatest = std::max(expected.greatest, here);
      }
      const auto first = static_cast<std::ptrdiff_t>((s * spatial_join_family::most_side_columns + c) * parts);
      const auto end = first + static_cast<std::ptrdiff_t>(parts);
      if (parts == 0) continue;
      CHECK(*std::min_element(least.begin() + first, least.begin() + end) == expected.least);
      CHECK(*std::max_element(greatest.begin() + first, greatest.begin() + end) == expected.greatest);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a scan finds the extremes, and the points that reach a limit", "[spatial]", float, double) {
  using scan = spatial_join_family::scan_sides<TestType, 2>;
  std::mt19937_64 random{zenith_test::seed_of("spatial.scan", 0)};
  const std::size_t sizes[][2] = {{0, 0},
                                  {1, 0},
                                  {7, 600},
                                  {scan::block + 5, scan::block - 1},
                                  {513, 511},
                                  {scan::part + 3, scan::part},
                                  {3 * std::size_t{scan::part} + 1, 40}};
  for (const auto& rows : sizes) {
    for (const double share : {0.0, 0.01, 0.1, 0.6, 1.0}) {
      INFO(rows[0] << " and " << rows[1] << " rows, " << share);
      check_scan<TestType, 2>(rows[0], rows[1], share, random);
      check_scan<TestType, 3>(rows[0], rows[1], share, random);
    }
  }
}

TEST_CASE("pairs as words are in the order of pairs, or have too many bits", "[spatial]") {
  namespace family = spatial_join_family;
  std::mt19937_64 random{zenith_test::seed_of("spatial.words", 0)};
  // bits of what images differ in, and of ids
  const unsigned widths[][3] = {{0, 0, 0},    {0, 1, 3},   {3, 20, 20},  {24, 20, 20},
                                {32, 16, 16}, {1, 32, 31}, {25, 20, 20}, {0, 32, 32}};
  for (const auto& width : widths) {
    const auto draw = [&](unsigned bits) { return bits == 0 ? 0 : random() >> (64 - bits); };
    std::vector<std::uint32_t> images(200);
    std::vector<std::uint64_t> pairs(images.size());
    for (std::size_t i = 0; i < images.size(); ++i) {
      images[i] = static_cast<std::uint32_t>(draw(width[0]));
      pairs[i] = draw(width[1]) << 32 | draw(width[2]);
    }
    // all bits there are
    images[0] = 0;
    images[1] = static_cast<std::uint32_t>((std::uint64_t{1} << width[0]) - 1);
    pairs[1] = ((std::uint64_t{1} << width[1]) - 1) << 32 | ((std::uint64_t{1} << width[2]) - 1);
    if (width[0] < 31) {
      for (auto& image : images) image += 12345;
    }
    family::pair_range range{};
    device::sequential_context on;
    on.for_teams(1, family::find_pair_range{images.data(), pairs.data(), images.size(), &range});
    family::pair_words as{};
    INFO("widths " << width[0] << ", " << width[1] << ", " << width[2]);
    const bool fits = width[0] + width[1] + width[2] <= 64 && width[1] + width[2] < 64;
    REQUIRE(as.fit(range) == fits);
    if (!fits) continue;
    std::vector<ordered::entry32> words(images.size());
    on.for_each(images.size(), family::write_pair_words{images.data(), pairs.data(), as, words.data()});
    bool is_same = true;
    bool is_ordered = true;
    for (std::size_t i = 0; i < images.size(); ++i) {
      is_same = is_same && as.pair(words[i]) == pairs[i];
      for (std::size_t j = 0; j < images.size(); ++j) {
        const bool is_before = images[i] > images[j] || (images[i] == images[j] && pairs[i] < pairs[j]);
        is_ordered = is_ordered && better(words[i], words[j]) == is_before;
      }
    }
    CHECK(is_same);
    CHECK(is_ordered);
  }
}
