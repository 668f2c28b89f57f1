#include <core/core_speed.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace zenith::detail {

void core_speed::probe(int times) {
  using clock = std::chrono::steady_clock;
  constexpr std::size_t count = 4096;
  std::vector<std::uint64_t> values(count);
  std::uint64_t state = seconds_.size() + 1;  // branches that are known from the last time would take nothing
  for (int i = 0; i < times; ++i) {
    for (auto& value : values) value = state = state * 6364136223846793005U + 1442695040888963407U;
    const auto begin = clock::now();
    std::ranges::sort(values);
    add(std::chrono::duration<double>(clock::now() - begin).count());
  }
}

double core_speed::factor() const {
  if (seconds_.empty()) return 1;
  auto sorted = seconds_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle / typical_seconds;
}

}  // namespace zenith::detail
