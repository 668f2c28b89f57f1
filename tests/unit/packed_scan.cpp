// The scan of a packed column for the filter of top-k: exactly the values that reach a threshold, in their order, on
// every instruction set.

#include <catch.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <backends/cpu/isa.hpp>
#include <settings.hpp>
#include <targets.hpp>
#include <zenith/zenith.hpp>

namespace {

using zenith::encoding;
using zenith::packed_block_items;
using namespace zenith::cpu_backend;

constexpr std::uint64_t blocks = 37;  // two groups and part of a third

/// Of `most` bits, or of any number up to that, each block its own.
template <class T>
std::vector<T> values_of(unsigned most, bool mixed, std::mt19937_64& random) {
  using U = std::make_unsigned_t<T>;
  std::vector<T> values(blocks * packed_block_items);
  unsigned width = most;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (mixed && i % packed_block_items == 0) width = 1 + static_cast<unsigned>(random() % most);
    values[i] = static_cast<T>(static_cast<U>(random()) >> (sizeof(U) * 8 - width));
  }
  return values;
}

template <class T>
void check_scan(const packed_scan_function& scan, const zenith::packed_column<T>& column, const std::vector<T>& values,
                T threshold, bool smallest) {
  std::vector<std::uint32_t> expected;
  constexpr std::uint32_t first_index = 1000;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool reaches = smallest ? values[i] <= threshold : values[i] >= threshold;
    if (reaches) expected.push_back(first_index + static_cast<std::uint32_t>(i));
  }
  std::vector<T> keys(values.size() + most_tile_items);
  std::vector<std::uint32_t> indices(values.size() + most_tile_items);
  scan_request request;
  request.threshold = &threshold;
  request.out_keys = keys.data();
  request.out_indices = indices.data();
  request.capacity = values.size();
  REQUIRE(scan({&column.layout(), 0, blocks}, request, first_index) == expected.size());
  indices.resize(expected.size());
  REQUIRE(indices == expected);
  keys.resize(expected.size());
  std::vector<T> expected_keys;
  for (const auto i : expected) expected_keys.push_back(values[i - first_index]);
  REQUIRE(keys == expected_keys);
}

template <class T>
void check_scans(const zenith::packed_column<T>& column, const std::vector<T>& values) {
  auto sorted = values;
  std::ranges::sort(sorted);
  const auto targets = zenith_test::one_executor_per_isa("packed_top_k");
  REQUIRE(!targets.empty());
  for (const auto& target : targets) {
    const auto& isa = find_packed(target.on.settings().isa);
    for (const std::size_t rank : {std::size_t{0}, sorted.size() / 50, sorted.size() / 2, sorted.size() - 1}) {
      for (const bool smallest : {false, true}) {
        INFO(target.name() << ", rank " << rank << (smallest ? ", smallest" : ", largest"));
        const auto& scans = (smallest ? isa.smallest : isa.largest).scan;
        check_scan(scans[value_index(zenith::key_type_of<T>)], column, values, sorted[rank], smallest);
      }
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a scan of a packed column finds what reaches the threshold", "", std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t) {
  for (const unsigned most : {3U, 6U, 20U, unsigned{sizeof(TestType)} * 8 - 6, unsigned{sizeof(TestType)} * 8}) {
    for (const bool mixed : {false, true}) {
      // seeds that stay what they are: a register that a compiler lost depended on the values
      std::mt19937_64 random(most);
      const auto values = values_of<TestType>(most, mixed, random);
      for (const auto kind : zenith::packed_encodings) {
        for (const bool patches : {true, false}) {
          if (!patches && kind != encoding::frame_of_reference && kind != encoding::delta) continue;
          INFO(to_string(kind) << ", patches " << patches << ", most " << most << ", mixed " << mixed);
          check_scans(zenith::pack(zenith::reference(), values, kind, {.patches = patches}), values);
        }
      }
    }
  }
}
