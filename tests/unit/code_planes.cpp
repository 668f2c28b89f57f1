#include <algorithms/threshold_table/src/code_planes.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <algorithms/threshold_table/src/lower_tree.hpp>
#include <catch.hpp>

using namespace zenith::detail;

namespace {

/// Codes and keys with others around them, which stay as they are.
struct some_planes {
  static constexpr std::size_t before = 3;
  static constexpr std::size_t stride = most_plane_rows + 100;
  std::vector<std::uint8_t> codes = std::vector<std::uint8_t>(most_planes * stride, 77);
  std::vector<std::uint16_t> keys = std::vector<std::uint16_t>(stride, 777);

  code_planes view(std::size_t columns) { return {codes.data(), stride, columns, keys.data()}; }
};

some_planes parted(some_planes from, std::size_t columns, std::size_t count, std::size_t first, std::size_t column,
                   bool only_keys) {
  const some_planes old = from;
  std::vector<std::size_t> rows(count);
  for (std::size_t i = 0; i < count; ++i) rows[i] = some_planes::before + i;
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(first);
  std::ranges::stable_sort(rows, {}, [&](std::size_t i) { return old.codes[column * some_planes::stride + i]; });
  std::sort(rows.begin(), middle);
  std::sort(middle, rows.end());
  for (std::size_t i = 0; i < count; ++i) {
    from.keys[some_planes::before + i] = old.keys[rows[i]];
    if (only_keys) continue;
    for (std::size_t j = 0; j < columns; ++j) {
      from.codes[j * some_planes::stride + some_planes::before + i] = old.codes[j * some_planes::stride + rows[i]];
    }
  }
  return from;
}

template <class T>
void orders_alike(std::size_t columns, std::uint32_t rows, std::uint32_t block_rows, std::uint32_t range) {
  std::mt19937 random(rows + range);
  const std::size_t stride = square<T>::padded(columns);
  std::vector<T> values(stride * rows);
  for (auto& one : values) {
    one = static_cast<T>(random() % range);
    if constexpr (std::is_floating_point_v<T>) {
      const auto drawn = random() % 64;
      if (drawn == 0) one = std::numeric_limits<T>::infinity();
      if (drawn == 1) one = std::numeric_limits<T>::quiet_NaN();
    }
  }
  const std::vector<column_scale> scales(columns, {0, static_cast<double>(range)});
  lower_tree<T> with(scales, block_rows);
  lower_tree<T> without(scales, block_rows, nullptr);
  const auto expected = without.order(values.data(), rows);
  const auto found = with.order(values.data(), rows);
  CHECK(std::ranges::equal(found, expected));
}

}  // namespace

TEST_CASE("planes are parted at a rank in their order", "[unit]") {
  const auto* const wide = wide_planes();
  if (wide == nullptr) return;
  std::mt19937 random(7);
  for (const std::size_t count : {1, 2, 31, 32, 33, 63, 64, 65, 128, 129, 200, 256, 257, 320, 4099, 65536}) {
    for (const unsigned range : {1U, 3U, 256U}) {
      some_planes drawn;
      const std::size_t columns = count % 2 == 0 ? 8 : 3;
      for (std::size_t j = 0; j < columns; ++j) {
        for (std::size_t i = 0; i < count; ++i) {
          drawn.codes[j * some_planes::stride + some_planes::before + i] =
              static_cast<std::uint8_t>(255U - random() % range);
        }
      }
      for (std::size_t i = 0; i < count; ++i) {
        drawn.keys[some_planes::before + i] = static_cast<std::uint16_t>(random());
      }
      for (const std::size_t first : {std::size_t{0}, std::size_t{1}, count / 3, count / 2, count - 1}) {
        if (first >= count) continue;
        for (const bool only_keys : {false, true}) {
          auto found = drawn;
          wide->part(found.view(columns), some_planes::before, count, first, columns - 1, only_keys);
          const auto expected = parted(drawn, columns, count, first, columns - 1, only_keys);
          CHECK(found.codes == expected.codes);
          CHECK(found.keys == expected.keys);
        }
      }
    }
  }
}

TEST_CASE("planes are written, and their extremes found", "[unit]") {
  const auto* const wide = wide_planes();
  if (wide == nullptr) return;
  std::mt19937 random(7);
  for (const std::size_t count : {1, 63, 64, 65, 200}) {
    for (const std::size_t columns : {1, 5, 8}) {
      std::vector<std::uint8_t> words((count + 64) * 8);
      for (auto& one : words) one = static_cast<std::uint8_t>(random() % 250 + 3);
      some_planes found;
      auto expected = found;
      wide->write(found.view(columns), some_planes::before, count, words.data());
      code_extremes extremes;
      std::ranges::fill(extremes.least, std::uint8_t{255});
      std::ranges::fill(extremes.most, std::uint8_t{0});
      wide->add_extremes(found.view(columns), some_planes::before, count, extremes);
      for (std::size_t j = 0; j < columns; ++j) {
        std::uint8_t least = 255;
        std::uint8_t most = 0;
        for (std::size_t i = 0; i < count; ++i) {
          const auto code = words[8 * i + j];
          expected.codes[j * some_planes::stride + some_planes::before + i] = code;
          least = std::min(least, code);
          most = std::max(most, code);
        }
        CHECK(extremes.least[j] == least);
        CHECK(extremes.most[j] == most);
      }
      CHECK(found.codes == expected.codes);
    }
  }
}

