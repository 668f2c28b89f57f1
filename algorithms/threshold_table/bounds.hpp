#pragma once

/// \file
/// Bounds: an entry that no row of a block, a group or a partition is better than.
///
/// The bound of a block is the score of a row that has, in each column, the block's maximum where the weight is
/// positive and its minimum where it is negative. Rounding is monotone: a <= b implies round(a w) <= round(b w) for w >
/// 0 and >= for w < 0, and a <= b, c <= d imply round(a + c) <= round(b + d). The bound is computed by the same
/// operations in the same order as a row's score, so by induction over the columns no partial sum of a row is above
/// that of the bound. No margin is needed, and a bound that a row attains is attained exactly.
///
/// The numbers may be infinite: the order of the extended reals is kept by both operations, but inf - inf is NaN. A
/// NaN on the way to the bound makes it the best of all. A row whose score is NaN is worse than all numbers or better
/// than all (nan_policy). In the second case a block's bound is the best of all as soon as one of its rows may score
/// NaN: when a column has a NaN there, or when infinities of both signs may meet. They may only where the partial sum
/// of the upper bound is +inf and the lower bound's product is -inf, or the other way round.
///
/// Of rows that tie, the lowest id is the best: the bound's entry has the lowest id of the rows that it bounds.

#include <algorithms/threshold_table/evaluate.hpp>
#include <core/device/shared_state.hpp>

namespace zenith::threshold_table_family {

/// Extremes of items of some kind, for a query's weights.
template <class T>
struct bounds_of {
  using score = score_of<T>;
  using entry = entry_of<T>;

  columns_of<T> upper;  ///< of each column the extreme that scores most
  columns_of<T> lower;  ///< the other one
  const u64* nans;
  const u32* first_ids;
  u64 used;  ///< bit j: column j of the table has a weight
  bool nan_first;

  [[nodiscard]] ZENITH_FN u64 size() const { return upper.count; }
  [[nodiscard]] ZENITH_FN ordered::key_order<score> order() const { return {false, nan_first}; }

  /// Whether a row of item i may score NaN.
  [[nodiscard]] ZENITH_FN bool may_be_nan(u64 i) const {
    if ((nans[i] & used) != 0) return true;
    score most = 0;
    score least = 0;
    for (unsigned j = 0; j < upper.columns; ++j) {
      const score high = static_cast<score>(upper.column[j][i]) * upper.weight[j];
      const score low = static_cast<score>(lower.column[j][i]) * upper.weight[j];
      if (is_infinite(most, true) && is_infinite(low, false)) return true;
      if (is_infinite(least, false) && is_infinite(high, true)) return true;
      most = j == 0 ? high : most + high;
      least = j == 0 ? low : least + low;
    }
    return false;
  }
  /// The bound of item i, whose extremes have this score.
  [[nodiscard]] ZENITH_FN entry bound(u64 i, score of) const {
    constexpr auto best = static_cast<typename entry::image_t>(~typename entry::image_t{0});
    const bool is_open = !(of == of) || (nan_first && may_be_nan(i));
    return entry::make(is_open ? best : order().image(of), first_ids[i]);
  }
  [[nodiscard]] ZENITH_FN entry bound(u64 i) const { return bound(i, score_at(upper, i)); }

 private:
  // Doubling changes every number but zeros and infinities; zeros are of no sign here.
  [[nodiscard]] ZENITH_FN static bool is_infinite(score value, bool positive) {
    return value + value == value && (positive ? value > 0 : value < 0);
  }
};

/// The bounds of all items.
template <class T>
struct write_bounds {
  static constexpr u32 segment = 256;
  static constexpr u32 scratch_bytes = segment * sizeof(score_of<T>);

  bounds_of<T> of;
  entry_of<T>* to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    auto* const scores = team.template scratch<score_of<T>>();
    const u64 first = i * segment;
    const u64 left = of.size() - first;
    const u32 count = left < segment ? static_cast<u32>(left) : segment;
    evaluate(team, of.upper, first, count, scores);
    team.for_each(count, [&](u64 r) ZENITH_BODY { to[first + r] = of.bound(first + r, scores[r]); });
  }
};

/// The bounds of the blocks of listed groups, `group_blocks` places a group. Places behind the last block are left
/// with the worst entry.
template <class T>
struct write_block_bounds {
  static constexpr u32 scratch_bytes = group_blocks * sizeof(score_of<T>);

  bounds_of<T> of;
  const u32* groups;
  entry_of<T>* to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    auto* const scores = team.template scratch<score_of<T>>();
    const u64 first = u64{groups[i]} * group_blocks;
    const u64 left = of.size() - first;
    const u32 count = left < group_blocks ? static_cast<u32>(left) : group_blocks;
    evaluate(team, of.upper, first, count, scores);
    team.for_each(group_blocks, [&](u64 r) ZENITH_BODY {
      to[i * group_blocks + r] = r < count ? of.bound(first + r, scores[r]) : entry_of<T>::worst();
    });
  }
};

}  // namespace zenith::threshold_table_family
