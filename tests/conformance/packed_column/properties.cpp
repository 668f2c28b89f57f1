// What holds of the bytes themselves, whichever backend made them.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>

#include <catch.hpp>
#include <packed_suite.hpp>
#include <zenith/error.hpp>
#include <zenith/packed_block.hpp>

using namespace conformance;
using namespace conformance::packed;

namespace {

// Calls function(type_identity<T>) for every type that can be packed.
template <class Function>
void for_every_type(Function&& function) {
  function(std::type_identity<std::int32_t>{});
  function(std::type_identity<std::uint32_t>{});
  function(std::type_identity<std::int64_t>{});
  function(std::type_identity<std::uint64_t>{});
}

std::size_t total_bytes(const auto& values, const manner& as) {
  return zenith::pack(zenith::reference(), values, as.kind, as.options()).bytes().size();
}

}  // namespace

TEST_CASE("each value alone, and each block alone", "[bits]") {
  std::uint64_t number = 0;
  for_every_type([&]<class T>(std::type_identity<T>) {
    for (const auto& as : every_manner) {
      for (const auto length : interesting_lengths()) {
        random_source random{zenith_test::seed_of("alone", number++)};
        auto data = make_sample<T>(some_shape(random), length, some_width<T>(random), as, random);
        INFO(data.describe() << " ZENITH_SEED=" << zenith_test::seed());
        const auto values = data.values();
        const auto& view = data.view();
        REQUIRE(view.size() == values.size());
        const std::size_t stride = 1 + random() % 5;
        for (std::size_t i = 0; i < values.size(); i += stride) {
          if (view.get(i) != values[i]) REQUIRE(view.get(i) == values[i]);
        }
        CHECK_THROWS_AS(view.get(values.size()), zenith::error);
        for (std::uint64_t block = 0; block < view.layout().blocks(); ++block) {
          std::make_unsigned_t<T> out[zenith::packed_block_items];
          const unsigned items = zenith::packed::unpack_block(view.layout(), block, out);
          const auto expected = values.subspan(block * zenith::packed_block_items, items);
          const bool same =
              std::ranges::equal(std::span(out, items), expected, {}, [](auto u) { return static_cast<T>(u); });
          if (!same) REQUIRE(same);
        }
      }
    }
  });
}

TEST_CASE("the checksum is the page's", "[bits]") {
  std::uint64_t number = 0;
  for_every_type([&]<class T>(std::type_identity<T>) {
    for (const auto& as : every_manner) {
      random_source random{zenith_test::seed_of("checksum", number++)};
      const auto values = make_values<T>(some_shape(random), random() % 3000, some_width<T>(random), random);
      const auto column = zenith::pack(zenith::reference(), values, as.kind, as.options());
      std::uint64_t written = 0;
      std::memcpy(&written, column.bytes().data() + offsetof(zenith::packed_header, checksum), sizeof written);
      CHECK(written == checksum_by_the_page(column.bytes()));
    }
  });
}

TEST_CASE("automatic is the smallest of all, and patches never add", "[bits]") {
  std::uint64_t number = 0;
  for_every_type([&]<class T>(std::type_identity<T>) {
    for (const auto one : every_shape) {
      random_source random{zenith_test::seed_of("smallest", number++)};
      const auto values = make_values<T>(one, 1 + random() % 9000, some_width<T>(random), random);
      for (const int lanes : {4, 8, 16}) {
        std::size_t least = ~std::size_t{0};
        for (auto as : every_manner) {
          if (as.kind == zenith::encoding::automatic) continue;
          as.lanes = lanes;
          least = std::min(least, total_bytes(values, as));
        }
        INFO(name_of(one) << " n=" << values.size() << " ZENITH_SEED=" << zenith_test::seed());
        CHECK(total_bytes(values, {zenith::encoding::automatic, lanes}) == least);
      }
      for (const auto kind : {zenith::encoding::frame_of_reference, zenith::encoding::delta}) {
        CHECK(total_bytes(values, {kind}) <= total_bytes(values, {kind, 4, false}));
      }
    }
  });
}

TEST_CASE("what metadata costs", "[bits]") {
  constexpr std::size_t count = 1 << 20;
  for_every_type([&]<class T>(std::type_identity<T>) {
    // a record of 120 or 232 bytes for 2048 values
    const double record = sizeof(T) == 4 ? 0.5 : 0.92;
    random_source random{zenith_test::seed_of("metadata", 0)};
    for (const unsigned width : {1U, 7U, 13U, static_cast<unsigned>(sizeof(T) * 8 - 1)}) {
      std::vector<T> values(count);
      for (auto& value : values) value = static_cast<T>(random() >> (64 - width));
      const auto column = zenith::pack(zenith::reference(), values, zenith::encoding::frame_of_reference);
      INFO(width << " bits of " << sizeof(T) * 8);
      CHECK(column.bits_per_value() <= width + record);
    }
    std::vector<T> rising(count);
    std::iota(rising.begin(), rising.end(), T{1});
    CHECK(zenith::pack(zenith::reference(), rising, zenith::encoding::delta).bits_per_value() <= 1.9);
    CHECK(zenith::pack(zenith::reference(), rising).bits_per_value() <= 1.9);
  });
}

TEST_CASE("a column of one type is none of another", "[bits]") {
  const std::vector<std::int32_t> values{1, 2, 3};
  const auto column = zenith::pack(zenith::reference(), values);
  CHECK_NOTHROW(zenith::packed_view<std::int32_t>::parse(column.bytes()));
  const auto refuses = [&]<class T>(std::type_identity<T>) {
    try {
      (void)zenith::packed_view<T>::parse(column.bytes());
      FAIL_CHECK("took a column of another type");
    } catch (const zenith::error& thrown) {
      CHECK(thrown.code() == zenith::error_code::invalid_argument);
      CHECK(std::string_view{thrown.what()}.find("int32") != std::string_view::npos);
    }
  };
  refuses(std::type_identity<std::uint32_t>{});
  refuses(std::type_identity<std::int64_t>{});
  refuses(std::type_identity<std::uint64_t>{});
}
