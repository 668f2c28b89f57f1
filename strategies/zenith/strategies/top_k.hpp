#pragma once

/// \file
/// The k best rows by a score of the caller's own, in any place:
///
///     struct weakest {  // the lower of two marks
///       template <class Row>
///       ZENITH_FN float operator()(const Row& row) const { return row[0] < row[1] ? row[0] : row[1]; }
///     };
///     const zenith::strategies::cpu here;
///     const auto best = zenith::strategies::top_k(here, zenith::column_set<float>{maths, music}, weakest{}, 10);
///
/// A score is computed twice or more for some rows, and must say the same each time. With -ffp-contract=off, which the
/// CMake target zenith::strategies sets, and -fmad=false for nvcc it has the same bits everywhere.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <algorithms/scored_top_k/own_score.hpp>
#include <algorithms/threshold_table/own_score.hpp>
#include <zenith/columns.hpp>
#include <zenith/strategies/strategy.hpp>
#include <zenith/threshold_table.hpp>
#include <zenith/top_k.hpp>

namespace zenith::strategies {

struct score_options {
  nan_policy nans = nan_policy::last;
};

struct table_score_options {
  nan_policy nans = nan_policy::last;
  /// Filled in when not nullptr, after the call succeeded. Borrowed.
  threshold_statistics* statistics = nullptr;
};

namespace detail {

[[noreturn]] inline void reject(const std::string& message) {
  throw error(error_code::invalid_argument, "top_k: " + message);
}

template <class Index>
void check_sizes(const char* given, std::size_t columns, std::uint64_t rows, std::uint64_t id_limit, std::size_t scores,
                 std::size_t indices) {
  if (columns == 0) reject(std::string{given} + " has no column");
  if (columns > device::most_columns) {
    reject(std::string{given} + " has " + std::to_string(columns) + " columns; the most is " +
           std::to_string(device::most_columns));
  }
  if (scores != indices) {
    reject("out_scores has " + std::to_string(scores) + " elements and out_indices " + std::to_string(indices) +
           "; both must have k");
  }
  if (scores > rows) {
    reject("k is " + std::to_string(scores) + ", but " + given + " has only " + std::to_string(rows) + " rows");
  }
  if (id_limit > 0 && id_limit - 1 > static_cast<std::uint64_t>(std::numeric_limits<Index>::max())) {
    reject(std::string{given} + " has rows up to " + std::to_string(id_limit - 1) +
           ", more than out_indices can tell apart; use 64-bit indices");
  }
  if (rows >= std::numeric_limits<std::uint32_t>::max()) {
    throw error(error_code::unsupported, std::string{"top_k: "} + given + " has " + std::to_string(rows) +
                                             " rows; scores of one's own take fewer than 2^32 - 1");
  }
}

/// select(call) writes what `call` asks for. Under the rejecting policy the outputs are written when no score among the
/// best is NaN, which NaN would be.
template <class Key, class Index, class Context, class Select>
void deliver(Context& on, const top_k_call& wanted, nan_policy nans, const Select& select) {
  if constexpr (std::is_floating_point_v<Key>) {
    if (nans == nan_policy::reject) {
      auto* const scores = on.template buffer<Key>(wanted.k);
      auto* const indices = on.template buffer<Index>(wanted.k);
      auto held = wanted;
      held.out_keys = scores;
      held.out_indices = indices;
      held.space = memory_space::device;
      select(held);
      const Key best = on.read(static_cast<const Key*>(scores));
      if (!(best == best)) reject("a score is NaN, which options.nans = reject does not allow");
      on.copy(on.output(static_cast<Key*>(wanted.out_keys), wanted.k, wanted.space), static_cast<const Key*>(scores),
              wanted.k);
      on.copy(on.output(static_cast<Index*>(wanted.out_indices), wanted.k, wanted.space),
              static_cast<const Index*>(indices), wanted.k);
      on.finish();
      return;
    }
  }
  select(wanted);
}

template <class Key, class Index>
[[nodiscard]] top_k_call wanted_of(memory_space space, std::uint64_t rows, Key* out_scores, Index* out_indices,
                                   std::size_t k, nan_policy nans) {
  top_k_call wanted;
  wanted.type = key_type_of<Key>;
  wanted.space = space;
  wanted.count = rows;
  wanted.k = k;
  wanted.out_keys = out_scores;
  wanted.out_indices = out_indices;
  wanted.index_bytes = static_cast<int>(sizeof(Index));
  wanted.nan_first = nans != nan_policy::last;
  return wanted;
}

template <class Place, class Span, class F, class Key, class Index>
void best_rows(const Place& here, memory_space space, const basic_column_set<Span>& columns, const F& score,
               Key* out_scores, std::size_t scores, Index* out_indices, std::size_t indices,
               const score_options& options) {
  using T = typename Span::value_type;
  using source_type = scored_top_k_family::own_scored<std::remove_const_t<T>, F>;
  check_sizes<Index>("columns", columns.size(), columns.rows(), columns.rows(), scores, indices);
  if (scores == 0) return;
  const auto wanted = wanted_of(space, columns.rows(), out_scores, out_indices, scores, options.nans);
  here.template run<scored_top_k_family::own_kernels<source_type>>([&](auto& on) {
    source_type source(score);
    source.count = columns.rows();
    source.columns = static_cast<unsigned>(columns.size());
    for (unsigned j = 0; j < source.columns; ++j) source.column[j] = on.input(columns.data(j), source.count, space);
    deliver<Key, Index>(on, wanted, options.nans,
                        [&](const top_k_call& call) { top_k_family::select_from(on, source, call); });
  });
}

struct table_place {
  const zenith::detail::table_storage* table;
  const std::byte* bytes;
  memory_space space;
  bool fetches_rows;
};

template <class T, class Place, class F, class Key, class Index>
void best_table_rows(const Place& here, const table_place& given, const F& score, memory_space out_space,
                     Key* out_scores, std::size_t scores, Index* out_indices, std::size_t indices,
                     const table_score_options& options) {
  using named = threshold_table_family::own_score<T, F>;
  static const threshold_layout nothing;
  const auto& layout = given.table == nullptr ? nothing : zenith::detail::layout_of(*given.table);
  check_sizes<Index>("table", layout.columns, layout.rows, layout.id_limit, scores, indices);
  threshold_statistics counted;
  if (scores > 0) {
    std::vector<std::uint32_t> columns(layout.columns);
    for (std::uint32_t j = 0; j < layout.columns; ++j) columns[j] = j;
    threshold_table_call call;
    call.layout = &layout;
    call.table = given.bytes;
    call.space = given.space;
    if (given.fetches_rows) {
      call.rows = zenith::detail::bytes_of(*given.table).data();
      // nothing in front of the directory is touched there
      call.table = reinterpret_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(given.bytes) - layout.begins);
    }
    call.columns = columns.data();
    call.column_count = layout.columns;
    call.statistics = options.statistics == nullptr ? nullptr : &counted;
    const auto wanted = wanted_of(out_space, layout.rows, out_scores, out_indices, scores, options.nans);
    here.template run<threshold_table_family::own_kernels<named>>([&](auto& on) {
      deliver<Key, Index>(on, wanted, options.nans, [&](const top_k_call& result) {
        call.result = result;
        threshold_table_family::query<named, std::remove_reference_t<decltype(on)>> asked(
            on, call, scored_top_k_family::own_scored<T, F>(score));
        threshold_table_family::detail::run_blocks(on, asked);
      });
    });
  }
  if (options.statistics != nullptr) *options.statistics = counted;
}

template <class Key, class Index, class Place>
[[nodiscard]] top_k_result<Key, Index> empty_result(std::size_t k, std::uint64_t rows, const char* given,
                                                    std::string strategy) {
  if (k > rows) {
    reject("k is " + std::to_string(k) + ", but " + given + " has only " + std::to_string(rows) + " rows");
  }
  return {std::vector<Key>(k), std::vector<Index>(k), std::string{Place::name}, std::move(strategy)};
}

}  // namespace detail

