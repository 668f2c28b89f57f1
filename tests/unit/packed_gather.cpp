// Many single values at once are what `get` says of each, whatever the encoding, the widths and the type of the
// indices; what cannot be had is said before anything is written.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <catch.hpp>
#include <expect_error.hpp>
#include <packed_forgery.hpp>
#include <settings.hpp>
#include <zenith/zenith.hpp>

namespace {

using zenith::encoding;
using zenith::mixed_widths;

enum class shape {
  all_widths,           // of few bits and of many in turn, every other stretch of them rising, with rare outliers
  one_width,            // 10 bits
  one_width_and_peaks,  // the same with rare outliers
  steps,                // from near one end of the unsigned range over it; rising by little, rarely by much
};
constexpr shape every_shape[] = {shape::all_widths, shape::one_width, shape::one_width_and_peaks, shape::steps};
constexpr unsigned the_one_width = 10;

// In a miniblock whose number is even, and in as many places in every run that patches pay from 2048 values on.
bool is_rare(std::size_t i) { return i % 320 == 17; }

template <class T>
std::vector<T> values_of(shape one, std::size_t count, std::mt19937_64& random) {
  using word = std::make_unsigned_t<T>;
  constexpr auto greatest = static_cast<word>(std::numeric_limits<T>::max());
  std::vector<T> values(count);
  auto running = static_cast<word>(word{0} - 1000);
  for (std::size_t i = 0; i < count; ++i) {
    word bits = 0;
    switch (one) {
      case shape::all_widths: {
        const auto miniblock = i / zenith::packed_miniblock_items;
        const auto width = static_cast<unsigned>(miniblock * 7 % (sizeof(T) * 8 + 1));
        bits = static_cast<word>(static_cast<word>(random()) & zenith::packed::low_mask<word>(width));
        if (is_rare(i)) bits = greatest;
        if (miniblock % 2 != 0) bits = static_cast<word>(i * 3);
        break;
      }
      case shape::one_width:
      case shape::one_width_and_peaks:
        bits = static_cast<word>(i % 2 == 0 ? 1000 : random() % 1000);
        if (i % zenith::packed_block_items == 1) bits = 0;  // from which the width counts
        if (one == shape::one_width_and_peaks && is_rare(i)) bits = greatest;
        break;
      case shape::steps:
        running = static_cast<word>(running + (is_rare(i) ? word{1} << 20 : static_cast<word>(random() % 4)));
        bits = running;
        break;
    }
    values[i] = static_cast<T>(bits);
  }
  return values;
}

// A column that is not what its case says would leave the case untested.
template <class T>
void require_shape(const zenith::packed_column<T>& column, shape one) {
  const unsigned found = column.layout().one_width;
  const std::size_t count = column.size();
  const bool is_long = count >= zenith::packed_group_items;
  bool has_patches = false;
  if (column.encoding() == encoding::delta) has_patches = one == shape::steps && is_long;
  if (column.encoding() == encoding::frame_of_reference) {
    has_patches = (one == shape::all_widths || one == shape::one_width_and_peaks) && is_long;
    if (one == shape::all_widths && count > zenith::packed_block_items) REQUIRE(found == mixed_widths);
    const bool is_of_one = one == shape::one_width || (one == shape::one_width_and_peaks && is_long);
    // the last value of 129 is a block of no bits
    const bool ends_alone = count % zenith::packed_block_items == 1;
    if (is_of_one && count > 1) REQUIRE(found == (ends_alone ? unsigned{mixed_widths} : the_one_width));
  }
  if (has_patches) REQUIRE(column.layout().patches != 0);
  if (one == shape::one_width) REQUIRE(column.layout().patches == 0);
}

template <class Index, class T>
void check_gathered(const zenith::packed_view<T>& column, const std::vector<T>& values, std::mt19937_64& random) {
  // around the number that is asked for at once, and several times as many
  for (const std::size_t count : {0U, 1U, 31U, 32U, 33U, 64U, 65U, 1000U}) {
    std::vector<Index> indices(values.empty() ? 0 : count);
    for (auto& one : indices) one = static_cast<Index>(random() % values.size());
    if (indices.size() > 1) {
      indices.front() = static_cast<Index>(values.size() - 1);
      indices.back() = 0;
    }
    std::vector<T> found(indices.size() + 1, T{77});
    column.gather(indices, std::span(found).first(indices.size()));
    std::vector<T> expected;
    for (const auto index : indices) expected.push_back(values[static_cast<std::size_t>(index)]);
    expected.push_back(T{77});
    CAPTURE(count);
    CHECK(found == expected);
  }
}

template <class T>
void check_gathered_by_every_index(const zenith::packed_view<T>& column, const std::vector<T>& values,
                                   std::mt19937_64& random) {
  check_gathered<std::uint32_t>(column, values, random);
  check_gathered<std::int32_t>(column, values, random);
  check_gathered<std::uint64_t>(column, values, random);
  check_gathered<std::int64_t>(column, values, random);
}

// `bad` alone, and, where the column has a value 0, behind indices of it.
template <class Index, class T>
void check_refused(const zenith::packed_view<T>& column, Index bad) {
  for (const std::size_t before : {0U, 71U}) {
    if (before > 0 && column.empty()) continue;
    std::vector<Index> indices(before + 1, Index{0});
    if (before > 0) indices.resize(100, Index{0});
    indices[before] = bad;
    std::vector<T> out(indices.size(), T{5});
    const auto place = "gather: indices[" + std::to_string(before) + "] is " + std::to_string(bad) +
                       ", but the column has " + std::to_string(column.size()) + " values";
    zenith_test::expect_error(zenith::error_code::invalid_argument, {place}, [&] { column.gather(indices, out); });
    CHECK(out == std::vector<T>(indices.size(), T{5}));
  }
}

// Of the types that can say it, one by one.
template <class T>
void check_end_refused(const zenith::packed_view<T>& column) {
  check_refused(column, static_cast<std::uint32_t>(column.size()));
  check_refused(column, static_cast<std::int32_t>(column.size()));
  check_refused(column, static_cast<std::uint64_t>(column.size()));
  check_refused(column, static_cast<std::int64_t>(column.size()));
}

}  // namespace

