// The strategies of spatial indexes on the sequential context, whose memory is told apart from the host's, through the
// conformance cases; and what a tree must be.

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <algorithms/spatial_index/src/sides.hpp>
#include <algorithms/spatial_index/src/storage.hpp>
#include <algorithms/spatial_index/strategies.hpp>
#include <catch.hpp>
#include <expect_error.hpp>
#include <index_suite.hpp>
#include <tests/unit/sequential_backend.hpp>
#include <zenith/error.hpp>

namespace {

using namespace zenith;

using storage = zenith::detail::index_storage;

/// Whether a node has the extremes of the entries below it.
bool is_tight(const storage& index, std::uint32_t level, std::uint64_t p) {
  const auto& of = index.layout;
  const bool of_items = level == 1;
  const std::uint64_t from = of_items ? 0 : of.begins[level - 1];
  const std::uint64_t count = of.sizes[level - 1];
  const std::uint64_t first = from + p * of.fanout;
  const std::uint64_t last = from + std::min(count, (p + 1) * of.fanout);
  const auto column = [&](std::uint64_t offset) { return zenith::detail::index_column<double>(index, offset); };
  const std::uint64_t node = of.begins[level] + p;
  bool is_right = first < last;
  for (unsigned a = 0; a < of.dimensions; ++a) {
    const auto* const low = column(of_items ? of.low[a] : of.node_low[a]);
    const auto* const high = column(of_items ? of.high[a] : of.node_high[a]);
    is_right = is_right && column(of.node_low[a])[node] == *std::min_element(low + first, low + last);
    is_right = is_right && column(of.node_high[a])[node] == *std::max_element(high + first, high + last);
  }
  const auto* const most = column(of_items ? of.scores : of.node_most);
  const auto* const least = column(of_items ? of.scores : of.node_least);
  return is_right && column(of.node_most)[node] == *std::max_element(most + first, most + last) &&
         column(of.node_least)[node] == *std::min_element(least + first, least + last);
}

std::vector<std::vector<double>> drawn(std::size_t columns, std::size_t rows) {
  std::mt19937_64 random{zenith_test::seed_of("index.drawn", rows)};
  std::vector<std::vector<double>> made(columns, std::vector<double>(rows));
  for (auto& column : made) {
    for (auto& value : column) value = static_cast<double>(random() % 1000);
  }
  return made;
}

template <class Left, class Right>
concept joined = requires(const Left& left, const Right& right) {
  spatial_join(executor{}, left, right, index_join_options{});
};
template <class Left, class Right>
concept ranked = requires(const Left& left, const Right& right) {
  top_k_spatial_join(executor{}, left, right, 1U, top_k_index_join_options{});
};

using flat = spatial_index<float, 2>;
static_assert(joined<flat, flat> && joined<flat, column_set<float>> && joined<boxes<float>, flat>);
static_assert(ranked<flat, flat> && ranked<flat, scored_points<float>> && ranked<scored_boxes<float>, flat>);
static_assert(ranked<device_spatial_index<float, 2>, device_scored_boxes<float>>);
// values, memory, dimensions, and scores
static_assert(!joined<flat, column_set<double>> && !ranked<flat, scored_points<double>>);
static_assert(!joined<flat, device_column_set<float>> && !joined<flat, device_spatial_index<float, 2>>);
static_assert(!joined<flat, spatial_index<float, 3>> && !ranked<spatial_index<float, 3>, flat>);
static_assert(!joined<flat, scored_points<float>> && !ranked<flat, column_set<float>>);
static_assert(!joined<boxes<float>, scored_boxes<float>> && !joined<flat, std::vector<float>> && !ranked<int, flat>);

}  // namespace

namespace conformance::spatial_index {

const suite& the_suite() {
  static const suite here = [] {
    register_backend(zenith_test::sequential_backend<spatial_index_family::kernels, spatial_index_family::strategies>);
    return suite{.ranges = zenith_test::targets("top_k_range", {"sequential"}),
                 .joins = zenith_test::targets("top_k_index_join", {"sequential"}),
                 .all_pairs = zenith_test::targets("index_join", {"sequential"}),
                 .builds = zenith_test::executors("index_build", {"sequential"}),
                 .most_items = 2000};
  }();
  return here;
}

}  // namespace conformance::spatial_index

