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

template <class T>
using score_of = std::conditional_t<std::is_same_v<T, float>, float, double>;
template <class T>
using columns_of = device::scored<T, score_of<T>>;
template <class T>
using entry_of = ordered::entry_t<ordered::bits_t<score_of<T>>>;

/// Scores that a team's scratch holds.
inline constexpr u32 most_scores = most_block_rows;

/// Columns j to j + 3 of one item, added to `sum`.
template <class T, class Score>
struct four_columns {
  const T* a;
  const T* b;
  const T* c;
  const T* d;
  Score weight_a;
  Score weight_b;
  Score weight_c;
  Score weight_d;

  ZENITH_FN four_columns(const device::scored<T, Score>& of, unsigned j, u64 first)
      : a(of.column[j] + first),
        b(of.column[j + 1] + first),
        c(of.column[j + 2] + first),
        d(of.column[j + 3] + first),
        weight_a(of.weight[j]),
        weight_b(of.weight[j + 1]),
        weight_c(of.weight[j + 2]),
        weight_d(of.weight[j + 3]) {}

  ZENITH_FN Score first_product(u64 i) const { return static_cast<Score>(a[i]) * weight_a; }
  ZENITH_FN Score add_others(Score sum, u64 i) const {
    sum = sum + static_cast<Score>(b[i]) * weight_b;
    sum = sum + static_cast<Score>(c[i]) * weight_c;
    return sum + static_cast<Score>(d[i]) * weight_d;
  }
};

/// to[i] = the score of item first + i, for i < count. Column by column in loops over the items, which compilers
/// vectorise. Barriers before and behind.
template <class Team, class T, class Score>
ZENITH_FN void evaluate(Team& team, const device::scored<T, Score>& of, u64 first, u32 count, Score* to) {
  team.barrier();
  unsigned j = 0;
  if (of.columns >= 4) {
    const four_columns<T, Score> four(of, 0, first);
    team.for_each(count, [=](u64 i) ZENITH_BODY { to[i] = four.add_others(four.first_product(i), i); });
    j = 4;
  } else {
    const T* const column = of.column[0] + first;
    const Score weight = of.weight[0];
    team.for_each(count, [=](u64 i) ZENITH_BODY { to[i] = static_cast<Score>(column[i]) * weight; });
    j = 1;
  }
  for (; j + 4 <= of.columns; j += 4) {
    team.barrier();
    const four_columns<T, Score> four(of, j, first);
    team.for_each(count, [=](u64 i) ZENITH_BODY { to[i] = four.add_others(to[i] + four.first_product(i), i); });
  }
  for (; j < of.columns; ++j) {
    team.barrier();
    const T* const column = of.column[j] + first;
    const Score weight = of.weight[j];
    team.for_each(count, [=](u64 i) ZENITH_BODY { to[i] = to[i] + static_cast<Score>(column[i]) * weight; });
  }
  team.barrier();
}

}  // namespace zenith::threshold_table_family