TEMPLATE_TEST_CASE("values are gathered from every encoding", "", std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t) {
  std::mt19937_64 random{zenith_test::seed_of("gather", 0)};
  for (const auto kind : zenith::packed_encodings) {
    for (const auto one : every_shape) {
      for (const std::size_t count : {0U, 1U, 128U, 129U, 2048U, 7000U}) {
        CAPTURE(to_string(kind), static_cast<int>(one), count);
        const auto values = values_of<TestType>(one, count, random);
        const auto column = zenith::pack(zenith::cpu(), values, kind);
        require_shape(column, one);
        check_gathered_by_every_index(column.view(), values, random);
      }
    }
  }
}

TEMPLATE_TEST_CASE("values are gathered that wrap around the ends of the unsigned range", "", std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t) {
  using word = std::make_unsigned_t<TestType>;
  std::mt19937_64 random{zenith_test::seed_of("gather wrapped", 0)};
  constexpr word half = word{1} << (sizeof(word) * 8 - 1);
  constexpr word references[] = {static_cast<word>(~word{0}), 0, static_cast<word>(word{0} - 500), 3, half, half - 1};
  const auto reference_of = [&](std::uint64_t block) { return references[block % std::size(references)]; };
  for (const auto one : {shape::all_widths, shape::one_width, shape::one_width_and_peaks}) {
    CAPTURE(static_cast<int>(one));
    auto values = values_of<TestType>(one, 7000, random);
    // then the words of a block are its values, whatever stands below them
    for (std::size_t i = 0; i < values.size(); ++i) {
      auto& value = values[i];
      if (value < 0) value = static_cast<TestType>(value - std::numeric_limits<TestType>::min());
      if (i % zenith::packed_block_items == 1) value = 0;
    }
    const auto column = zenith::pack(zenith::cpu(), values, encoding::frame_of_reference);
    require_shape(column, one);
    const auto bytes = zenith_test::over_other_references<TestType>(
        column, [&](std::uint64_t block) { return std::optional{reference_of(block)}; });
    const auto wrapped = zenith::packed_view<TestType>::parse(bytes);
    std::size_t around = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const word reference = reference_of(i / zenith::packed_block_items);
      const auto sum = static_cast<word>(reference + static_cast<word>(values[i]));
      around += sum < reference ? 1 : 0;
      values[i] = static_cast<TestType>(sum);
    }
    REQUIRE(around > 100);
    check_gathered_by_every_index(wrapped, values, random);
  }
}

TEMPLATE_TEST_CASE("an index that the column does not have is refused before anything is written", "", std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t) {
  const std::vector<TestType> values(500, 9);
  for (const auto kind : zenith::packed_encodings) {
    CAPTURE(to_string(kind));
    const auto column = zenith::pack(zenith::cpu(), values, kind);
    check_end_refused(column.view());
    check_refused(column.view(), std::numeric_limits<std::uint32_t>::max());
    check_refused(column.view(), std::numeric_limits<std::uint64_t>::max());
    check_refused(column.view(), std::int32_t{-1});
    check_refused(column.view(), std::int64_t{-500});
    // its end is its beginning
    check_end_refused(zenith::pack(zenith::cpu(), std::vector<TestType>{}, kind).view());
  }
  check_end_refused(zenith::packed_view<TestType>{});
}

TEST_CASE("gathering needs an element for each index") {
  const auto column = zenith::pack(zenith::cpu(), std::vector<std::int32_t>(500, 9));
  const std::vector<std::uint32_t> indices(10, 0);
  for (const std::size_t count : {0U, 9U, 11U}) {
    std::vector<std::int32_t> out(count, 5);
    zenith_test::expect_error(zenith::error_code::invalid_argument,
                              {"10 indices", "values has " + std::to_string(count) + " elements"},
                              [&] { column.gather(indices, out); });
    CHECK(out == std::vector<std::int32_t>(count, 5));
  }
}
