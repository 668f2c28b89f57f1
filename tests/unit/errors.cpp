#include <catch.hpp>

#include <cstdint>
#include <vector>

#include <zenith/zenith.hpp>

TEST_CASE("top_k rejects a k above the count and leaves the outputs alone") {
  const std::vector<float> keys{3.0F, 1.0F, 2.0F};
  std::vector<float> best(4, -1.0F);
  std::vector<std::uint32_t> indices(4, 77);
  CHECK_THROWS_AS(zenith::top_k(zenith::reference(), keys, best, indices), zenith::error);
  CHECK(best == std::vector<float>(4, -1.0F));
  CHECK(indices == std::vector<std::uint32_t>(4, 77));
}
