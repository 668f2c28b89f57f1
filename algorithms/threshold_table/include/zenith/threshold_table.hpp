#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <zenith/columns.hpp>
#include <zenith/executor.hpp>
#include <zenith/matrix.hpp>
#include <zenith/no_overload.hpp>
#include <zenith/result_vector.hpp>
#include <zenith/scored_top_k.hpp>
#include <zenith/structure.hpp>
#include <zenith/threshold_table_call.hpp>
#include <zenith/top_k.hpp>

/// \file
/// Threshold tables: built once from a table's columns, they answer top-k queries by weighted sums of the columns and
/// evaluate few rows.

namespace zenith {

/// Which rows of a threshold table share a block.
enum class table_layout : std::uint8_t {
  clusters,    ///< rows that are near one another: a k-d tree's leaves. Every 64 blocks are a partition.
  partitions,  ///< Ordered Data-Threshold tables: the rows of a partition in an order, cut into blocks
};

/// How rows are assigned to partitions.
enum class table_partitioning : std::uint8_t {
  random,  ///< by their position in the input
  angle,   ///< by their angles seen from the corner of the columns' maxima; with one column by position
};

/// Where angles are split. Each part is split in two, by one angle after the other in turn, until there are as many
/// parts as partitions are wanted.
enum class angle_splits : std::uint8_t {
  equi_depth,  ///< at the median of a part's rows: partitions of equally many rows
  regular,     ///< at the middle of a part's angles: a grid. Its partitions may have few rows; those with none are left
               ///< out.
};

/// The order within a partition: falling.
enum class table_order : std::uint8_t { largest_attribute, sum, weighted_sum };

struct table_options {
  table_layout layout = table_layout::clusters;
  /// Rows of a block, 1 to 1024.
  std::uint32_t block_rows = 64;
  /// Keeps for each column the order of its rows, which strategy "ta" walks: 4 bytes a value, and a sort a column to
  /// build. Without it "ta" sorts at every query, and so it does on a device. Not saved with the table.
  bool sorted_lists = false;
  // The rest is for `partitions` alone.
  table_partitioning partitioning = table_partitioning::angle;
  angle_splits splits = angle_splits::equi_depth;
  /// How many, rounded up to a power of two for angles; at least 1, and at most so many that on average a partition has
  /// a block's rows.
  std::uint32_t partitions = 1024;
  table_order order = table_order::sum;
  /// One a column, for `weighted_sum`: a typical preference. Borrowed until `build` returns.
  std::span<const double> order_weights = {};
};

/// A query's options: as for `top_k` of columns.
struct table_query_options {
  selection select = selection::largest;
  nan_policy nans = nan_policy::last;
  /// "auto", "blocks", "full", "gta", "gta_shared", "scan" or "ta".
  std::string_view strategy = "auto";
  /// Filled in when not nullptr, after the call succeeded; then the call waits. Borrowed.
  threshold_statistics* statistics = nullptr;
};

/// A query of a threshold table as the cost models see it.
struct threshold_table_problem {
  std::uint64_t count = 0;  ///< rows
  std::uint64_t k = 0;
  std::uint64_t columns = 1;  ///< that have a weight
  key_type type = key_type::float32;
  memory_space space = memory_space::host;
  std::uint32_t block_rows = 64;
  /// -8 log2(s), where s is the share of the rows that "blocks" is expected to evaluate.
  std::uint32_t share_eighths = 0;

