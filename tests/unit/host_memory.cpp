// Host memory: where it begins, that all of it can be written, and what shrinking keeps; vectors of results.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include <catch.hpp>
#include <core/host_memory.hpp>
#include <zenith/result_vector.hpp>

using namespace zenith;

namespace {

constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;

bool holds(const std::byte* from, std::uint64_t bytes, std::byte value) {
  for (std::uint64_t i = 0; i < bytes; ++i) {
    if (from[i] != value) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("host memory can be written to its end, beside other memory", "[unit]") {
  // around the size from which on the system is asked for pages, and around whole huge pages
  for (const std::uint64_t pages : {0U, 1U, 2U, 3U, 4U}) {
    for (const std::uint64_t more : {1U, 63U, 64U, 4096U, 600000U, 1900000U}) {
      for (const std::uint64_t less : {0U, 64U, 65U, 128U}) {
        const std::uint64_t bytes = pages * huge_page + more;
        if (bytes <= less) continue;
        const std::uint64_t size = bytes - less;
        INFO(size << " bytes");
        const auto one = detail::host_memory(size, "test");
        const auto other = detail::host_memory(size, "test");
        REQUIRE(one.size == size);
        REQUIRE(reinterpret_cast<std::uintptr_t>(one.data.get()) % 64 == 0);
        std::memset(one.data.get(), 1, size);
        std::memset(other.data.get(), 2, size);
        CHECK(holds(one.data.get(), size, std::byte{1}));
        CHECK(holds(other.data.get(), size, std::byte{2}));
      }
    }
  }
}

TEST_CASE("what is shrunk keeps its content, and memory that is reserved can be written", "[unit]") {
  for (const std::uint64_t used : {std::uint64_t{1}, std::uint64_t{5000}, huge_page + 17, 3 * huge_page}) {
    auto memory = detail::address_space(4 * huge_page);
    if (memory.data == nullptr) return;  // not every system has it
    REQUIRE(memory.size == 4 * huge_page);
    std::memset(memory.data.get(), 3, 4 * huge_page);
    detail::shrink(memory, used);
    REQUIRE(memory.size >= used);
    CHECK(holds(memory.data.get(), used, std::byte{3}));
  }
}

TEST_CASE("vectors of results have the length that is asked for, and keep what they have", "[unit]") {
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1000}, std::size_t{1} << 20, (std::size_t{3} << 20) + 5}) {
    for (const std::size_t before : {std::size_t{0}, std::size_t{100}, std::size_t{2} << 20}) {
      INFO(before << " elements, then " << count);
      std::vector<std::uint32_t> results(before);
      std::iota(results.begin(), results.end(), 7U);
      detail::reserve_results(results, count);
      CHECK(results.capacity() >= count);
      REQUIRE(results.size() == before);
      detail::resize_results(results, count);
      REQUIRE(results.size() == count);
      bool is_right = true;
      for (std::size_t i = 0; i < count; ++i) {
        is_right = is_right && results[i] == (i < before ? static_cast<std::uint32_t>(i) + 7 : 0);
      }
      CHECK(is_right);
    }
  }
}
