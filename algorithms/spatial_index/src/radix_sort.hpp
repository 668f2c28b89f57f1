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

/// Memory for sorts of up to so many keys, used again and again by one thread at a time.
template <class Word>
class radix_sorter {
 public:
  using item = numbered_key<Word>;

  explicit radix_sorter(std::size_t most)
      : items_(std::make_unique_for_overwrite<item[]>(most)), spare_(std::make_unique_for_overwrite<item[]>(most)) {}

  /// Where keys are written before `sort`, and read after it: another place each time.
  [[nodiscard]] item* items() const { return items_.get(); }

  /// The first n.
  void sort(std::size_t n, int workers) {
    if (n < few) {
      insert(n);
      return;
    }
    for (unsigned at = 0; at < 8 * sizeof(Word); at += n < many ? 8 : 11) {
      n < many ? pass<8>(n, at, workers) : pass<11>(n, at, workers);
    }
  }

 private:
  static constexpr std::size_t few = 48;
  static constexpr std::size_t many = std::size_t{1} << 13;

  void insert(std::size_t n) {
    item* const items = items_.get();
    for (std::size_t i = 1; i < n; ++i) {
      const item one = items[i];
      std::size_t at = i;
      for (; at > 0 && one.key < items[at - 1].key; --at) items[at] = items[at - 1];
      items[at] = one;
    }
  }

  template <unsigned Bits>
  void pass(std::size_t n, unsigned at, int workers) {
    constexpr std::size_t bins = std::size_t{1} << Bits;
    const auto digit = [at](Word key) { return static_cast<std::size_t>(key >> at) & (bins - 1); };
    const auto pieces = static_cast<std::size_t>(workers);
    const std::size_t each = (n + pieces - 1) / pieces;
    counts_.assign(pieces * bins, 0);
    share_out(workers, pieces, [&](int, std::uint64_t p) {
      std::uint32_t* const counts = counts_.data() + p * bins;
      const item* const items = items_.get();
      const std::size_t end = std::min(n, (p + 1) * each);
      for (std::size_t i = p * each; i < end; ++i) ++counts[digit(items[i].key)];
    });
    std::uint32_t before = 0;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const std::uint32_t first = before;
      for (std::size_t p = 0; p < pieces; ++p) before += std::exchange(counts_[p * bins + bin], before);
      if (before - first == n) return;  // all have this digit
    }
    share_out(workers, pieces, [&](int, std::uint64_t p) {
      std::uint32_t* const counts = counts_.data() + p * bins;
      const item* const items = items_.get();
      item* const to = spare_.get();
      const std::size_t end = std::min(n, (p + 1) * each);
      for (std::size_t i = p * each; i < end; ++i) to[counts[digit(items[i].key)]++] = items[i];
    });
    std::swap(items_, spare_);
  }

  std::unique_ptr<item[]> items_;
  std::unique_ptr<item[]> spare_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace zenith::detail