  [[nodiscard]] bool operator==(const threshold_table_problem&) const = default;
};

/// Chooses the device and strategy that will be fastest for `problem` on `on`. Pure. Throws `unsupported` when no
/// device can run it, and `invalid_argument` for no column or blocks of no row.
[[nodiscard]] decision decide(const threshold_table_problem& problem, const machine& on);

/// The cost of one strategy ("blocks", "full", "gta", "gta_shared", "scan", "ta") on one device; throws
/// `invalid_argument` for an unknown strategy.
[[nodiscard]] cost threshold_table_cost(std::string_view strategy, const threshold_table_problem& problem,
                                        const device_profile& on);

namespace detail {

/// A built table in the host's memory; immutable.
struct table_storage;

struct table_input {
  key_type type;
  std::vector<const void*> columns;
  std::size_t rows;
  std::size_t row_stride;
};

/// With the threads of `on`, or on the caller's when it is nullptr.
[[nodiscard]] std::shared_ptr<const table_storage> build_table(const table_input& input, const table_options& options,
                                                               const execution* on);
/// With an executor of a device, columns of the host and clusters of many rows: on the device, and brought back.
[[nodiscard]] std::shared_ptr<const table_storage> build_table_with(const executor& on, const table_input& input,
                                                                    const table_options& options);
/// On the device of `on`, or where another backend's memory is, from columns of which all are in `space`.
[[nodiscard]] std::shared_ptr<const table_storage> build_table_there(const executor& on, const table_input& input,
                                                                     memory_space space, const table_options& options);
/// Throws invalid_argument unless `device_threshold_table` can lie in the memory of `on`.
void require_device(const executor& on);
/// The bytes of such a table.
[[nodiscard]] const std::shared_ptr<const array<std::byte>>& bytes_there(const table_storage& table);
template <class Span>
[[nodiscard]] table_input input_of_columns(const basic_column_set<Span>& columns) {
  table_input input{key_type_of<typename Span::value_type>, {}, columns.rows(), 1};
  for (std::size_t j = 0; j < columns.size(); ++j) input.columns.push_back(columns.data(j));
  return input;
}
template <scorable T>
[[nodiscard]] table_input input_of(const matrix_view<const T>& matrix) {
  table_input input{key_type_of<T>, {}, matrix.rows(), matrix.row_stride()};
  for (std::size_t j = 0; j < matrix.columns(); ++j) {
    input.columns.push_back(matrix.rows() == 0 ? nullptr : matrix.data() + j * matrix.column_stride());
  }
  return input;
}
/// Each throws as its public caller says.
void save_table(const table_storage* of, const std::filesystem::path& file);
[[nodiscard]] std::shared_ptr<const table_storage> open_table(const std::filesystem::path& file, key_type type);
[[nodiscard]] std::shared_ptr<const table_storage> parse_table(std::span<const std::byte> bytes, key_type type);
[[nodiscard]] const threshold_layout& layout_of(const table_storage& table);
[[nodiscard]] std::span<const std::byte> bytes_of(const table_storage& table);
[[nodiscard]] bool has_lists(const table_storage& table);
/// All but rows, their ids and positions.
[[nodiscard]] std::span<const std::byte> directory_of(const table_storage& table);

struct table_query {
  const table_storage* table;  ///< nullptr: a table of no rows and no columns
  const std::byte* bytes;      ///< in `space`
  memory_space space;
  key_type score_type;
  const void* weights;  ///< of the host
  std::size_t weights_count;
  memory_space out_space;
  void* out_scores;
  std::size_t out_scores_count;
  void* out_indices;
  std::size_t out_indices_count;
  int index_bytes;
  bool index_signed;
  bool fetches_rows = false;  ///< `bytes` are the directory's; rows are fetched from the table on the host
  /// nullptr, or where kernels see the table on the host: `bytes` are the directory's.
  const std::byte* mapped_rows = nullptr;
};

top_k_run query_table(const executor& on, const table_query& query, const table_query_options& options);

template <class Score, class Index>
[[nodiscard]] table_query table_query_of(const table_storage* table, const std::byte* bytes, memory_space space,
                                         std::span<const Score> weights, memory_space out_space, Score* out_scores,
                                         std::size_t out_scores_count, Index* out_indices,
                                         std::size_t out_indices_count) {
  return {table,
          bytes,
          space,
          key_type_of<Score>,
          weights.data(),
          weights.size(),
          out_space,
          out_scores,
          out_scores_count,
          out_indices,
          out_indices_count,
          static_cast<int>(sizeof(Index)),
          std::is_signed_v<Index>,
          false};
}

}  // namespace detail

/// Columns of T arranged for top-k queries. Immutable; copies share the data, so they cost a counter, and any number of
/// threads may query one. The default table has no rows and no columns.
///
/// Rows lie in blocks, column by column. A block knows the largest and the smallest value of each of its columns, and
/// so does a group of 64 blocks. The score of these extremes bounds the scores of the rows, whatever the weights.
template <scorable T>
class threshold_table {
 public:
  using value_type = T;

  threshold_table() = default;
  ZENITH_NO_CONSTRUCTOR(threshold_table);  // `build` makes a table

