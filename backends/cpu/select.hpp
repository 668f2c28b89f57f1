#pragma once

/// \file
/// Selecting and sorting entries: quickselect and quicksort over the instruction set's partition and its sort of a few
/// entries, the library's methods where it has none, for what is small, and when pivots keep failing.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include <boost/sort/pdqsort/pdqsort.hpp>

#include <algorithms/top_k/entry.hpp>
#include <backends/cpu/collecting.hpp>
#include <backends/cpu/isa/table.hpp>

namespace zenith::cpu_backend {

template <class Entry>
class selector {
 public:
  /// `spare` can hold as many entries as any call brings, and `spare_slack` more.
  selector(const isa_table& isa, Entry* spare)
      : partition_(sizeof(Entry) == 8 ? isa.partition_packed : isa.partition_split),
        sort_few_(sizeof(Entry) == 8 ? isa.sort_few_packed : isa.sort_few_split),
        spare_(spare) {}

  /// Moves the k best entries to the front, in any order, the worst of them to position k - 1.
  void select(std::span<Entry> entries, std::size_t k) const {
    int rounds_left = 2 * static_cast<int>(std::bit_width(entries.size()));
    while (k < entries.size() && k > 0 && entries.size() > small && --rounds_left > 0) {
      // one rank beyond k's share: the k best are likely all in front, and the pivot is never the best entry of all
      const auto samples = samples_for(entries.size());
      const auto front = split(entries, samples, k * samples / entries.size() + 1);
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

  /// Moves the entries that are better than the pivot to the front; returns how many they are.
  std::size_t partition(std::span<Entry> entries, const Entry& pivot) const {
    return partition_(words(entries), entries.size(), reinterpret_cast<const std::uint64_t*>(&pivot),
                      reinterpret_cast<std::uint64_t*>(spare_));
  }

  void sort(std::span<Entry> entries) const { sort(entries, 2 * static_cast<int>(std::bit_width(entries.size()))); }

 private:
  // below this, calls and pivots cost more than the partition saves: the library's method jumps by each comparison, and
  // of entries that it never saw every other jump is mispredicted
  static constexpr std::size_t small = 48;
  static constexpr std::size_t most_samples = 63;

  /// A pivot nearer to the rank that is sought saves passes, and long ones are worth more care.
  static std::size_t samples_for(std::size_t count) { return count > 8192 ? most_samples : 15; }

  // not a function: its address would not be inlined into the library's methods
  static constexpr auto is_better = [](const Entry& a, const Entry& b) { return better(a, b); };

  /// Partitions around the entry that has this rank in a sample; returns how many are better.
  std::size_t split(std::span<Entry> entries, std::size_t samples, std::size_t rank) const {
    Entry sample[most_samples];
    for (std::size_t i = 0; i < samples; ++i) sample[i] = entries[(2 * i + 1) * entries.size() / (2 * samples)];
    sort_small({sample, samples});
    return partition(entries, sample[std::min(rank, samples - 1)]);
  }

  void sort(std::span<Entry> entries, int rounds_left) const {
    // without a fast method for its leaves this quicksort is no better than the library's
    while (sort_few_ != nullptr && entries.size() > most_few && --rounds_left > 0) {
      const auto samples = samples_for(entries.size());
      const auto front = split(entries, samples, samples / 2);
      sort(entries.first(front), rounds_left);
      entries = entries.subspan(front);
    }
    sort_small(entries);
  }

  /// Branchless: the order of survivors is as good as random, and each mispredicted branch costs more than the rest of
  /// a comparison.
  void sort_small(std::span<Entry> entries) const {
    if (sort_few_ != nullptr && entries.size() <= most_few) {
      sort_few_(words(entries), entries.size());
    } else {
      boost::sort::pdqsort_branchless(entries.begin(), entries.end(), is_better);
    }
  }

  static std::uint64_t* words(std::span<Entry> entries) { return reinterpret_cast<std::uint64_t*>(entries.data()); }

  partition_function partition_;
  few_function sort_few_;
  Entry* spare_;
};

}  // namespace zenith::cpu_backend
