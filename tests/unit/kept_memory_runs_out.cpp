// Scratch that stays from call to call, when memory runs out.

#include <cstddef>
#include <cstdint>
#include <new>
#include <random>
#include <vector>

#include <backends/cpu/kept_memory.hpp>
#include <catch.hpp>
#include <failing_memory.hpp>
#include <zenith/zenith.hpp>

namespace failing_memory = zenith_test::failing_memory;
using zenith::cpu_backend::kept_memory;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

}  // namespace

TEST_CASE("memory that runs out is what was kept first") {
  kept_memory memory(64 * mebibyte);
  const auto before = failing_memory::live_blocks();
  for (const std::size_t bytes : {mebibyte, 2 * mebibyte}) {
    memory.deallocate(memory.allocate(bytes, 64), bytes, 64);
  }
  CHECK(failing_memory::live_blocks() == before + 2);

  failing_memory::fail_at(0);
  void* const longer = memory.allocate(3 * mebibyte, 64);
  CHECK(failing_memory::stop());
  CHECK(memory.kept_bytes() == 0);
  CHECK(failing_memory::live_blocks() == before + 1);

  // nothing is left to give back
  failing_memory::fail_at(0);
  CHECK_THROWS_AS(memory.allocate(mebibyte, 64), std::bad_alloc);
  CHECK(failing_memory::stop());
  memory.deallocate(longer, 3 * mebibyte, 64);
  memory.release();
  CHECK(failing_memory::live_blocks() == before);
}

TEST_CASE("memory that is not kept is deleted") {
  constexpr std::size_t limit = 2 * mebibyte;
  // a check allocates, so they come last
  std::int64_t kept = 0;
  std::int64_t closed = 0;
  std::int64_t served_closed = 0;
  const auto before = failing_memory::live_blocks();
  {
    kept_memory memory(limit);
    const auto take_and_give = [&](std::size_t blocks, std::size_t bytes) {
      std::vector<void*> used(blocks);
      for (auto& at : used) at = memory.allocate(bytes, 64);
      for (void* const at : used) memory.deallocate(at, bytes, 64);
    };
    // sizes of which none is kept, more than the limit, and more than of one size are kept
    take_and_give(2, kept_memory::least_block - 1);
    take_and_give(2, kept_memory::most_block + 1);
    take_and_give(2, limit + 1);
    take_and_give(20, 300'000);
    take_and_give(kept_memory::blocks_of_size + 10, 5000);
    kept = failing_memory::live_blocks();
    memory.close();
    closed = failing_memory::live_blocks();
    take_and_give(3, 5000);
    served_closed = failing_memory::live_blocks();
  }
  {
    kept_memory memory(limit);
    memory.deallocate(memory.allocate(5000, 64), 5000, 64);
  }
  const auto after = failing_memory::live_blocks();
  CHECK(kept > before);
  CHECK(closed == before);
  CHECK(served_closed == before);
  CHECK(after == before);
}

TEST_CASE("a call of kept scratch whose memory runs out leaves no more than is kept") {
  std::mt19937_64 random(11);
  std::vector<std::uint32_t> keys(300'000);
  for (auto& key : keys) key = static_cast<std::uint32_t>(random());
  const auto on = zenith::cpu({.threads = 2});
  std::vector<std::uint32_t> best(100);
  std::vector<std::uint32_t> indices(best.size());
  zenith::top_k(on, keys, best, indices);
  const auto expected = indices;

  constexpr std::int64_t most = 2000;
  std::int64_t n = 0;
  for (bool failed = true; failed && n < most; ++n) {
    // with nothing kept each buffer is an allocation, and one that fails leaves the others kept
    auto* const kept = dynamic_cast<kept_memory*>(&zenith::cpu_backend::usual_scratch_resource());
    if (kept != nullptr) kept->release();
    const auto before = failing_memory::live_blocks();
    indices.assign(indices.size(), 77);
    bool threw = false;
    failing_memory::fail_at(n);
    try {
      zenith::top_k(on, keys, best, indices);
    } catch (const std::bad_alloc&) {
      threw = true;
    } catch (const zenith::error& fault) {
      threw = fault.code() == zenith::error_code::out_of_memory;
    }
    failed = failing_memory::stop();
    CHECK((threw ? indices == std::vector<std::uint32_t>(indices.size(), 77) : indices == expected));
    if (kept != nullptr) kept->release();
    CHECK(failing_memory::live_blocks() <= before + 1);  // a thread's own, made once
  }
  CHECK(n > 1);
  CHECK(n < most);
}
