#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <zenith/columns.hpp>
#include <zenith/executor.hpp>
#include <zenith/result_vector.hpp>
#include <zenith/scored_top_k_call.hpp>
#include <zenith/top_k.hpp>

/// \file
/// Top-k rows of a table by a weighted sum of its columns.

namespace zenith {

namespace detail {

template <class T>
inline constexpr bool is_scorable = is_key<T> && (std::is_floating_point_v<T> || sizeof(T) == 4);

}  // namespace detail

/// A type that a scored column can have: floating, or an integer of 32 bits.
template <class T>
concept scorable = detail::is_scorable<T>;

/// The type of weights and scores: float for columns of float, double for all others, which it holds exactly.
template <scorable T>
using score_t = std::conditional_t<std::is_same_v<T, float>, float, double>;

/// The most columns that may have a weight.
inline constexpr std::size_t most_scored_columns = 64;

/// A scored top-k problem as the cost models see it.
struct scored_top_k_problem {
  std::uint64_t count = 0;  ///< rows
  std::uint64_t k = 0;
  std::uint64_t columns = 1;  ///< that have a weight
  key_type type = key_type::float32;
  memory_space space = memory_space::host;

  [[nodiscard]] bool operator==(const scored_top_k_problem&) const = default;
};

/// Chooses the device and strategy that will be fastest for `problem` on `on`. Pure. Throws `unsupported` when no
/// device can run it.
[[nodiscard]] decision decide(const scored_top_k_problem& problem, const machine& on);

/// The cost of one strategy ("scan", "full") on one device; throws `invalid_argument` for an unknown strategy.
[[nodiscard]] cost scored_top_k_cost(std::string_view strategy, const scored_top_k_problem& problem,
                                     const device_profile& on);

namespace detail {

struct scored_top_k_arguments {
  key_type type;
  key_type score_type;
  memory_space space;
  std::span<const void* const> columns;
  std::size_t rows;
  const void* weights;  ///< of the host
  std::size_t weights_count;
  void* out_scores;
  std::size_t out_scores_count;
  void* out_indices;
  std::size_t out_indices_count;
  int index_bytes;
  bool index_signed;
};

top_k_run scored_top_k(const executor& on, const scored_top_k_arguments& arguments, const top_k_options& options);

template <class Span, class Score, class Index>
top_k_run scored_top_k_spans(const executor& on, memory_space space, const basic_column_set<Span>& columns,
                             std::span<const Score> weights, Score* out_scores, std::size_t out_scores_count,
                             Index* out_indices, std::size_t out_indices_count, const top_k_options& options) {
  using T = typename Span::value_type;
  std::vector<const void*> pointers(columns.size());
  for (std::size_t j = 0; j < columns.size(); ++j) pointers[j] = columns.data(j);
  return scored_top_k(
      on,
      {key_type_of<T>, key_type_of<Score>, space, pointers, columns.rows(), weights.data(), weights.size(), out_scores,
       out_scores_count, out_indices, out_indices_count, static_cast<int>(sizeof(Index)), std::is_signed_v<Index>},
      options);
}

}  // namespace detail

/// Writes the k = `out_scores.size()` best scores of the rows of `columns`, and the rows' numbers, best first.
///
/// The score of a row is the sum of weights[j] * column j over the columns whose weight is not 0, added by rising j,
/// each operation rounded to `score_t<T>`; so it has the same bits on every backend. A column of weight 0 is not read.
/// Weights may be negative. Order, ties (the lower row first) and NaN among the scores are as for `top_k` of an array.
///
/// Strategies: "scan" reads the columns once and computes scores in registers (Zois, Tsotras, Najjar 2019 compare with
/// it); "full" writes all scores and selects among them. Complexity: one read of the columns that have a weight. A GPU
/// executor copies host columns to the device whole.
///
/// Throws `invalid_argument` when weights.size() differs from the number of columns, when a weight is NaN or infinite,
/// when no weight or more than 64 are other than 0, when k > rows, when the outputs differ in length, when the indices'
/// type cannot hold rows - 1, or for a NaN score under `nan_policy::reject`; `unsupported` for a strategy that the
/// backend does not offer; `out_of_memory`. Outputs are untouched then.
template <scorable T, detail::writable_range OutScores, detail::writable_range OutIndices>
requires std::same_as<detail::element_t<OutScores>, score_t<T>> && index<detail::element_t<OutIndices>> top_k_run
top_k(const executor& on, const column_set<T>& columns, std::span<const std::type_identity_t<score_t<T>>> weights,
      OutScores&& out_scores, OutIndices&& out_indices, const top_k_options& options = {}) {
  return detail::scored_top_k_spans(on, memory_space::host, columns, std::span<const score_t<T>>(weights),
                                    std::ranges::data(out_scores), std::ranges::size(out_scores),
                                    std::ranges::data(out_indices), std::ranges::size(out_indices), options);
}

/// The same over device memory; the weights are the host's. Asynchronous on the executor's stream, except under
/// `nan_policy::reject` and with statistics.
template <scorable T, index Index>
top_k_run top_k(const executor& on, const device_column_set<T>& columns,
                std::span<const std::type_identity_t<score_t<T>>> weights, device_span<score_t<T>> out_scores,
                device_span<Index> out_indices, const top_k_options& options = {}) {
  return detail::scored_top_k_spans(on, memory_space::device, columns, std::span<const score_t<T>>(weights),
                                    out_scores.data(), out_scores.size(), out_indices.data(), out_indices.size(),
                                    options);
}

/// The k best rows as a value: `keys` are their scores. Synchronises. Throws as above.
template <index Index = std::uint64_t, scorable T>
[[nodiscard]] top_k_result<score_t<T>, Index> top_k(const executor& on, const column_set<T>& columns,
                                                    std::span<const std::type_identity_t<score_t<T>>> weights,
                                                    std::size_t k, const top_k_options& options = {}) {
  detail::require_k(k, "columns", columns.rows());
  top_k_result<score_t<T>, Index> result{detail::make_results<score_t<T>>(k), detail::make_results<Index>(k), {}, {}};
  auto run = top_k(on, columns, weights, result.keys, result.indices, options);
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
  return result;
}

}  // namespace zenith
