#pragma once

/// \file
/// A team's priority queue: the k best entries that its lanes push, in its scratch.

#include <core/device/best_heap.hpp>
#include <core/device/kernel.hpp>

namespace zenith::device {

/// Of at most `MostK` entries, of which no two are equal; `Batch` is how many a push looks at together. Its methods are
/// words of the team: all lanes say them. One lane keeps a heap; many keep a sorted list, sort what is new and merge.
template <class Entry, u32 MostK, u32 Batch>
class team_best {
  ZENITH_FN static constexpr u32 power_of_two(u32 at_least) {
    u32 power = 1;
    while (power < at_least) power *= 2;
    return power;
  }
  static constexpr u32 capacity = power_of_two(MostK + power_of_two(Batch));
  static constexpr u32 found_at = capacity * sizeof(Entry);

 public:
  static constexpr u32 scratch_bytes = found_at + 64;

  /// In `scratch_bytes` of the team's scratch from `byte_offset` on, a multiple of 16. 0 < k <= MostK.
  template <class Team>
  ZENITH_FN team_best(Team& team, u32 byte_offset, u32 k)
      : entries_(team.template scratch<Entry>(byte_offset)),
        found_(team.template scratch<u32>(byte_offset + found_at)),
        k_(k) {
    team.once([this]() ZENITH_BODY { *found_ = 0; });
  }

  [[nodiscard]] ZENITH_FN u32 size() const { return size_; }
  [[nodiscard]] ZENITH_FN bool is_full() const { return size_ == k_; }
  /// What a further entry must be better than: the k-th best, or Entry::worst() while there are fewer. Every lane gets
  /// it.
  [[nodiscard]] ZENITH_FN Entry worst() const { return worst_; }
  /// Entry i < size() of those that are kept, in no order. For who has said a barrier after the push.
  [[nodiscard]] ZENITH_FN Entry entry(u64 i) const { return entries_[i]; }

  /// Entries make(0) … make(n - 1); Entry::worst() is none. `make` may be called several times, by any lane. A barrier
  /// behind.
  template <class Team, class Make>
  ZENITH_FN void push(Team& team, u64 n, const Make& make) {
    if constexpr (Team::is_one_lane) {
      for (u64 i = 0; i < n; ++i) insert(make(i));
    } else {
      for (u64 first = 0; first < n; first += Batch) {
        push_batch(team, n - first < Batch ? n - first : Batch, [&](u64 i) ZENITH_BODY { return make(first + i); });
      }
    }
  }

 private:
  // ---- one lane: a heap, the worst first

  ZENITH_FN void insert(const Entry& one) {
    if (!better(one, worst_)) return;
    if (size_ < k_) {
      u32 at = size_++;
      for (; at > 0 && better(entries_[(at - 1) / 2], one); at = (at - 1) / 2) entries_[at] = entries_[(at - 1) / 2];
      entries_[at] = one;
    } else {
      best_heap<Entry>{entries_, size_}.replace_worst(one);
    }
    if (size_ == k_) worst_ = entries_[0];
  }

  // ---- many: a list, the best first

  template <class Team, class Make>
  ZENITH_FN void push_batch(Team& team, u64 n, const Make& make) {
    const auto is_new = [&](u64 i) ZENITH_BODY { return better(make(i), worst_); };
    if (!team.any(n, is_new)) return;
    const auto more = static_cast<u32>(team.count(n, is_new));
    // Falling, then nothing, then what is new: sorted to rise, it makes a bitonic sequence with the rest.
    const u32 added = power_of_two(more);
    const u32 all = power_of_two(size_ + added);
    const u32 begin = all - added;
    team.for_each(n, [&](u64 i) ZENITH_BODY {
      const Entry one = make(i);
      if (better(one, worst_)) entries_[begin + team.add(found_, 1)] = one;
    });
    team.for_each(begin - size_, [&](u64 i) ZENITH_BODY { entries_[size_ + i] = Entry::worst(); });
    team.for_each(added - more, [&](u64 i) ZENITH_BODY { entries_[begin + more + i] = Entry::worst(); });
    team.barrier();
    for (u32 run = 2; run <= added; run *= 2) merge(team, entries_ + begin, added, run, run == added);
    merge(team, entries_, all, all, false);
    size_ = size_ + more < k_ ? size_ + more : k_;
    if (size_ == k_) worst_ = entries_[k_ - 1];
    team.once([this]() ZENITH_BODY { *found_ = 0; });
    team.barrier();
  }
  /// Sorts bitonic sequences of `run` entries: every other one to rise, or all of them one way.
  template <class Team>
  ZENITH_FN void merge(Team& team, Entry* at, u32 count, u32 run, bool rises) const {
    for (u32 stride = run / 2; stride > 0; stride /= 2) {
      team.for_each(count / 2, [&](u64 i) ZENITH_BODY {
        const auto low = static_cast<u32>(2 * i - (i & (stride - 1)));
        const u32 high = low + stride;
        const Entry a = at[low];
        const Entry b = at[high];
        if (better(b, a) != (rises || (low & run) != 0)) {
          at[low] = b;
          at[high] = a;
        }
      });
      team.barrier();
    }
  }

  Entry* entries_;
  u32* found_;
  u32 k_;
  u32 size_ = 0;
  Entry worst_ = Entry::worst();
};

}  // namespace zenith::device
