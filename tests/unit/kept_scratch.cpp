// Which stream has which block of scratch, without a device.

#include <array>
#include <cstddef>

#include <backends/cuda/simt/kept_scratch.hpp>
#include <catch.hpp>

using zenith::cuda_backend::kept_scratch;

namespace {

constexpr kept_scratch::owner first{0, 7};
constexpr kept_scratch::owner second{0, 8};
constexpr kept_scratch::owner elsewhere{1, 7};

}  // namespace

TEST_CASE("kept scratch goes from call to call of its stream alone", "[kept_scratch]") {
  std::array<std::byte, 2> memory{};
  kept_scratch kept;
  CHECK(kept.take(first) == nullptr);
  kept.add(&memory[0], first);
  CHECK(kept.take(first) == nullptr);  // in use
  CHECK(kept.give(&memory[0]));
  CHECK(kept.take(second) == nullptr);
  CHECK(kept.take(elsewhere) == nullptr);
  CHECK(kept.take(first) == &memory[0]);
  // two calls at once, or two pieces of one
  CHECK(kept.take(first) == nullptr);
  kept.add(&memory[1], first);
  CHECK(kept.give(&memory[0]));
  CHECK(kept.take(first) == &memory[0]);
  CHECK(kept.give(&memory[1]));
  CHECK(kept.take(first) == &memory[1]);
}

TEST_CASE("kept scratch has an end, and knows what it does not keep", "[kept_scratch]") {
  std::array<std::byte, kept_scratch::most_blocks + 1> memory{};
  kept_scratch kept;
  for (std::size_t i = 0; i < kept_scratch::most_blocks; ++i) {
    CHECK_FALSE(kept.is_full());
    kept.add(&memory[i], {0, i});
  }
  CHECK(kept.is_full());
  kept.add(&memory.back(), first);
  CHECK_FALSE(kept.give(&memory.back()));
  for (std::size_t i = 0; i < kept_scratch::most_blocks; ++i) {
    CHECK(kept.take({0, i}) == nullptr);
    CHECK(kept.give(&memory[i]));
    CHECK(kept.take({0, i}) == &memory[i]);
  }
}
