#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <zenith/array.hpp>
#include <zenith/columns.hpp>
#include <zenith/cost.hpp>
#include <zenith/executor.hpp>
#include <zenith/machine.hpp>
#include <zenith/no_overload.hpp>
#include <zenith/result_vector.hpp>
#include <zenith/spatial_join_call.hpp>
#include <zenith/spatial_output.hpp>
#include <zenith/top_k.hpp>

/// \file
/// Spatial joins: all pairs of points of two sets that are near each other, or the k of them with the best scores. The
/// same calls take boxes by <zenith/spatial_index.hpp>.

namespace zenith {

/// A side of a ranked join: points as columns x, y or x, y, z, and a score for each. Borrowed.
template <class Span>
struct basic_scored_points {
  basic_column_set<Span> coordinates;
  Span scores;
};
/// In the host's memory.
template <class T>
using scored_points = basic_scored_points<std::span<const T>>;
/// In the memory of an executor's device.
template <class T>
using device_scored_points = basic_scored_points<device_span<const T>>;

struct spatial_join_options {
  within predicate = {};
  /// "auto", or the name of a strategy: "grid", "index_nested_loop".
  std::string_view strategy = "auto";
};

struct spatial_join_batch_options {
  within predicate = {};
  /// "auto", or the name of a strategy: "grid", "index_nested_loop".
  std::string_view strategy = "auto";
  /// About how many pairs a batch has; at least 1. No batch has more than twice as many, unless they are one left row's
  /// partners.
  std::size_t batch_pairs = std::size_t{1} << 22;
};

struct top_k_spatial_join_options {
  within predicate = {};
  pair_score score = pair_score::sum;
  double left_weight = 1;   ///< of `weighted_sum`; rounded to the scores' type
  double right_weight = 1;  ///< of `weighted_sum`; rounded to the scores' type
  selection select = selection::largest;
  /// "auto", or the name of a strategy: "threshold_first", "full", "ba", "sfa", "dfa", "rj".
  std::string_view strategy = "auto";
  /// Filled in when not nullptr, after the call succeeded. Borrowed.
  spatial_join_statistics* statistics = nullptr;
  /// How many blocks a round joins: leaves of "ba", items of "sfa", of the side that descends. 0: as many as the
  /// device, k and the pairs that are expected and found suggest. Other strategies ignore it. The result is the same.
  std::uint64_t blocks_at_once = 0;
};

/// Pairs of rows, and what ran.
template <index Index = std::uint32_t>
struct spatial_join_result {
  std::vector<Index> left;
  std::vector<Index> right;
  std::size_t count = 0;
  std::string backend;
  std::string strategy;
};

/// How many results there are, and what ran.
struct spatial_run {
  std::size_t count = 0;
  std::string backend;
  std::string strategy;
};

/// What a join in batches found, and what ran.
struct spatial_join_batches_result {
  std::size_t count = 0;    ///< of pairs
  std::size_t batches = 0;  ///< that were handed over
  std::string backend;
  std::string strategy;
};

/// Pairs of rows with their scores, best first, and what ran.
template <class T, index Index = std::uint32_t>
struct top_k_spatial_join_result {
  std::vector<Index> left;
  std::vector<Index> right;
  std::vector<T> scores;
  std::size_t count = 0;  ///< of pairs: k, or all that there are if they are fewer
  std::string backend;
  std::string strategy;
};

/// Joins as the cost models see them.
struct spatial_join_problem {
  std::uint64_t left_rows = 0;
  std::uint64_t right_rows = 0;
  std::uint64_t pairs = 0;  ///< as many as are expected
  unsigned dimensions = 2;
  key_type type = key_type::float32;
  memory_space space = memory_space::host;
  /// Pairs of points that a join by a grid is expected to test, where these are more than three times `pairs`; 0: not
  /// known.
  std::uint64_t tests = 0;

  [[nodiscard]] bool operator==(const spatial_join_problem&) const = default;
};
struct top_k_spatial_join_problem : spatial_join_problem {
  std::uint64_t k = 0;
  /// Whether points near each other have scores that oppose each other, so that the best of one side lie among the
  /// worst of the other: then no bound on the scores keeps points out.
  bool scores_oppose = false;
  /// Pairs that are expected to have the best score of all, or that of the k-th best, where a sample has several such
  /// points; 0: few.
  std::uint64_t tied = 0;
  /// Whether there may be many more pairs than `pairs`: samples met hardly any, as they do of equal points, lattices
  /// and lines. A host's "threshold_first" then counts the pairs in some cells before it joins all.
  bool may_hide_pairs = false;
  /// Whether points near each other have nearly the same scores, so that the best of one side lie among the best of the
  /// other.
  bool scores_agree = false;

