#pragma once

/// \file
/// Keys with a number each, sorted by rising key, stable: by digits from the lowest up. The result does not depend on
/// the number of threads.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <core/host_memory.hpp>
#include <core/workers.hpp>

namespace zenith::detail {

template <class Word>
struct numbered_key {
  Word key;
  std::uint32_t number;
};

/// Memory for sorts of up to `most` keys, used again and again.
template <class Word>
class radix_sorter {
 public:
  using item = numbered_key<Word>;

  explicit radix_sorter(std::size_t most)
      : memory_(host_memory(2 * most * sizeof(item), "spatial_index")),
        items_(reinterpret_cast<item*>(memory_.data.get())),
        spare_(items_ + most) {}

  /// Where the keys of the next sort are written.
  [[nodiscard]] item* items() const { return items_; }

  /// The numbers of the first n in the order of their keys, to `order`.
  void sort(std::size_t n, int workers, std::uint32_t* order) {
    if (n < few) return insert(n, order);
    if (workers == 1) return n < many ? sort_alone<8>(n, order) : sort_alone<11>(n, order);
    sort_together(n, workers, order);
  }

 private:
  static constexpr unsigned bits = 11;  ///< of a digit with several threads
  static constexpr std::size_t bins = std::size_t{1} << bits;
  static constexpr std::size_t few = 48;
  static constexpr std::size_t many = std::size_t{1} << 13;

  template <unsigned Bits>
  static std::size_t digit(Word key, unsigned at) {
    return static_cast<std::size_t>(key >> at) & ((std::size_t{1} << Bits) - 1);
  }

  void insert(std::size_t n, std::uint32_t* order) {
    item* const items = items_;
    for (std::size_t i = 0; i < n; ++i) {
      const item one = items[i];
      std::size_t at = i;
      for (; at > 0 && (one.key) < items[at - 1].key; --at) {
        items[at] = items[at - 1];
        order[at] = order[at - 1];
      }
      items[at] = one;
      order[at] = one.number;
    }
  }

  /// All digits are counted at once. The last pass writes numbers alone.
  template <unsigned Bits>
  void sort_alone(std::size_t n, std::uint32_t* order) {
    constexpr std::size_t own_bins = std::size_t{1} << Bits;
    constexpr unsigned passes = (8 * sizeof(Word) + Bits - 1) / Bits;
    counts_.assign(passes * own_bins, 0);
    const item* from = items_;
    item* to = spare_;
    for (std::size_t i = 0; i < n; ++i) {
      for (unsigned p = 0; p < passes; ++p) ++counts_[p * own_bins + digit<Bits>(from[i].key, p * Bits)];
    }
    // passes in which all have one digit change nothing
    unsigned last = passes;
    for (unsigned p = 0; p < passes; ++p) {
      if (counts_[p * own_bins + digit<Bits>(from[0].key, p * Bits)] != n) last = p;
    }
    if (last == passes) {
      for (std::size_t i = 0; i < n; ++i) order[i] = from[i].number;
      return;
    }
    for (unsigned p = 0; p <= last; ++p) {
      std::uint32_t* const counts = counts_.data() + p * own_bins;
      if (counts[digit<Bits>(from[0].key, p * Bits)] == n) continue;
      std::uint32_t before = 0;
      for (std::size_t bin = 0; bin < own_bins; ++bin) before += std::exchange(counts[bin], before);
      if (p == last) {
        for (std::size_t i = 0; i < n; ++i) order[counts[digit<Bits>(from[i].key, p * Bits)]++] = from[i].number;
      } else {
        for (std::size_t i = 0; i < n; ++i) to[counts[digit<Bits>(from[i].key, p * Bits)]++] = from[i];
        std::swap(items_, spare_);
        from = items_;
        to = spare_;
      }
    }
  }

  /// With several threads, each on a piece. The last pass writes numbers alone.
  void sort_together(std::size_t n, int workers, std::uint32_t* order) {
    constexpr unsigned digits = (8 * sizeof(Word) + bits - 1) / bits;
    for (unsigned d = 0; d + 1 < digits; ++d) {
      if (!count(n, d * bits, workers)) continue;
      each_in_place(n, d * bits, workers, [&](std::uint32_t to, const item& one) { spare_[to] = one; });
      std::swap(items_, spare_);
    }
    constexpr unsigned last = (digits - 1) * bits;
    if (count(n, last, workers)) {
      each_in_place(n, last, workers, [&](std::uint32_t to, const item& one) { order[to] = one.number; });
    } else {
      each_piece(n, workers, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) order[i] = items_[i].number;
      });
    }
  }

  /// Where the items of each piece with each digit begin. False: all have the same digit.
  [[nodiscard]] bool count(std::size_t n, unsigned at, int workers) {
    const auto pieces = static_cast<std::size_t>(workers);
    counts_.assign(pieces * bins, 0);
    each_piece(n, workers, [&](std::size_t p, std::size_t begin, std::size_t end) {
      std::uint32_t* const counts = counts_.data() + p * bins;
      for (std::size_t i = begin; i < end; ++i) ++counts[digit<bits>(items_[i].key, at)];
    });
    std::uint32_t before = 0;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const std::uint32_t first = before;
      for (std::size_t p = 0; p < pieces; ++p) before += std::exchange(counts_[p * bins + bin], before);
      if (before - first == n) return false;
    }
    return true;
  }
  /// put(place, item) for each item, after `count`.
  template <class Put>
  void each_in_place(std::size_t n, unsigned at, int workers, const Put& put) {
    each_piece(n, workers, [&](std::size_t p, std::size_t begin, std::size_t end) {
      std::uint32_t* const places = counts_.data() + p * bins;
      for (std::size_t i = begin; i < end; ++i) put(places[digit<bits>(items_[i].key, at)]++, items_[i]);
    });
  }
  /// use(p, begin, end) for as many pieces as there are workers.
  template <class Use>
  static void each_piece(std::size_t n, int workers, const Use& use) {
    const auto pieces = static_cast<std::size_t>(workers);
    share_out(workers, pieces, [&](int, std::uint64_t p) { use(p, n * p / pieces, n * (p + 1) / pieces); });
  }

  host_bytes memory_;
  item* items_;
  item* spare_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace zenith::detail