/// The k rows of `columns` with the largest scores, best first; of equal scores the lower row first. `score(row)` may
/// be any function of the row's values (`row_values`); its results are the keys of the result, and NaN among them stand
/// where `options.nans` says. One read of the columns that the score asks for, and a few evaluations more than rows. A
/// place whose memory is not the host's copies the columns at each call.
///
/// Throws `invalid_argument` for no column, more than 64, k > rows, an index type that cannot hold rows - 1, or a NaN
/// score under `nan_policy::reject`; `unsupported` for 2^32 - 1 rows or more; and what the place's `run` throws.
template <index Index = std::uint64_t, place Place, class T, row_score<T> F>
[[nodiscard]] top_k_result<score_by<F, T>, Index> top_k(const Place& here, const column_set<T>& columns, const F& score,
                                                        std::size_t k, const score_options& options = {}) {
  auto result = detail::empty_result<score_by<F, T>, Index, Place>(k, columns.rows(), "columns", "scan");
  detail::best_rows(here, memory_space::host, columns, score, result.keys.data(), k, result.indices.data(), k, options);
  return result;
}

/// The same over memory of the place's device. The outputs are untouched when it throws.
template <index Index, place Place, class T, row_score<T> F>
requires(Place::memory == memory_space::device) void top_k(const Place& here, const device_column_set<T>& columns,
                                                           const F& score, device_span<score_by<F, T>> out_scores,
                                                           device_span<Index> out_indices,
                                                           const score_options& options = {}) {
  detail::best_rows(here, memory_space::device, columns, score, out_scores.data(), out_scores.size(),
                    out_indices.data(), out_indices.size(), options);
}