  /// Copies the columns, which may be freed afterwards. It runs on the threads of `on` if that is an executor of the
  /// host, else on all threads that the process may use; the table does not depend on their number. With an executor of
  /// a device, a table of clusters of 2^20 rows or more, without sorted lists and from columns in one piece, is built
  /// there as by `device_threshold_table::build`, and copied to the host. It gives the same answers, but its blocks
  /// have other rows. Where the device has too little memory, the host builds it. Complexity: O(d n + n log n) for n
  /// rows of d columns; a row passes about log2(n / options.block_rows) cuts. Memory: the columns, 8 bytes a row, and 4
  /// d values and 28 bytes a block; 4 bytes a row more while it is built.
  ///
  /// Throws `invalid_argument` for no column or more than 64, for options.block_rows outside of 1 to 1024, for an
  /// enumerator that is not one of those above, for options.partitions of 0, or when options.order_weights is not
  /// finite or not one a column; `unsupported` for more than 2^32 - 2 rows; `out_of_memory`.
  ///
  /// Sources: Zois, Tsotras, Najjar: GPU Accelerated Top-K Selection With Efficient Early Stopping, 2019 (partitions);
  /// Bentley: Multidimensional binary search trees, CACM 1975 (clusters).
  [[nodiscard]] static threshold_table build(const executor& on, const column_set<T>& columns,
                                             const table_options& options = {}) {
    return threshold_table(detail::build_table_with(on, detail::input_of_columns(columns), options));
  }
  /// The same from a matrix of any strides.
  [[nodiscard]] static threshold_table build(const executor& on, const matrix_view<const T>& matrix,
                                             const table_options& options = {}) {
    return threshold_table(detail::build_table_with(on, detail::input_of<T>(matrix), options));
  }
  /// The same on the caller's thread.
  [[nodiscard]] static threshold_table build(const column_set<T>& columns, const table_options& options = {}) {
    return threshold_table(detail::build_table(detail::input_of_columns(columns), options, nullptr));
  }
  [[nodiscard]] static threshold_table build(const matrix_view<const T>& matrix, const table_options& options = {}) {
    return threshold_table(detail::build_table(detail::input_of<T>(matrix), options, nullptr));
  }
  ZENITH_NO_STATIC_OVERLOAD(build);

  /// Writes the table to `file`, whose bytes FORMAT.md of this family describes. A temporary file in the same folder is
  /// written, and then replaces `file`. So a reader sees the old file or the new one, and a failed call leaves the old
  /// one. O(bytes). Throws `invalid_argument`, naming the file, for a default-made table and for what cannot be
  /// written.
  void save(const std::filesystem::path& file) const { detail::save_table(held_.get(), file); }
  /// Maps a saved table into memory and checks all of it, extremes and ids too: O(bytes), and no copy of them. Any
  /// number of processes may map one file. It must not be changed in place or cut short while it is open; `save` does
  /// neither. Throws, naming the file, `invalid_argument` when it cannot be read or holds columns of another type, and
  /// `corrupt_data` when it is not a whole table.
  [[nodiscard]] static threshold_table open(const std::filesystem::path& file) {
    return threshold_table(detail::open_table(file, key_type_of<T>));
  }
  /// The same over the bytes of such a file, which are borrowed by the table and its copies; they begin at a multiple
  /// of 64.
  [[nodiscard]] static threshold_table parse(std::span<const std::byte> bytes) {
    return threshold_table(detail::parse_table(bytes, key_type_of<T>));
  }
  ZENITH_NO_STATIC_OVERLOAD(parse);

  [[nodiscard]] std::size_t rows() const { return held_ ? detail::layout_of(*held_).rows : 0; }
  [[nodiscard]] std::size_t columns() const { return held_ ? detail::layout_of(*held_).columns : 0; }
  [[nodiscard]] std::size_t blocks() const { return held_ ? detail::layout_of(*held_).of_blocks.count : 0; }
  [[nodiscard]] std::size_t partitions() const { return held_ ? detail::layout_of(*held_).partitions : 0; }
  /// Whether it was built with sorted lists.
  [[nodiscard]] bool has_sorted_lists() const { return held_ && detail::has_lists(*held_); }
  /// Bytes of the table in memory, without sorted lists.
  [[nodiscard]] std::size_t bytes() const { return held_ ? detail::layout_of(*held_).bytes : 0; }

  /// For queries.
  [[nodiscard]] const detail::table_storage* storage() const noexcept { return held_.get(); }

 private:
  template <scorable>
  friend class device_threshold_table;
  template <scorable>
  friend class threshold_snapshot;

  explicit threshold_table(std::shared_ptr<const detail::table_storage> held) : held_(std::move(held)) {}