TEST_CASE("rows of floats are coded, their extremes found and their columns written", "[unit]") {
  const auto* const wide = wide_planes();
  if (wide == nullptr) return;
  constexpr float far = std::numeric_limits<float>::infinity();
  const auto same = [](float a, float b) { return a == b || (a != a && b != b); };
  std::mt19937 random(7);
  for (const std::size_t count : {1, 8, 16, 63, 64, 65, 192}) {
    std::vector<float> values(count * wide_row);
    for (auto& one : values) one = static_cast<float>(random() % 1000);
    values[random() % values.size()] = std::numeric_limits<float>::quiet_NaN();
    values[random() % values.size()] = -far;
    some_planes found;
    std::vector<std::uint32_t> order(count);
    for (std::size_t i = 0; i < count; ++i) {
      order[i] = static_cast<std::uint32_t>(random() % count);
      found.keys[some_planes::before + i] = static_cast<std::uint16_t>(order[i]);
    }
    row_coding by;
    row_extremes expected_extremes;
    for (std::size_t j = 0; j < wide_row; ++j) {
      by.from[j] = static_cast<float>(10 * j);
      by.factor[j] = .3F;
      expected_extremes.least[j] = 5000;
      expected_extremes.most[j] = -5000;
      expected_extremes.has_nan[j] = false;
    }
    row_extremes extremes = expected_extremes;
    row_extremes written_extremes = expected_extremes;
    auto expected = found;
    for (const std::size_t columns : {5, 8}) {
      for (std::size_t j = 0; j < columns; ++j) {
        for (std::size_t i = 0; i < count; ++i) {
          const float value = values[order[i] * wide_row + j];
          const float steps = (value - by.from[j]) * by.factor[j];
          expected.codes[j * some_planes::stride + some_planes::before + i] =
              static_cast<std::uint8_t>(!(steps > 0) ? 0 : std::min(steps, 255.0F));
          if (value < expected_extremes.least[j]) expected_extremes.least[j] = value;
          if (value > expected_extremes.most[j]) expected_extremes.most[j] = value;
          if (value != value) expected_extremes.has_nan[j] = true;
        }
      }
      wide->code_rows(found.view(columns), some_planes::before, count, values.data(), by);
      CHECK(found.codes == expected.codes);
    }
    wide->add_row_extremes(values.data(), found.keys.data() + some_planes::before, count, extremes.least,
                           extremes.most);
    CHECK(std::ranges::equal(extremes.least, expected_extremes.least));
    CHECK(std::ranges::equal(extremes.most, expected_extremes.most));
    if (count % 16 != 0) continue;
    constexpr std::size_t columns = 5;
    const std::size_t stride = count + 3;
    std::vector<float> to(wide_row * stride, 777);
    auto expected_values = to;
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t i = 0; i < count; ++i) expected_values[j * stride + i] = values[order[i] * wide_row + j];
    }
    wide->write_columns(values.data(), order.data(), count, to.data(), stride, columns, written_extremes);
    CHECK(std::ranges::equal(to, expected_values, same));
    CHECK(std::ranges::equal(written_extremes.least, expected_extremes.least));
    CHECK(std::ranges::equal(written_extremes.most, expected_extremes.most));
    CHECK(std::ranges::equal(written_extremes.has_nan, expected_extremes.has_nan));

    // all columns, to rows from the last one to the first
    std::vector<float> by_column(wide_row * count);
    const float* from[wide_row];
    std::vector<float> rows(wide_row * count);
    std::vector<float*> places(count);
    for (std::size_t j = 0; j < wide_row; ++j) {
      from[j] = by_column.data() + j * count;
      for (std::size_t i = 0; i < count; ++i) by_column[j * count + i] = values[i * wide_row + j];
    }
    for (std::size_t i = 0; i < count; ++i) places[i] = rows.data() + (count - 1 - i) * wide_row;
    wide->write_rows(from, count, places.data());
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = std::span<const float>(values).subspan(i * wide_row, wide_row);
      CHECK(std::ranges::equal(std::span<const float>(places[i], wide_row), row, same));
    }
  }
}

TEST_CASE("a leaf has the same order by planes and without them", "[unit]") {
  for (const std::uint32_t range : {1U, 5U, 1000000U}) {
    orders_alike<float>(8, 20000, 64, range);
    orders_alike<float>(6, 20000, 64, range);
    orders_alike<float>(1, 5000, 64, range);
    orders_alike<float>(3, 65536, 64, range);
    orders_alike<float>(3, 66000, 64, range);
    orders_alike<double>(5, 9001, 100, range);
    orders_alike<std::int32_t>(8, 3001, 7, range);
    orders_alike<std::uint32_t>(9, 3001, 64, range);
  }
}
