#pragma once

/// \file
/// The blocks of an updatable table as its writer sees them: their rows, their extremes and those of their chunks. What
/// a snapshot has is copied before it is changed. Which rows a block gets is not decided here.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include <algorithms/threshold_table/src/chunks.hpp>
#include <algorithms/threshold_table/src/router.hpp>
#include <core/key_order.hpp>

namespace zenith::detail {

/// Blocks have numbers, as the leaves of a router. What throws std::bad_alloc leaves all of it as it was.
template <class T>
class writable_blocks {
 public:
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  using chunk_type = block_chunk<T>;
  using rows_type = leaf_rows<T>;
  static constexpr u32 none = ~u32{0};

  /// No block; `reserve_leaf` and `add_first` make one.
  writable_blocks(std::size_t columns, u32 block_rows)
      : columns_(columns),
        block_rows_(block_rows),
        memory_(std::make_shared<block_memory>(rows_type::bytes(block_rows, columns))),
        extent_(columns) {
    chunks_.push_back(std::make_shared<chunk_type>(epoch_, columns_));
  }

  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] u32 block_rows() const { return block_rows_; }
  [[nodiscard]] bool has(u32 leaf) const { return leaves_[leaf].rows != nullptr; }
  [[nodiscard]] const rows_type& rows_of(u32 leaf) const { return *leaves_[leaf].rows; }
  /// The block, which no snapshot has, and neither has one its chunk.
  [[nodiscard]] rows_type& writable_rows(u32 leaf) {
    auto& place = leaves_[leaf];
    if (place.rows->epoch == epoch_) return *place.rows;
    auto& rows = writable(place.chunk).blocks[place.block];
    rows = rows_type::copy(memory_, epoch_, *rows, columns_);
    place.rows = rows.get();
    return *rows;
  }
  /// All chunks, for a snapshot: what there is now, is shared from here on.
  [[nodiscard]] std::vector<std::shared_ptr<const chunk_type>> share() {
    std::vector<std::shared_ptr<const chunk_type>> all(chunks_.begin(), chunks_.end());
    ++epoch_;
    return all;
  }

  // ---- blocks

  /// The number that the next block gets, for which memory is reserved.
  [[nodiscard]] u32 reserve_leaf() {
    if (free_leaves_.empty()) {
      reserve_one(leaves_);
      free_leaves_.reserve(leaves_.capacity());
      leaves_.emplace_back();
      free_leaves_.push_back(static_cast<u32>(leaves_.size() - 1));
    }
    return free_leaves_.back();
  }
  /// An empty block of the number that was reserved: the first one, or one in the chunk of another.
  void add_first() { add_to_chunk(0); }
  void add_beside(u32 leaf) {
    if (chunks_[leaves_[leaf].chunk]->count == chunk_blocks) split_chunk(leaves_[leaf].chunk);
    add_to_chunk(leaves_[leaf].chunk);
  }
  /// Takes an empty block away. A chunk that has few then goes to that of `neighbour`, or to another one where that is
  /// `none`, if there is memory for it.
  void drop(u32 leaf, u32 neighbour) {
    const auto [c, b, rows] = leaves_[leaf];
    leaves_[leaf] = {};
    free_leaves_.push_back(leaf);
    drop_block(c, b);
    if (chunks_[c]->count >= least_chunk_blocks || chunks_.size() == 1) return;
    u32 into = neighbour == none ? c : leaves_[neighbour].chunk;
    if (into == c && chunks_[c]->count > 0) return;
    if (into == c) into = c == 0 ? 1 : 0;
    try {
      merge_chunk(c, into);
    } catch (const std::bad_alloc&) {  // a chunk may be small
    }
  }

  // ---- rows