  [[nodiscard]] bool operator==(const top_k_spatial_join_problem&) const = default;
};

/// Chooses the device and strategy that will be fastest for `problem` on `on`. Pure. Throws `unsupported` when no
/// device can run it.
[[nodiscard]] decision decide(const spatial_join_problem& problem, const machine& on);
[[nodiscard]] decision decide(const top_k_spatial_join_problem& problem, const machine& on);

/// The cost of one strategy on one device: "grid" and "index_nested_loop" of a join, "threshold_first", "full", "ba",
/// "sfa", "dfa" and "rj" of a ranked join; throws `invalid_argument` for an unknown strategy.
[[nodiscard]] cost spatial_join_cost(std::string_view strategy, const spatial_join_problem& problem,
                                     const device_profile& on);
[[nodiscard]] cost top_k_spatial_join_cost(std::string_view strategy, const top_k_spatial_join_problem& problem,
                                           const device_profile& on);

namespace detail {

struct spatial_points {
  std::vector<const void*> columns;
  std::size_t rows = 0;
  const void* scores = nullptr;
  std::size_t score_count = 0;

  [[nodiscard]] bool operator==(const spatial_points&) const = default;
};

struct spatial_arguments {
  key_type type;
  memory_space space;
  spatial_points left;
  spatial_points right;
  int index_bytes;
  bool index_signed;
  spatial_output (*provide)(void* state, std::uint64_t count);  ///< resizes the caller's vectors
  void* state;
  spatial_target target = {};
  spatial_output (*reserve)(void* state, std::uint64_t count) = nullptr;    ///< reserves the memory of these vectors
  void (*grow)(void* state, std::uint64_t count, bool is_right) = nullptr;  ///< resizes one that is reserved
};

spatial_join_problem describe(const spatial_arguments& given, const spatial_join_options& options);
/// `pairs_of_one`: where `given` is a sample, how many pairs of the join one of its pairs stands for.
top_k_spatial_join_problem describe(const spatial_arguments& given, std::size_t k,
                                    const top_k_spatial_join_options& options, double pairs_of_one = 1);
spatial_run spatial_join(const executor& on, const spatial_arguments& given, const spatial_join_options& options);
/// `given.provide` as ever; after each batch deliver(state, first): left ids count from row `first`.
spatial_join_batches_result spatial_join_batches(const executor& on, const spatial_arguments& given,
                                                 const spatial_join_batch_options& options,
                                                 void (*deliver)(void* state, std::uint64_t first));
spatial_run top_k_spatial_join(const executor& on, const spatial_arguments& given, std::size_t k,
                               const top_k_spatial_join_options& options);

template <class Span>
inline constexpr memory_space memory_of = memory_space::host;
template <class T>
inline constexpr memory_space memory_of<device_span<T>> = memory_space::device;

template <class Span>
[[nodiscard]] spatial_points spatial_points_of(const basic_column_set<Span>& set) {
  spatial_points points{std::vector<const void*>(set.size()), set.rows()};
  for (std::size_t j = 0; j < set.size(); ++j) points.columns[j] = set.data(j);
  return points;
}

template <class Span>
[[nodiscard]] spatial_points spatial_points_of(const basic_scored_points<Span>& side) {
  auto points = spatial_points_of(side.coordinates);
  points.scores = side.scores.data();
  points.score_count = side.scores.size();
  return points;
}

/// Resizes the vectors of a result: of pairs, with scores if it has them.
template <class Result>
spatial_output resize_pairs(void* state, std::uint64_t count) {
  auto& to = *static_cast<Result*>(state);
  detail::resize_results(to.left, static_cast<std::size_t>(count));
  detail::resize_results(to.right, static_cast<std::size_t>(count));
  if constexpr (requires { to.scores; }) {
    detail::resize_results(to.scores, static_cast<std::size_t>(count));
    return {to.left.data(), to.right.data(), to.scores.data()};
  } else {
    return {to.left.data(), to.right.data()};
  }
}

/// Keeps in a result what its join says of itself.
template <class Result>
void keep_run(Result& result, spatial_run&& run) {
  result.count = run.count;
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
}

/// Runs `join(arguments)` and keeps in the result what it says.
template <class T, class Index, class Span, class Result, class Join>
void join_into(Result& result, spatial_points left, spatial_points right, const Join& join,
               spatial_output (*reserve)(void* state, std::uint64_t count) = nullptr,
               void (*grow)(void* state, std::uint64_t count, bool is_right) = nullptr) {
  keep_run(result, join(spatial_arguments{key_type_of<T>,
                                          memory_of<Span>,
                                          std::move(left),
                                          std::move(right),
                                          static_cast<int>(sizeof(Index)),
                                          std::is_signed_v<Index>,
                                          resize_pairs<Result>,
                                          &result,
                                          {},
                                          reserve,
                                          grow}));
}

/// The vectors of a join in batches, and who gets them.
template <class Index, class Use>
struct pair_batch {
  std::vector<Index> left;
  std::vector<Index> right;
  Use* use;