  std::shared_ptr<const detail::table_storage> held_;
};

/// Which part of a table lies in a device's memory.
enum class table_residence : std::uint8_t {
  device,       ///< all of it
  host_blocks,  ///< the directory: where blocks begin, and their extremes. Blocks that are opened are fetched.
  mapped_rows,  ///< the directory. Kernels read rows in the host's memory, over the link (zero copy).
};

namespace detail {

/// Throws `invalid_argument` for a value that no enumerator has.
void check_residence(table_residence residence);

}  // namespace detail

/// A threshold table with its bytes in the memory of an executor's device: queries copy nothing there but weights.
/// Copies share the data.
template <scorable T>
class device_threshold_table : public detail::device_structure<threshold_table<T>> {
 public:
  device_threshold_table() = default;
  /// Copies the table's bytes, or its directory, to the device of `on` and synchronises. With `host_blocks` the device
  /// holds 4 d values and 28 bytes a block. The table on the host is kept, and may be larger than the device's memory.
  /// Strategy "blocks" copies the blocks that it opens; other strategies, and a k of an eighth of the rows, copy the
  /// columns that have a weight. "auto" is then "blocks", or "scan" where a sample says that nearly all rows would be
  /// evaluated and the device has memory for the columns. With `mapped_rows` the device holds as much, and the table's
  /// memory is pinned as long as this or a copy of it lives; where that cannot be, a pinned copy is made. No row is
  /// copied to the device. Throws `invalid_argument` for an executor of the host's memory, for "auto" and for a
  /// residence that no enumerator has, `unsupported` for `mapped_rows` of a backend whose kernels cannot read the
  /// host's memory, `out_of_memory`.
  device_threshold_table(const executor& on, const threshold_table<T>& table,
                         table_residence residence = table_residence::device)
      : detail::device_structure<threshold_table<T>>(on, table, bytes_there(on, table, residence)),
        residence_(residence) {
    if (residence != table_residence::mapped_rows || table.storage() == nullptr) return;
    rows_ =
        std::make_shared<const detail::mapped_bytes>(on, detail::bytes_of(*table.storage()), "device_threshold_table");
  }
  ZENITH_NO_CONSTRUCTOR(device_threshold_table);

  /// Builds a table of clusters on the device of `on`, from columns on the host or in that device's memory. It gives
  /// the same answers as a table that the host built, and has the same format, but its blocks have other rows. The same
  /// input gives the same bytes. Complexity: a row passes about log2(rows / 512) cuts of a tree, is sorted by its cell
  /// and passes a few more; a fixed number of passes over the columns beside that. Memory: that of the table, and while
  /// it is built the columns once more, some 20 bytes a row, and a copy of columns that lie on the host. Waits until it
  /// is built.
  ///
  /// The bytes of `host()` are copied when they are first needed: to save it, or to query it with another executor.
  ///
  /// Throws as `threshold_table::build`; `invalid_argument` also for an executor of the host's memory and for "auto";
  /// `unsupported` for another layout and for sorted lists.
  template <class Span>
  requires std::same_as<typename Span::value_type, T>
  [[nodiscard]] static device_threshold_table build(const executor& on, const basic_column_set<Span>& columns,
                                                    const table_options& options = {}) {
    detail::require_device(on);
    constexpr auto space = std::same_as<Span, device_span<const T>> ? memory_space::device : memory_space::host;
    return device_threshold_table(detail::build_table_there(on, detail::input_of_columns(columns), space, options));
  }
  ZENITH_NO_STATIC_OVERLOAD(build);

  [[nodiscard]] table_residence residence() const noexcept { return residence_; }
  /// Where kernels see the table's bytes on the host; nullptr unless it has `mapped_rows`.
  [[nodiscard]] const std::byte* mapped_rows() const noexcept { return rows_ == nullptr ? nullptr : rows_->data(); }

 private:
  explicit device_threshold_table(const std::shared_ptr<const detail::table_storage>& made)
      : detail::device_structure<threshold_table<T>>(threshold_table<T>(made), detail::bytes_there(*made)) {}

  static std::span<const std::byte> bytes_there(const executor& on, const threshold_table<T>& table,
                                                table_residence residence) {
    detail::require_device(on);
    detail::check_residence(residence);
    if (table.storage() == nullptr) return {};
    return residence == table_residence::device ? detail::bytes_of(*table.storage())
                                                : detail::directory_of(*table.storage());
  }