  /// Adds a row to a block that is not full. Returns its place there.
  u32 append(u32 leaf, const T* row, u32 id) {
    auto& rows = writable_rows(leaf);
    const u32 b = leaves_[leaf].block;
    auto& chunk = *chunks_[leaves_[leaf].chunk];
    const u32 at = rows.count++;
    for (std::size_t j = 0; j < columns_; ++j) rows.column(j)[at] = row[j];
    for (std::size_t j = 0; j < columns_; ++j) include(chunk, b, j, row[j]);
    rows.ids()[at] = id;
    chunk.first_ids[b] = id < chunk.first_ids[b] ? id : chunk.first_ids[b];
    chunk.first_id = id < chunk.first_id ? id : chunk.first_id;
    return at;
  }
  /// Whether a row lies between the extremes of a block in all columns.
  [[nodiscard]] bool covers(u32 leaf, const T* row) const noexcept {
    const auto& chunk = *chunks_[leaves_[leaf].chunk];
    const std::size_t first = leaves_[leaf].block * columns_;
    bool is_inside = true;
    for (std::size_t j = 0; j < columns_; ++j) {
      is_inside = is_inside && row[j] >= chunk.minima[first + j] && row[j] <= chunk.maxima[first + j];
    }
    return is_inside;
  }
  /// Writes other values over a row of a writable block.
  void replace(u32 leaf, u32 at, const T* row) noexcept {
    auto& rows = *leaves_[leaf].rows;
    const u32 b = leaves_[leaf].block;
    auto& chunk = *chunks_[leaves_[leaf].chunk];
    for (std::size_t j = 0; j < columns_; ++j) {
      T* const column = rows.column(j);
      const T gone = column[at];
      column[at] = row[j];
      include(chunk, b, j, row[j]);
      narrow(chunk, b, j, gone, rows, at);
    }
  }
  /// Takes a row out of a writable block; the last one gets its place. Returns the id of that, or `none` if it was the
  /// last.
  u32 remove(u32 leaf, u32 at) noexcept {
    auto& rows = *leaves_[leaf].rows;
    auto& chunk = *chunks_[leaves_[leaf].chunk];
    const u32 b = leaves_[leaf].block;
    const u32 last = --rows.count;
    const u32 id = rows.ids()[at];
    rows.ids()[at] = rows.ids()[last];
    for (std::size_t j = 0; j < columns_; ++j) {
      T* const column = rows.column(j);
      const T gone = column[at];
      column[at] = column[last];
      narrow(chunk, b, j, gone, rows, at);
    }
    if (id == chunk.first_ids[b]) find_first_id(chunk, b, rows);
    return at == last ? none : rows.ids()[at];
  }
  /// Moves some rows of a block to an empty one of the same chunk; both are writable. `placed(id, leaf, row)` is called
  /// for each row of the block.
  template <class Placed>
  void part(u32 leaf, const std::array<bool, most_block_rows>& goes, u32 other, const Placed& placed) noexcept {
    auto& rows = *leaves_[leaf].rows;
    auto& to = *leaves_[other].rows;
    u32 stay = 0;
    for (u32 r = 0; r < rows.count; ++r) {
      auto& into = goes[r] ? to : rows;
      const u32 at = goes[r] ? to.count++ : stay++;
      for (std::size_t j = 0; j < columns_; ++j) into.column(j)[at] = rows.column(j)[r];
      into.ids()[at] = rows.ids()[r];
      placed(rows.ids()[r], goes[r] ? other : leaf, at);
    }
    rows.count = stay;
    find_extremes(leaf);
    find_extremes(other);
    sum_up(leaves_[leaf].chunk);
  }
  /// The extremes of a block from its rows, and those of its chunk. Of one that a snapshot has they are right.
  void renew_extremes(u32 leaf) {
    if (rows_of(leaf).epoch != epoch_) return;
    find_extremes(leaf);
    sum_up(leaves_[leaf].chunk);
  }

  // ---- prefetching: blocks lie at unrelated addresses, which the hardware does not predict

