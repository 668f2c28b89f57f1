// Columns whose miniblocks all have one width, and columns that miss that by one miniblock: what is known of them, and
// their single values, which are then found without the widths.

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catch.hpp>
#include <settings.hpp>
#include <zenith/zenith.hpp>

namespace {

using zenith::mixed_widths;

// Every miniblock holds both ends of `width` bits, so that neither chance nor a tail makes it narrower; but for the
// last, of one value, which takes no bits where the block begins there.
template <class T>
std::vector<T> values_of_width(std::size_t count, unsigned width, std::mt19937_64& random) {
  using word = std::make_unsigned_t<T>;
  const word most = zenith::packed::low_mask<word>(width);
  // of signed types all bits together go from the least value on
  const word least = most == word(~word{0}) ? static_cast<word>(std::numeric_limits<T>::min()) : word{0};
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = i % zenith::packed_miniblock_items;
    const word one = place == 0 ? most : place == 1 ? word{0} : static_cast<word>(random()) & most;
    values[i] = static_cast<T>(static_cast<word>(one + least));
  }
  return values;
}

template <class T>
std::size_t wrong_values(const zenith::packed_view<T>& view, const std::vector<T>& values) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) wrong += view.get(i) == values[i] ? 0 : 1;
  return wrong;
}

// The width that a column of `values` is known by; its values are right, packed and parsed.
template <class T>
unsigned width_of(const std::vector<T>& values, bool patches = false) {
  const auto column = zenith::pack(zenith::cpu(), values, zenith::encoding::frame_of_reference, {.patches = patches});
  const auto view = zenith::packed_view<T>::parse(column.bytes());
  CHECK(view.layout().one_width == column.layout().one_width);
  CHECK(wrong_values(column.view(), values) == 0);
  CHECK(wrong_values(view, values) == 0);
  return column.layout().one_width;
}

}  // namespace

TEMPLATE_TEST_CASE("a column of one width is known by it", "", std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t) {
  std::mt19937_64 random{zenith_test::seed_of("one width", 0)};
  for (unsigned width = 0; width <= sizeof(TestType) * 8; ++width) {
    for (const std::size_t count : {2U, 34U, 128U, 2048U, 2050U, 4096U, 6144U + 130U}) {
      CAPTURE(width, count);
      CHECK(width_of(values_of_width<TestType>(count, width, random)) == width);
    }
  }
}

TEMPLATE_TEST_CASE("one miniblock of another width makes the widths mixed", "", std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t) {
  std::mt19937_64 random{zenith_test::seed_of("mixed widths", 0)};
  constexpr unsigned width = 9;
  const std::size_t count = 3 * zenith::packed_group_items + 300;
  const auto change = [](std::vector<TestType>& values, std::size_t miniblock, unsigned shift) {
    values[miniblock * zenith::packed_miniblock_items] = static_cast<TestType>(((1U << width) - 1) << shift);
  };
  for (std::size_t miniblock = 0; miniblock <= count / zenith::packed_miniblock_items; ++miniblock) {
    CAPTURE(miniblock);
    auto values = values_of_width<TestType>(count, width, random);
    change(values, miniblock, 1);
    CHECK(width_of(values) == mixed_widths);
  }
  SECTION("also where as many words are missing elsewhere") {
    const std::size_t miniblocks = count / zenith::packed_miniblock_items;
    for (int round = 0; round < 50; ++round) {
      auto values = values_of_width<TestType>(count, width, random);
      const std::size_t wider = random() % miniblocks;
      const std::size_t narrower = (wider + 1 + random() % (miniblocks - 1)) % miniblocks;
      CAPTURE(wider, narrower);
      change(values, wider, 1);
      for (std::size_t i = 0; i < zenith::packed_miniblock_items; ++i) {
        values[narrower * zenith::packed_miniblock_items + i] %= (1 << (width - 1));
      }
      values[narrower * zenith::packed_miniblock_items] = (1 << (width - 1)) - 1;
      CHECK(width_of(values) == mixed_widths);
    }
  }
}

TEST_CASE("patches stand above one width", "") {
  std::mt19937_64 random{zenith_test::seed_of("patched width", 0)};
  auto values = values_of_width<std::uint32_t>(5000, 4, random);
  for (std::size_t i = 17; i < values.size(); i += 640) values[i] = 0xffffffff;
  CHECK(width_of(values, true) == 4);
}

TEST_CASE("other encodings have no width", "") {
  const std::vector<std::int32_t> values(1000, 5);
  for (const auto kind : zenith::packed_encodings) {
    if (kind == zenith::encoding::frame_of_reference) continue;
    CHECK(zenith::pack(zenith::cpu(), values, kind).layout().one_width == mixed_widths);
  }
  CHECK(zenith::packed_view<std::int32_t>{}.layout().one_width == mixed_widths);
  CHECK(zenith::pack(zenith::cpu(), std::vector<int>{}, zenith::encoding::frame_of_reference).layout().one_width ==
        mixed_widths);
}
