#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <zenith/no_overload.hpp>
#include <zenith/result_vector.hpp>
#include <zenith/threshold_table.hpp>

/// \file
/// Threshold tables whose rows are inserted, erased and updated, and their snapshots, which are queried.

namespace zenith {

struct updatable_table_options {
  /// The most rows of a block, 2 to 1024.
  std::uint32_t block_rows = 256;
  /// A block with fewer rows is merged into its neighbours; at most block_rows / 2. 0: a quarter of block_rows.
  std::uint32_t least_rows = 0;
};

namespace detail {

/// The rows at one moment; immutable.
template <class T>
struct snapshot_storage;
/// The blocks, and where each row is.
template <class T>
struct updatable_storage;

template <class T>
struct updating {
  using storage = updatable_storage<T>;

  [[nodiscard]] static std::shared_ptr<storage> make(std::size_t columns, const updatable_table_options& options);
  [[nodiscard]] static std::shared_ptr<storage> make(const table_storage* from, const updatable_table_options& options);
  static std::uint64_t insert(storage& in, std::span<const T> row);
  static std::uint64_t insert(storage& in, const column_set<T>& rows);
  static void erase(storage& in, std::uint64_t id);
  static void erase(storage& in, std::span<const std::uint64_t> ids);
  static void update(storage& in, std::uint64_t id, std::span<const T> row);
  [[nodiscard]] static std::size_t rows(const storage& in);
  [[nodiscard]] static bool contains(const storage& in, std::uint64_t id);
  [[nodiscard]] static std::vector<T> row(const storage& in, std::uint64_t id);
  [[nodiscard]] static std::shared_ptr<const snapshot_storage<T>> snapshot(storage& in);
};

struct snapshot_sizes {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t blocks = 0;
};

template <class T>
struct snapshots {
  [[nodiscard]] static snapshot_sizes sizes(const snapshot_storage<T>& of);
  /// In one piece; made at the first call.
  [[nodiscard]] static std::shared_ptr<const table_storage> table(const snapshot_storage<T>& of);
  static top_k_run query(const executor& on, const snapshot_storage<T>& of, const table_query& query,
                         const table_query_options& options);
};

}  // namespace detail

/// The rows of an updatable table at one moment. Immutable: updates of the table do not show, and any number of threads
/// may query one. Copies share the data. It keeps its blocks alive.
template <scorable T>
class threshold_snapshot {
 public:
  using value_type = T;

  /// No rows and no columns.
  threshold_snapshot() = default;

  [[nodiscard]] std::size_t rows() const { return sizes().rows; }
  [[nodiscard]] std::size_t columns() const { return sizes().columns; }
  [[nodiscard]] std::size_t blocks() const { return sizes().blocks; }

  /// The same rows with the same ids as a table in one piece: for devices, for files, and for strategies that snapshots
  /// do not have. O(rows + ids that were given), on the caller's thread, at the first call: the table has 4 bytes for
  /// each such id. Later calls return the same table. Throws `out_of_memory`.
  [[nodiscard]] threshold_table<T> table() const {
    return held_ ? threshold_table<T>(detail::snapshots<T>::table(*held_)) : threshold_table<T>();
  }

  /// For queries.
  [[nodiscard]] const detail::snapshot_storage<T>* storage() const noexcept { return held_.get(); }

 private:
  template <scorable>
  friend class updatable_threshold_table;
  explicit threshold_snapshot(std::shared_ptr<const detail::snapshot_storage<T>> held) : held_(std::move(held)) {}
  [[nodiscard]] detail::snapshot_sizes sizes() const {
    return held_ ? detail::snapshots<T>::sizes(*held_) : detail::snapshot_sizes{};
  }

  std::shared_ptr<const detail::snapshot_storage<T>> held_;
};

/// A threshold table whose rows change. Every row has an id, which it keeps until it is erased; ids are not used again.
/// There are at most 2^32 - 2 of them, and 4096 consecutive ids whose rows are all gone take 32 bytes.
///
/// Rows lie in blocks, the leaves of a k-d tree: a full block is split at the median of its widest column, and a block
/// with too few rows gives them to its neighbours. Where a leaf lies too deep, planes above it are chosen anew, so the
/// depth is O(log blocks) in whatever order rows come. Blocks know the extremes of their columns, and so do chunks of
/// up to 128 blocks; both are kept exact. What snapshots hold is copied before it is changed, a block and the directory
/// of its chunk at a time.
///
/// Every member may be called by any thread at any time: they wait for one another, but never for a query. When a
/// member throws, `out_of_memory` too, the rows and the next ids are what they were, and the table can be used as
/// before. Merging a block with too few rows is put off when there is no memory for it. Moves, does not copy.
///
/// Source: Zois, Tsotras, Najjar: GPU Accelerated Top-K Selection With Efficient Early Stopping, 2019, section 3.1,
/// with leaves of a k-d tree in place of an order by the largest attribute.
template <scorable T>
class updatable_threshold_table {
 public:
  using value_type = T;

  /// No rows yet. Throws `invalid_argument` for columns outside of 1 to 64, or options outside the ranges of
  /// `updatable_table_options`.
  explicit updatable_threshold_table(std::size_t columns, const updatable_table_options& options = {})
      : held_(detail::updating<T>::make(columns, options)) {}
  /// The rows of `from` with their ids: those are the rows' numbers in what it was built from. Copies them into blocks
  /// of its own: O(n log n) for n rows on the caller's thread. Throws `invalid_argument` for a table without columns or
  /// options outside the ranges of `updatable_table_options`; `out_of_memory`.
  explicit updatable_threshold_table(const threshold_table<T>& from, const updatable_table_options& options = {})
      : held_(detail::updating<T>::make(from.storage(), options)) {}
  updatable_threshold_table() = delete;
  ZENITH_NO_CONSTRUCTOR(updatable_threshold_table);

