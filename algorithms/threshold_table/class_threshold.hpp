#pragma once

/// \file
/// A threshold that teams raise while they go through a table, and that costs no ranking of rows.

#include <core/device/atomics.hpp>
#include <core/device/kernel.hpp>
#include <core/entry.hpp>

namespace zenith::threshold_table_family {

using device::u32;
using device::u64;

/// The most rows that a team of this walk keeps.
inline constexpr u32 most_group_walk_k = 128;

/// What is compared with the shared threshold: an entry, or as much of it as a word holds.
ZENITH_FN u64 rank_word(const ordered::entry32& one) { return one.packed; }
ZENITH_FN u64 rank_word(const ordered::entry64& one) { return one.high; }

/// A threshold that all teams raise: rows are in classes by their position, and each class has its best row so far. The
/// k-th best of those is not above the k-th best of all rows, because they are different rows. With twice k classes
/// some 1.4 k rows are above it.
struct class_threshold {
  static constexpr u32 most_classes = 2 * most_group_walk_k;
  static constexpr u32 scratch_words = most_classes + 8;

  u64* best;    ///< of the classes, as words; from 0
  u64* known;   ///< what a team has found to be the threshold; from 0
  u32 classes;  ///< a power of two, at least k
  u32 k;

  [[nodiscard]] static u32 classes_for(u64 k) {
    u32 classes = 1;
    while (classes < 2 * k && classes < most_classes) classes *= 2;
    return classes;
  }
  [[nodiscard]] ZENITH_FN u32 class_of(u64 position) const { return static_cast<u32>(position) & (classes - 1); }
  ZENITH_FN void raise(u32 of, u64 word) const { (void)device::atomic_max(best + of, word); }
  /// Word i <= classes of what `find_among` needs: the best row of a class, and behind them what is known.
  [[nodiscard]] ZENITH_FN u64 word(u64 i) const { return device::atomic_load(i < classes ? best + i : known); }
  /// The threshold by these words in scratch: the best one that k of them reach. Every lane gets it. A barrier before
  /// it is the caller's, one is behind.
  template <class Team>
  [[nodiscard]] ZENITH_FN u64 find_among(Team& team, const u64* words) const {
    const u64 known_before = words[classes];
    const u64 found = team.reduce(
        classes, known_before,
        [&](u64 c) ZENITH_BODY {
          const u64 own = words[c];
          u32 reaching = 0;
          ZENITH_UNROLLED_BY_4
          for (u32 other = 0; other < classes; ++other) reaching += words[other] >= own ? 1 : 0;
          return reaching >= k ? own : u64{0};
        },
        [](u64 a, u64 b) ZENITH_BODY { return a > b ? a : b; });
    team.once([&]() ZENITH_BODY {
      if (found > known_before) (void)device::atomic_max(known, found);
    });
    return found;
  }
};

}  // namespace zenith::threshold_table_family
