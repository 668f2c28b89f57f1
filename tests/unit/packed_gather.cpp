// Many single values at once are what `get` says of each, whatever the encoding, the widths and the type of the
// indices; what cannot be had is said before anything is written.

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catch.hpp>
#include <settings.hpp>
#include <zenith/zenith.hpp>

namespace {

// Of few bits and of many in turn, every other stretch of them rising, with rare outliers.
template <class T>
std::vector<T> values_of_all_widths(std::size_t count, std::mt19937_64& random) {
  using word = std::make_unsigned_t<T>;
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto miniblock = i / zenith::packed_miniblock_items;
    const unsigned width = static_cast<unsigned>(miniblock * 7 % (sizeof(T) * 8 + 1));
    auto one = static_cast<word>(static_cast<word>(random()) & zenith::packed::low_mask<word>(width));
    if (random() % 200 == 0) one = static_cast<word>(random());
    values[i] = static_cast<T>(miniblock % 2 == 0 ? one : static_cast<word>(i * 3));
  }
  return values;
}

template <class T>
std::vector<T> values_of_one_width(std::size_t count, std::mt19937_64& random) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i % 2 == 0 ? 1000 : random() % 1000);
  return values;
}

template <class Index, class T>
void check_gathered(const zenith::packed_column<T>& column, const std::vector<T>& values, std::mt19937_64& random) {
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

template <class Index, class T>
void check_refused(const zenith::packed_column<T>& column, Index bad) {
  std::vector<Index> indices(100, Index{0});
  indices[71] = bad;
  std::vector<T> out(indices.size(), T{5});
  CHECK_THROWS_MATCHES(column.gather(indices, out), zenith::error,
                       Catch::Matchers::Predicate<zenith::error>([](const auto& thrown) {
                         return thrown.code() == zenith::error_code::invalid_argument &&
                                std::string{thrown.what()}.find("indices[71]") != std::string::npos;
                       }));
  CHECK(out == std::vector<T>(indices.size(), T{5}));
}

}  // namespace

TEMPLATE_TEST_CASE("values are gathered from every encoding", "", std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t) {
  std::mt19937_64 random{zenith_test::seed_of("gather", 0)};
  for (const auto kind : zenith::packed_encodings) {
    for (const bool one_width : {false, true}) {
      for (const std::size_t count : {0U, 1U, 129U, 2048U, 7000U}) {
        CAPTURE(to_string(kind), one_width, count);
        const auto values =
            one_width ? values_of_one_width<TestType>(count, random) : values_of_all_widths<TestType>(count, random);
        const auto column = zenith::pack(zenith::cpu(), values, kind);
        check_gathered<std::uint32_t>(column, values, random);
        check_gathered<std::int32_t>(column, values, random);
        check_gathered<std::uint64_t>(column, values, random);
        check_gathered<std::int64_t>(column, values, random);
      }
    }
  }
}

TEST_CASE("an index that the column does not have is refused before anything is written") {
  const std::vector<std::int32_t> values(500, 9);
  for (const auto kind : {zenith::encoding::frame_of_reference, zenith::encoding::plain}) {
    const auto column = zenith::pack(zenith::cpu(), values, kind);
    check_refused(column, std::uint32_t{500});
    check_refused(column, std::numeric_limits<std::uint64_t>::max());
    check_refused(column, std::int32_t{-1});
    check_refused(column, std::int64_t{-500});
  }
}

TEST_CASE("gathering needs as much room as there are indices") {
  const auto column = zenith::pack(zenith::cpu(), std::vector<std::int32_t>(500, 9));
  const std::vector<std::uint32_t> indices(10, 0);
  for (const std::size_t room : {0U, 9U, 11U}) {
    std::vector<std::int32_t> out(room, 5);
    CHECK_THROWS_AS(column.gather(indices, out), zenith::error);
    CHECK(out == std::vector<std::int32_t>(room, 5));
  }
}