TEST_CASE("a tree holds every item once, and its nodes are as tight as can be", "[index]") {
  const auto order = GENERATE(bulk_order::sort_tile_recursive, bulk_order::hilbert);
  const auto levels = GENERATE(level_order::root_first, level_order::leaves_first);
  for (const std::uint32_t fanout : {2U, 3U, 16U, 64U}) {
    for (const std::size_t rows : {1U, 2U, 15U, 16U, 17U, 255U, 256U, 257U, 1000U}) {
      const auto columns = drawn(3, rows);
      const auto index = spatial_index<double, 2>::build(scored_points<double>{{columns[0], columns[1]}, columns[2]},
                                                         {fanout, order, levels});
      const auto& tree = *index.storage();
      const auto& of = tree.layout;
      bool is_right = of.items == rows && index.nodes() == of.begins[0] &&
                      of.begins[levels == level_order::root_first ? of.levels : 1] == 0;
      const auto* const ids = zenith::detail::index_column<std::uint32_t>(tree, of.ids);
      is_right = is_right && std::set<std::uint32_t>(ids, ids + rows).size() == rows;
      for (std::size_t i = 0; i < rows; ++i) {
        const auto value = [&](std::uint64_t offset) { return zenith::detail::index_column<double>(tree, offset)[i]; };
        is_right = is_right && ids[i] < rows && value(of.low[0]) == columns[0][ids[i]] &&
                   value(of.low[1]) == columns[1][ids[i]] && value(of.scores) == columns[2][ids[i]] &&
                   value(of.scores_by_id) == columns[2][i];
      }
      std::size_t below = rows;
      for (std::uint32_t level = 1; level <= of.levels; ++level) {
        const std::uint64_t count = of.sizes[level];
        const std::uint32_t next = levels == level_order::root_first ? level - 1 : level + 1;
        const bool is_last = next == 0 || next > of.levels;
        is_right = is_right && count == (below + fanout - 1) / fanout &&
                   of.begins[level] + count == (is_last ? index.nodes() : of.begins[next]);
        below = count;
        for (std::uint64_t p = 0; p < count; ++p) is_right = is_right && is_tight(tree, level, p);
      }
      INFO(rows << " rows, fanout " << fanout);
      CHECK(is_right);
      CHECK(below == 1);
    }
  }
}

TEST_CASE("tiles are near squares", "[index]") {
  // 4096 even points in leaves of 16: a leaf of the best packing has a side of 1/16 of the extent
  const auto columns = drawn(3, 4096);
  const auto index = spatial_index<double, 2>::build(scored_points<double>{{columns[0], columns[1]}, columns[2]}, {16});
  const auto& of = index.storage()->layout;
  double sides = 0;
  for (std::uint64_t p = of.begins[1]; p < of.begins[0]; ++p) {
    for (unsigned a = 0; a < 2; ++a) {
      sides += zenith::detail::index_column<double>(*index.storage(), of.node_high[a])[p] -
               zenith::detail::index_column<double>(*index.storage(), of.node_low[a])[p];
    }
  }
  CHECK(of.levels == 3);
  CHECK(sides / 512 < 1000.0 / 16 * 1.1);
}

TEMPLATE_TEST_CASE("an index's bytes do not depend on the number of threads", "[index]", float, double) {
  using T = TestType;
  constexpr std::size_t rows = 40001;
  std::vector<std::vector<T>> columns;
  for (const auto& column : drawn(7, rows)) columns.emplace_back(column.begin(), column.end());
  for (std::size_t i = 0; i < rows; ++i) {
    columns[0][i] = columns[0][i] < 500 ? T{0} : i % 2 == 0 ? -T{0} : columns[0][i] - 700;
    for (std::size_t a = 0; a < 3; ++a) columns[4 + a][i] += columns[a][i];
  }
  const column_set<T> low{columns[0], columns[1], columns[2]};
  const scored_points<T> points{low, columns[3]};
  const scored_boxes<T> boxes{low, {columns[4], columns[5], columns[6]}, columns[3]};
  for (const auto order : {bulk_order::sort_tile_recursive, bulk_order::hilbert}) {
    const spatial_index_options options{16, order};
    const auto of_points = spatial_index<T, 3>::build(points, options);
    const auto of_boxes = spatial_index<T, 3>::build(boxes, options);
    for (const char* const on : {"cpu:threads=2", "cpu:threads=3", "reference"}) {
      INFO(on);
      const auto executor = make_executor(on);
      CHECK(std::ranges::equal(spatial_index<T, 3>::build(executor, points, options).serialized(),
                               of_points.serialized()));
      CHECK(
          std::ranges::equal(spatial_index<T, 3>::build(executor, boxes, options).serialized(), of_boxes.serialized()));
    }
  }
  // the first bad row, whichever thread meets one first
  columns[1][39000] = columns[1][20000] = std::numeric_limits<T>::quiet_NaN();
  zenith_test::expect_error(error_code::invalid_argument, {"column 1, row 20000"},
                            [&] { (void)spatial_index<T, 3>::build(make_executor("cpu:threads=3"), points); });
}

