// The grid of spatial joins: its proof by numbers, how many candidates a point has, and where most points lie.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <algorithms/spatial_join/strategies.hpp>
#include <catch.hpp>
#include <spatial_suite.hpp>
#include <tests/unit/sequential_backend.hpp>

using namespace zenith;

TEMPLATE_TEST_CASE("the reach of a distance holds every point that the predicate takes", "[spatial]", float, double) {
  using T = TestType;
  std::mt19937_64 random{zenith_test::seed_of("spatial.reach", 0)};
  for (int i = 0; i < 20000; ++i) {
    const int digits = std::numeric_limits<T>::max_exponent;
    const T distance =
        std::ldexp(static_cast<T>(1 + random() % 1000) / 1000, static_cast<int>(random() % (2 * digits)) - digits - 20);
    const T squared = distance * distance;
    const T reach = spatial_join_family::reach_of(squared);
    REQUIRE(reach >= distance * (1 - std::numeric_limits<T>::epsilon()));
    // the largest difference whose square is not above: a few steps around the distance, and below the least square
    const T root = std::sqrt(std::numeric_limits<T>::denorm_min());
    for (T d : {distance, root / 2, root, squared == 0 ? root * static_cast<T>(0.7071) : distance}) {
      for (int step = 0; step < 4; ++step) d = std::nextafter(d, std::numeric_limits<T>::infinity());
      for (int step = 0; step < 8; ++step) {
        if (d * d <= squared) REQUIRE(d <= reach);
        d = std::nextafter(d, T{0});
      }
    }
  }
}

namespace {

/// Ranges of cells around a point: whether the other one's is among them. None is met twice, and all are cells.
template <class T>
bool is_probed(const spatial_join_family::cell_grid<T, 2>& grid, T x, T y) {
  const auto cell = grid.cell_at({y, y});
  std::vector<std::pair<std::uint32_t, std::uint32_t>> met;
  bool is_met = false;
  grid.each_range({x, x}, [&](std::uint32_t first, std::uint32_t end) {
    is_met = is_met || (first <= cell && cell < end);
    met.emplace_back(first, end);
  });
  std::sort(met.begin(), met.end());
  for (std::size_t i = 0; i < met.size(); ++i) {
    REQUIRE(met[i].first < met[i].second);
    REQUIRE(met[i].second <= (i + 1 < met.size() ? met[i + 1].first : spatial_join_family::cells_of(grid)));
  }
  return is_met;
}

}  // namespace

