// The oracle itself: answers written by hand, and ranks counted one by one.

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include <catch.hpp>
#include <inputs.hpp>
#include <settings.hpp>
#include <zenith/zenith.hpp>

using namespace conformance;

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

using positions = std::vector<std::uint64_t>;

positions best_of(const std::vector<float>& keys, std::size_t k, zenith::top_k_options options = {}) {
  return zenith::top_k(zenith::reference(), keys, k, options).indices;
}

}  // namespace

TEST_CASE("the reference, by hand") {
  const std::vector<float> keys{2, 7, 7, -1, 0, 7};
  CHECK(best_of(keys, 4) == positions{1, 2, 5, 0});
  CHECK(best_of(keys, 6, {.select = zenith::selection::smallest}) == positions{3, 4, 0, 1, 2, 5});
  CHECK(best_of(keys, 0).empty());
}

TEST_CASE("the reference: zeros tie, NaN stands where it is told, infinities at the ends") {
  const std::vector<float> keys{-0.0F, nan_value, 0.0F, infinity, -infinity, -nan_value, -0.0F, 1};
  constexpr auto smallest = zenith::selection::smallest;
  constexpr auto first = zenith::nan_policy::first;
  CHECK(best_of(keys, 8) == positions{3, 7, 0, 2, 6, 4, 1, 5});
  CHECK(best_of(keys, 8, {.select = smallest}) == positions{4, 0, 2, 6, 7, 3, 1, 5});
  CHECK(best_of(keys, 8, {.nans = first}) == positions{1, 5, 3, 7, 0, 2, 6, 4});
  CHECK(best_of(keys, 8, {.select = smallest, .nans = first}) == positions{1, 5, 4, 0, 2, 6, 7, 3});
  const auto best = zenith::top_k(zenith::reference(), keys, 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(std::bit_cast<std::uint32_t>(best.keys[i]) == std::bit_cast<std::uint32_t>(keys[best.indices[i]]));
  }
}

TEMPLATE_TEST_CASE("the reference: every item stands at its counted rank", "", float, double, std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t) {
  for (const auto which : distributions<TestType>()) {
    random_source random{zenith_test::seed_of("rank", static_cast<std::uint64_t>(which))};
    const auto keys = make_keys<TestType>(which, 200, random);
    for (const bool smallest : {false, true}) {
      for (const bool nan_first : {false, true}) {
        const auto beats = [&](std::size_t a, std::size_t b) {
          const bool a_is_nan = keys[a] != keys[a];
          const bool b_is_nan = keys[b] != keys[b];
          if (a_is_nan != b_is_nan) return a_is_nan == nan_first;
          if (!a_is_nan && keys[a] != keys[b]) return (keys[a] < keys[b]) == smallest;
          return a < b;
        };
        const auto best = zenith::top_k(zenith::reference(), keys, keys.size(),
                                        {.select = smallest ? zenith::selection::smallest : zenith::selection::largest,
                                         .nans = nan_first ? zenith::nan_policy::first : zenith::nan_policy::last});
        std::size_t wrong = 0;
        for (std::size_t place = 0; place < keys.size(); ++place) {
          std::size_t rank = 0;
          for (std::size_t other = 0; other < keys.size(); ++other) rank += beats(other, best.indices[place]) ? 1U : 0U;
          if (rank != place) ++wrong;
        }
        INFO(name_of(which));
        CHECK(wrong == 0);
      }
    }
  }
}