  /// Those of a row that leaves, and of the last one, which gets its place.
  void prefetch(u32 leaf, u32 at) const noexcept {
    rows_type& rows = *leaves_[leaf].rows;
    prefetch_extremes(leaf);
    prefetch_row(rows, at);
    prefetch_row(rows, rows.count - 1);
  }
  /// Those of the row that comes next to a block.
  void prefetch_next(u32 leaf) const noexcept {
    rows_type& rows = *leaves_[leaf].rows;
    prefetch_extremes(leaf);
    prefetch_row(rows, rows.count);
  }

  // ---- columns

  /// All values that there ever were, for comparing columns with one another.
  void widen(const T* row) {
    for (std::size_t j = 0; j < columns_; ++j) {
      extent_[j].most = row[j] > extent_[j].most ? row[j] : extent_[j].most;
      extent_[j].least = row[j] < extent_[j].least ? row[j] : extent_[j].least;
    }
  }
  /// The column in which something has the largest share of all of it; `range(j)` says what of column j.
  template <class Range>
  [[nodiscard]] u32 widest_column(const Range& range) const {
    u32 widest = 0;
    double extent = -1;
    for (u32 j = 0; j < columns_; ++j) {
      const auto one = range(j);
      const double share = share_of(j, static_cast<double>(one.least), static_cast<double>(one.most));
      if (!(share > extent)) continue;
      extent = share;
      widest = j;
    }
    return widest;
  }
  /// Puts the lower half of some blocks, rounded down, first, and returns the plane between the halves: by the middles
  /// of the blocks in the column where these lie farthest apart.
  [[nodiscard]] router_plane<T> plane_between(std::span<u32> leaves) const noexcept {
    const u32 widest = widest_column([&](u32 j) {
      range_of_values<double> middles;
      for (const u32 leaf : leaves) middles.add(middle_of(leaf, j));
      return middles;
    });
    const auto image = [&](u32 leaf) { return ordered::key_order<double>{}.image(middle_of(leaf, widest)); };
    const auto half = leaves.begin() + static_cast<std::ptrdiff_t>(leaves.size() / 2);
    const auto by_image = [&](u32 a, u32 b) { return image(a) < image(b); };
    std::nth_element(leaves.begin(), half, leaves.end(), by_image);
    const u32 low = *std::max_element(leaves.begin(), half, by_image);
    const T most = chunks_[leaves_[low].chunk]->maxima[leaves_[low].block * columns_ + widest];
    const T least = chunks_[leaves_[*half].chunk]->minima[leaves_[*half].block * columns_ + widest];
    // A block that lies apart from those below it stays whole. Halves that overlap part between their middles.
    if (!(most > least)) return {widest, least};
    return {widest, static_cast<T>(middle_of(low, widest) / 2 + middle_of(*half, widest) / 2)};
  }

 private:
  struct leaf_place {
    u32 chunk = none;
    u32 block = none;
    rows_type* rows = nullptr;  ///< what stands there
  };

