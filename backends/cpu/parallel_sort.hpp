#pragma once

/// \file
/// Stable sorts of keys with values: by the library's sorts on words that no two items share.

#include <algorithm>
#include <cstdint>

#include <boost/sort/pdqsort/pdqsort.hpp>
#include <boost/sort/spreadsort/integer_sort.hpp>

#include <core/workers.hpp>
#if defined(ZENITH_HAS_TBB)
#include <oneapi/tbb/parallel_sort.h>
#endif

namespace zenith::cpu_backend {

/// A key and where it stood: ordered by both, so that any sort of these is stable.
template <class Key>
struct placed_key {
  Key key;
  std::uint32_t place;

  friend bool operator<(const placed_key& a, const placed_key& b) {
    return (a.key) < (b.key) || (a.key == b.key && a.place < b.place);
  }
};

/// The same in one word for keys of 32 bits.
template <>
struct placed_key<std::uint32_t> {
  std::uint64_t word;
};

[[nodiscard]] inline placed_key<std::uint32_t> place_key(std::uint32_t key, std::uint32_t place) {
  return {static_cast<std::uint64_t>(key) << 32 | place};
}
[[nodiscard]] inline placed_key<std::uint64_t> place_key(std::uint64_t key, std::uint32_t place) {
  return {key, place};
}
[[nodiscard]] inline std::uint32_t key_of(const placed_key<std::uint32_t>& one) {
  return static_cast<std::uint32_t>(one.word >> 32);
}
[[nodiscard]] inline std::uint64_t key_of(const placed_key<std::uint64_t>& one) { return one.key; }
[[nodiscard]] inline std::uint32_t place_of(const placed_key<std::uint32_t>& one) {
  return static_cast<std::uint32_t>(one.word);
}
[[nodiscard]] inline std::uint32_t place_of(const placed_key<std::uint64_t>& one) { return one.place; }

[[nodiscard]] inline bool operator<(const placed_key<std::uint32_t>& a, const placed_key<std::uint32_t>& b) {
  return a.word < b.word;
}

template <class Key>
void sort_placed(placed_key<Key>* from, std::uint64_t n, [[maybe_unused]] int threads) {
#if defined(ZENITH_HAS_TBB)
  constexpr std::uint64_t worth_sharing = 1 << 14;
  if (threads > 1 && n >= worth_sharing) {
    return detail::run_in_arena(threads, [&] { oneapi::tbb::parallel_sort(from, from + n); });
  }
#endif
  constexpr std::uint64_t worth_digits = 1 << 12;
  if constexpr (sizeof(Key) == 4) {
    if (n >= worth_digits) {
      boost::sort::spreadsort::integer_sort(
          from, from + n, [](const auto& one, unsigned shift) { return one.word >> shift; },
          [](const auto& a, const auto& b) { return a.word < b.word; });
      return;
    }
  }
  boost::sort::pdqsort_branchless(from, from + n);
}

}  // namespace zenith::cpu_backend
