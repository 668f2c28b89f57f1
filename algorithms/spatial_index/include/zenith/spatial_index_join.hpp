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

/// \file
/// Joins of two spatial indexes: all pairs of items that are near, or the k best of them.

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

/// As for ranked joins of columns, but for the predicate.
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
};

/// All pairs of two indexes.
struct index_join_problem {
  std::uint64_t left_items = 0;
  std::uint64_t right_items = 0;
  key_type type = key_type::float32;
  memory_space space = memory_space::host;

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
  std::uint64_t tied = 0;      ///< the same

  [[nodiscard]] bool operator==(const top_k_index_join_problem&) const = default;
};

namespace detail {

struct index_join_arguments {
  key_type type;
  unsigned dimensions;
  index_argument left;
  index_argument right;
  std::size_t k;
  int index_bytes;
  bool index_signed;
  spatial_output (*provide)(void* state, std::uint64_t count);
  void* state;
  spatial_target target = {};
};
spatial_run top_k_index_join(const executor& on, const index_join_arguments& given,
                             const top_k_index_join_options& options);
/// All pairs; `given.k` is not looked at.
spatial_run index_join(const executor& on, const index_join_arguments& given, const index_join_options& options);
/// `given.provide` as ever; after each batch deliver(state, first): left ids count from `first`.
spatial_join_batches_result index_join_batches(const executor& on, const index_join_arguments& given,
                                               const index_join_batch_options& options,
                                               void (*deliver)(void* state, std::uint64_t first));

/// All pairs of two indexes; where they go is still to be said.
template <class Index, class Tree>
[[nodiscard]] index_join_arguments join_of(const Tree& left, const Tree& right) {
  return {key_type_of<typename Tree::value_type>,
          Tree::dimensions,
          argument_of(left),
          argument_of(right),
          0,
          static_cast<int>(sizeof(Index)),
          std::is_signed_v<Index>,
          nullptr,
          nullptr};
}

}  // namespace detail

/// All pairs of items of two indexes that are near each other, by left id and then by right id: for points and boxes
/// alike. Two items are within the distance d when their gaps g on the axes, 0 where both overlap, fulfil
///
///     gx * gx + gy * gy  [+ gz * gz]  <=  d * d
///
/// with the roundings of a join of columns; so for points the pairs are the same. With `intersects` they are those
/// without a gap: boxes that touch do intersect.
///
/// Strategy "index_nested_loop": each left item descends the right side's tree; pairs are counted and then written,
/// which takes a second descent for items of more than 8 partners. Complexity: O(n * nodes that an item is near to) and
/// a sort of each item's partners. Scratch: about 60 bytes a left item, and the pairs themselves. It synchronises. A
/// GPU executor copies a host's indexes to the device at each call; `device_spatial_index` keeps them there.
///
/// Throws `invalid_argument` for a distance that is negative or NaN, when the ids' type cannot hold the largest id, and
/// for a device's index on an executor of the host; `unsupported` for a strategy that the backend does not offer;
/// `out_of_memory`. The two indexes must lie in the same memory.
///
/// Source: an index nested-loop join, as in Brinkhoff, Kriegel, Seeger: Efficient processing of spatial joins using
/// R-trees, SIGMOD 1993, where both trees are descended at once.
template <index Index = std::uint32_t, detail::any_spatial_index Tree>
[[nodiscard]] spatial_join_result<Index> spatial_join(const executor& on, const Tree& left, const Tree& right,
                                                      const index_join_options& options = {}) {
  spatial_join_result<Index> result;
  auto given = detail::join_of<Index>(left, right);
  given.provide = [](void* state, std::uint64_t count) -> spatial_output {
    auto& to = *static_cast<spatial_join_result<Index>*>(state);
    detail::resize_results(to.left, static_cast<std::size_t>(count));
    detail::resize_results(to.right, static_cast<std::size_t>(count));
    return {to.left.data(), to.right.data()};
  };
  given.state = &result;
  auto run = detail::index_join(on, given, options);
  result.count = run.count;
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
  return result;
}

/// Writes the same pairs to the beginning of `left_out` and `right_out`, as the join of columns does.
template <detail::any_spatial_index Tree, detail::id_range Left, detail::id_range Right>
requires(detail::are_together<Left, Right>&& std::same_as<typename detail::output_of<Left>::value_type,
                                                          typename detail::output_of<Right>::value_type>) spatial_run
    spatial_join(const executor& on, const Tree& left, const Tree& right, Left&& left_out, Right&& right_out,
                 const index_join_options& options = {}) {
  auto given = detail::join_of<typename detail::output_of<Left>::value_type>(left, right);
  given.target = detail::pair_target("spatial_join", left_out, right_out);
  return detail::index_join(on, given, options);
}

