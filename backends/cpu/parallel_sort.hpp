#pragma once

/// \file
/// Stable sorts of keys with values: few by comparisons, on words that no two items share, many by digits. Boost's sort
/// by digits is not stable, and TBB has none.

#include <algorithm>
#include <cstdint>

#include <utility>

#include <boost/sort/pdqsort/pdqsort.hpp>

#include <backends/cpu/parallel.hpp>
#include <backends/cpu/scratch.hpp>
#include <core/workers.hpp>

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

/// `placed` and `moved` have n elements.
template <class Key, class Value>
void sort_by_comparisons(Key* keys, Value* values, std::uint64_t n, placed_key<Key>* placed, Value* moved) {
  for (std::uint64_t i = 0; i < n; ++i) placed[i] = place_key(keys[i], static_cast<std::uint32_t>(i));
  std::copy_n(values, n, moved);
  boost::sort::pdqsort_branchless(placed, placed + n);
  for (std::uint64_t i = 0; i < n; ++i) {
    keys[i] = key_of(placed[i]);
    values[i] = moved[place_of(placed[i])];
  }
}

/// Least significant digit first: each pass is stable, and so is the sort. Digits that all keys share cost no pass.
///
/// Every worker has a piece of the items. A digit's places are those of the first worker's items, the second's, ….
template <class Key, class Value>
class digit_sort {
 public:
  digit_sort(std::pmr::memory_resource& memory, std::uint64_t n, int workers)
      : n_(n),
        workers_(workers),
        keys_(memory, n),
        values_(memory, n),
        places_(memory, static_cast<std::size_t>(workers) * digits),
        varying_(memory, static_cast<std::size_t>(workers)) {}

  void run(Key* keys, Value* values) {
    const Key* const first = keys;
    for_pieces([&](int worker, std::uint64_t begin, std::uint64_t end) {
      Key varying = 0;
      for (auto i = begin; i < end; ++i) varying |= first[i] ^ first[0];
      varying_[static_cast<std::size_t>(worker)] = varying;
    });
    Key varying = 0;
    for (int worker = 0; worker < workers_; ++worker) varying |= varying_[static_cast<std::size_t>(worker)];
    Key* from = keys;
    Value* from_values = values;
    Key* to = keys_.data();
    Value* to_values = values_.data();
    for (unsigned shift = 0; shift < sizeof(Key) * 8; shift += digit_bits) {
      if (((varying >> shift) & (digits - 1)) == 0) continue;
      pass(from, from_values, shift, to, to_values);
      std::swap(from, to);
      std::swap(from_values, to_values);
    }
    if (from == keys) return;
    for_pieces([&](int /*worker*/, std::uint64_t begin, std::uint64_t end) {
      std::copy(from + begin, from + end, to + begin);
      std::copy(from_values + begin, from_values + end, to_values + begin);
    });
  }

 private:
  static constexpr unsigned digit_bits = 11;  // places of all digits fit into the first cache
  static constexpr std::uint32_t digits = 1U << digit_bits;

  template <class Work>
  void for_pieces(const Work& work) const {
    run_workers(workers_, [&](int worker) {
      const auto all = static_cast<std::uint64_t>(workers_);
      const auto at = static_cast<std::uint64_t>(worker);
      work(worker, n_ * at / all, n_ * (at + 1) / all);
    });
  }
  [[nodiscard]] std::uint32_t* places_of(int worker) const {
    return places_.data() + static_cast<std::size_t>(worker) * digits;
  }

  void pass(const Key* from, const Value* from_values, unsigned shift, Key* to, Value* to_values) const {
    const auto digit = [shift](Key key) { return static_cast<std::uint32_t>(key >> shift) & (digits - 1); };
    for_pieces([&](int worker, std::uint64_t begin, std::uint64_t end) {
      std::uint32_t* const counts = places_of(worker);
      std::fill_n(counts, digits, 0U);
      for (auto i = begin; i < end; ++i) ++counts[digit(from[i])];
    });
    std::uint32_t place = 0;
    for (std::uint32_t d = 0; d < digits; ++d) {
      for (int worker = 0; worker < workers_; ++worker) {
        place += std::exchange(places_of(worker)[d], place);
      }
    }
    for_pieces([&](int worker, std::uint64_t begin, std::uint64_t end) {
      std::uint32_t* const places = places_of(worker);
      for (auto i = begin; i < end; ++i) {
        const auto at = places[digit(from[i])]++;
        to[at] = from[i];
        to_values[at] = from_values[i];
      }
    });
  }

  std::uint64_t n_;
  int workers_;
  scratch<Key> keys_;
  scratch<Value> values_;
  scratch<std::uint32_t> places_;
  scratch<Key> varying_;
};

/// So many are worth a sort by digits.
inline constexpr std::uint64_t worth_digits = 1 << 12;

/// By rising key, stable. n < 2^32.
template <class Key, class Value>
void sort_stably(std::pmr::memory_resource& memory, Key* keys, Value* values, std::uint64_t n, int threads) {
  if (n < worth_digits) {
    const scratch<placed_key<Key>> placed(memory, n);
    const scratch<Value> moved(memory, n);
    return sort_by_comparisons(keys, values, n, placed.data(), moved.data());
  }
  // a piece must be worth its 2048 places
  const auto most = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(threads), n / worth_digits));
  digit_sort<Key, Value>(memory, n, workers_for(most, n * 4 * (sizeof(Key) + sizeof(Value)))).run(keys, values);
}

/// The same of each segment [offsets[s], offsets[s + 1]) of n items, all of them shorter than `worth_digits`: a worker
/// takes one after the other.
template <class Key, class Value>
void sort_short_segments(std::pmr::memory_resource& memory, Key* keys, Value* values, std::uint64_t n,
                         const std::uint32_t* offsets, std::uint64_t segments, int threads) {
  const scratch<placed_key<Key>> placed(memory, n);
  const scratch<Value> moved(memory, n);
  constexpr std::uint64_t cost = 768;  // of an item, in the bytes that are read meanwhile
  const auto most = static_cast<int>(std::clamp<std::uint64_t>(segments, 1, static_cast<std::uint64_t>(threads)));
  detail::share_out(workers_for(most, n * cost), segments, [&](int /*worker*/, std::uint64_t s) {
    const std::uint64_t begin = offsets[s];
    sort_by_comparisons(keys + begin, values + begin, offsets[s + 1] - begin, placed.data() + begin - offsets[0],
                        moved.data() + begin - offsets[0]);
  });
}

// Compiled once for all families.
extern template void sort_stably(std::pmr::memory_resource&, std::uint32_t*, std::uint32_t*, std::uint64_t, int);
extern template void sort_stably(std::pmr::memory_resource&, std::uint64_t*, std::uint32_t*, std::uint64_t, int);
extern template void sort_short_segments(std::pmr::memory_resource&, std::uint32_t*, std::uint32_t*, std::uint64_t,
                                         const std::uint32_t*, std::uint64_t, int);
extern template void sort_short_segments(std::pmr::memory_resource&, std::uint64_t*, std::uint32_t*, std::uint64_t,
                                         const std::uint32_t*, std::uint64_t, int);

}  // namespace zenith::cpu_backend
