#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <algorithms/scored_top_k/arguments.hpp>
#include <algorithms/threshold_table/open.hpp>
#include <algorithms/threshold_table/src/chunks.hpp>

namespace zenith::detail {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

namespace family = threshold_table_family;

/// Chunks and blocks of a snapshot by falling bound, on one thread: what can have one of the k best rows is opened.
template <class T>
class snapshot_search {
 public:
  using score = family::score_of<T>;
  using entry = family::entry_of<T>;

  struct kept_row {
    entry of;
    const leaf_rows<T>* block;
    u32 row;
  };

  snapshot_search(const snapshot_storage<T>& in, const scored_top_k_detail::weighted_columns& weighted,
                  const table_query_options& options, u64 k)
      : in_(in), columns_(weighted.columns), k_(k), scores_(in.block_rows) {
    const auto* const weights = static_cast<const score*>(weighted.weights(key_type_of<score>));
    weights_.assign(weights, weights + columns_.size());
    bounds_.nan_first = options.nans != nan_policy::last;
    bounds_.upper.columns = static_cast<unsigned>(columns_.size());
    bounds_.lower.columns = bounds_.upper.columns;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      const bool is_smallest = options.select == selection::smallest;
      bounds_.upper.weight[j] = is_smallest ? -weights_[j] : weights_[j];
      bounds_.lower.weight[j] = bounds_.upper.weight[j];
      bounds_.used |= u64{1} << columns_[j];
    }
  }

  void run() {
    for (u32 c = 0; c < in_.chunks.size(); ++c) add_chunk(c);
    while (!waiting_.empty()) {
      std::ranges::pop_heap(waiting_, is_worse);
      const auto next = waiting_.back();
      waiting_.pop_back();
      if (is_full() && better(kept_.front().of, next.bound)) break;
      const auto& chunk = *in_.chunks[next.chunk];
      if (next.block == whole_chunk) {
        add_blocks(next.chunk);
      } else {
        open(*chunk.blocks[next.block]);
      }
    }
    std::ranges::sort(kept_, is_better_row);
  }

  [[nodiscard]] bool has_nan() const { return !kept_.empty() && bounds_.order().is_nan(kept_.front().of.image()); }
  /// The score as the caller's weights give it: of an entry, the sign of zero and what a NaN carries are not known.
  template <class Index>
  void write(score* scores, Index* ids) const {
    for (const auto& one : kept_) {
      score sum = static_cast<score>(one.block->column(columns_[0])[one.row]) * weights_[0];
      for (std::size_t j = 1; j < columns_.size(); ++j) {
        sum = sum + static_cast<score>(one.block->column(columns_[j])[one.row]) * weights_[j];
      }
      *scores++ = sum;
      *ids++ = static_cast<Index>(one.of.index());
    }
  }
  [[nodiscard]] const threshold_statistics& seen() const { return seen_; }

 private:
  static constexpr u32 whole_chunk = ~u32{0};
  struct candidate {
    entry bound;
    u32 chunk;
    u32 block;
  };
  static bool is_worse(const candidate& a, const candidate& b) { return better(b.bound, a.bound); }
  static bool is_better_row(const kept_row& a, const kept_row& b) { return better(a.of, b.of); }

  [[nodiscard]] bool is_full() const { return kept_.size() == k_; }

  void add(const entry& bound, u32 chunk, u32 block) {
    ++seen_.bounds_evaluated;
    if (is_full() && better(kept_.front().of, bound)) return;
    waiting_.push_back({bound, chunk, block});
    std::ranges::push_heap(waiting_, is_worse);
  }
  /// The bound of what has these extremes, one a column of the table.
  [[nodiscard]] entry bound_of(const T* most, const T* least, const u64& nans, const u32& first_id) {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      const bool is_positive = bounds_.upper.weight[j] > 0;
      bounds_.upper.column[j] = (is_positive ? most : least) + columns_[j];
      bounds_.lower.column[j] = (is_positive ? least : most) + columns_[j];
    }
    bounds_.nans = &nans;
    bounds_.first_ids = &first_id;
    return bounds_.bound(0);
  }
  void add_chunk(u32 c) {
    const auto& chunk = *in_.chunks[c];
    add(bound_of(chunk.most.data(), chunk.least.data(), chunk.nan, chunk.first_id), c, whole_chunk);
  }
  void add_blocks(u32 c) {
    const auto& chunk = *in_.chunks[c];
    for (u32 b = 0; b < chunk.count; ++b) {
      const std::size_t at = chunk.at(b, 0);
      add(bound_of(chunk.maxima.data() + at, chunk.minima.data() + at, chunk.nans[b], chunk.first_ids[b]), c, b);
    }
  }

  void open(const leaf_rows<T>& block) {
    const auto& weight = bounds_.upper.weight;
    const T* column = block.column(columns_[0]);
    for (u32 r = 0; r < block.count; ++r) scores_[r] = static_cast<score>(column[r]) * weight[0];
    for (std::size_t j = 1; j < columns_.size(); ++j) {
      column = block.column(columns_[j]);
      for (u32 r = 0; r < block.count; ++r) scores_[r] = scores_[r] + static_cast<score>(column[r]) * weight[j];
    }
    const auto order = bounds_.order();
    for (u32 r = 0; r < block.count; ++r) {
      const auto one = entry::make(order.image(scores_[r]), block.ids[r]);
      if (is_full()) {
        if (!better(one, kept_.front().of)) continue;
        std::ranges::pop_heap(kept_, is_better_row);
        kept_.back() = {one, &block, r};
      } else {
        kept_.push_back({one, &block, r});
      }
      std::ranges::push_heap(kept_, is_better_row);
    }
    seen_.rows_evaluated += block.count;
    ++seen_.blocks_opened;
    seen_.rounds = 1;
  }

  const snapshot_storage<T>& in_;
  const std::vector<u32>& columns_;
  u64 k_;
  std::vector<score> weights_;
  std::vector<score> scores_;
  family::bounds_of<T> bounds_{};
  std::vector<candidate> waiting_;  ///< a heap, the best bound first
  std::vector<kept_row> kept_;      ///< a heap, the worst row first
  threshold_statistics seen_;
};

