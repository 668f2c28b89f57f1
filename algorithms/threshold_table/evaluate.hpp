#pragma once

/// \file
/// Scores of consecutive items by a team: of rows, of blocks' extremes, of threshold tuples. Whatever has columns is a
/// scored source (core/device/source.hpp), and its items' scores are those of the source: the same operations in the
/// same order.

#include <type_traits>

#include <core/device/kernel.hpp>
#include <core/device/source.hpp>
#include <core/entry.hpp>
#include <core/key_order.hpp>
#include <zenith/threshold_table_call.hpp>

namespace zenith::threshold_table_family {

using device::u32;
using device::u64;

/// What rows are scored by. A type of values stands for weighted sums of columns of it; a score of the caller's own has
/// a type that names it (own_score.hpp).
template <class T>
struct scoring {
  using value = T;
  using score = std::conditional_t<std::is_same_v<T, float>, float, double>;
  using columns = device::scored<T, score>;
  static constexpr bool is_weighted_sum = true;
};
template <class T>
using value_of = typename scoring<T>::value;
template <class T>
using score_of = typename scoring<T>::score;
template <class T>
using columns_of = typename scoring<T>::columns;
template <class T>
using entry_of = ordered::entry_t<ordered::bits_t<score_of<T>>>;

/// Scores that a team's scratch holds.
inline constexpr u32 most_scores = most_block_rows;

/// The score of one item, whose loads overlap.
template <class T, class Score>
[[nodiscard]] ZENITH_FN Score score_at(const device::scored<T, Score>& of, u64 i) {
  constexpr unsigned at_once = 8;
  T some[at_once];
  ZENITH_UNROLLED
  for (unsigned j = 0; j < at_once; ++j) some[j] = j < of.columns ? of.column[j][i] : T{};
  Score sum = static_cast<Score>(some[0]) * of.weight[0];
  ZENITH_UNROLLED
  for (unsigned j = 1; j < at_once; ++j) {
    if (j < of.columns) sum = sum + static_cast<Score>(some[j]) * of.weight[j];
  }
  for (unsigned j = at_once; j < of.columns; ++j) sum = sum + static_cast<Score>(of.column[j][i]) * of.weight[j];
  return sum;
}
/// The same of any other formula.
template <device::formula_source Source>
[[nodiscard]] ZENITH_FN typename Source::key score_at(const Source& of, u64 i) {
  return device::key_at(of, i);
}

/// Some columns of items from `first` on, their number known to the compiler.
template <class T, class Score, unsigned Columns>
struct column_group {
  const T* column[Columns];
  Score weight[Columns];

  ZENITH_FN column_group(const device::scored<T, Score>& of, unsigned j, u64 first) {
    ZENITH_UNROLLED
    for (unsigned c = 0; c < Columns; ++c) {
      column[c] = of.column[j + c] + first;
      weight[c] = of.weight[j + c];
    }
  }
  ZENITH_FN Score product(unsigned c, u64 i) const { return static_cast<Score>(column[c][i]) * weight[c]; }
  /// The products of item i from column c on, added to `sum`.
  ZENITH_FN Score add_from(unsigned c, Score sum, u64 i) const {
    ZENITH_UNROLLED
    for (; c < Columns; ++c) sum = sum + product(c, i);
    return sum;
  }
};

template <unsigned Columns, class Team, class T, class Score>
ZENITH_FN void begin_scores(Team& team, const device::scored<T, Score>& of, u64 first, u32 count, Score* to) {
  const column_group<T, Score, Columns> group(of, 0, first);
  team.for_each(count, [=](u64 i) ZENITH_BODY { to[i] = group.add_from(1, group.product(0, i), i); });
}
template <unsigned Columns, class Team, class T, class Score>
ZENITH_FN void add_to_scores(Team& team, const device::scored<T, Score>& of, unsigned j, u64 first, u32 count,
                             Score* to) {
  team.barrier();
  const column_group<T, Score, Columns> group(of, j, first);
  team.for_each(count, [=](u64 i) ZENITH_BODY { to[i] = group.add_from(0, to[i], i); });
}

/// to[i] = the score of item first + i, for i < count. A few columns at a time, in loops over the items, which
/// compilers vectorise. Barriers before and behind.
template <class Team, class T, class Score>
ZENITH_FN void evaluate(Team& team, const device::scored<T, Score>& of, u64 first, u32 count, Score* to) {
  team.barrier();
  unsigned j = of.columns < 4 ? of.columns : 4;
  if (j == 1) {
    begin_scores<1>(team, of, first, count, to);
  } else if (j == 2) {
    begin_scores<2>(team, of, first, count, to);
  } else if (j == 3) {
    begin_scores<3>(team, of, first, count, to);
  } else {
    begin_scores<4>(team, of, first, count, to);
  }
  for (; j + 4 <= of.columns; j += 4) add_to_scores<4>(team, of, j, first, count, to);
  for (; j < of.columns; ++j) add_to_scores<1>(team, of, j, first, count, to);
  team.barrier();
}

/// The same of any other formula.
template <class Team, device::formula_source Source>
ZENITH_FN void evaluate(Team& team, const Source& of, u64 first, u32 count, typename Source::key* to) {
  team.barrier();
  team.for_each(count, [&](u64 i) ZENITH_BODY { to[i] = device::key_at(of, first + i); });
  team.barrier();
}

}  // namespace zenith::threshold_table_family
