#pragma once

/// \file
/// Keys with a number each, sorted by rising key, stable: by digits from the lowest up. The result does not depend on
/// the number of threads.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

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
      : items_(std::make_unique_for_overwrite<item[]>(most)), spare_(std::make_unique_for_overwrite<item[]>(most)) {}

  /// Where the keys of the next sort are written.
  [[nodiscard]] item* items() const { return items_.get(); }

  /// The numbers of the first n in the order of their keys, to `order`.
  void sort(std::size_t n, int workers, std::uint32_t* order) {
    if (n < few) return insert(n, order);
    if (workers == 1) return n < many ? sort_alone<8>(n, order) : sort_alone<11>(n, order);
    for (unsigned at = 0; at < 8 * sizeof(Word); at += 11) pass(n, at, workers);
    share_out(workers, (n + piece - 1) / piece, [&](int, std::uint64_t p) {
      for (std::size_t i = p * piece; i < std::min(n, (p + 1) * piece); ++i) order[i] = items_[i].number;
    });
  }

 private:
  static constexpr std::size_t few = 48;
  static constexpr std::size_t many = std::size_t{1} << 13;
  static constexpr std::size_t piece = std::size_t{1} << 14;

  template <unsigned Bits>
  static std::size_t digit(Word key, unsigned at) {
    return static_cast<std::size_t>(key >> at) & ((std::size_t{1} << Bits) - 1);
  }

  void insert(std::size_t n, std::uint32_t* order) {
    item* const items = items_.get();
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
    constexpr std::size_t bins = std::size_t{1} << Bits;
    constexpr unsigned passes = (8 * sizeof(Word) + Bits - 1) / Bits;
    counts_.assign(passes * bins, 0);
    const item* from = items_.get();
    item* to = spare_.get();
    for (std::size_t i = 0; i < n; ++i) {
      for (unsigned p = 0; p < passes; ++p) ++counts_[p * bins + digit<Bits>(from[i].key, p * Bits)];
    }
    // passes in which all have one digit change nothing
    unsigned last = passes;
    for (unsigned p = 0; p < passes; ++p) {
      if (counts_[p * bins + digit<Bits>(from[0].key, p * Bits)] != n) last = p;
    }
    if (last == passes) {
      for (std::size_t i = 0; i < n; ++i) order[i] = from[i].number;
      return;
    }
    for (unsigned p = 0; p <= last; ++p) {
      std::uint32_t* const counts = counts_.data() + p * bins;
      if (counts[digit<Bits>(from[0].key, p * Bits)] == n) continue;
      std::uint32_t before = 0;
      for (std::size_t bin = 0; bin < bins; ++bin) before += std::exchange(counts[bin], before);
      if (p == last) {
        for (std::size_t i = 0; i < n; ++i) order[counts[digit<Bits>(from[i].key, p * Bits)]++] = from[i].number;
      } else {
        for (std::size_t i = 0; i < n; ++i) to[counts[digit<Bits>(from[i].key, p * Bits)]++] = from[i];
        std::swap(items_, spare_);
        from = items_.get();
        to = spare_.get();
      }
    }
  }

  /// With several threads, each on a piece: its digits are counted, and find their places behind those of the pieces
  /// before it.
  void pass(std::size_t n, unsigned at, int workers) {
    constexpr std::size_t bins = std::size_t{1} << 11;
    const auto pieces = static_cast<std::size_t>(workers);
    const std::size_t each = (n + pieces - 1) / pieces;
    counts_.assign(pieces * bins, 0);
    share_out(workers, pieces, [&](int, std::uint64_t p) {
      std::uint32_t* const counts = counts_.data() + p * bins;
      const std::size_t end = std::min(n, (p + 1) * each);
      for (std::size_t i = p * each; i < end; ++i) ++counts[digit<11>(items_[i].key, at)];
    });
    std::uint32_t before = 0;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const std::uint32_t first = before;
      for (std::size_t p = 0; p < pieces; ++p) before += std::exchange(counts_[p * bins + bin], before);
      if (before - first == n) return;  // all have this digit
    }
    share_out(workers, pieces, [&](int, std::uint64_t p) {
      std::uint32_t* const counts = counts_.data() + p * bins;
      const std::size_t end = std::min(n, (p + 1) * each);
      for (std::size_t i = p * each; i < end; ++i) spare_[counts[digit<11>(items_[i].key, at)]++] = items_[i];
    });
    std::swap(items_, spare_);
  }

  std::unique_ptr<item[]> items_;
  std::unique_ptr<item[]> spare_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace zenith::detail
