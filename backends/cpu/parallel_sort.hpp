#pragma once

/// \file
/// Stable sorts of keys with values: few by comparisons, on words that no two items share, others by digits. Boost's
/// sort by digits is not stable, and TBB has none.

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

/// What a sort by digits takes beside its n items, with this many workers.
template <class Key, class Value>
struct digit_space {
  Key* keys;              ///< n
  Value* values;          ///< n
  std::uint32_t* places;  ///< a worker's beside the next one's: `digits_of(n)` each
  Key* varying;           ///< one a worker

  /// Places of all digits fit into the first cache; of few items clearing and adding them counts, too.
  [[nodiscard]] static constexpr unsigned digit_bits_of(std::uint64_t n) { return n < (1U << 12) ? 8 : 11; }
  [[nodiscard]] static constexpr std::uint32_t digits_of(std::uint64_t n) { return 1U << digit_bits_of(n); }
};

/// Least significant digit first: each pass is stable, and so is the sort. Digits that all keys share cost no pass.
///
/// Every worker has a piece of the items. A digit's places are those of the first worker's items, the second's, ….
template <class Key, class Value>
class digit_sort {
 public:
  using space = digit_space<Key, Value>;

  digit_sort(const space& in, std::uint64_t n, int workers)
      : in_(in), n_(n), workers_(workers), digit_bits_(space::digit_bits_of(n)) {}

  void run(Key* keys, Value* values) {
    const Key* const first = keys;
    for_pieces([&](int worker, std::uint64_t begin, std::uint64_t end) {
      Key varying = 0;
      for (auto i = begin; i < end; ++i) varying |= first[i] ^ first[0];
      in_.varying[worker] = varying;
    });
    Key varying = 0;
    for (int worker = 0; worker < workers_; ++worker) varying |= in_.varying[worker];
    Key* from = keys;
    Value* from_values = values;
    Key* to = in_.keys;
    Value* to_values = in_.values;
    for (unsigned shift = 0; shift < sizeof(Key) * 8; shift += digit_bits_) {
      if (((varying >> shift) & (digits() - 1)) == 0) continue;
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
  [[nodiscard]] std::uint32_t digits() const { return 1U << digit_bits_; }

  template <class Work>
  void for_pieces(const Work& work) const {
    run_workers(workers_, [&](int worker) {
      const auto all = static_cast<std::uint64_t>(workers_);
      const auto at = static_cast<std::uint64_t>(worker);
      work(worker, n_ * at / all, n_ * (at + 1) / all);
    });
  }
  [[nodiscard]] std::uint32_t* places_of(int worker) const {
    return in_.places + (static_cast<std::size_t>(worker) << digit_bits_);
  }

  void pass(const Key* from, const Value* from_values, unsigned shift, Key* to, Value* to_values) const {
    const std::uint32_t last = digits() - 1;
    const auto digit = [shift, last](Key key) { return static_cast<std::uint32_t>(key >> shift) & last; };
    for_pieces([&](int worker, std::uint64_t begin, std::uint64_t end) {
      std::uint32_t* const counts = places_of(worker);
      std::fill_n(counts, last + 1, 0U);
      for (auto i = begin; i < end; ++i) ++counts[digit(from[i])];
    });
    std::uint32_t place = 0;
    for (std::uint32_t d = 0; d <= last; ++d) {
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

  space in_;
  std::uint64_t n_;
  int workers_;
  unsigned digit_bits_;
};

/// So many are worth a sort by digits: of fewer, a comparison that is mispredicted costs less than counts do.
inline constexpr std::uint64_t worth_digits = 1 << 9;
/// So many are worth a worker's places of digits, and a segment of fewer is one worker's.
inline constexpr std::uint64_t worth_worker = 1 << 12;

/// By rising key, stable. n < 2^32.
template <class Key, class Value>
void sort_stably(std::pmr::memory_resource& memory, Key* keys, Value* values, std::uint64_t n, int threads) {
  using space = digit_space<Key, Value>;
  const scratch<Value> moved(memory, n);
  if (n < worth_digits) {
    const scratch<placed_key<Key>> placed(memory, n);
    return sort_by_comparisons(keys, values, n, placed.data(), moved.data());
  }
  const auto most = std::clamp<std::uint64_t>(n / worth_worker, 1, static_cast<std::uint64_t>(threads));
  const int workers = workers_for(static_cast<int>(most), n * 4 * (sizeof(Key) + sizeof(Value)));
  const scratch<Key> moved_keys(memory, n);
  const scratch<std::uint32_t> places(memory, static_cast<std::size_t>(workers) * space::digits_of(n));
  const scratch<Key> varying(memory, static_cast<std::size_t>(workers));
  digit_sort<Key, Value>({moved_keys.data(), moved.data(), places.data(), varying.data()}, n, workers)
      .run(keys, values);
}

/// The same of each segment [offsets[s], offsets[s + 1]) of n items, all of them shorter than `worth_worker`: a worker
/// takes one after the other.
template <class Key, class Value>
void sort_short_segments(std::pmr::memory_resource& memory, Key* keys, Value* values, std::uint64_t n,
                         const std::uint32_t* offsets, std::uint64_t segments, int threads) {
  using space = digit_space<Key, Value>;
  constexpr std::uint64_t cost = 768;  // of an item, in the bytes that are read meanwhile
  const auto most = static_cast<int>(std::clamp<std::uint64_t>(segments, 1, static_cast<std::uint64_t>(threads)));
  const int workers = workers_for(most, n * cost);
  const scratch<placed_key<Key>> placed(memory, n);
  const scratch<Value> moved(memory, n);
  const scratch<Key> moved_keys(memory, n);
  constexpr std::size_t digits = space::digits_of(worth_worker - 1);
  const scratch<std::uint32_t> places(memory, static_cast<std::size_t>(workers) * digits);
  const scratch<Key> varying(memory, static_cast<std::size_t>(workers));
  detail::share_out(workers, segments, [&](int worker, std::uint64_t s) {
    const std::uint64_t begin = offsets[s];
    const std::uint64_t count = offsets[s + 1] - begin;
    const std::uint64_t at = begin - offsets[0];
    if (count < worth_digits) {
      return sort_by_comparisons(keys + begin, values + begin, count, placed.data() + at, moved.data() + at);
    }
    const space own{moved_keys.data() + at, moved.data() + at,
                    places.data() + static_cast<std::size_t>(worker) * digits, varying.data() + worker};
    digit_sort<Key, Value>(own, count, 1).run(keys + begin, values + begin);
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
