#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include <algorithms/scored_top_k/arguments.hpp>
#include <algorithms/threshold_table/open.hpp>
#include <algorithms/threshold_table/src/chunks.hpp>
#include <core/device/best_heap.hpp>
#include <core/device/plain_team.hpp>
#include <core/device/sequential.hpp>

namespace zenith::detail {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

namespace family = threshold_table_family;

/// Opens what can have one of the k best rows of a snapshot, on one thread. Chunks and blocks go by falling bound, and
/// where that stops little, the rest goes in the order of the chunks.
template <class T>
class snapshot_search {
 public:
  using score = family::score_of<T>;
  using entry = family::entry_of<T>;

  struct kept_row {
    entry of;
    const leaf_rows<T>* block;
    u32 row;

    friend bool better(const kept_row& a, const kept_row& b) { return better(a.of, b.of); }
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
    rows_ = bounds_.upper;
  }

  void run() {
    seen_.rounds = 1;
    for (u32 c = 0; c < in_.chunks.size(); ++c) add_chunk(c);
    while (!waiting_.empty() && seen_.rows_evaluated <= most_by_bound()) {
      std::ranges::pop_heap(waiting_, is_worse);
      const auto next = waiting_.back();
      waiting_.pop_back();
      if (is_beaten(next.bound)) {
        waiting_.clear();
      } else if (next.block == whole_chunk) {
        add_blocks(next.chunk);
      } else {
        if (!waiting_.empty()) prefetch(waiting_.front());
        open(*in_.chunks[next.chunk], next.block);
      }
    }
    if (!waiting_.empty()) open_rest();
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
  [[nodiscard]] bool is_beaten(const entry& bound) const { return is_full() && better(kept_.front().of, bound); }
  /// Rows that are opened by falling bound at most. The best blocks are among them, so that the threshold hardly rises
  /// any more, and an order of the others would only make a core wait for rows that lie anywhere.
  [[nodiscard]] u64 most_by_bound() const { return std::max(in_.rows / 16, 4 * k_); }

  void add(const entry& bound, u32 chunk, u32 block) {
    ++seen_.bounds_evaluated;
    if (is_beaten(bound)) return;
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
  [[nodiscard]] entry bound_of_block(const block_chunk<T>& chunk, u32 b) {
    const std::size_t at = chunk.at(b, 0);
    return bound_of(chunk.maxima.data() + at, chunk.minima.data() + at, chunk.nans[b], chunk.first_ids[b]);
  }
  void add_chunk(u32 c) {
    const auto& chunk = *in_.chunks[c];
    add(bound_of(chunk.most.data(), chunk.least.data(), chunk.nan, chunk.first_id), c, whole_chunk);
  }
  void add_blocks(u32 c) {
    const auto& chunk = *in_.chunks[c];
    for (u32 b = 0; b < chunk.count; ++b) add(bound_of_block(chunk, b), c, b);
  }
  /// What waits, whatever its bound is.
  void open_rest() {
    seen_.rounds = 2;
    std::ranges::sort(waiting_, {}, [](const candidate& one) { return u64{one.chunk} << 32 | one.block; });
    for (std::size_t begin = 0; begin < waiting_.size();) {
      const u32 c = waiting_[begin].chunk;
      listed_.clear();
      for (; begin < waiting_.size() && waiting_[begin].chunk == c; ++begin) {
        if (is_beaten(waiting_[begin].bound)) continue;
        if (waiting_[begin].block == whole_chunk) {
          list_blocks(c);
        } else {
          listed_.push_back(waiting_[begin]);
        }
      }
      open_listed(*in_.chunks[c]);
    }
  }
  void list_blocks(u32 c) {
    const auto& chunk = *in_.chunks[c];
    for (u32 b = 0; b < chunk.count; ++b) {
      const entry bound = bound_of_block(chunk, b);
      if (!is_beaten(bound)) listed_.push_back({bound, c, b});
    }
    seen_.bounds_evaluated += chunk.count;
  }
  void open_listed(const block_chunk<T>& chunk) {
    constexpr std::size_t ahead = 2;  // blocks whose rows are prefetched; of as many again, the headers
    for (std::size_t i = 0; i < listed_.size(); ++i) {
      if (i + 2 * ahead < listed_.size()) __builtin_prefetch(chunk.blocks[listed_[i + 2 * ahead].block].get());
      if (i + ahead < listed_.size()) prefetch(*chunk.blocks[listed_[i + ahead].block]);
      // rows of the blocks before may beat it by now
      if (!is_beaten(listed_[i].bound)) open(chunk, listed_[i].block);
    }
  }
  /// Prefetches a block's rows: the hardware does not predict the address of the next block.
  void prefetch(const candidate& one) const {
    if (one.block != whole_chunk) prefetch(*in_.chunks[one.chunk]->blocks[one.block]);
  }
  void prefetch(const leaf_rows<T>& block) const {
    constexpr u32 line = 64 / sizeof(T);
    for (const auto j : columns_) {
      for (u32 r = 0; r < block.count; r += line) __builtin_prefetch(block.column(j) + r);
    }
  }

  void open(const block_chunk<T>& chunk, u32 b) {
    const auto& block = *chunk.blocks[b];
    for (std::size_t j = 0; j < columns_.size(); ++j) rows_.column[j] = block.column(columns_[j]);
    device::plain_team<device::detail::sequential_sink> team(0, 0, 0, nullptr);
    family::evaluate(team, rows_, 0, block.count, scores_.data());
    constexpr u32 segment = 64;  // rows that are looked at one by one where one of them passes
    for (u32 begin = 0; begin < block.count; begin += segment) {
      const u32 end = std::min(block.count, begin + segment);
      // A row that ties with the worst of the k best is better only with a lower id. Where the block has none, rows
      // that tie are skipped without a read of their ids.
      const bool ties = !is_full() || chunk.first_ids[b] < kept_.front().of.index();
      if (ties ? some_pass<true>(begin, end) : some_pass<false>(begin, end)) keep(block, begin, end);
    }
    seen_.rows_evaluated += block.count;
    ++seen_.blocks_opened;
  }
  /// A loop that compilers vectorise: hardly a row is among the k best.
  template <bool Ties>
  [[nodiscard]] bool some_pass(u32 begin, u32 end) const {
    const score* const scores = scores_.data();
    const score limit = limit_;
    int some = 0;
    for (u32 r = begin; r < end; ++r) some |= (Ties ? scores[r] < limit : scores[r] <= limit) ? 0 : 1;
    return some != 0;
  }
  void keep(const leaf_rows<T>& block, u32 begin, u32 end) {
    const auto order = bounds_.order();
    for (u32 r = begin; r < end; ++r) {
      // with the id: of rows that tie, which may be many, hardly one is better, which the hardware predicts
      const kept_row one{entry::make(order.image(scores_[r]), block.ids()[r]), &block, r};
      if (!is_full()) {
        kept_.push_back(one);
        if (!is_full()) continue;
        std::ranges::make_heap(kept_, is_better_row);
      } else if (better(one, kept_.front())) {
        device::best_heap<kept_row>{kept_.data(), static_cast<u32>(k_)}.replace_worst(one);
      } else {
        continue;
      }
      limit_ = order.key(kept_.front().of.image());
    }
  }

  const snapshot_storage<T>& in_;
  const std::vector<u32>& columns_;
  u64 k_;
  std::vector<score> weights_;
  std::vector<score> scores_;
  score limit_ = std::numeric_limits<score>::quiet_NaN();  ///< of the worst of the k best rows; nothing is below NaN
  family::bounds_of<T> bounds_{};
  family::columns_of<T> rows_{};    ///< of a block
  std::vector<candidate> waiting_;  ///< a heap, the best bound first
  std::vector<kept_row> kept_;      ///< a heap, the worst row first
  std::vector<candidate> listed_;   ///< blocks of a chunk
  threshold_statistics seen_;
};

/// The snapshot's table where one was made. A query waits for nobody who makes it.
template <class T>
std::shared_ptr<const table_storage> table_at_hand(const snapshot_storage<T>& of) {
  const std::unique_lock lock(of.guard, std::try_to_lock);
  return lock.owns_lock() ? of.table : nullptr;
}

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
    std::copy_n(block.ids(), block.count, made.part<u32>(of.ids) + begins[b]);
    for (u32 r = 0; r < block.count; ++r) positions[block.ids()[r]] = begins[b] + r;
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
  const bool is_auto = options.strategy == "auto";
  const bool needs_table = !is_here || (!is_auto && options.strategy != "blocks");
  // a table has all strategies and threads, among which the model chooses
  if (const auto whole = needs_table ? table(of) : is_auto ? table_at_hand(of) : nullptr; whole != nullptr) {
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
