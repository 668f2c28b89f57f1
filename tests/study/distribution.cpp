#include <algorithm>
#include <catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <span>
#include <vector>

#include <perf/study/check.hpp>
#include <perf/study/distribution.hpp>

using namespace zenith_study;

namespace {

template <class T>
void check_all() {
  constexpr std::uint64_t count = 100'000;
  const auto uniform = generate<T>(distribution::uniform, count, 7, 1);
  const auto again = generate<T>(distribution::uniform, count, 7, 3);
  CHECK(std::memcmp(uniform.data(), again.data(), count * sizeof(T)) == 0);
  CHECK(generate<T>(distribution::uniform, count, 8, 1) != uniform);
  CHECK(std::set<T>(uniform.begin(), uniform.end()).size() > count * 9 / 10);

  const auto normal = generate<T>(distribution::normal, count, 7, 2);
  double mean = 0;
  for (const T value : normal) mean += static_cast<double>(value) / static_cast<double>(count);
  const double range = std::ldexp(1.0, static_cast<int>(sizeof(T)) * 8 - 1);
  const double deviation = std::is_floating_point_v<T> ? 1 : range / 8;
  const double middle = std::is_floating_point_v<T> || std::is_signed_v<T> ? 0 : range;
  CHECK(std::abs(mean - middle) < 0.02 * deviation);

  auto ascending = generate<T>(distribution::ascending, count, 7, 2);
  CHECK(std::ranges::is_sorted(ascending));
  CHECK(std::ranges::adjacent_find(ascending) == ascending.end());
  const auto descending = generate<T>(distribution::descending, count, 7, 1);
  std::ranges::reverse(ascending);
  CHECK(ascending == descending);

  const auto equal = generate<T>(distribution::all_equal, count, 7, 1);
  CHECK(std::ranges::count(equal, equal.front()) == static_cast<std::ptrdiff_t>(count));
  const auto killer = generate<T>(distribution::bucket_killer, count, 7, 1);
  CHECK(std::ranges::count(killer, equal.front()) == static_cast<std::ptrdiff_t>(count - sizeof(T)));
}

}  // namespace

TEST_CASE("distribution: each is what it says, for each type") {
  check_all<float>();
  check_all<double>();
  check_all<std::int32_t>();
  check_all<std::uint32_t>();
  check_all<std::int64_t>();
  check_all<std::uint64_t>();
}

TEST_CASE("check: the right answer, and what is wrong with others") {
  const std::vector<float> keys{1, NAN, 3, -0.0F, 3, 0.0F};
  const std::span<const float> all{keys};
  using positions = std::vector<std::uint32_t>;
  CHECK(best_positions(all, 6, false) == positions{2, 4, 0, 3, 5, 1});
  CHECK(best_positions(all, 3, true) == positions{3, 5, 0});
  const auto right = best_positions(all, 2, false);
  const std::vector<float> good{3, 3};
  const positions swapped{4, 2};
  const std::vector<float> bad{3, 2};
  CHECK(find_fault<float>(all, right, good, right).empty());
  CHECK_FALSE(find_fault<float>(all, right, good, swapped).empty());
  CHECK_FALSE(find_fault<float>(all, right, bad, right).empty());
}