/// The k rows of a threshold table with the largest scores: the rows and scores that `top_k` of the columns that it was
/// built from gives, from the blocks that can matter (strategy "blocks"; with k of an eighth of the rows, all).
///
/// The score must not fall when a value rises and the others stay: score(a) <= score(b) for rows of numbers a <= b, as
/// computed, wherever neither is NaN. Sums, products and quotients of non-negative terms, minima, maxima, roots and
/// logarithms do. A table whose score falls with a column is built from that column negated. Where a score is no number
/// for some rows of finite numbers, and `options.nans` is first or reject, these must be rows below others: with
/// score(a) a number, score(b) is one for b >= a. What a score makes of NaN is its own business; blocks with a NaN in
/// any column are always opened.
///
/// Throws as `top_k` of columns does.
template <index Index = std::uint64_t, place Place, scorable T, row_score<T> F>
[[nodiscard]] top_k_result<score_by<F, T>, Index> top_k(const Place& here, const threshold_table<T>& table,
                                                        const F& score, std::size_t k,
                                                        const table_score_options& options = {}) {
  auto result = detail::empty_result<score_by<F, T>, Index, Place>(k, table.rows(), "table", "blocks");
  const auto* const held = table.storage();
  detail::best_table_rows<T>(
      here, {held, held == nullptr ? nullptr : zenith::detail::bytes_of(*held).data(), memory_space::host, false},
      score, memory_space::host, result.keys.data(), k, result.indices.data(), k, options);
  return result;
}

/// The same of a table in the memory of the place's device.
template <index Index = std::uint64_t, place Place, scorable T, row_score<T> F>
requires(Place::memory == memory_space::device)
    [[nodiscard]] top_k_result<score_by<F, T>, Index> top_k(const Place& here, const device_threshold_table<T>& table,
                                                            const F& score, std::size_t k,
                                                            const table_score_options& options = {}) {
  auto result = detail::empty_result<score_by<F, T>, Index, Place>(k, table.host().rows(), "table", "blocks");
  detail::best_table_rows<T>(
      here,
      {table.host().storage(), table.data(), memory_space::device, table.residence() == table_residence::host_blocks},
      score, memory_space::host, result.keys.data(), k, result.indices.data(), k, options);
  return result;
}

}  // namespace zenith::strategies
