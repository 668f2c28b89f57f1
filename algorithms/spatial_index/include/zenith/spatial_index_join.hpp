#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <zenith/cost.hpp>
#include <zenith/executor.hpp>
#include <zenith/machine.hpp>
#include <zenith/result_vector.hpp>
#include <zenith/spatial_index_tree.hpp>
#include <zenith/spatial_join.hpp>
#include <zenith/spatial_sides.hpp>

/// \file
/// Joins of spatial indexes and of points and boxes in columns: all pairs of items that are near, or the k best of
/// them.

namespace zenith {

/// Pairs of boxes that have a point in common.
struct intersects {};

struct index_join_options {
  std::variant<within, intersects> predicate = within{};
  /// "auto", or the name of a strategy: "index_nested_loop".
  std::string_view strategy = "auto";
};

struct index_join_batch_options {
  std::variant<within, intersects> predicate = within{};
  /// "auto", or the name of a strategy: "index_nested_loop".
  std::string_view strategy = "auto";
  /// About how many pairs a batch has; at least 1. No batch has more than twice as many, unless they are one left id's
  /// partners.
  std::size_t batch_pairs = std::size_t{1} << 22;
};

/// As for ranked joins of points in columns, but for the predicate and the strategies.
struct top_k_index_join_options {
  std::variant<within, intersects> predicate = within{};
  pair_score score = pair_score::sum;
  double left_weight = 1;
  double right_weight = 1;
  selection select = selection::largest;
  /// "auto", or the name of a strategy: "ba", "sfa", "dfa", "rj".
  std::string_view strategy = "auto";
  /// Filled in when not nullptr, after the call succeeded. Borrowed.
  spatial_join_statistics* statistics = nullptr;
  /// How many blocks a round joins: leaves of "ba", items of "sfa", of the side that descends. 0: as many as the
  /// device, k and the pairs that are expected and found suggest. Other strategies ignore it. The result is the same.
  std::uint64_t blocks_at_once = 0;
};

/// All pairs of two indexes.
struct index_join_problem {
  std::uint64_t left_items = 0;
  std::uint64_t right_items = 0;
  key_type type = key_type::float32;
  memory_space space = memory_space::host;
  std::uint64_t to_build = 0;  ///< items of columns, of which an index is built first; of the same columns once

  [[nodiscard]] bool operator==(const index_join_problem&) const = default;
};
/// A ranked join of indexes.
struct top_k_index_join_problem {
  std::uint64_t left_items = 0;
  std::uint64_t right_items = 0;
  std::uint64_t k = 0;
  key_type type = key_type::float32;
  memory_space space = memory_space::host;
  std::uint64_t pairs = 0;     ///< as many as are expected; 0: not known, which is taken for four a left item
  bool scores_oppose = false;  ///< as in `top_k_spatial_join_problem`
  std::uint64_t tied = 0;      ///< as in `top_k_spatial_join_problem`
  std::uint64_t to_build = 0;  ///< items of columns, of which an index is built first; of the same columns once
  bool scores_agree = false;   ///< as in `top_k_spatial_join_problem`