  void prefetch_row(rows_type& rows, u32 at) const noexcept {
    for (std::size_t j = 0; j < columns_; ++j) __builtin_prefetch(rows.column(j, block_rows_) + at, 1);
    __builtin_prefetch(rows.ids() + at, 1);
  }
  void prefetch_extremes(u32 leaf) const noexcept {
    const auto& place = leaves_[leaf];
    const auto& chunk = *chunks_[place.chunk];
    __builtin_prefetch(chunk.maxima.data() + place.block * columns_, 1);
    __builtin_prefetch(chunk.minima.data() + place.block * columns_, 1);
    __builtin_prefetch(&chunk.first_ids[place.block], 1);
  }
  /// The chunk, which no snapshot has.
  [[nodiscard]] chunk_type& writable(u32 c) {
    auto& chunk = chunks_[c];
    if (chunk->epoch != epoch_) {
      chunk = std::make_shared<chunk_type>(*chunk);
      chunk->epoch = epoch_;
    }
    return *chunk;
  }
  void add_to_chunk(u32 c) {
    auto rows = rows_type::make(memory_, epoch_, block_rows_);
    auto& chunk = writable(c);
    const u32 leaf = free_leaves_.back();
    free_leaves_.pop_back();
    const u32 b = chunk.count++;
    leaves_[leaf] = {c, b, rows.get()};
    chunk.blocks[b] = std::move(rows);
    chunk.leaves[b] = leaf;
    for (std::size_t j = 0; j < columns_; ++j) chunk.set(b, j, {});
    chunk.first_ids[b] = none;
  }
  /// Copies block b of a chunk to place `to` of another or of itself.
  void move_block(const chunk_type& from, u32 b, u32 c, u32 to) noexcept {
    auto& chunk = *chunks_[c];
    for (std::size_t j = 0; j < columns_; ++j) {
      chunk.maxima[to * columns_ + j] = from.maxima[b * columns_ + j];
      chunk.minima[to * columns_ + j] = from.minima[b * columns_ + j];
    }
    chunk.nans[to] = from.nans[b];
    chunk.first_ids[to] = from.first_ids[b];
    chunk.leaves[to] = from.leaves[b];
    chunk.blocks[to] = from.blocks[b];
    leaves_[chunk.leaves[to]] = {c, to, chunk.blocks[to].get()};
  }
  void sum_up(u32 c) {
    auto& chunk = writable(c);
    for (std::size_t j = 0; j < columns_; ++j) chunk.sum_up(j);
    chunk.sum_up_ids();
  }
  void drop_block(u32 c, u32 b) {
    auto& chunk = writable(c);
    const u32 last = --chunk.count;
    if (b != last) move_block(chunk, last, c, b);
    chunk.blocks[last] = nullptr;
    sum_up(c);
  }
  /// Half of the blocks go to a new chunk: those above the median of the column in which blocks lie farthest apart.
  void split_chunk(u32 c) {
    const auto old = chunks_[c];
    const u32 widest = widest_column([&](u32 j) {
      range_of_values<double> middles;
      for (u32 b = 0; b < old->count; ++b) middles.add(middle_of(*old, b, j));
      return middles;
    });
    std::vector<std::pair<std::uint64_t, u32>> order;
    for (u32 b = 0; b < old->count; ++b) {
      order.emplace_back(ordered::key_order<double>{}.image(middle_of(*old, b, widest)), b);
    }
    std::ranges::sort(order);
    const auto other = static_cast<u32>(chunks_.size());
    auto low = std::make_shared<chunk_type>(epoch_, columns_);
    auto high = std::make_shared<chunk_type>(epoch_, columns_);
    reserve_one(chunks_);
    chunks_[c] = std::move(low);
    chunks_.push_back(std::move(high));
    for (std::size_t i = 0; i < order.size(); ++i) {
      const u32 to = i < order.size() / 2 ? c : other;
      move_block(*old, order[i].second, to, chunks_[to]->count++);
    }
    sum_up(c);
    sum_up(other);
  }
  /// Moves the blocks of chunk c to another one, and the last chunk to its place.
  void merge_chunk(u32 c, u32 into) {
    if (chunks_[into]->count + chunks_[c]->count > chunk_blocks) split_chunk(into);
    auto& to = writable(into);
    const auto old = chunks_[c];
    for (u32 b = 0; b < old->count; ++b) move_block(*old, b, into, to.count++);
    sum_up(into);
    const auto last = static_cast<u32>(chunks_.size() - 1);
    if (c != last) {
      chunks_[c] = chunks_[last];
      for (u32 b = 0; b < chunks_[c]->count; ++b) leaves_[chunks_[c]->leaves[b]].chunk = c;
    }
    chunks_.pop_back();
  }

