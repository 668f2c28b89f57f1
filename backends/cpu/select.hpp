#pragma once

/// \file
/// Selecting and sorting entries: quickselect and quicksort over the instruction set's partition where it has one, the
/// library's methods where it has not, for what is small, and when pivots keep failing.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include <boost/sort/pdqsort/pdqsort.hpp>

#include <algorithms/top_k/entry.hpp>
#include <backends/cpu/isa/table.hpp>

namespace zenith::cpu_backend {

/// Room that a selector's spare memory needs beyond the entries: one register.
inline constexpr std::size_t spare_slack = 8;

template <class Entry>
class selector {
 public:
  /// `spare` has room for as many entries as any call brings, and `spare_slack` more.
  selector(const isa_table& isa, Entry* spare)
      : partition_(sizeof(Entry) == 8 ? isa.partition_packed : isa.partition_split), spare_(spare) {}

  /// Moves the k best entries to the front, in any order, the worst of them to position k - 1.
  void select(std::span<Entry> entries, std::size_t k) const {
    int patience = 2 * static_cast<int>(std::bit_width(entries.size()));
    while (k < entries.size() && k > 0 && entries.size() > small && partition_ != nullptr && --patience > 0) {
      // one rank beyond k's share: the k best are likely all in front, and the pivot is never the best entry of all
      const auto front = split(entries, k * pivot_sample / entries.size() + 1);
      if (front >= k) {
        entries = entries.first(front);
      } else {
        entries = entries.subspan(front);
        k -= front;
      }
    }
    if (k > 0 && !entries.empty()) {
      const auto last = entries.begin() + static_cast<std::ptrdiff_t>(k) - 1;
      std::nth_element(entries.begin(), last, entries.end(), is_better);
    }
  }

  void sort(std::span<Entry> entries) const { sort(entries, 2 * static_cast<int>(std::bit_width(entries.size()))); }

 private:
  // below this, calls and pivots cost more than the partition saves
  static constexpr std::size_t small = 512;
  static constexpr std::size_t pivot_sample = 15;

  static bool is_better(const Entry& a, const Entry& b) { return better(a, b); }

  /// Branchless: the order of survivors is as good as random, and each mispredicted branch costs more than the rest of
  /// a comparison.
  static void sort_small(std::span<Entry> entries) {
    boost::sort::pdqsort_branchless(entries.begin(), entries.end(), is_better);
  }

  /// Partitions around the entry that has this rank in a small sample; returns how many are better.
  std::size_t split(std::span<Entry> entries, std::size_t rank) const {
    Entry sample[pivot_sample];
    for (std::size_t i = 0; i < pivot_sample; ++i)
      sample[i] = entries[(2 * i + 1) * entries.size() / (2 * pivot_sample)];
    std::sort(std::begin(sample), std::end(sample), is_better);
    const Entry pivot = sample[std::min(rank, pivot_sample - 1)];
    return partition_(reinterpret_cast<std::uint64_t*>(entries.data()), entries.size(),
                      reinterpret_cast<const std::uint64_t*>(&pivot), reinterpret_cast<std::uint64_t*>(spare_));
  }

  void sort(std::span<Entry> entries, int patience) const {
    while (entries.size() > small && partition_ != nullptr && --patience > 0) {
      const auto front = split(entries, pivot_sample / 2);
      sort(entries.first(front), patience);
      entries = entries.subspan(front);
    }
    sort_small(entries);
  }

  partition_function partition_;
  Entry* spare_;
};

}  // namespace zenith::cpu_backend
