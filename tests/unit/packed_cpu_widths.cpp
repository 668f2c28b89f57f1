// Every bit width on every instruction set: the CPU's tiles against the plain decoder, and references that no encoder
// writes, which make values wrap around.

#include <catch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <packed_forgery.hpp>
#include <settings.hpp>
#include <targets.hpp>
#include <zenith/packed_block.hpp>
#include <zenith/zenith.hpp>

namespace {

using zenith::encoding;
namespace packed = zenith::packed;

// Under the thread sanitizer, where all takes ten times as long, some widths: threads race at any.
#if defined(__SANITIZE_THREAD__)
constexpr unsigned width_step = 7;
#else
constexpr unsigned width_step = 1;
#endif

// Two groups and a bit; every miniblock needs `width` bits, of the values or of their differences.
template <class T>
std::vector<T> values_of_width(encoding kind, unsigned width, std::mt19937_64& random) {
  using U = std::make_unsigned_t<T>;
  const auto mask = packed::low_mask<U>(width);
  std::vector<T> values(2 * zenith::packed_group_items + 300);
  const U origin = static_cast<U>(random());
  U value = origin;
  for (std::size_t i = 0; i < values.size(); ++i) {
    U word = static_cast<U>(random()) & mask;
    // the least and the longest word of each miniblock, where the block's first does not count
    if (i % 32 == 1) word = 0;
    if (i % 32 == 2) word = mask;
    if (kind == encoding::delta) {
      value = static_cast<U>(value + word);
    } else {
      // the order of a signed type begins at its least value
      const U least = std::is_signed_v<T> ? static_cast<U>(U{1} << (sizeof(U) * 8 - 1)) : U{0};
      value = static_cast<U>(word +
                             (width == sizeof(U) * 8 ? least : least + static_cast<U>(origin >> width << width) / 4));
    }
    values[i] = static_cast<T>(value);
  }
  return values;
}

// The same words over references from anywhere.
template <class T>
std::vector<std::byte> over_any_references(const zenith::packed_column<T>& column, std::mt19937_64& random) {
  return zenith_test::over_other_references<T>(
      column, [&](std::uint64_t) -> std::optional<std::make_unsigned_t<T>> { return random(); });
}

template <class T>
void compare(const zenith::executor& on, const zenith::packed_view<T>& column, std::mt19937_64& random) {
  using U = std::make_unsigned_t<T>;
  const auto oracle = zenith::make_executor("reference");
  std::vector<T> expected(column.size());
  for (std::uint64_t block = 0; block < column.layout().blocks(); ++block) {
    U values[zenith::packed_block_items];
    const unsigned items = packed::unpack_block(column.layout(), block, values);
    std::memcpy(expected.data() + block * zenith::packed_block_items, values, items * sizeof(U));
  }
  // wherever in a line the output begins
  std::vector<T> memory(column.size() + 64 / sizeof(T) + 16);
  T* line = memory.data();
  while (reinterpret_cast<std::uintptr_t>(line) % 64 != 0) ++line;
  for (const std::size_t offset : {0, 1, 4, 8, 12}) {
    std::ranges::fill(memory, T{});
    const std::span out(line + offset, column.size());
    zenith::unpack(on, column, out);
    REQUIRE(std::ranges::equal(out, expected));
    REQUIRE(std::count(memory.data(), line + offset, T{}) == line + offset - memory.data());
    REQUIRE(memory[static_cast<std::size_t>(out.data() - memory.data()) + out.size()] == T{});
  }
  REQUIRE(zenith::sum(on, column) == zenith::sum(oracle, column));
  REQUIRE(zenith::minimum(on, column) == *std::ranges::min_element(expected));
  REQUIRE(zenith::maximum(on, column) == *std::ranges::max_element(expected));
  std::vector<std::uint64_t> bits((column.size() + 63) / 64);
  for (int turn = 0; turn < 6; ++turn) {
    // values, or what is next to them, modulo 2^bits
    const auto some = [&] {
      return static_cast<T>(static_cast<U>(expected[random() % expected.size()]) + static_cast<U>(random() % 3) - 1);
    };
    const T one = turn == 4 ? std::numeric_limits<T>::min() : some();
    const T other = turn == 5 ? std::numeric_limits<T>::max() : some();
    const auto [low, high] = std::minmax(one, other);
    std::vector<std::uint64_t> expected_bits(bits.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (low <= expected[i] && expected[i] <= high) expected_bits[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    zenith::select_bitmap(on, column, low, high, bits);
    REQUIRE(bits == expected_bits);
  }
  for (const auto select : {zenith::selection::largest, zenith::selection::smallest}) {
    REQUIRE(zenith::top_k(on, column, 7, {.select = select}).indices ==
            zenith::top_k(oracle, column, 7, {.select = select}).indices);
  }
}

template <class T>
void compare_widths(const std::string& test) {
  using U = std::make_unsigned_t<T>;
  const auto oracle = zenith::make_executor("reference");
  const auto targets = zenith_test::one_executor_per_isa("unpack");
  REQUIRE(!targets.empty());
  for (unsigned width = 0; width <= sizeof(T) * 8; width += width_step) {
    for (const auto kind : {encoding::frame_of_reference, encoding::delta}) {
      if (!zenith_test::is_drawn(test + std::string{to_string(kind)}, width)) continue;
      const auto seed = zenith_test::seed_of(test + std::string{to_string(kind)}, width);
      std::mt19937_64 random(seed);
      const auto values = values_of_width<T>(kind, width, random);
      const auto column = zenith::pack(oracle, values, kind, {.patches = false});
      if (kind == encoding::frame_of_reference) {
        for (const auto own : packed::place_of<U>(column.layout(), 3).width) REQUIRE(own == width);
      }
      const auto hostile = over_any_references<T>(column, random);
      const auto wrapping = zenith::packed_view<T>::parse(hostile);
      for (const auto& target : targets) {
        INFO(test << " seed " << seed << ", " << to_string(kind) << ", " << width << " bits, on "
                  << target.executor_string);
        const auto again = zenith::pack(target.on, values, kind, {.patches = false});
        REQUIRE(std::ranges::equal(again.bytes(), column.bytes()));
        compare<T>(target.on, column, random);
        compare<T>(target.on, wrapping, random);
      }
    }
  }
}

// Miniblocks of any widths up to `widest` in a group, of random words or, as much as lanes have to hold, of the
// greatest.
template <class T>
void compare_mixed_widths(const std::string& test) {
  using U = std::make_unsigned_t<T>;
  const auto oracle = zenith::make_executor("reference");
  const auto targets = zenith_test::one_executor_per_isa("unpack");
  REQUIRE(!targets.empty());
  const U least = std::is_signed_v<T> ? static_cast<U>(U{1} << (sizeof(U) * 8 - 1)) : U{0};
  for (unsigned widest = 1; widest <= 18; widest += width_step) {
    if (!zenith_test::is_drawn(test, widest)) continue;
    const auto seed = zenith_test::seed_of(test, widest);
    std::mt19937_64 random(seed);
    for (const bool greatest : {false, true}) {
      std::vector<T> values(4 * zenith::packed_group_items + 300);
      U most = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (i % zenith::packed_miniblock_items == 0) {
          const auto fewer = static_cast<unsigned>(random() % (greatest ? 2 : widest + 1));
          most = packed::low_mask<U>(widest - fewer);
        }
        const U word = i % zenith::packed_block_items == 0 ? U{0} : greatest ? most : static_cast<U>(random()) & most;
        values[i] = static_cast<T>(least + word);
      }
      const auto column = zenith::pack(oracle, values, encoding::frame_of_reference, {.patches = false});
      const auto hostile = over_any_references<T>(column, random);
      const auto wrapping = zenith::packed_view<T>::parse(hostile);
      for (const auto& target : targets) {
        INFO(test << " seed " << seed << ", up to " << widest << " bits, on " << target.executor_string);
        compare<T>(target.on, column, random);
        compare<T>(target.on, wrapping, random);
      }
    }
  }
}

// As much as lanes ever have to hold: every word of a block but its first is the greatest of its width.
template <class T>
void compare_greatest() {
  using U = std::make_unsigned_t<T>;
  const auto oracle = zenith::make_executor("reference");
  const auto targets = zenith_test::executors("packed_sum", {"cpu"});
  REQUIRE(!targets.empty());
  for (unsigned width = 1; width <= sizeof(T) * 8; ++width) {
    const U least = std::is_signed_v<T> ? static_cast<U>(U{1} << (sizeof(U) * 8 - 1)) : U{0};
    std::vector<T> values(3 * zenith::packed_group_items, static_cast<T>(least + packed::low_mask<U>(width)));
    for (std::size_t i = 0; i < values.size(); i += zenith::packed_block_items) values[i] = static_cast<T>(least);
    const auto column = zenith::pack(oracle, values, encoding::frame_of_reference, {.patches = false});
    for (const auto own : packed::place_of<U>(column.layout(), 20).width) REQUIRE(own == width);
    for (const auto& target : targets) {
      INFO(width << " bits, on " << target.executor_string);
      REQUIRE(zenith::sum(target.on, column) == zenith::sum(oracle, column));
    }
  }
}

}  // namespace

TEST_CASE("the greatest words of every width add up on every instruction set") {
  compare_greatest<std::int32_t>();
  compare_greatest<std::uint32_t>();
  compare_greatest<std::int64_t>();
  compare_greatest<std::uint64_t>();
}

TEST_CASE("groups of several widths are decoded on every instruction set") {
  compare_mixed_widths<std::int32_t>("mixed widths of int32");
  compare_mixed_widths<std::uint32_t>("mixed widths of uint32");
  compare_mixed_widths<std::int64_t>("mixed widths of int64");
  compare_mixed_widths<std::uint64_t>("mixed widths of uint64");
}

TEST_CASE("every width of 32-bit values is decoded and packed on every instruction set") {
  compare_widths<std::int32_t>("widths of int32");
  compare_widths<std::uint32_t>("widths of uint32");
}

TEST_CASE("every width of 64-bit values is decoded and packed on every instruction set") {
  compare_widths<std::int64_t>("widths of int64");
  compare_widths<std::uint64_t>("widths of uint64");
}