/// All blocks one after another; every chunk is a partition.
template <class T>
std::shared_ptr<const table_storage> in_one_piece(const snapshot_storage<T>& from) {
  std::vector<u32> begins;
  std::vector<u32> partition_begins;
  std::vector<const leaf_rows<T>*> blocks;
  u32 rows = 0;
  for (const auto& chunk : from.chunks) {
    const auto first = static_cast<u32>(begins.size());
    for (u32 b = 0; b < chunk->count; ++b) {
      if (chunk->blocks[b]->count == 0) continue;
      begins.push_back(rows);
      blocks.push_back(chunk->blocks[b].get());
      rows += chunk->blocks[b]->count;
    }
    if (begins.size() > first) partition_begins.push_back(first);
  }
  partition_begins.push_back(static_cast<u32>(begins.size()));
  begins.push_back(rows);
  const unfinished_table made(
      key_type_of<T>, {from.columns, rows, from.id_limit, blocks.size(), partition_begins.size() - 1, from.block_rows},
      begins, partition_begins);
  const auto& of = made.storage->layout;
  auto* const positions = made.part<u32>(of.positions);
  std::fill_n(positions, of.id_limit, ~u32{0});
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const auto& block = *blocks[b];
    std::copy_n(block.ids.data(), block.count, made.part<u32>(of.ids) + begins[b]);
    for (u32 r = 0; r < block.count; ++r) positions[block.ids[r]] = begins[b] + r;
    for (u64 j = 0; j < of.columns; ++j) {
      std::copy_n(block.column(j), block.count, made.part<T>(of.values) + j * of.row_stride + begins[b]);
    }
    write_block_extremes<T>(made.table, of, b, made.table, of.of_blocks);
  }
  write_directory<T>(made.table, of);
  draw_sample<T>(*made.storage);
  return made.storage;
}

}  // namespace

template <class T>
snapshot_sizes snapshots<T>::sizes(const snapshot_storage<T>& of) {
  snapshot_sizes all{static_cast<std::size_t>(of.rows), of.columns, 0};
  for (const auto& chunk : of.chunks) all.blocks += chunk->count;
  return all;
}

template <class T>
std::shared_ptr<const table_storage> snapshots<T>::table(const snapshot_storage<T>& of) {
  const std::scoped_lock lock(of.guard);
  try {
    if (of.table == nullptr) of.table = in_one_piece(of);
  } catch (const std::exception&) {
    throw error(error_code::out_of_memory,
                "threshold_snapshot: there is no memory for a table of " + std::to_string(of.rows) + " rows");
  }
  return of.table;
}

template <class T>
top_k_run snapshots<T>::query(const executor& on, const snapshot_storage<T>& of, const table_query& asked,
                              const table_query_options& options) {
  const bool is_here = on.is_automatic() || on.backend() == "cpu";
  if (!is_here || (options.strategy != "auto" && options.strategy != "blocks")) {
    const auto whole = table(of);
    auto there = asked;
    there.table = whole.get();
    there.bytes = whole->data;
    return query_table(on, there, options);
  }
  check_query(asked, options, of.columns, of.rows, of.id_limit);
  const scored_top_k_detail::weighted_columns weighted("table", asked.score_type, asked.weights, asked.weights_count,
                                                       most_table_columns);
  threshold_statistics seen;
  if (asked.out_scores_count > 0) {
    snapshot_search<T> search(of, weighted, options, asked.out_scores_count);
    search.run();
    if (options.nans == nan_policy::reject && search.has_nan()) {
      scored_top_k_detail::reject("a score is NaN, which options.nans = reject does not allow");
    }
    auto* const scores = static_cast<family::score_of<T>*>(asked.out_scores);
    if (asked.index_bytes == 4) {
      search.write(scores, static_cast<u32*>(asked.out_indices));
    } else {
      search.write(scores, static_cast<u64*>(asked.out_indices));
    }
    seen = search.seen();
  }
  if (options.statistics != nullptr) *options.statistics = seen;
  return {"cpu", "blocks"};
}

template struct snapshots<float>;
template struct snapshots<double>;
template struct snapshots<std::int32_t>;
template struct snapshots<u32>;

}  // namespace zenith::detail