  static constexpr auto provide = resize_pairs<pair_batch>;
  static void deliver(void* state, std::uint64_t first) {
    auto& of = *static_cast<pair_batch*>(state);
    for (auto& row : of.left) row = static_cast<Index>(row + first);
    (*of.use)(std::span<const Index>(of.left), std::span<const Index>(of.right));
  }
};

template <class Span>
concept point_span = std::is_floating_point_v<typename Span::value_type> && key<typename Span::value_type>;

}  // namespace detail

/// All pairs of a row of `left` and a row of `right` within the distance of each other, by left row and then by right
/// row.
///
/// Both sides have 2 or 3 columns of float or double, of one length each. Points a and b are within the distance d when
///
///     (ax - bx) * (ax - bx) + (ay - by) * (ay - by)  [+ (az - bz) * (az - bz)]  <=  d * d
///
/// where d is `options.predicate.distance` rounded to the coordinates' type, every operation is rounded to that type,
/// additions are done from left to right, and none is contracted into a fused multiply-add. So all backends and
/// strategies agree about every pair. A distance whose square is infinite takes all pairs.
///
/// Strategy "grid" puts the right side into at most 2 cells a row, as wide as the distance, or wider where points are
/// sparse; where more are needed, cells far from each other are one. Pairs are counted, then written. Complexity:
/// O(n + m + tested pairs), where a point is tested with all points in its cell and in those around it. These are many
/// where points lie together more than 2^28 cells away from most others.
/// Strategy "index_nested_loop" makes an aR-tree of each side by Sort-Tile-Recursive, and each left point descends the
/// right one: as a rule O((n + m) log(n + m) + pairs) for any points, and "auto" takes it where a sample says that a
/// grid tests too many. Scratch is O(n + m), and the pairs themselves. It synchronises. A GPU executor copies host
/// columns to the device whole.
///
/// Throws `invalid_argument` when a side does not have 2 or 3 columns or both differ in number, for a NaN or an
/// infinity among the coordinates (the message names side, column and row), and for a distance that is negative or NaN;
/// `unsupported` for 2^32 - 1 rows or more and for a strategy that the backend does not offer; `out_of_memory`. The
/// coordinates are not looked at when a side has no rows.
template <index Index = std::uint32_t, detail::point_span Span>
[[nodiscard]] spatial_join_result<Index> spatial_join(const executor& on, const basic_column_set<Span>& left,
                                                      const basic_column_set<Span>& right,
                                                      const spatial_join_options& options = {}) {
  spatial_join_result<Index> result;
  detail::join_into<typename Span::value_type, Index, Span>(
      result, detail::spatial_points_of(left), detail::spatial_points_of(right),
      [&](const detail::spatial_arguments& given) { return detail::spatial_join(on, given, options); },
      [](void* state, std::uint64_t count) -> spatial_output {
        auto& to = *static_cast<spatial_join_result<Index>*>(state);
        detail::reserve_results(to.left, static_cast<std::size_t>(count));
        detail::reserve_results(to.right, static_cast<std::size_t>(count));
        return {to.left.data(), to.right.data()};
      },
      [](void* state, std::uint64_t count, bool is_right) {
        auto& to = *static_cast<spatial_join_result<Index>*>(state);
        detail::resize_results(is_right ? to.right : to.left, static_cast<std::size_t>(count));
      });
  return result;
}

/// Writes the same pairs to the beginning of `left_out` and `right_out`, which have the same length, and returns how
/// many there are. Both are ranges on the host or `device_span`s, of one type of ids. Elements behind the pairs are
/// untouched.
///
/// Pairs are counted before any is written. Results in device memory are complete in the order of the executor's
/// stream. Throws as above, and `invalid_argument` when `left_out` and `right_out` differ in length or are too short:
/// the message says how many pairs there are, as `count_spatial_join` does. Outputs are untouched then, unless memory
/// runs out while they are written.
template <detail::point_span Span, detail::id_range Left, detail::id_range Right>
requires(detail::are_together<Left, Right>&& std::same_as<typename detail::output_of<Left>::value_type,
                                                          typename detail::output_of<Right>::value_type>) spatial_run
    spatial_join(const executor& on, const basic_column_set<Span>& left, const basic_column_set<Span>& right,
                 Left&& left_out, Right&& right_out, const spatial_join_options& options = {}) {
  using Index = typename detail::output_of<Left>::value_type;
  return detail::spatial_join(
      on,
      {key_type_of<typename Span::value_type>, detail::memory_of<Span>, detail::spatial_points_of(left),
       detail::spatial_points_of(right), static_cast<int>(sizeof(Index)), std::is_signed_v<Index>, nullptr, nullptr,
       detail::pair_target("spatial_join", left_out, right_out)},
      options);
}

/// How many pairs there are: `count` of the result. Costs the first part of a join, which finds all pairs and writes
/// none. Throws as `spatial_join`.
template <detail::point_span Span>
[[nodiscard]] spatial_run count_spatial_join(const executor& on, const basic_column_set<Span>& left,
                                             const basic_column_set<Span>& right,
                                             const spatial_join_options& options = {}) {
  return detail::spatial_join(on,
                              {key_type_of<typename Span::value_type>,
                               detail::memory_of<Span>,
                               detail::spatial_points_of(left),
                               detail::spatial_points_of(right),
                               8,
                               false,
                               nullptr,
                               nullptr,
                               {detail::spatial_target::kind::nothing}},
                              options);
}

/// The same pairs in batches, for more pairs than memory holds: use(left, right) gets spans of left and of right row
/// numbers, of the same length and not empty. All batches together are the pairs of `spatial_join` in its order; a left
/// row's partners are in one batch. The spans are valid until `use` returns.
///
/// A batch holds all pairs of a run of left rows, whose length follows from the pairs a row so far. A batch that would
/// have more than twice `options.batch_pairs` pairs is counted, and begun anew with fewer rows. Each batch is a join of
/// its own. Complexity: that of `spatial_join`, and O(m) for each batch, where m is the number of right rows. Memory:
/// O(n + m), and two row numbers for each of 2 * options.batch_pairs pairs, or for the partners of one left row. A GPU
/// executor copies the right side's host columns at each batch; columns in its own memory are read where they are.
///
/// What `use` throws ends the join and is passed on; nothing is left behind. Throws as `spatial_join`, before the first
/// batch, but for a NaN or an infinity among left coordinates in a device's memory: that is found in its batch; and
/// `invalid_argument` for options.batch_pairs of 0.
template <index Index = std::uint32_t, detail::point_span Span, class Use>
requires std::invocable<Use&, std::span<const Index>, std::span<const Index>> spatial_join_batches_result
spatial_join_batches(const executor& on, const basic_column_set<Span>& left, const basic_column_set<Span>& right,
                     Use&& use, const spatial_join_batch_options& options = {}) {
  using batch = detail::pair_batch<Index, std::remove_reference_t<Use>>;
  batch one{{}, {}, std::addressof(use)};
  return detail::spatial_join_batches(on,
                                      {key_type_of<typename Span::value_type>, detail::memory_of<Span>,
                                       detail::spatial_points_of(left), detail::spatial_points_of(right),
                                       static_cast<int>(sizeof(Index)), std::is_signed_v<Index>, batch::provide, &one},
                                      options, batch::deliver);
}

/// The k best of these pairs with their scores: by score, then by left row, then by right row; all of them when they
/// are no more than k. `result.count` says how many. The answer is unique and the same for every backend and strategy.
/// With k = 0 all values are looked at as with k = 1, and nothing is returned.
///
/// The score of a pair is made of its points' scores a and b as `options.score` says: a + b, a * b, the smaller, the
/// larger, or (left_weight * a) + (right_weight * b), in the scores' type, each operation rounded. -0 equals +0. Scores
/// have the coordinates' type, one for each row.
///
/// Strategies: "threshold_first" guesses from samples of both sides a score that about k pairs reach, joins only the
/// points that can reach it with the other side's best, and lowers it until k pairs reach it. It is by far the fastest
/// where k is small against the number of pairs. "full" counts all pairs and selects among them in batches. "ba", the
/// Block-based Algorithm, "sfa", the Score-First Algorithm, "dfa", the Distance-First Algorithm, and "rj", the ranked
/// aR-tree join, first make a MAX aR-tree of each side and then join these, as two indexes are joined
/// (spatial_index.hpp). They are for comparison, for large distances, and for scores that depend on places. Complexity:
/// one read of all columns and one of the scores, and a join as for `spatial_join` of the points that are left. Scratch
/// is O(n + m + k) and a batch of some millions of pairs, however many pairs there are. It synchronises. A GPU executor
/// copies host columns to the device whole.
///
/// Throws as above, and `invalid_argument` when a side's scores and coordinates differ in length, for a NaN or an
/// infinity among the scores, for a negative score under `pair_score::product`, for a weight that is NaN or infinite,
/// and where a score times its weight is infinite.
///
/// Source: the operation, "ba" and "rj" are those of Åmdal: Top-k Spatial Join on GPU, master's thesis, NTNU 2020,
/// "ba" without its limits; "sfa" and "dfa" are those of Qi et al.: Efficient Top-k Spatial Distance Joins, SSTD 2013;
/// the others are ours.
template <index Index = std::uint32_t, detail::point_span Span>
[[nodiscard]] auto top_k_spatial_join(const executor& on, const basic_scored_points<Span>& left,
                                      const basic_scored_points<Span>& right, std::size_t k,
                                      const top_k_spatial_join_options& options = {})
    -> top_k_spatial_join_result<typename Span::value_type, Index> {
  using T = typename Span::value_type;
  top_k_spatial_join_result<T, Index> result;
  detail::join_into<T, Index, Span>(
      result, detail::spatial_points_of(left), detail::spatial_points_of(right),
      [&](const detail::spatial_arguments& given) { return detail::top_k_spatial_join(on, given, k, options); });
  return result;
}

/// Writes the k best pairs, where k is the length of `left_out`, to the beginning of `left_out`, `right_out` and
/// `scores_out`, which have the same length, and returns how many there are: k, or all pairs if they are fewer.
/// Elements behind them are untouched. All three are ranges on the host, or all `device_span`s. Results in device
/// memory are complete in the order of the executor's stream. Throws as above, and `invalid_argument` when they differ
/// in length. Outputs are untouched then, unless memory runs out while they are written.
template <detail::point_span Span, detail::id_range Left, detail::id_range Right,
          detail::score_range<typename Span::value_type> Scores>
requires(detail::are_together<Left, Right, Scores>&&
             std::same_as<typename detail::output_of<Left>::value_type, typename detail::output_of<Right>::value_type>)
    spatial_run top_k_spatial_join(const executor& on, const basic_scored_points<Span>& left,
                                   const basic_scored_points<Span>& right, Left&& left_out, Right&& right_out,
                                   Scores&& scores_out, const top_k_spatial_join_options& options = {}) {
  using Index = typename detail::output_of<Left>::value_type;
  const auto target = detail::pair_target("top_k_spatial_join", left_out, right_out, scores_out);
  return detail::top_k_spatial_join(
      on,
      {key_type_of<typename Span::value_type>, detail::memory_of<Span>, detail::spatial_points_of(left),
       detail::spatial_points_of(right), static_cast<int>(sizeof(Index)), std::is_signed_v<Index>, nullptr, nullptr,
       target},
      target.size, options);
}

/// A join of these sides as the cost models see it, which is what "auto" decides by: the sizes, and what 128 sampled
/// points of each side say of the number of pairs and of the scores of near points. Takes some 20 us. Points in a
/// device's memory are not looked at, and about four pairs a left point are assumed. Throws as `spatial_join` for sides
/// that do not fit together.
template <detail::point_span Span>
[[nodiscard]] spatial_join_problem spatial_join_problem_of(const basic_column_set<Span>& left,
                                                           const basic_column_set<Span>& right,
                                                           const spatial_join_options& options = {}) {
  return detail::describe(
      {key_type_of<typename Span::value_type>, detail::memory_of<Span>, detail::spatial_points_of(left),
       detail::spatial_points_of(right), 4, false, nullptr, nullptr},
      options);
}
template <detail::point_span Span>
[[nodiscard]] top_k_spatial_join_problem top_k_spatial_join_problem_of(const basic_scored_points<Span>& left,
                                                                       const basic_scored_points<Span>& right,
                                                                       std::size_t k,
                                                                       const top_k_spatial_join_options& options = {}) {
  return detail::describe(
      {key_type_of<typename Span::value_type>, detail::memory_of<Span>, detail::spatial_points_of(left),
       detail::spatial_points_of(right), 4, false, nullptr, nullptr},
      k, options);
}

/// Take what no overload takes, so that the compiler's message is short.
ZENITH_NO_OVERLOAD(spatial_join);
ZENITH_NO_OVERLOAD(count_spatial_join);
ZENITH_NO_OVERLOAD(spatial_join_batches);
ZENITH_NO_OVERLOAD(top_k_spatial_join);
ZENITH_NO_OVERLOAD(spatial_join_problem_of);
ZENITH_NO_OVERLOAD(top_k_spatial_join_problem_of);

}  // namespace zenith