/// How many pairs there are: `count` of the result. Throws as `spatial_join`.
template <detail::any_spatial_index Tree>
[[nodiscard]] spatial_run count_spatial_join(const executor& on, const Tree& left, const Tree& right,
                                             const index_join_options& options = {}) {
  auto given = detail::join_of<std::uint64_t>(left, right);
  given.target.is = detail::spatial_target::kind::nothing;
  return detail::index_join(on, given, options);
}

/// The same pairs in batches, as `spatial_join_batches` of columns: use(left, right) gets spans of left and of right
/// ids, the pairs of some consecutive left ids. Each batch reads the ids of all left items besides. Throws as above,
/// and `invalid_argument` for options.batch_pairs of 0.
template <index Index = std::uint32_t, detail::any_spatial_index Tree, class Use>
requires std::invocable<Use&, std::span<const Index>, std::span<const Index>> spatial_join_batches_result
spatial_join_batches(const executor& on, const Tree& left, const Tree& right, Use&& use,
                     const index_join_batch_options& options = {}) {
  using batch = detail::pair_batch<Index, std::remove_reference_t<Use>>;
  batch one{{}, {}, std::addressof(use)};
  auto given = detail::join_of<Index>(left, right);
  given.provide = batch::provide;
  given.state = &one;
  return detail::index_join_batches(on, given, options, batch::deliver);
}

/// The k best pairs of items of two indexes, by score, then by left id, then by right id: as `top_k_spatial_join` of
/// columns, for points and boxes alike. Two items are within the distance d when their gaps g on the axes, 0 where both
/// overlap, fulfil
///
///     gx * gx + gy * gy  [+ gz * gz]  <=  d * d
///
/// with the roundings of a join of columns; so for points the pairs are the same. With `intersects` they are those
/// without a gap: boxes that touch do intersect.
///
/// Strategies: "ba", the Block-based Algorithm, takes the left side's leaves by their best score, some more in each
/// round. Each item of a leaf descends the right side's tree, where subtrees are left out that are too far away or
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
/// Throws as the join of columns; what is wrong with scores is found by their extremes, before anything is copied. The
/// two indexes must lie in the same memory.
///
/// Sources: Qi et al.: Efficient Top-k Spatial Distance Joins, SSTD 2013 (sfa, dfa, ba); Åmdal 2020, sections 4.4 (rj)
/// and 6.5 (ba).
template <index Index = std::uint32_t, detail::any_spatial_index Tree>
[[nodiscard]] auto top_k_spatial_join(const executor& on, const Tree& left, const Tree& right, std::size_t k,
                                      const top_k_index_join_options& options = {})
    -> top_k_spatial_join_result<typename Tree::value_type, Index> {
  using T = typename Tree::value_type;
  using result_type = top_k_spatial_join_result<T, Index>;
  result_type result;
  auto run =
      detail::top_k_index_join(on,
                               {key_type_of<T>, Tree::dimensions, detail::argument_of(left), detail::argument_of(right),
                                k, static_cast<int>(sizeof(Index)), std::is_signed_v<Index>,
                                [](void* state, std::uint64_t count) -> spatial_output {
                                  auto& to = *static_cast<result_type*>(state);
                                  detail::resize_results(to.left, static_cast<std::size_t>(count));
                                  detail::resize_results(to.right, static_cast<std::size_t>(count));
                                  detail::resize_results(to.scores, static_cast<std::size_t>(count));
                                  return {to.left.data(), to.right.data(), to.scores.data()};
                                },
                                &result},
                               options);
  result.count = run.count;
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
  return result;
}

/// Writes the k = `left_out` size best pairs to the beginning of `left_out`, `right_out` and `scores_out`, as the join
/// of columns does.
template <detail::any_spatial_index Tree, detail::id_range Left, detail::id_range Right,
          detail::score_range<typename Tree::value_type> Scores>
requires(detail::are_together<Left, Right, Scores>&&
             std::same_as<typename detail::output_of<Left>::value_type, typename detail::output_of<Right>::value_type>)
    spatial_run
    top_k_spatial_join(const executor& on, const Tree& left, const Tree& right, Left&& left_out, Right&& right_out,
                       Scores&& scores_out, const top_k_index_join_options& options = {}) {
  using Index = typename detail::output_of<Left>::value_type;
  const auto target = detail::pair_target("top_k_spatial_join", left_out, right_out, scores_out);
  return detail::top_k_index_join(
      on,
      {key_type_of<typename Tree::value_type>, Tree::dimensions, detail::argument_of(left), detail::argument_of(right),
       target.size, static_cast<int>(sizeof(Index)), std::is_signed_v<Index>, nullptr, nullptr, target},
      options);
}

/// Chooses the device and strategy that will be fastest for `problem` on `on`. Pure. Throws `unsupported` when no
/// device can run it.
[[nodiscard]] decision decide(const index_join_problem& problem, const machine& on);
[[nodiscard]] decision decide(const top_k_index_join_problem& problem, const machine& on);

}  // namespace zenith
