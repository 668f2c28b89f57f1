// Encodings that the CPU decodes into a buffer, a block at a time: every width, number of lanes, code and length of
// run, on every instruction set, against the values that were packed.

#include <catch.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <settings.hpp>
#include <targets.hpp>
#include <zenith/packed_block.hpp>
#include <zenith/zenith.hpp>

namespace {

using zenith::encoding;

// Whole blocks beside a last one that is not, and a whole group and more.
constexpr std::size_t counts[] = {128, 300, 2 * zenith::packed_group_items + 300};

template <class T>
void compare(const std::vector<T>& values, encoding kind, const zenith::pack_options& options,
             std::mt19937_64& random) {
  static const auto oracle = zenith::make_executor("reference");
  static const auto targets = zenith_test::one_executor_per_isa("unpack");
  REQUIRE(!targets.empty());
  const auto column = zenith::pack(oracle, values, kind, options);
  REQUIRE(column.encoding() == kind);
  std::uint64_t sum = 0;
  for (const auto value : values) sum += static_cast<std::uint64_t>(value);  // by its sign
  const auto [least, greatest] = std::ranges::minmax(values);
  for (const auto& target : targets) {
    INFO(to_string(kind) << " of " << values.size() << " on " << target.executor_string);
    std::vector<T> out(values.size());
    zenith::unpack(target.on, column, out);
    REQUIRE(out == values);
    const std::size_t begin = random() % values.size();
    std::vector<T> part(values.size() - begin);
    zenith::unpack(target.on, column, begin, part);
    REQUIRE(std::ranges::equal(part, std::span(values).subspan(begin)));
    REQUIRE(static_cast<std::uint64_t>(zenith::sum(target.on, column)) == sum);
    REQUIRE(zenith::minimum(target.on, column) == least);
    REQUIRE(zenith::maximum(target.on, column) == greatest);
  }
}

// Values of at most `width` bits.
template <class T>
std::vector<T> values_of_width(std::size_t count, unsigned width, std::mt19937_64& random) {
  using U = std::make_unsigned_t<T>;
  std::vector<T> values(count);
  for (auto& value : values) {
    const U word = static_cast<U>(random()) & zenith::packed::low_mask<U>(width);
    // from the middle of a signed type's words on both sides of 0
    value = static_cast<T>(std::is_signed_v<T> && width > 0 ? word - (U{1} << (width - 1)) : word);
  }
  values[0] = static_cast<T>(0);
  return values;
}

template <class T>
void compare_every_width() {
  constexpr unsigned bits = sizeof(T) * 8;
  for (unsigned width = 0; width <= bits; ++width) {
    const auto seed = zenith_test::seed_of("encodings", width * 2 + (sizeof(T) == 8 ? 1 : 0));
    INFO("seed " << seed << ", " << width << " bits");
    std::mt19937_64 random(seed);
    const auto count = counts[width % std::size(counts)];
    const auto values = values_of_width<T>(count, width, random);
    for (const int lanes : {4, 8, 16}) compare(values, encoding::vertical, {.lanes = lanes}, random);
    compare(values, encoding::null_suppression_fixed, {}, random);
    // every value has a width of its own, so that all codes stand beside each other
    auto mixed = values;
    for (auto& value : mixed) {
      value = static_cast<T>(value >> (random() % (bits / 8) * 8));
    }
    compare(mixed, encoding::null_suppression_variable, {}, random);
  }
}

template <class T>
void compare_runs() {
  for (const std::uint64_t longest : {1, 2, 15, 16, 17, 40, 127, 128, 129, 1000, 5000}) {
    const auto seed = zenith_test::seed_of("runs", longest);
    INFO("seed " << seed << ", runs of up to " << longest);
    std::mt19937_64 random(seed);
    for (const auto count : counts) {
      std::vector<T> values;
      while (values.size() < count) {
        const std::uint64_t length = random() % 2 == 0 ? longest : 1 + random() % longest;
        values.insert(values.end(), std::min<std::uint64_t>(length, count - values.size()), static_cast<T>(random()));
      }
      compare(values, encoding::run_length, {}, random);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("values of every width in every buffered encoding", "[packed_column]", std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t) {
  compare_every_width<TestType>();
}

TEMPLATE_TEST_CASE("runs of every length across blocks", "[packed_column]", std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t) {
  compare_runs<TestType>();
}