  updatable_threshold_table(updatable_threshold_table&&) noexcept = default;
  updatable_threshold_table& operator=(updatable_threshold_table&&) noexcept = default;
  updatable_threshold_table(const updatable_threshold_table&) = delete;
  updatable_threshold_table& operator=(const updatable_threshold_table&) = delete;
  ~updatable_threshold_table() = default;

  /// Inserts a row, one value a column, and returns its id: one more than the last that was given. O(log n + d), and
  /// now and then O(d block_rows) for a split, after which a part of the tree may be balanced: that is amortised.
  /// Throws `invalid_argument` when row.size() differs from the number of columns, `unsupported` when 2^32 - 2 ids were
  /// given, `out_of_memory`.
  std::uint64_t insert(std::span<const T> row) { return detail::updating<T>::insert(*held_, row); }
  /// Inserts all rows of `rows` and returns the id of the first; the others follow. Rows of one block are merged into
  /// it together: O(r (log n + d)) for r rows. Throws as above.
  std::uint64_t insert(const column_set<T>& rows) { return detail::updating<T>::insert(*held_, rows); }
  ZENITH_NO_OVERLOAD(insert);

  /// Erases the row. O(d), and now and then O(d block_rows). Throws `invalid_argument` for an id that was never given,
  /// or whose row was erased.
  void erase(std::uint64_t id) { detail::updating<T>::erase(*held_, id); }
  /// Erases these rows. Throws `invalid_argument`, and erases none, when an id is unknown, erased or listed twice.
  void erase(std::span<const std::uint64_t> ids) { detail::updating<T>::erase(*held_, ids); }
  ZENITH_NO_OVERLOAD(erase);

  /// Gives the row other values; its id stays. As complex as erasing and inserting. Throws `invalid_argument` for an id
  /// as above, or when row.size() differs from the number of columns.
  void update(std::uint64_t id, std::span<const T> row) { detail::updating<T>::update(*held_, id, row); }
  ZENITH_NO_OVERLOAD(update);

  [[nodiscard]] std::size_t rows() const { return detail::updating<T>::rows(*held_); }
  [[nodiscard]] bool contains(std::uint64_t id) const { return detail::updating<T>::contains(*held_, id); }
  /// The row's values; throws `invalid_argument` for an id as above.
  [[nodiscard]] std::vector<T> row(std::uint64_t id) const { return detail::updating<T>::row(*held_, id); }

  /// The rows as they are now. O(chunks): a pointer is copied for each, and a chunk has some 16,000 rows. Without an
  /// update since the last snapshot, returns that one.
  [[nodiscard]] threshold_snapshot<T> snapshot() const {
    return threshold_snapshot<T>(detail::updating<T>::snapshot(*held_));
  }

 private:
  std::shared_ptr<detail::updatable_storage<T>> held_;
};

namespace detail {

template <class Score, class Index>
[[nodiscard]] table_query snapshot_query_of(std::span<const Score> weights, Score* scores, std::size_t scores_count,
                                            Index* indices, std::size_t indices_count) {
  return table_query_of(nullptr, nullptr, memory_space::host, weights, memory_space::host, scores, scores_count,
                        indices, indices_count);
}

}  // namespace detail

/// Writes the k = `out_scores.size()` best scores of the snapshot's rows, and their ids, best first: as `top_k` of a
/// threshold table, to the bit, whatever was updated before.
///
/// On the CPU strategy "auto" or "blocks" opens chunks and blocks by falling bound on the caller's thread, without a
/// copy; once a sixteenth of the rows was evaluated, those that are left in the order of the chunks. Other strategies
/// and other backends query `snapshot.table()`, which is made at the first such call, and so does "auto" where it was
/// made before. Throws as `top_k` of a threshold table does; the indices' type must hold the last id.
template <scorable T, detail::writable_range OutScores, detail::writable_range OutIndices>
requires std::same_as<detail::element_t<OutScores>, score_t<T>> && index<detail::element_t<OutIndices>> top_k_run
top_k(const executor& on, const threshold_snapshot<T>& snapshot,
      std::span<const std::type_identity_t<score_t<T>>> weights, OutScores&& out_scores, OutIndices&& out_indices,
      const table_query_options& options = {}) {
  const auto query = detail::snapshot_query_of(std::span<const score_t<T>>(weights), std::ranges::data(out_scores),
                                               std::ranges::size(out_scores), std::ranges::data(out_indices),
                                               std::ranges::size(out_indices));
  return snapshot.storage() == nullptr ? detail::query_table(on, query, options)
                                       : detail::snapshots<T>::query(on, *snapshot.storage(), query, options);
}

/// The k best rows as a value: `keys` are their scores, `indices` their ids. Throws as above.
template <index Index = std::uint64_t, scorable T>
[[nodiscard]] top_k_result<score_t<T>, Index> top_k(const executor& on, const threshold_snapshot<T>& snapshot,
                                                    std::span<const std::type_identity_t<score_t<T>>> weights,
                                                    std::size_t k, const table_query_options& options = {}) {
  detail::require_k(k, "snapshot", snapshot.rows());
  top_k_result<score_t<T>, Index> result{detail::make_results<score_t<T>>(k), detail::make_results<Index>(k), {}, {}};
  auto run = top_k(on, snapshot, weights, result.keys, result.indices, options);
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
  return result;
}

}  // namespace zenith
