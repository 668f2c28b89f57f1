#pragma once

/// \file
/// Tables for the suite, the double loop that says what their skylines are, and the comparison of a target with it.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <harness.hpp>
#include <zenith/skyline.hpp>

namespace conformance::skyline {

using zenith_test::random_source;
using float32 = float;
using float64 = double;
using int32 = std::int32_t;
using uint32 = std::uint32_t;
using int64 = std::int64_t;
using uint64 = std::uint64_t;

#define ZENITH_EVERY_KEY_TYPE float32, float64, int32, uint32, int64, uint64

enum class shape {
  independent,
  correlated,
  anticorrelated,
  few_values,
  all_equal,
  one_dominates,  ///< the last row dominates all others
  antichain,      ///< no row dominates another
  chain,          ///< every row is dominated by the one behind it
  copies,         ///< every row stands there several times
  specials,       ///< least, greatest, -0, infinities and few others
  with_nans,      ///< of types that have any
};
inline constexpr shape every_shape[] = {
    shape::independent,   shape::correlated, shape::anticorrelated, shape::few_values, shape::all_equal,
    shape::one_dominates, shape::antichain,  shape::chain,          shape::copies,     shape::specials};

[[nodiscard]] std::string name_of(shape one);

/// Row-major.
template <class T>
struct table {
  std::string name;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<T> values;

  [[nodiscard]] std::string text() const {
    return name + " n=" + std::to_string(rows) + " d=" + std::to_string(columns);
  }
  [[nodiscard]] T at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

template <class T>
[[nodiscard]] table<T> make_table(shape one, std::size_t rows, std::size_t columns, random_source& random);

/// How the table lies in memory, and how the result is asked for. No result may depend on either.
enum class layout { row_major, column_major, padded_rows, padded_columns, strided, columns };
enum class form { ids_u32, ids_i32, ids_u64, ids_i64, value, mask };

struct request {
  std::vector<zenith::preference> preferences;  ///< empty: all minimised
  zenith::duplicate_rows duplicates = zenith::duplicate_rows::keep_all;
  zenith::nan_rows nans = zenith::nan_rows::worst;

  [[nodiscard]] std::string text() const;
};

/// Preferences and policies are drawn.
[[nodiscard]] request some_request(std::size_t columns, random_source& random);

/// The rows that take part: those without a NaN, or all.
template <class T>
[[nodiscard]] std::vector<std::size_t> rows_in(const table<T>& of, const request& asked);

enum class relation { none, equals, dominates };

/// What row q is to row p.
template <class T>
[[nodiscard]] relation compare_rows(const table<T>& of, const request& asked, std::size_t q, std::size_t p);

/// The skyline by a double loop.
template <class T>
[[nodiscard]] std::vector<std::uint64_t> expected(const table<T>& of, const request& asked);

/// What is wrong with the target's answer; empty if nothing is.
template <class T>
[[nodiscard]] std::string fault_of(const zenith_test::target& on, const table<T>& of, const request& asked,
                                   const std::vector<std::uint64_t>& expected_ids, random_source& random);

/// Points whose sums lie closer together than a rounded sum tells apart, because two others are far away: of so many
/// pairs one dominates the other, which comes first. More rows than few (algorithms/skyline/few_rows.hpp).
template <class T = std::int32_t>
[[nodiscard]] table<T> table_of_close_sums(std::int32_t pairs = 3) {
  constexpr std::int32_t rows = 5000;
  constexpr T unit = sizeof(T) == 8 ? 64 : 1;  // of 64 bits a rounded sum leaves out six
  table<T> made{"close sums", rows, 2, {}};
  for (std::int32_t i = 0; i < rows; ++i) {
    std::int32_t x = 4 * i;
    std::int32_t y = -4 * i + i % 4;
    if (i < 2) {
      x = -1'000'000'000 - i;
      y = 1'900'000'000 + i;
    } else if (i >= 300 && i < 300 + 2 * pairs) {  // a row dominates the one before it
      const std::int32_t pair = (i - 300) / 2;
      const std::int32_t behind = i % 2 == 0 ? 1 : 0;
      x = -1000 + 8 * pair + behind;
      y = 1100 - 8 * pair + behind;
    }
    made.values.push_back(unit * x);
    made.values.push_back(unit * y);
  }
  return made;
}

/// Points of which every second one, and so every one of a sample, lies far from the others; those lie close together,
/// each second one dominates the one before it, and none is a pivot, because of a column of infinities.
[[nodiscard]] inline table<float> table_of_a_crowd() {
  constexpr std::size_t rows = 8192;
  constexpr float all = 1U << 24;
  constexpr float apart = 4090;
  table<float> made{"a crowd", rows, 3, {}};
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t pair = i / 4;
    const float x = i % 2 == 0 ? apart * static_cast<float>(i / 2) : apart * 3000 + 1 + static_cast<float>(pair);
    const float more = i % 4 == 1 ? 1 : 0;
    made.values.insert(made.values.end(), {x + more, all - x + more, std::numeric_limits<float>::infinity()});
  }
  return made;
}

/// Points that stand there twice, one behind the other, and of which none dominates another: no prefilter removes any.
template <class T>
[[nodiscard]] table<T> table_of_twins(std::size_t rows, std::size_t columns) {
  table<T> made{"twins", rows, columns, {}};
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t c = 0; c < columns; ++c) made.values.push_back(static_cast<T>(c % 2 == 0 ? i / 2 : rows - i / 2));
  }
  return made;
}

/// Points of which hardly any is dominated by the best of some, but many by a few others, or have equals: nearly all
/// are left by a prefilter. At least two columns.
template <class T>
[[nodiscard]] table<T> table_of_neighbours(std::size_t rows, std::size_t columns, random_source& random) {
  table<T> made{"neighbours", rows, columns, std::vector<T>(rows * columns)};
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t place = random() % (rows + 1);
    for (std::size_t c = 0; c < columns; ++c) {
      made.values[i * columns + c] = static_cast<T>(2 * (c % 2 == 0 ? place : rows - place));
    }
    made.values[i * columns + random() % columns] += static_cast<T>(random() % 3);
  }
  return made;
}

}  // namespace conformance::skyline
