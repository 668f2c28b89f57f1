// The prefilter of hosts against a double loop, and the pivots against all sums.

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <algorithms/skyline/strategies.hpp>
#include <catch.hpp>
#include <core/device/sequential.hpp>
#include <settings.hpp>

using namespace zenith;

namespace {

namespace family = zenith::skyline_family;

/// A table row by row, `shift` values behind an aligned address.
template <class T>
struct prefiltered_table {
  std::size_t rows;
  unsigned columns;
  std::size_t shift;
  std::vector<T> values;
  family::row_source<T> from{};

  prefiltered_table(std::size_t n, unsigned d, std::size_t behind, std::uint32_t maximised)
      : rows(n), columns(d), shift(behind), values(n * d + behind) {
    for (unsigned c = 0; c < d; ++c) {
      from.column[c] = values.data() + behind + c;
      from.given[c] = static_cast<family::u8>(c);
    }
    from.row_stride = d;
    from.rows = n;
    from.given_columns = from.columns = d;
    from.maximised = maximised;
  }
  T& at(std::size_t row, unsigned c) { return values[shift + row * columns + c]; }
};

enum class fill { spread, few_values, near_best };

template <class T>
void fill_table(prefiltered_table<T>& table, fill by, std::mt19937_64& random) {
  for (std::size_t row = 0; row < table.rows; ++row) {
    for (unsigned c = 0; c < table.columns; ++c) {
      const auto any = static_cast<std::int32_t>(random() % 100000) - 50000;
      // what the first pivot leaves of the last, it leaves anywhere
      table.at(row, c) = static_cast<T>(by == fill::few_values                      ? any % 3
                                        : by == fill::spread || random() % 300 == 0 ? any
                                                                                    : 40000 + any % 9000);
      if constexpr (std::is_floating_point_v<T>) {
        if (by == fill::few_values && random() % 4 == 0) table.at(row, c) *= -T{0};
        if (random() % 500 == 0) table.at(row, c) = std::numeric_limits<T>::quiet_NaN();
      }
    }
  }
}

template <class T>
void check_prefilter(std::size_t rows, unsigned columns, fill by, std::mt19937_64& random) {
  using image = typename family::row_source<T>::image;
  const auto maximised = static_cast<std::uint32_t>(random()) & ((1U << columns) - 1);
  for (const std::size_t shift : {0, 1}) {
    prefiltered_table<T> table(rows, columns, shift, maximised);
    fill_table(table, by, random);
    std::vector<image> pivots(std::size_t{family::pivot_count} * columns, ~image{0});
    for (unsigned p = 0; p < family::pivot_count - 3; ++p) {
      const std::size_t row = random() % rows;
      for (unsigned c = 0; c < columns; ++c) pivots[p * columns + c] = table.from.at(row, c);
    }
    std::vector<bool> expected(rows);
    std::vector<bool> has_nan(rows);
    std::uint64_t nan_at = family::no_nan;
    for (std::size_t row = 0; row < rows; ++row) {
      for (unsigned c = 0; c < columns; ++c) {
        if (table.at(row, c) == table.at(row, c)) continue;
        nan_at = std::min<std::uint64_t>(nan_at, row * family::most_given_columns + c);
        expected[row] = has_nan[row] = true;
      }
      for (unsigned p = 0; p < family::pivot_count; ++p) {
        bool reaches = true;
        bool is_equal = true;
        for (unsigned c = 0; c < columns; ++c) {
          reaches = reaches && pivots[p * columns + c] <= table.from.at(row, c);
          is_equal = is_equal && pivots[p * columns + c] == table.from.at(row, c);
        }
        if (reaches && !is_equal) expected[row] = true;
      }
    }
    for (const std::uint32_t tiles : {1U, 3U, 64U}) {
      std::uint64_t found_nan = family::no_nan;
      // rows that are marked before: none, some of a tile, and nearly all that may be
      std::vector<family::u8> removed(rows);
      for (std::size_t row = 0; row < rows; ++row) {
        const bool may_be = expected[row] && !has_nan[row];
        removed[row] = may_be && (row / 128 % 3 == 1 ? random() % 2 == 0 : row / 128 % 3 == 2 && random() % 64 != 0);
      }
      std::vector<family::u32> left(rows);
      std::vector<family::u32> counts(rows);
      const family::test_rows<T> test{table.from,   pivots.data(), true,           table.from.is_by_fours(),
                                      tiles,        &found_nan,    removed.data(), left.data(),
                                      counts.data()};
      device::sequential_context on;
      on.for_teams(test.teams(), test);
      family::u32 found = 0;
      on.for_each(1, family::join_lists{left.data(), counts.data(), test.teams(), std::uint64_t{tiles} * 128, &found});
      left.resize(found);
      std::vector<family::u32> expected_left;
      for (family::u32 row = 0; row < rows; ++row) {
        if (!expected[row]) expected_left.push_back(row);
      }
      CHECK(left == expected_left);
      INFO(rows << " rows of " << columns << ", " << shift << " behind, teams of " << tiles);
      CHECK(found_nan == nan_at);
      bool is_same = true;
      for (std::size_t row = 0; row < rows; ++row) is_same = is_same && removed[row] == (expected[row] ? 1 : 0);
      CHECK(is_same);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a prefilter removes what a pivot dominates, and nothing else", "[skyline]", float, double,
                   std::int32_t, std::uint32_t) {
  std::mt19937_64 random{zenith_test::seed_of("skyline.prefilter", 0)};
  for (const std::size_t rows : {1, 5, 127, 128, 130, 1000, 3001}) {
    for (const unsigned columns : {3U, 4U, 8U, 12U}) {
      for (const auto by : {fill::spread, fill::few_values, fill::near_best}) {
        check_prefilter<TestType>(rows, columns, by, random);
      }
    }
  }
}

TEMPLATE_TEST_CASE("a pivot is the row of the smallest sum of its stripe", "[skyline]", float, std::int32_t,
                   std::uint32_t) {
  std::mt19937_64 random{zenith_test::seed_of("skyline.pivots", 0)};
  for (const std::size_t rows : {64, 700, 64 * 160}) {
    for (const unsigned columns : {3U, 4U, 12U}) {
      for (const bool has_constant : {false, true}) {
        prefiltered_table<TestType> table(rows, columns, 0, 0b10);
        // whole numbers, so that sums are the same in every order
        for (auto& value : table.values) value = static_cast<TestType>(random() % 4096);
        if constexpr (std::is_floating_point_v<TestType>) {
          table.at(rows / 2, 1) = std::numeric_limits<TestType>::quiet_NaN();
        }
        std::vector<family::column_scale> scales(columns);
        for (unsigned c = 0; c < columns; ++c) scales[c] = {static_cast<float>(c), c == 1 ? -2.0F : 2.0F};
        if (has_constant) scales[2].factor = 0;
        std::vector<std::uint64_t> pivots(family::pivot_count);
        device::sequential_context on;
        const bool by_fours = table.from.is_by_fours();
        const auto find = [&](std::vector<std::uint64_t>& into, const std::uint64_t* seeds, family::u8* flags) {
          on.for_teams(family::pivot_count,
                       family::find_pivots<TestType>{table.from, scales.data(), 1, true, by_fours, 1, into.data(),
                                                     ~std::uint64_t{0}, seeds, flags});
        };
        find(pivots, nullptr, nullptr);
        const bool is_screened = by_fours && !has_constant;
        for (const bool has_seeds : {false, true}) {
          std::vector<std::uint64_t> others(family::pivot_count);
          std::vector<family::u8> removed(rows, 7);
          find(others, has_seeds ? pivots.data() : nullptr, removed.data());
          const auto best = std::ranges::min_element(pivots) - pivots.begin();
          if (!has_seeds) CHECK(others == pivots);
          CHECK(others[static_cast<std::size_t>(best)] == pivots[static_cast<std::size_t>(best)]);
          const auto found = static_cast<std::size_t>(std::ranges::count(removed, 1));
          CHECK(found + static_cast<std::size_t>(std::ranges::count(removed, 0)) == rows);
          // without seeds, of 160 rows of a stripe the last are compared with one of the others
          if (columns == 4 && rows == 64 * 160) CHECK((found > 0) == is_screened);
          if (!is_screened) CHECK(found == 0);
          const auto is_worse = [&](std::size_t row, std::size_t other) {
            bool is = true;
            for (unsigned c = 0; c < columns && is; ++c) is = table.from.at(other, c) < table.from.at(row, c);
            return is;
          };
          const std::size_t seed = static_cast<std::uint32_t>(pivots[static_cast<std::size_t>(best)]);
          for (std::size_t row = 0; row < rows; ++row) {
            if (removed[row] == 0) continue;
            bool is_dominated = has_seeds && is_worse(row, seed);
            for (std::size_t other = row / 160 * 160; other < row && !has_seeds; ++other) {
              is_dominated = is_dominated || is_worse(row, other);
            }
            CHECK(is_dominated);
          }
        }
        for (std::size_t p = 0; p < pivots.size(); ++p) {
          float least = 1e30F;
          std::size_t best = rows;
          for (std::size_t row = rows * p / pivots.size(); row < rows * (p + 1) / pivots.size(); ++row) {
            float sum = 0;
            for (unsigned c = 0; c < columns; ++c) {
              sum += (static_cast<float>(table.at(row, c)) - scales[c].origin) * scales[c].factor;
            }
            if (!(sum < least)) continue;
            least = sum;
            best = row;
          }
          CHECK(static_cast<std::uint32_t>(pivots[p]) == (best == rows ? ~std::uint32_t{0} : best));
        }
      }
    }
  }
}