  [[nodiscard]] bool operator==(const top_k_index_join_problem&) const = default;
};

namespace detail {

spatial_run top_k_index_join(const executor& on, const index_join_arguments& given,
                             const top_k_index_join_options& options);
/// All pairs; `given.k` is not looked at.
spatial_run index_join(const executor& on, const index_join_arguments& given, const index_join_options& options);
/// `given.provide` as ever; after each batch deliver(state, first): left ids count from `first`.
spatial_join_batches_result index_join_batches(const executor& on, const index_join_arguments& given,
                                               const index_join_batch_options& options,
                                               void (*deliver)(void* state, std::uint64_t first));

/// A join that makes a result of its own, whatever the sides are: join(arguments) runs it.
template <class Result, class Join>
[[nodiscard]] Result joined(index_join_arguments given, const Join& join) {
  Result result;
  given.provide = resize_pairs<Result>;
  given.state = &result;
  keep_run(result, join(std::as_const(given)));
  return result;
}
template <class Index, class Use>
spatial_join_batches_result all_pairs_in_batches(const executor& on, index_join_arguments given, Use& use,
                                                 const index_join_batch_options& options) {
  pair_batch<Index, Use> one{{}, {}, std::addressof(use)};
  given.provide = pair_batch<Index, Use>::provide;
  given.state = &one;
  return detail::index_join_batches(on, given, options, pair_batch<Index, Use>::deliver);
}

/// The same into memory of the caller's, or for the number alone.
inline spatial_run all_pairs_into(const executor& on, index_join_arguments given, const spatial_target& target,
                                  const index_join_options& options) {
  given.target = target;
  return detail::index_join(on, given, options);
}
inline spatial_run best_pairs_into(const executor& on, index_join_arguments given, const spatial_target& target,
                                   const top_k_index_join_options& options) {
  given.k = target.size;
  given.target = target;
  return detail::top_k_index_join(on, given, options);
}

}  // namespace detail

/// All pairs of items of two sides that are near each other, by left id and then by right id: for points and boxes
/// alike. Two items are within the distance d when their gaps g on the axes, 0 where both overlap, fulfil
///
///     gx * gx + gy * gy  [+ gz * gz]  <=  d * d
///
/// with the roundings of a join of points in columns; so for points the pairs are the same. With `intersects` they are
/// those without a gap: boxes that touch do intersect.
///
/// A side is an index, or columns: a `column_set` of points or `boxes`. Both sides have values of one type in one kind
/// of memory. Of columns indexes are built first, as `spatial_index::build(on, ...)` or, on an executor of a device,
/// `device_spatial_index::build` do, and of the same columns on both sides one. Two sides of points come here where the
/// options are of this type, or say `intersects`.
///
/// Strategy "index_nested_loop": each left item descends the right side's tree; pairs are counted and then written,
/// which takes a second descent for items of more than 8 partners. Complexity: O(n * nodes that an item is near to) and
/// a sort of each item's partners. Scratch: about 60 bytes a left item, and the pairs themselves. It synchronises. A
/// GPU executor copies a host's indexes to the device at each call; `device_spatial_index` keeps them there.
///
/// Throws `invalid_argument` for a distance that is negative or NaN, when the ids' type cannot hold the largest id, and
/// for a device's index or columns on an executor of the host; `unsupported` for a strategy that the backend does not
/// offer; `out_of_memory`. Of columns also what their building throws, where the message names the side, and
/// `invalid_argument` when they do not have 2 or 3 dimensions or both differ; values are not looked at when a side has
/// no rows.
///
/// Source: an index nested-loop join, as in Brinkhoff, Kriegel, Seeger: Efficient processing of spatial joins using
/// R-trees, SIGMOD 1993, where both trees are descended at once.
template <index Index = std::uint32_t, class Left, detail::joined_with<Left> Right,
          std::same_as<index_join_options> Options = index_join_options>
[[nodiscard]] spatial_join_result<Index> spatial_join(const executor& on, const Left& left, const Right& right,
                                                      const Options& options = {}) {
  return detail::joined<spatial_join_result<Index>>(
      detail::join_of<Index>(left, right), [&](const auto& given) { return detail::index_join(on, given, options); });
}

/// Writes the same pairs to the beginning of `left_out` and `right_out`, as the join of points in columns does.
template <class Left, detail::joined_with<Left> Right, detail::id_range LeftOut, detail::ids_beside<LeftOut> RightOut,
          std::same_as<index_join_options> Options = index_join_options>
spatial_run spatial_join(const executor& on, const Left& left, const Right& right, LeftOut&& left_out,
                         RightOut&& right_out, const Options& options = {}) {
  using Index = typename detail::output_of<LeftOut>::value_type;
  return detail::all_pairs_into(on, detail::join_of<Index>(left, right),
                                detail::pair_target("spatial_join", left_out, right_out), options);
}

/// How many pairs there are: `count` of the result. Throws as `spatial_join`.
template <class Left, detail::joined_with<Left> Right, std::same_as<index_join_options> Options = index_join_options>
[[nodiscard]] spatial_run count_spatial_join(const executor& on, const Left& left, const Right& right,
                                             const Options& options = {}) {
  return detail::all_pairs_into(on, detail::join_of<std::uint64_t>(left, right),
                                {detail::spatial_target::kind::nothing}, options);
}

/// The same pairs in batches, as `spatial_join_batches` of points in columns: use(left, right) gets spans of left and
/// of right ids, the pairs of some consecutive left ids. Each batch reads the ids of all left items besides. Throws as
/// above, and `invalid_argument` for options.batch_pairs of 0.
template <index Index = std::uint32_t, class Left, detail::joined_with<Left> Right, class Use,
          std::same_as<index_join_batch_options> Options = index_join_batch_options>
requires std::invocable<Use&, std::span<const Index>, std::span<const Index>> spatial_join_batches_result
spatial_join_batches(const executor& on, const Left& left, const Right& right, Use&& use, const Options& options = {}) {
  return detail::all_pairs_in_batches<Index>(on, detail::join_of<Index>(left, right), use, options);
}

/// The k best pairs of items of two sides, by score, then by left id, then by right id: as `top_k_spatial_join` of
/// points in columns, for points and boxes alike. Which items are near each other, and what a side is, `spatial_join`
/// says; columns are `scored_points` or `scored_boxes`.
///
/// Strategies: "ba", the Block-based Algorithm, takes the left side's leaves by their best score, some in each round.
/// Each item of a leaf descends the right side's tree, where subtrees are left out that are too far away or
/// cannot reach the score of the k-th best pair so far; that score rises after each round, and the join ends when the
/// next leaf cannot reach it. Where the left side has more than eight times the items of the right one, sides change.
/// "sfa", the Score-First Algorithm, takes items by their score in place of leaves. "dfa", the Distance-First
/// Algorithm, descends both trees at once, from pairs of nodes that are near to pairs of their children, depth first.
/// "rj", the ranked aR-tree join, opens the pairs of nodes with the best bounds first, and ends when no bound reaches
/// the k-th best score; in place of the thesis' queue of single pairs it has a bounded list for each height of the
/// trees, and opens some hundreds of pairs and more together. Both leave out pairs of nodes that are too far from each
/// other or cannot reach the k-th best score so far. None limits the fanout or the
/// number of items; a result has fewer than 2^32 pairs.
///
/// Complexity: "ba" and "sfa" O(n log n) for the order of n blocks, and a descent for each left item whose score can
/// reach the bound with the right side's best; the others O(pairs of nodes that are near and reach the bound). Scratch:
/// about 50 bytes for each of 2 k + 2^20 pairs; O(n + m) for "ba" and "sfa", 2^18 pairs of nodes for each level of the
/// trees for the others. It synchronises in each round.
///
/// Throws as `spatial_join`, and for scores and weights as the join of points in columns. What is wrong with scores is
/// found by the extremes of an index, before anything is copied.
///
/// Sources: Qi et al.: Efficient Top-k Spatial Distance Joins, SSTD 2013 (sfa, dfa, ba); Åmdal 2020, sections 4.4 (rj)
/// and 6.5 (ba).
template <index Index = std::uint32_t, class Left, detail::ranked_with<Left> Right,
          std::same_as<top_k_index_join_options> Options = top_k_index_join_options>
[[nodiscard]] auto top_k_spatial_join(const executor& on, const Left& left, const Right& right, std::size_t k,
                                      const Options& options = {})
    -> top_k_spatial_join_result<typename detail::join_side<Left>::value_type, Index> {
  using result_type = top_k_spatial_join_result<typename detail::join_side<Left>::value_type, Index>;
  auto asked = detail::join_of<Index>(left, right);
  asked.k = k;
  return detail::joined<result_type>(std::move(asked),
                                     [&](const auto& given) { return detail::top_k_index_join(on, given, options); });
}

/// Writes the k = `left_out` size best pairs to the beginning of `left_out`, `right_out` and `scores_out`, as the join
/// of points in columns does.
template <class Left, detail::ranked_with<Left> Right, detail::id_range LeftOut, detail::ids_beside<LeftOut> RightOut,
          detail::score_range<typename detail::join_side<Left>::value_type> Scores,
          std::same_as<top_k_index_join_options> Options = top_k_index_join_options>
requires(detail::are_together<LeftOut, Scores>) spatial_run
    top_k_spatial_join(const executor& on, const Left& left, const Right& right, LeftOut&& left_out,
                       RightOut&& right_out, Scores&& scores_out, const Options& options = {}) {
  using Index = typename detail::output_of<LeftOut>::value_type;
  return detail::best_pairs_into(on, detail::join_of<Index>(left, right),
                                 detail::pair_target("top_k_spatial_join", left_out, right_out, scores_out), options);
}

/// Chooses the device and strategy that will be fastest for `problem` on `on`. Pure. Throws `unsupported` when no
/// device can run it.
[[nodiscard]] decision decide(const index_join_problem& problem, const machine& on);
[[nodiscard]] decision decide(const top_k_index_join_problem& problem, const machine& on);

}  // namespace zenith