  /// What an interval of column j is of all of it.
  [[nodiscard]] double share_of(std::size_t j, double least, double most) const {
    const double all = static_cast<double>(extent_[j].most) / 2 - static_cast<double>(extent_[j].least) / 2;
    const double part = most / 2 - least / 2;
    return all > 0 && part > 0 ? part / all : 0;
  }
  [[nodiscard]] double middle_of(const chunk_type& chunk, u32 b, std::size_t j) const {
    return static_cast<double>(chunk.maxima[b * columns_ + j]) / 2 +
           static_cast<double>(chunk.minima[b * columns_ + j]) / 2;
  }
  [[nodiscard]] double middle_of(u32 leaf, std::size_t j) const {
    return middle_of(*chunks_[leaves_[leaf].chunk], leaves_[leaf].block, j);
  }
  void include(chunk_type& chunk, u32 b, std::size_t j, T value) {
    T& most = chunk.maxima[b * columns_ + j];
    T& least = chunk.minima[b * columns_ + j];
    most = value > most ? value : most;
    least = value < least ? value : least;
    chunk.most[j] = value > chunk.most[j] ? value : chunk.most[j];
    chunk.least[j] = value < chunk.least[j] ? value : chunk.least[j];
    if (value != value) {
      chunk.nans[b] |= u64{1} << j;
      chunk.nan |= u64{1} << j;
    }
  }
  /// Whether one of some values is equal to another one. Where many are, one is near place `at`, whose line is at hand.
  [[nodiscard]] static bool holds(const T* values, u32 count, T value, u32 at) noexcept {
    constexpr u32 step = 64 / sizeof(T);
    const auto has_one = [&](u32 first) {
      bool found = false;
      for (u32 r = first; r < std::min(first + step, count); ++r) found |= values[r] == value;
      return found;
    };
    if (has_one(at / step * step)) return true;
    for (u32 first = 0; first < count; first += step) {
      if (has_one(first)) return true;
    }
    return false;
  }
  /// Finds the extremes again that a value may have been that is gone from place `at` of block b.
  void narrow(chunk_type& chunk, u32 b, std::size_t j, T gone, const rows_type& rows, u32 at) {
    T& most = chunk.maxima[b * columns_ + j];
    T& least = chunk.minima[b * columns_ + j];
    if (gone < most && gone > least) return;
    if (holds(rows.column(j), rows.count, gone, at)) return;
    chunk.set(b, j, range_of_values<T>::of(rows.column(j), rows.count));
    if (!(gone < chunk.most[j]) || !(gone > chunk.least[j])) chunk.sum_up(j);
    if (gone != gone) chunk.sum_up_ids();
  }
  void find_first_id(chunk_type& chunk, u32 b, const rows_type& rows) {
    const bool was_first = chunk.first_ids[b] == chunk.first_id;
    u32 first = none;
    for (u32 r = 0; r < rows.count; ++r) first = rows.ids()[r] < first ? rows.ids()[r] : first;
    chunk.first_ids[b] = first;
    if (was_first) chunk.sum_up_ids();
  }
  /// The extremes of a writable block from its rows; those of its chunk are left to the caller.
  void find_extremes(u32 leaf) noexcept {
    const auto& rows = rows_of(leaf);
    const u32 b = leaves_[leaf].block;
    auto& chunk = *chunks_[leaves_[leaf].chunk];
    for (std::size_t j = 0; j < columns_; ++j) chunk.set(b, j, range_of_values<T>::of(rows.column(j), rows.count));
    chunk.first_ids[b] = none;
    for (u32 r = 0; r < rows.count; ++r) chunk.first_ids[b] = std::min(chunk.first_ids[b], rows.ids()[r]);
  }

  std::size_t columns_;
  u32 block_rows_;
  std::shared_ptr<block_memory> memory_;  ///< of the blocks; those of a snapshot keep it
  u64 epoch_ = 0;
  std::vector<leaf_place> leaves_;
  std::vector<u32> free_leaves_;
  std::vector<range_of_values<T>> extent_;
  std::vector<std::shared_ptr<chunk_type>> chunks_;
};

}  // namespace zenith::detail