// A curve over all of their extent would give them one place, and leaves would be as wide as all of them.
TEST_CASE("a tree of points in columns has small leaves where others lie far away", "[index]") {
  constexpr std::size_t rows = 4096;
  constexpr std::uint32_t fanout = 16;
  device::sequential_context on;
  for (const double far : {1.0, 1e6, 1e12, 1e300}) {
    auto columns = drawn(2, rows);
    columns[0][7] = far;
    columns[1][rows - 1] = -far;
    const spatial_index_family::point_columns<double, 2> points{
        {columns[0].data(), columns[1].data()}, nullptr, 1, rows};
    spatial_join_family::side_extents<double, 2> known{};
    for (unsigned a = 0; a < 2; ++a) {
      const auto [low, high] = std::minmax_element(columns[a].begin(), columns[a].end());
      known.low[a] = *low;
      known.high[a] = *high;
    }
    const auto* const order = spatial_index_family::order_by_place(on, points, known, fanout);
    CHECK(std::set<std::uint32_t>(order, order + rows).size() == rows);
    std::vector<double> sides;
    for (std::size_t first = 0; first < rows; first += fanout) {
      const auto [low, high] = std::minmax_element(order + first, order + first + fanout,
                                                   [&](auto a, auto b) { return columns[0][a] < columns[0][b]; });
      sides.push_back(columns[0][*high] - columns[0][*low]);
    }
    std::nth_element(sides.begin(), sides.begin() + rows / fanout / 2, sides.end());
    INFO("far: " << far);
    CHECK(sides[rows / fanout / 2] < 1000.0 / 8);
  }
}

TEST_CASE("a Hilbert curve steps from neighbour to neighbour", "[index]") {
  for (const std::size_t side : {8U, 32U}) {
    std::vector<float> x;
    std::vector<float> y;
    std::vector<float> z;
    for (std::size_t i = 0; i < side * side * (side == 8 ? side : 1); ++i) {
      x.push_back(static_cast<float>(i % side));
      y.push_back(static_cast<float>(i / side % side));
      const std::size_t plane = i / side / side;
      z.push_back(static_cast<float>(plane));
    }
    const spatial_index_options options{4, bulk_order::hilbert};
    const auto longest_step = [&](const auto& index) {
      const auto* const ids =
          zenith::detail::index_column<std::uint32_t>(*index.storage(), index.storage()->layout.ids);
      float longest = 0;
      for (std::size_t i = 1; i < x.size(); ++i) {
        const auto a = ids[i - 1];
        const auto b = ids[i];
        longest = std::max(longest, std::abs(x[a] - x[b]) + std::abs(y[a] - y[b]) + std::abs(z[a] - z[b]));
      }
      return longest;
    };
    if (side == 32) CHECK(longest_step(spatial_index<float, 2>::build(scored_points<float>{{x, y}, z}, options)) == 1);
    if (side == 8)
      CHECK(longest_step(spatial_index<float, 3>::build(scored_points<float>{{x, y, z}, z}, options)) == 1);
  }
}