  table_residence residence_ = table_residence::device;
  std::shared_ptr<const detail::mapped_bytes> rows_;
};

namespace detail {

/// A query of a table on a device, whose rows may be on the host.
template <scorable T, index Index>
top_k_run query_device_table(const executor& on, const device_threshold_table<T>& table,
                             std::span<const score_t<T>> weights, memory_space out_space, score_t<T>* scores,
                             std::size_t scores_count, Index* indices, std::size_t indices_count,
                             const table_query_options& options) {
  auto query = table_query_of(table.host().storage(), table.data(), memory_space::device, weights, out_space, scores,
                              scores_count, indices, indices_count);
  query.fetches_rows = table.residence() == table_residence::host_blocks && table.data() != nullptr;
  query.mapped_rows = table.mapped_rows();
  return query_table(on, query, options);
}

}  // namespace detail

/// Writes the k = `out_scores.size()` best scores of the table's rows, and the rows' numbers in the input, best first.
/// Score, order, ties, NaN and results are those of `top_k` of the columns that the table was built from, to the bit.
///
/// Strategies: "blocks" opens blocks by falling bound, in rounds that stop when no bound reaches the k-th best score;
/// "gta" walks every partition until its threshold tuple cannot reach the partition's k-th best score, "gta_shared"
/// until it cannot reach the best such score of all partitions (both scan for k > 512); "scan" evaluates every row, and
/// "full" writes every score before it selects; "ta" is Fagin's Threshold Algorithm, over the table's sorted lists or,
/// where it has none, over lists that it sorts. Complexity: at most one read of the columns that have a weight;
/// bounds add 1/block_rows of that. A GPU executor copies those columns and their extremes to the device at each call;
/// `device_threshold_table` keeps them there.
///
/// Throws `invalid_argument` when weights.size() differs from the number of columns, when a weight is NaN or infinite,
/// when no weight is other than 0, when k > rows, when the outputs differ in length, when the indices' type cannot hold
/// rows - 1, or for a NaN score under `nan_policy::reject`; `unsupported` for a strategy that the backend does not
/// offer; `out_of_memory`. Outputs are untouched then.
template <scorable T, detail::writable_range OutScores, detail::writable_range OutIndices>
requires std::same_as<detail::element_t<OutScores>, score_t<T>> && index<detail::element_t<OutIndices>> top_k_run
top_k(const executor& on, const threshold_table<T>& table, std::span<const std::type_identity_t<score_t<T>>> weights,
      OutScores&& out_scores, OutIndices&& out_indices, const table_query_options& options = {}) {
  const std::byte* const bytes = table.storage() == nullptr ? nullptr : detail::bytes_of(*table.storage()).data();
  return detail::query_table(
      on,
      detail::table_query_of(table.storage(), bytes, memory_space::host, std::span<const score_t<T>>(weights),
                             memory_space::host, std::ranges::data(out_scores), std::ranges::size(out_scores),
                             std::ranges::data(out_indices), std::ranges::size(out_indices)),
      options);
}

/// The same of a table on a device, with outputs there; the weights are the host's. Synchronises. Throws
/// `invalid_argument` also for an executor of the host's memory, which may query `table.host()`.
template <scorable T, index Index>
top_k_run top_k(const executor& on, const device_threshold_table<T>& table,
                std::span<const std::type_identity_t<score_t<T>>> weights, device_span<score_t<T>> out_scores,
                device_span<Index> out_indices, const table_query_options& options = {}) {
  return detail::query_device_table(on, table, std::span<const score_t<T>>(weights), memory_space::device,
                                    out_scores.data(), out_scores.size(), out_indices.data(), out_indices.size(),
                                    options);
}

/// The k best rows as a value: `keys` are their scores. Synchronises. Throws as above.
template <index Index = std::uint64_t, scorable T>
[[nodiscard]] top_k_result<score_t<T>, Index> top_k(const executor& on, const threshold_table<T>& table,
                                                    std::span<const std::type_identity_t<score_t<T>>> weights,
                                                    std::size_t k, const table_query_options& options = {}) {
  detail::require_k(k, "table", table.rows());
  top_k_result<score_t<T>, Index> result{detail::make_results<score_t<T>>(k), detail::make_results<Index>(k), {}, {}};
  auto run = top_k(on, table, weights, result.keys, result.indices, options);
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
  return result;
}

/// The same of a table on a device; the result is the host's.
template <index Index = std::uint64_t, scorable T>
[[nodiscard]] top_k_result<score_t<T>, Index> top_k(const executor& on, const device_threshold_table<T>& table,
                                                    std::span<const std::type_identity_t<score_t<T>>> weights,
                                                    std::size_t k, const table_query_options& options = {}) {
  detail::require_k(k, "table", table.host().rows());
  top_k_result<score_t<T>, Index> result{detail::make_results<score_t<T>>(k), detail::make_results<Index>(k), {}, {}};
  auto run = detail::query_device_table(on, table, std::span<const score_t<T>>(weights), memory_space::host,
                                        result.keys.data(), k, result.indices.data(), k, options);
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
  return result;
}

}  // namespace zenith