TEMPLATE_TEST_CASE("cells are bounded, and every partner's cell is within the probe", "[spatial]", float, double) {
  using T = TestType;
  std::mt19937_64 random{zenith_test::seed_of("spatial.cells", 0)};
  for (int i = 0; i < 2000; ++i) {
    const auto any = [&](int low, int high) {
      const auto exponent = low + static_cast<int>(random() % static_cast<unsigned>(high - low));
      const T share = static_cast<T>(random() % 2001) / 1000 - 1;
      return std::ldexp(share, exponent);
    };
    const T origin = any(-60, 60);
    const T width = std::abs(any(-80, 60));
    const T distance = std::abs(any(-100, 60));
    const T squared = distance * distance;
    const T far = origin + width;
    const double most = 1 + static_cast<double>(random() % (i % 4 == 1 ? 20 : 100000));
    const spatial_join_family::side_extents<T, 2> all{{origin, origin}, {far, far}};
    const T middle = std::min(far, origin + width / 3);
    const auto some = i % 2 == 0 ? all : spatial_join_family::side_extents<T, 2>{{origin, origin}, {middle, middle}};
    const T reach = spatial_join_family::reach_of(squared);
    const double wider = static_cast<double>(reach) * (i % 3 == 0 ? 1 + static_cast<double>(random() % 100) / 10 : 1);
    const auto grid = spatial_join_family::make_grid<T, 2>(all, some, squared, reach, wider, most);
    REQUIRE(static_cast<double>(spatial_join_family::cells_of(grid)) <= most);
    for (int j = 0; j < 20; ++j) {
      const T y = std::min(far, std::max(origin, origin + width * (static_cast<T>(random() % 1000) / 999)));
      REQUIRE(grid.cell_at({y, y}) < spatial_join_family::cells_of(grid));
      for (T x : {y + distance, y - distance, y + distance / 3, y}) {
        for (int step = 0; step < 3; ++step) x = std::nextafter(x, std::numeric_limits<T>::infinity());
        for (int step = 0; step < 6; ++step) {
          if ((x - y) * (x - y) <= squared) {
            REQUIRE(grid.cell_of(0, x - grid.reach) <= grid.cell_of(0, y));
            REQUIRE(grid.cell_of(0, y) <= grid.cell_of(0, x + grid.reach));
          }
          const bool is_found = is_probed(grid, x, y);
          if (grid.is_near({x, x}, {y, y})) REQUIRE(is_found);
          if (x - grid.reach > far || x + grid.reach < origin) REQUIRE(!is_found);
          x = std::nextafter(x, -std::numeric_limits<T>::infinity());
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("numbers of cells count modulo a period", "[spatial]", float, double) {
  using T = TestType;
  std::mt19937_64 random{zenith_test::seed_of("spatial.period", 0)};
  for (int i = 0; i < 2000; ++i) {
    spatial_join_family::cell_grid<T, 3> grid{};
    const double most = 1 + static_cast<double>(random() >> (33 + random() % 31));
    spatial_join_family::repeat_cells(grid, most);
    REQUIRE(grid.period <= most);
    REQUIRE(std::uint64_t{grid.cells[0]} * grid.cells[1] * grid.cells[2] <= grid.period);
    // 1 / period is rounded: times some multiples of the period it is less than a whole number
    for (const std::uint64_t multiple : {1, 2, 1024}) {
      for (const std::uint64_t less : {0, 1}) {
        const std::uint64_t number = multiple * grid.period - less;
        const std::uint64_t rows_of_all = number / grid.cells[0];
        const std::int32_t cell[3] = {static_cast<std::int32_t>(number % grid.cells[0]),
                                      static_cast<std::int32_t>(rows_of_all % grid.cells[1]),
                                      static_cast<std::int32_t>(rows_of_all / grid.cells[1])};
        REQUIRE(grid.first_of(cell) == number % grid.period);
        const std::int32_t mirrored[3] = {-cell[0], -cell[1], -cell[2]};
        REQUIRE(grid.first_of(mirrored) == (less == 0 ? 0 : 1 % grid.period));
      }
    }
    for (int j = 0; j < 50; ++j) {
      constexpr std::int32_t most_of_axis = 1 << 28;
      const std::int64_t period = grid.period;
      std::int32_t cell[3];
      for (auto& one : cell) one = static_cast<std::int32_t>(random() % (2 * most_of_axis)) - most_of_axis;
      const auto number = [&] {
        return (std::int64_t{cell[2]} * grid.cells[1] + cell[1]) * std::int64_t{grid.cells[0]} + cell[0];
      };
      // the numbers around a multiple of the period are those that are rounded the wrong way
      const std::int64_t past = number() % period;
      if (j % 2 == 0 && std::abs(cell[0] - past) < most_of_axis) cell[0] -= static_cast<std::int32_t>(past);
      if (j % 4 == 0 && std::abs(cell[0]) < most_of_axis) cell[0] += j % 8 == 0 ? 1 : -1;
      REQUIRE(grid.first_of(cell) == (number() % period + period) % period);
    }
  }
}

// Cells share points, but no cell has many of them.
TEMPLATE_TEST_CASE("points in clusters, and on a lattice, have few candidates", "[spatial]", float, double) {
  using T = TestType;
  using namespace spatial_join_family;
  constexpr std::size_t rows = 20000;
  std::mt19937_64 random{1};  // the same points in every run: one draw in some hundreds misleads the samples
  std::uniform_real_distribution<T> place(0, 1);
  // 0: a lattice; 3: two that are some 10^8 cells apart, one of few points where floats have few places; 4: a quarter
  // of all in one of a million unit squares, which the others share
  for (const std::size_t clusters : {0, 1, 2, 3, 4, 50}) {
    for (const double partners : {.01, 1., 4.}) {
      std::vector<T> x(rows);
      std::vector<T> y(rows);
      for (std::size_t i = 0; i < rows; ++i) {
        auto cluster = static_cast<T>(clusters == 0 ? 0 : random() % clusters) * 100;
        if (clusters == 3) cluster = random() % (sizeof(T) == 4 ? 20 : 2) == 0 ? T{-1e6} : T{0};
        const T wide = clusters == 4 && cluster > 0 ? 1000 : 1;
        x[i] = clusters == 0 ? static_cast<T>(i / 128) : (wide > 1 ? 0 : cluster) + wide * place(random);
        y[i] = clusters == 0 ? static_cast<T>(i % 128) : (wide > 1 ? 0 : cluster) + wide * place(random);
      }
      const auto area = static_cast<double>(std::max<std::size_t>(1, clusters));
      const auto distance =
          clusters == 0 ? static_cast<T>(1. / 128) : static_cast<T>(std::sqrt(partners * area / 3.14 / rows));
      spatial_join_call call;
      for (auto* to : {&call.left, &call.right}) {
        to->coordinates[0] = x.data();
        to->coordinates[1] = y.data();
        to->rows = rows;
      }
      call.distance = static_cast<double>(distance);
      device::sequential_context on;
      auto input = open_input<T, 2>(on, call, {});
      input.known = read_extremes(on, input.left, input.right);
      const auto grid = make_side_grid(on, input, rows);
      std::vector<std::uint32_t> counts(cells_of(grid));
      for (std::size_t i = 0; i < rows; ++i) ++counts[grid.cell_at({x[i], y[i]})];
      std::uint64_t candidates = 0;
      for (std::size_t i = 0; i < rows; ++i) {
        grid.each_range({x[i], y[i]}, [&](std::uint32_t first, std::uint32_t end) {
          for (auto cell = first; cell < end; ++cell) candidates += counts[cell];
        });
      }
      INFO(clusters << " clusters, " << partners << " partners, " << cells_of(grid) << " cells");
      CHECK(static_cast<double>(candidates) / rows < 40 + 4 * partners);
    }
  }
}

TEMPLATE_TEST_CASE("usual extents leave out few far points, and no others", "[spatial]", float, double) {
  using T = TestType;
  using find = spatial_join_family::find_usual_extents<T, 2>;
  std::mt19937_64 random{zenith_test::seed_of("spatial.usual", 0)};
  device::sequential_context on;
  for (const std::size_t rows : {1, 2, 7, 8, 100, 512, 513, 3000, 100000}) {
    for (const int far : {0, 1, 2, 3}) {  // so many points of 100
      std::array<std::vector<T>, 2> at;
      for (auto& column : at) {
        for (std::size_t row = 0; row < rows; ++row) column.push_back(static_cast<T>(random() % 10000) / 100);
      }
      const auto known = at;
      // some of them on the second axis only
      for (std::size_t row = 50; row < rows; row += 100) {
        for (std::size_t i = row; i < std::min(rows, row + static_cast<std::size_t>(far)); ++i) {
          if (random() % 2 == 0) at[0][i] = T{-1e6};
          at[1][i] = T{1e6} * static_cast<T>(1 + random() % 3);
        }
      }
      const spatial_join_family::point_columns<T, 2> side{{at[0].data(), at[1].data()}, nullptr, 1, rows};
      spatial_join_family::side_extents<T, 2> found;
      on.for_teams(1, find{{side}, &found});
      INFO(rows << " rows, " << far << " of 100 far");
      for (std::size_t a = 0; a < 2; ++a) {
        const auto [low, high] = std::minmax_element(known[a].begin(), known[a].end());
        // of many points, the samples' extents are nearly those of all; far ones make them longer by what is usual
        const T length = *high - *low;
        CHECK(found.low[a] >= *low - (far == 0 ? 0 : length));
        CHECK(found.high[a] <= *high + (far == 0 ? 0 : length));
        if (rows < 513) continue;
        CHECK(found.low[a] <= *low + length / 20);
        CHECK(found.high[a] >= *high - length / 20);
      }
    }
  }
}

// Coordinates are multiples of 1024 cells: a period that is a power of two would give all points 32 numbers.
TEMPLATE_TEST_CASE("points of a lattice have many numbers", "[spatial]", float, double) {
  using T = TestType;
  using namespace spatial_join_family;
  constexpr std::uint32_t side = 128;
  const side_extents<T, 2> all{{0, 0}, {side, side}};
  const T distance = T{1} / 1024;
  const auto grid = make_grid<T, 2>(all, all, distance * distance, distance, static_cast<double>(distance), 1 << 15);
  REQUIRE(grid.is_periodic());
  REQUIRE(grid.inverse[0] == 1024);
  std::vector<std::uint32_t> counts(cells_of(grid));
  for (std::uint32_t i = 0; i < side * side; ++i) {
    ++counts[grid.cell_at({static_cast<T>(i % side), static_cast<T>(i / side)})];
  }
  CHECK(*std::max_element(counts.begin(), counts.end()) <= 4);
}