TEST_CASE("pairs of nodes that few places hold", "[index]") {
  // within 100 of each other: a tenth of all pairs, and far more pairs of nodes than a queue holds
  using namespace zenith::spatial_index_family;
  using context = device_suite::listing_context<kernels>;
  const auto columns = drawn(3, 600);
  const auto others = drawn(3, 700);
  const scored_points<double> left{{columns[0], columns[1]}, columns[2]};
  const scored_points<double> right{{others[0], others[1]}, others[2]};
  for (const std::uint32_t fanout : {2U, 5U}) {
    const auto a = spatial_index<double, 2>::build(left, {3});
    const auto b = spatial_index<double, 2>::build(right, {fanout});
    for (const std::size_t k : {1U, 100U, 30000U, 420000U}) {
      const auto expected = zenith::top_k_spatial_join(make_executor("reference"), a, b, k, {within{150}});
      for (const auto order : {pair_order::by_place, pair_order::by_bound}) {
        context on;
        const auto view = [&](const auto& index) {
          return spatial_index_family::detail::view_of<double, 2>(
              on, {&index.storage()->layout, index.serialized().data(), memory_space::host}, false);
        };
        const joined_trees<double, 2> sides{
            view(a), view(b), 1, 1, spatial_index_family::detail::nearness_of<double>(false, 150), {}};
        node_pair_join<double, 2, context> join(on, sides, order, k, {3 * u64{fanout}, 4, 8});
        const auto found = join.run(nullptr);
        INFO("fanout " << fanout << ", k = " << k << (order == pair_order::by_place ? ", by place" : ", by bound"));
        REQUIRE(found.count == expected.count);
        const auto ranked = spatial_join_family::rank_pairs(on, found.pool, found.held, found.count);
        bool is_same = true;
        for (std::size_t i = 0; i < expected.count; ++i) {
          is_same = is_same && ranked.at(i) == pair_of(expected.left[i], expected.right[i]);
        }
        CHECK(is_same);
      }
    }
  }
}

TEST_CASE("bytes say which level comes first", "[index]") {
  auto columns = drawn(3, 300);
  const scored_points<double> points{{columns[0], columns[1]}, columns[2]};
  spatial_index_options options{4};
  const auto down = spatial_index<double, 2>::build(points, options);
  options.node_order = level_order::leaves_first;
  const auto up = spatial_index<double, 2>::build(points, options);
  const auto bytes = up.serialized();
  CHECK(bytes.size() == down.serialized().size());
  const auto read = spatial_index<double, 2>::parse(bytes);
  CHECK(read.storage()->layout.leaves_first);
  CHECK(std::ranges::equal(read.serialized(), bytes));
  CHECK(read.storage()->layout.begins[1] == 0);
  // nodes that lie the other way round do not hold their entries
  std::vector<std::byte> other(bytes.begin(), bytes.end());
  zenith::detail::write_header(down.storage()->layout, other.data());
  zenith_test::expect_error(error_code::corrupt_data, {"does not hold its entries"},
                            [&] { (void)spatial_index<double, 2>::parse(other); });
  // an index's extremes are the root's, wherever that lies
  for (const std::size_t row : {0U, 150U, 299U}) {
    columns[2][row] = -1;
    const auto negative = spatial_index<double, 2>::build(points, options);
    zenith_test::expect_error(error_code::invalid_argument, {"left.scores[" + std::to_string(row) + "] is negative"},
                              [&] {
                                (void)top_k_spatial_join(make_executor("cpu"), negative, up, 1,
                                                         top_k_index_join_options{.score = pair_score::product});
                              });
    columns[2][row] = 1;
  }
}

