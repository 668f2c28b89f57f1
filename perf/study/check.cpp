#include <perf/study/check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

namespace zenith_study {

template <class T>
std::vector<std::uint32_t> best_positions(std::span<const T> keys, std::uint64_t k, bool smallest) {
  const auto is_better = [&](std::uint32_t a, std::uint32_t b) {
    const T x = keys[a];
    const T y = keys[b];
    const bool x_is_nan = x != x;
    const bool y_is_nan = y != y;
    if (x_is_nan != y_is_nan) return y_is_nan;
    if (!x_is_nan && x != y) return smallest ? x < y : x > y;
    return a < b;
  };
  std::vector<std::uint32_t> best(k);
  const auto positions = std::views::iota(std::uint64_t{0}, static_cast<std::uint64_t>(keys.size())) |
                         std::views::transform([](std::uint64_t i) { return static_cast<std::uint32_t>(i); });
  std::ranges::partial_sort_copy(positions, best, is_better);
  return best;
}

template <class T>
std::string find_fault(std::span<const T> keys, std::span<const std::uint32_t> right, std::span<const T> out_keys,
                       std::span<const std::uint32_t> out_indices) {
  for (std::size_t i = 0; i < out_keys.size(); ++i) {
    if (out_indices[i] != right[i]) {
      return fmt::format("result {} is index {}, but index {} is right", i, out_indices[i], right[i]);
    }
    if (std::memcmp(&out_keys[i], &keys[right[i]], sizeof(T)) != 0) {
      return fmt::format("result {} is key {}, but keys[{}] is {}", i, out_keys[i], right[i], keys[right[i]]);
    }
  }
  return {};
}

#define ZENITH_STUDY_INSTANTIATE(T)                                                                       \
  template std::vector<std::uint32_t> best_positions(std::span<const T>, std::uint64_t, bool);            \
  template std::string find_fault(std::span<const T>, std::span<const std::uint32_t>, std::span<const T>, \
                                  std::span<const std::uint32_t>);
ZENITH_STUDY_INSTANTIATE(float)
ZENITH_STUDY_INSTANTIATE(double)
ZENITH_STUDY_INSTANTIATE(std::int32_t)
ZENITH_STUDY_INSTANTIATE(std::uint32_t)
ZENITH_STUDY_INSTANTIATE(std::int64_t)
ZENITH_STUDY_INSTANTIATE(std::uint64_t)
#undef ZENITH_STUDY_INSTANTIATE

}  // namespace zenith_study
