// Columns that no encoder made: bytes are changed at random and put right only as far as `parse` looks. Those that it
// lets through must be decoded by every kernel as they are by the plain decoder, without a step outside.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <catch.hpp>
#include <packed_forgery.hpp>
#include <packed_suite.hpp>
#include <tests/fuzz/packed_repair.hpp>
#include <types.hpp>
#include <zenith/error.hpp>

using namespace conformance;
using namespace conformance::packed;

namespace {

// Half of the changes hit the header and the first records.
void change(std::span<std::byte> bytes, random_source& random) {
  for (std::size_t changes = 1 + random() % 8; changes > 0; --changes) {
    const std::size_t within = random() % 2 == 0 ? std::min<std::size_t>(bytes.size(), 600) : bytes.size();
    auto& one = bytes[random() % within];
    one = random() % 2 == 0 ? one ^ std::byte{1} << random() % 8 : static_cast<std::byte>(random());
  }
}

template <class T>
std::unique_ptr<sample<T>> hostile_sample(const manner& as, random_source& random) {
  const std::size_t length = 1 + random() % 3000;
  const auto values = make_values<T>(some_shape(random), length, some_width<T>(random), random);
  const auto made = zenith::pack(zenith::reference(), values, as.kind, as.options());
  std::vector<std::byte> bytes(made.bytes().begin(), made.bytes().end());
  change(bytes, random);
  // what the repair makes of it is the type again
  constexpr auto drawn = static_cast<int>(zenith::key_type_of<T>) - static_cast<int>(zenith::key_type::int32);
  bytes[offsetof(zenith::packed_header, type)] = static_cast<std::byte>(drawn);
  const auto repaired = zenith_fuzz::repaired(bytes, zenith_fuzz::repair::structure);
  try {
    return std::make_unique<sample<T>>("hostile", repaired, random() % 5);
  } catch (const zenith::error& refused) {
    if (refused.code() != zenith::error_code::corrupt_data) throw;
    return nullptr;
  }
}

// Whole groups of one width, and references from which words of that width may wrap around. Often the first group has
// the greatest value there can be, and none that wraps around as all others do.
template <class T>
std::unique_ptr<sample<T>> wrapping_sample(unsigned width, random_source& random) {
  using U = std::make_unsigned_t<T>;
  const auto word = [&] { return width == 0 ? U{0} : static_cast<U>(random()) >> (sizeof(T) * 8 - width); };
  const U most = width == 0 ? U{0} : static_cast<U>(~U{0}) >> (sizeof(T) * 8 - width);
  constexpr std::size_t least_items = 2 * zenith::packed_group_items;
  REQUIRE(the_suite().most_items >= least_items);
  // the reference leaves out long columns, so some are short
  const auto more = std::min<std::size_t>(the_suite().most_items - least_items, width % 4 == 0 ? 900 : 3000);
  std::vector<T> values(least_items + random() % (more + 1));
  for (auto& one : values) one = static_cast<T>(word());
  const bool has_greatest = random() % 2 == 0;
  values[random() % zenith::packed_group_items] = static_cast<T>(most);
  const manner as{zenith::encoding::frame_of_reference, 4, false};
  const auto made = zenith::pack(zenith::reference(), values, as.kind, as.options());
  const std::uint64_t share = has_greatest ? 1 : 1 + random() % 20;  // one block in so many
  const auto bytes = zenith_test::over_other_references<T>(made, [&](std::uint64_t block) -> std::optional<U> {
    const bool is_first = has_greatest && block < zenith::packed_group_blocks;
    if (!is_first && random() % share != 0) return std::nullopt;
    const U order = std::is_signed_v<T> ? U{1} << (sizeof(T) * 8 - 1) : U{0};
    const U back = is_first ? static_cast<U>(most + 1) : word();
    return static_cast<U>((U{0} - back) ^ order);
  });
  return std::make_unique<sample<T>>("wrapping", bytes, 0);
}

}  // namespace

TEMPLATE_TEST_CASE("whole groups whose values wrap around", "[packed_column]", int32, uint32, int64, uint64) {
  if (the_suite().targets.empty()) return;
  verdict seen;
  std::uint64_t number = 0;
  for (unsigned width = 0; width <= 32; ++width) {
    random_source random{zenith_test::seed_of("wrapping", number++)};
    const auto data = wrapping_sample<TestType>(width, random);
    REQUIRE(data->values().size() <= the_suite().most_items);
    run_everywhere(seen, *data, random);
  }
  seen.require_none();
  // else nothing was tested
  CHECK(seen.cases() > 0);
}

TEMPLATE_TEST_CASE("hostile columns", "[packed_column]", int32, uint32, int64, uint64) {
  if (the_suite().targets.empty()) return;
  verdict seen;
  std::uint64_t number = 0;
  std::size_t taken = 0;
  for (const auto& as : every_manner) {
    for (int repeat = 0; repeat < 12; ++repeat) {
      random_source random{zenith_test::seed_of("hostile", number++)};
      const auto data = hostile_sample<TestType>(as, random);
      if (data == nullptr || data->values().size() > the_suite().most_items) continue;
      ++taken;
      run_everywhere(seen, *data, random);
    }
  }
  seen.require_none();
  // else nothing was tested
  CHECK(taken > 12);
}