TEST_CASE("bytes that are forged are refused", "[index]") {
  const auto columns = drawn(3, 300);
  const auto bytes_with = [&](const auto& change) {
    const auto index =
        spatial_index<double, 2>::build(scored_points<double>{{columns[0], columns[1]}, columns[2]}, {16});
    auto& made = const_cast<storage&>(*index.storage());
    auto* const bytes = const_cast<std::byte*>(made.data);
    change(made.layout, bytes);
    zenith::detail::write_header(made.layout, bytes);
    return std::vector<std::byte>(index.serialized().begin(), index.serialized().end());
  };
  const auto word = [](std::byte * bytes, std::uint64_t offset, std::uint64_t i) -> auto& {
    return reinterpret_cast<double*>(bytes + offset)[i];
  };
  const auto is_accepted = [](const std::vector<std::byte>& bytes) {
    try {
      return spatial_index<double, 2>::parse(bytes).size() == 300;
    } catch (const zenith::error& thrown) {
      return thrown.code() != error_code::corrupt_data && thrown.code() != error_code::invalid_argument;
    }
  };
  using layout = spatial_index_layout;
  CHECK(is_accepted(bytes_with([](const layout&, std::byte*) {})));
  CHECK_FALSE(is_accepted(bytes_with(
      [](const layout& of, std::byte* bytes) { reinterpret_cast<std::uint32_t*>(bytes + of.ids)[7] = 300; })));
  CHECK_FALSE(is_accepted(bytes_with([](const layout& of, std::byte* bytes) {
    auto* const ids = reinterpret_cast<std::uint32_t*>(bytes + of.ids);
    ids[7] = ids[8];
  })));
  CHECK_FALSE(is_accepted(bytes_with([&](const layout& of, std::byte* bytes) { word(bytes, of.low[1], 3) = -1; })));
  CHECK_FALSE(is_accepted(bytes_with([&](const layout& of, std::byte* bytes) { word(bytes, of.scores, 3) += 1; })));
  CHECK_FALSE(is_accepted(bytes_with([&](const layout& of, std::byte* bytes) { word(bytes, of.node_most, 0) += 1; })));
  CHECK_FALSE(
      is_accepted(bytes_with([&](const layout& of, std::byte* bytes) { word(bytes, of.node_high[0], 1) -= 1; })));
  CHECK_FALSE(is_accepted(bytes_with([&](const layout& of, std::byte* bytes) {
    word(bytes, of.node_low[0], 0) = -std::numeric_limits<double>::infinity();
  })));
}

TEST_CASE("rounds take as many items as k, pairs and threads ask for", "[index]") {
  using spatial_index_family::round_sizes;
  constexpr std::uint64_t items = 1'000'000;
  const auto sizes = [](int threads, std::uint64_t k, std::uint64_t pairs, std::uint64_t at_once = 0) {
    return round_sizes({at_once, pairs}, threads, items / 16, 16, k, items);
  };
  // a host: 2.5 k pairs, of 4 each, but never fewer than 64 items; 16 each where that is not known
  CHECK(sizes(1, 1000, 4 * items).size() == 625);
  CHECK(sizes(1, 1000, 0).size() == 156);
  CHECK(sizes(16, 10, 4 * items).size() == 64);
  // a device is busy with many; however large k is, pairs fit
  CHECK(sizes(0, 10, 4 * items).size() == 32768);
  CHECK(sizes(0, 10, items / 10).size() == 65536);
  CHECK(sizes(0, 10, 100 * items).size() == 4096);
  CHECK(sizes(1, 100'000'000, 1000 * items).size() == (50'000'000 + 262'144) / 1000);

  auto host = sizes(1, 1000, 0);
  host.grow(156, 0, true);
  CHECK(host.size() == 8 * 156);
  host.grow(1404, 2808, false);  // two each: 1250 items
  CHECK(host.size() == 1250);
  host.grow(20000, 0, false);  // a quarter of all
  CHECK(host.size() == 5000);
  host.shrink(5000);
  CHECK(host.size() == 625);
  host.grow(20000, 0, false);
  CHECK(host.size() == 2500);
  auto many = sizes(16, 10, 4 * items);
  many.grow(100, 0, false);
  CHECK(many.size() == 200);

  auto device = sizes(0, 10, 4 * items);
  device.grow(32768, 0, false);
  CHECK(device.size() == 4 * 32768);
  auto fixed = sizes(0, 10, 4 * items, 5);
  CHECK(fixed.size() == 80);
  fixed.grow(80, 0, true);
  CHECK(fixed.size() == 80);
  fixed.shrink(80);
  fixed.grow(90, 0, false);
  CHECK(fixed.size() == 20);
  CHECK(sizes(1, 10, 0, ~std::uint64_t{0}).size() == items);
}

TEST_CASE("what a join of columns builds", "[index]") {
  const auto columns = drawn(3, 20);
  const auto more = drawn(3, 30);
  const scored_points<double> some{{columns[0], columns[1]}, columns[2]};
  const scored_points<double> others{{more[0], more[1]}, more[2]};
  const auto index = spatial_index<double, 2>::build(some);
  const auto built = [](const auto& left, const auto& right) {
    return zenith::detail::items_to_build(zenith::detail::join_of<std::uint32_t>(left, right));
  };
  CHECK(built(index, index) == 0);
  CHECK(built(index, others) == 30);
  CHECK(built(some, index) == 20);
  CHECK(built(some, others) == 50);
  CHECK(built(some, some) == 20);
}
