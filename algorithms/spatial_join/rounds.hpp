#pragma once

/// \file
/// How the rounds of threshold_first go on, wherever they run, and the round that joins everything.

#include <algorithm>

#include <algorithms/spatial_join/collect.hpp>
#include <algorithms/spatial_join/goal.hpp>
#include <algorithms/spatial_join/samples.hpp>

namespace zenith::spatial_join_family::detail {

[[nodiscard]] inline score_rules rules_of(const top_k_spatial_join_call& call) {
  return {true, call.score != pair_score::product, call.left_weight, call.right_weight};
}

template <class T, unsigned D>
[[nodiscard]] pair_scores<T> scores_of(const join_input<T, D>& input) {
  return {input.left.scores, input.right.scores, input.left.weight, input.right.weight};
}

/// No bound is to take more pairs than that: then all are joined.
inline constexpr double most_listed = 1 << 22;

/// How the rounds of threshold_first go on: from bound to bound, each lower than the one before.
template <class T, unsigned D, class Context>
struct bound_search {
  Context& on;
  const side_samples<T, D, Context>& samples;
  double all;   ///< pairs of a left and a right row
  double goal;  ///< pairs that a bound is to take
  double share;

  bound_search(Context& where, const side_samples<T, D, Context>& of, const top_k_spatial_join_call& call)
      : on(where),
        samples(of),
        all(static_cast<double>(call.left.rows) * static_cast<double>(call.right.rows)),
        goal(pairs_to_find(call.k)),
        share(goal / (all * of.near_share())) {}

  /// An image, or 0.
  [[nodiscard]] ordered::bits_t<T> bound() const { return goal > most_listed ? 0 : samples.bound_of(on, share); }
  /// Pairs that a pool is to hold.
  [[nodiscard]] u64 capacity() const {
    const double expected = 2 * std::min(all * samples.near_share(), most_listed) + 65536;
    return static_cast<u64>(std::min(most_held(goal), expected));
  }
  /// So few reached the bound.
  void lower(u64 found) { share *= std::clamp(goal / std::max(1.0, static_cast<double>(found)), 4.0, 256.0); }
};

/// All pairs, and the best of them.
template <class T, unsigned D, class Context>
void join_all(Context& on, const top_k_spatial_join_call& call, const join_input<T, D>& input,
              const pair_scorer<T>& scorer, u64 rounds) {
  const auto found = collect_in_batches(on, place_sides(on, input), scorer, make_bound<T>(on, 0), call.k);
  if (call.statistics != nullptr) *call.statistics = {rounds, call.left.rows, call.right.rows, found.total};
  deliver(on, call, scores_of(input), scorer, found);
}

}  // namespace zenith::spatial_join_family::detail
