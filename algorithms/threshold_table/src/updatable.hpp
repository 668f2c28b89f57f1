#pragma once

/// \file
/// An updatable table's blocks as its writer sees them. Not guarded: see updatable.cpp.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <vector>

#include <algorithms/threshold_table/src/chunks.hpp>
#include <algorithms/threshold_table/src/router.hpp>
#include <core/key_order.hpp>

namespace zenith::detail {

/// Rows that are not in a block: row by row.
template <class T>
struct loose_rows {
  std::vector<T> values;
  std::vector<std::uint32_t> ids;
};

template <class T>
struct updatable_storage {
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  using chunk_type = block_chunk<T>;
  using rows_type = leaf_rows<T>;
  static constexpr u32 none = ~u32{0};

  struct row_place {
    u32 leaf = none;  ///< none: erased
    u32 row = 0;
  };

  mutable std::mutex guard;

  updatable_storage(std::size_t column_count, u32 most, u32 least)
      : columns_(column_count), block_rows_(most), least_rows_(least), route_(0), extent_(column_count) {
    chunks_.push_back(std::make_shared<chunk_type>(epoch_, columns_));
    (void)add_leaf(0);
  }

  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] u64 rows() const { return rows_; }
  [[nodiscard]] u64 id_limit() const { return places_.size(); }
  [[nodiscard]] bool contains(u64 id) const { return id < places_.size() && places_[id].leaf != none; }
  void copy_row(u64 id, T* to) const {
    const auto& rows = rows_of(places_[id].leaf);
    for (std::size_t j = 0; j < columns_; ++j) to[j] = rows.column(j)[places_[id].row];
  }

  // What throws leaves the rows as they were.

  /// Adds a row under the next id.
  void insert(const T* row) {
    reserve_one(places_);
    places_.emplace_back();
    try {
      add(row, static_cast<u32>(places_.size() - 1));
    } catch (...) {
      places_.pop_back();
      throw;
    }
  }
  /// Adds rows whose ids are not below id_limit(). Those of one block are added together.
  void insert_all(const loose_rows<T>& from, u64 ids) {
    const u64 first = places_.size();
    places_.resize(first + ids);
    try {
      add_all(from);
    } catch (...) {
      // their blocks were written since the last snapshot: nothing is copied
      for (const u32 id : from.ids) {
        if (places_[id].leaf != none) remove(places_[id]);
      }
      places_.resize(first);
      throw;
    }
  }

  void erase(u64 id) {
    const auto at = places_[id];
    (void)writable_rows(at.leaf);
    remove(at);
    places_[id].leaf = none;
    tidy(at.leaf);
  }
  /// These must not be there twice.
  void erase(std::span<const u64> ids) {
    std::vector<u32> leaves;
    for (const u64 id : ids) leaves.push_back(places_[id].leaf);
    std::ranges::sort(leaves);
    leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
    for (const u32 leaf : leaves) (void)writable_rows(leaf);
    for (const u64 id : ids) {
      remove(places_[id]);
      places_[id].leaf = none;
    }
    for (const u32 leaf : leaves) tidy(leaf);
  }

  void update(u64 id, const T* row) {
    const auto [leaf, at] = places_[id];
    widen(row);
    auto& rows = writable_rows(leaf);
    const u32 to = route_.find(row);
    if (to != leaf) {
      add_to(to, row, static_cast<u32>(id));
      remove({leaf, at});
      tidy(leaf);
      return;
    }
    const u32 c = leaves_[leaf].chunk;
    const u32 b = leaves_[leaf].block;
    auto& chunk = *chunks_[c];
    for (std::size_t j = 0; j < columns_; ++j) {
      T* const column = rows.column(j);
      const T gone = column[at];
      column[at] = row[j];
      include(chunk, b, j, row[j]);
      narrow(chunk, b, j, gone, rows);
    }
  }

  [[nodiscard]] const router<T>& route() const { return route_; }
  /// Of a row that is there.
  [[nodiscard]] u32 leaf_of(u64 id) const { return places_[id].leaf; }

  [[nodiscard]] std::shared_ptr<const snapshot_storage<T>> snapshot() {
    if (last_ != nullptr) return last_;
    auto made = std::make_shared<snapshot_storage<T>>();
    made->chunks.assign(chunks_.begin(), chunks_.end());
    made->columns = columns_;
    made->rows = rows_;
    made->id_limit = places_.size();
    made->block_rows = block_rows_;
    ++epoch_;  // what there is now, is shared
    last_ = made;
    return made;
  }
  /// To be called before any change.
  void forget_snapshot() { last_ = nullptr; }

 private:
  struct leaf_place {
    u32 chunk = none;
    u32 block = none;
    rows_type* rows = nullptr;  ///< what stands there
  };

  // ---- blocks and chunks

  [[nodiscard]] const rows_type& rows_of(u32 leaf) const { return *leaves_[leaf].rows; }
  /// The chunk, which no snapshot has.
  [[nodiscard]] chunk_type& writable(u32 c) {
    auto& chunk = chunks_[c];
    if (chunk->epoch != epoch_) {
      chunk = std::make_shared<chunk_type>(*chunk);
      chunk->epoch = epoch_;
    }
    return *chunk;
  }
  /// The block, which no snapshot has, and neither has one its chunk.
  [[nodiscard]] rows_type& writable_rows(u32 leaf) {
    auto& place = leaves_[leaf];
    if (place.rows->epoch == epoch_) return *place.rows;
    auto& rows = writable(place.chunk).blocks[place.block];
    rows = std::make_shared<rows_type>(*rows);
    rows->epoch = epoch_;
    place.rows = rows.get();
    return *rows;
  }

  /// Gives a new leaf an empty block in chunk c, which is not full. The route does not lead there yet, but its memory
  /// is reserved.
  [[nodiscard]] u32 add_leaf(u32 c) {
    auto rows = std::make_shared<rows_type>(epoch_, block_rows_, columns_);
    auto& chunk = writable(c);
    if (free_leaves_.empty()) {
      reserve_one(leaves_);
      free_leaves_.reserve(leaves_.capacity());
      leaves_.emplace_back();
      free_leaves_.push_back(static_cast<u32>(leaves_.size() - 1));
    }
    const u32 leaf = free_leaves_.back();
    route_.reserve_one_for(leaf);
    free_leaves_.pop_back();
    const u32 b = chunk.count++;
    leaves_[leaf] = {c, b, rows.get()};
    chunk.blocks[b] = std::move(rows);
    chunk.leaves[b] = leaf;
    for (std::size_t j = 0; j < columns_; ++j) chunk.set(b, j, {});
    chunk.first_ids[b] = none;
    return leaf;
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
    const auto middle_of = [&](std::size_t j, u32 b) {
      return (static_cast<double>(old->maxima[b * columns_ + j]) / 2 +
              static_cast<double>(old->minima[b * columns_ + j]) / 2);
    };
    std::size_t widest = 0;
    double extent = -1;
    for (std::size_t j = 0; j < columns_; ++j) {
      range_of_values<double> middles;
      for (u32 b = 0; b < old->count; ++b) middles.add(middle_of(j, b));
      const double share = share_of(j, middles.least, middles.most);
      if (!(share > extent)) continue;
      extent = share;
      widest = j;
    }
    std::vector<std::pair<std::uint64_t, u32>> order;
    for (u32 b = 0; b < old->count; ++b) {
      order.emplace_back(ordered::key_order<double>{}.image(middle_of(widest, b)), b);
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

  // ---- extremes

  /// All values that there ever were, for comparing columns with one another.
  void widen(const T* row) {
    for (std::size_t j = 0; j < columns_; ++j) {
      extent_[j].most = row[j] > extent_[j].most ? row[j] : extent_[j].most;
      extent_[j].least = row[j] < extent_[j].least ? row[j] : extent_[j].least;
    }
  }
  /// What an interval of column j is of all of it.
  [[nodiscard]] double share_of(std::size_t j, double least, double most) const {
    const double all = static_cast<double>(extent_[j].most) / 2 - static_cast<double>(extent_[j].least) / 2;
    const double part = most / 2 - least / 2;
    return all > 0 && part > 0 ? part / all : 0;
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
  /// Finds the extremes again that a value may have been that is gone from block b.
  void narrow(chunk_type& chunk, u32 b, std::size_t j, T gone, const rows_type& rows) {
    T& most = chunk.maxima[b * columns_ + j];
    T& least = chunk.minima[b * columns_ + j];
    if (gone < most && gone > least) return;
    chunk.set(b, j, range_of_values<T>::of(rows.column(j), rows.count));
    if (!(gone < chunk.most[j]) || !(gone > chunk.least[j])) chunk.sum_up(j);
    if (gone != gone) chunk.sum_up_ids();
  }
  void find_first_id(chunk_type& chunk, u32 b, const rows_type& rows) {
    const bool was_first = chunk.first_ids[b] == chunk.first_id;
    u32 first = none;
    for (u32 r = 0; r < rows.count; ++r) first = rows.ids[r] < first ? rows.ids[r] : first;
    chunk.first_ids[b] = first;
    if (was_first) chunk.sum_up_ids();
  }

  // ---- route

  /// The plane between two halves of leaves, by the middles of their blocks in the column where these lie farthest
  /// apart.
  [[nodiscard]] router_plane<T> part(std::span<u32> leaves) const noexcept {
    const auto least = [&](u32 leaf, std::size_t j) {
      return chunks_[leaves_[leaf].chunk]->minima[leaves_[leaf].block * columns_ + j];
    };
    const auto most = [&](u32 leaf, std::size_t j) {
      return chunks_[leaves_[leaf].chunk]->maxima[leaves_[leaf].block * columns_ + j];
    };
    const auto middle = [&](u32 leaf, std::size_t j) {
      return static_cast<double>(most(leaf, j)) / 2 + static_cast<double>(least(leaf, j)) / 2;
    };
    u32 widest = 0;
    double extent = -1;
    for (u32 j = 0; j < columns_; ++j) {
      range_of_values<double> middles;
      for (const u32 leaf : leaves) middles.add(middle(leaf, j));
      const double share = share_of(j, middles.least, middles.most);
      if (!(share > extent)) continue;
      extent = share;
      widest = j;
    }
    const auto image = [&](u32 leaf) { return ordered::key_order<double>{}.image(middle(leaf, widest)); };
    const auto half = leaves.begin() + static_cast<std::ptrdiff_t>(leaves.size() / 2);
    const auto by_image = [&](u32 a, u32 b) { return image(a) < image(b); };
    std::nth_element(leaves.begin(), half, leaves.end(), by_image);
    const u32 low = *std::max_element(leaves.begin(), half, by_image);
    // A block that lies apart from those below it stays whole. Halves that overlap part between their middles.
    if (!(most(low, widest) > least(*half, widest))) return {widest, least(*half, widest)};
    return {widest, static_cast<T>(middle(low, widest) / 2 + middle(*half, widest) / 2)};
  }
  /// Keeps the route to a leaf short, as far as there is memory for that.
  void balance(u32 leaf) noexcept {
    try {
      route_.balance(leaf, [&](std::span<u32> leaves) { return part(leaves); });
    } catch (const std::bad_alloc&) {  // the route is right, if long
    }
  }

  // ---- rows

  /// To a block that is not full.
  void append(u32 leaf, const T* row, u32 id) {
    const u32 c = leaves_[leaf].chunk;
    const u32 b = leaves_[leaf].block;
    auto& rows = writable_rows(leaf);
    auto& chunk = *chunks_[c];
    const u32 at = rows.count++;
    for (std::size_t j = 0; j < columns_; ++j) rows.column(j)[at] = row[j];
    for (std::size_t j = 0; j < columns_; ++j) include(chunk, b, j, row[j]);
    rows.ids[at] = id;
    chunk.first_ids[b] = id < chunk.first_ids[b] ? id : chunk.first_ids[b];
    chunk.first_id = id < chunk.first_id ? id : chunk.first_id;
    places_[id] = {leaf, at};
    ++rows_;
  }
  void add(const T* row, u32 id) {
    widen(row);
    add_to(route_.find(row), row, id);
  }
  void add_to(u32 leaf, const T* row, u32 id) {
    if (rows_of(leaf).count < block_rows_) {
      append(leaf, row, id);
      return;
    }
    const loose_rows<T> one{{row, row + columns_}, {id}};
    u32 which = 0;
    spread(leaf, one, {&which, 1});
  }
  void add_all(const loose_rows<T>& from) {
    std::vector<std::pair<u32, u32>> order(from.ids.size());  // leaf, row
    std::vector<u32> numbers(order.size());
    for (u32 i = 0; i < order.size(); ++i) {
      const T* const row = from.values.data() + i * columns_;
      widen(row);
      order[i] = {route_.find(row), i};
    }
    std::ranges::sort(order);
    for (std::size_t i = 0; i < order.size(); ++i) numbers[i] = order[i].second;
    for (std::size_t begin = 0; begin < order.size();) {
      std::size_t end = begin;
      while (end < order.size() && order[end].first == order[begin].first) ++end;
      spread(order[begin].first, from, std::span(numbers).subspan(begin, end - begin));
      begin = end;
    }
  }
  /// Takes a row out of its block, which is writable.
  void remove(const row_place& at) noexcept {
    auto& rows = *leaves_[at.leaf].rows;
    auto& chunk = *chunks_[leaves_[at.leaf].chunk];
    const u32 b = leaves_[at.leaf].block;
    const u32 last = --rows.count;
    --rows_;
    const u32 id = rows.ids[at.row];
    rows.ids[at.row] = rows.ids[last];
    // an update has given the row another place already
    if (at.row != last) places_[rows.ids[at.row]].row = at.row;
    for (std::size_t j = 0; j < columns_; ++j) {
      T* const column = rows.column(j);
      const T gone = column[at.row];
      column[at.row] = column[last];
      narrow(chunk, b, j, gone, rows);
    }
    if (id == chunk.first_ids[b]) find_first_id(chunk, b, rows);
  }
  /// Merges what has too few rows, as far as there is memory for that: the rows stay right where there is none.
  void tidy(u32 leaf) noexcept {
    if (leaves_[leaf].rows == nullptr || rows_of(leaf).count >= least_rows_ || route_.is_only(leaf)) return;
    try {
      dissolve(leaf);
    } catch (const std::bad_alloc&) {
      if (rows_of(leaf).epoch != epoch_) return;
      find_extremes(leaf);
      sum_up(leaves_[leaf].chunk);
    }
  }
  /// The extremes of a writable block from its rows; those of its chunk are left to the caller.
  void find_extremes(u32 leaf) noexcept {
    const auto& rows = rows_of(leaf);
    const u32 b = leaves_[leaf].block;
    auto& chunk = *chunks_[leaves_[leaf].chunk];
    for (std::size_t j = 0; j < columns_; ++j) chunk.set(b, j, range_of_values<T>::of(rows.column(j), rows.count));
    chunk.first_ids[b] = none;
    for (u32 r = 0; r < rows.count; ++r) chunk.first_ids[b] = std::min(chunk.first_ids[b], rows.ids[r]);
  }
  /// A block with too few rows gives them away, one by one. Where that ends early, no rows are sent to it any more.
  void dissolve(u32 leaf) {
    std::vector<T> row(columns_);
    auto& rows = writable_rows(leaf);
    if (route_.has(leaf)) {
      route_.remove(leaf);
      route_.balance_after_removal([&](std::span<u32> leaves) { return part(leaves); });
    }
    u32 neighbour = none;
    while (rows.count > 0) {
      const u32 last = rows.count - 1;
      const u32 id = rows.ids[last];
      for (std::size_t j = 0; j < columns_; ++j) row[j] = rows.column(j)[last];
      add(row.data(), id);
      neighbour = places_[id].leaf;
      --rows.count;
      --rows_;
    }
    const auto [c, b, none_left] = leaves_[leaf];
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

  struct cut_row {
    ordered::bits_t<T> image;
    u32 row;  ///< of the block, or, counted on from those, one that comes
    [[nodiscard]] bool operator<(const cut_row& other) const {
      return image < other.image || (image == other.image && row < other.row);
    }
  };
  /// Brings rows of these numbers into a block, or into a subtree in its place when they are too many. The numbers
  /// change their order.
  void spread(u32 leaf, const loose_rows<T>& from, std::span<u32> numbers) {
    std::vector<cut_row> order;
    const std::size_t all = rows_of(leaf).count + numbers.size();
    if (all > block_rows_) order.resize(all);
    spread(leaf, from, numbers, order);
    // what was split is balanced in itself
    if (all > block_rows_) balance(leaf);
  }
  void spread(u32 leaf, const loose_rows<T>& from, std::span<u32> numbers, std::span<cut_row> order) {
    const u32 held = rows_of(leaf).count;
    if (held + numbers.size() <= block_rows_) {
      for (const u32 i : numbers) append(leaf, from.values.data() + i * columns_, from.ids[i]);
      return;
    }
    for (u32 i = 0; i < order.size(); ++i) order[i].row = i < held ? i : held + numbers[i - held];
    const auto value = [&](u32 row, std::size_t j) {
      return row < held ? rows_of(leaf).column(j)[row] : from.values[(row - held) * columns_ + j];
    };
    const std::size_t column = widest_column(order, value);
    for (auto& one : order) one.image = ordered::key_order<T>{}.image(value(one.row, column));
    const std::size_t middle = order.size() / 2;
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(middle), order.end());
    const T cut = value(order[middle].row, column);
    if (chunks_[leaves_[leaf].chunk]->count == chunk_blocks) split_chunk(leaves_[leaf].chunk);
    (void)writable_rows(leaf);
    const u32 other = add_leaf(leaves_[leaf].chunk);

    // nothing from here to the recursion allocates
    route_.split(leaf, static_cast<u32>(column), cut, other);
    std::array<bool, most_block_rows> goes{};
    std::size_t parted = 0;
    std::size_t low = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i == middle) low = parted;
      const u32 row = order[i].row;
      if (row >= held) {
        numbers[parted++] = row - held;
      } else {
        goes[row] = i >= middle;
      }
    }
    move_rows(leaf, goes, other);
    spread(leaf, from, numbers.first(low), order.first(middle));
    spread(other, from, numbers.subspan(low), order.subspan(middle));
  }
  /// Some rows of a block to an empty one; both are writable.
  void move_rows(u32 leaf, const std::array<bool, most_block_rows>& goes, u32 other) noexcept {
    auto& rows = *leaves_[leaf].rows;
    auto& to = *leaves_[other].rows;
    u32 stay = 0;
    for (u32 r = 0; r < rows.count; ++r) {
      auto& into = goes[r] ? to : rows;
      const row_place place{goes[r] ? other : leaf, goes[r] ? to.count++ : stay++};
      for (std::size_t j = 0; j < columns_; ++j) into.column(j)[place.row] = rows.column(j)[r];
      into.ids[place.row] = rows.ids[r];
      places_[rows.ids[r]] = place;
    }
    rows.count = stay;
    find_extremes(leaf);
    find_extremes(other);
    sum_up(leaves_[leaf].chunk);
  }
  template <class Value>
  [[nodiscard]] std::size_t widest_column(std::span<const cut_row> order, const Value& value) const {
    constexpr std::size_t most_looked_at = 64;
    const std::size_t looked_at = std::min(order.size(), most_looked_at);
    std::size_t widest = 0;
    double extent = -1;
    for (std::size_t j = 0; j < columns_; ++j) {
      range_of_values<T> seen;
      for (std::size_t s = 0; s < looked_at; ++s) seen.add(value(order[s * order.size() / looked_at].row, j));
      const double share = share_of(j, static_cast<double>(seen.least), static_cast<double>(seen.most));
      if (!(share > extent)) continue;
      extent = share;
      widest = j;
    }
    return widest;
  }

  std::size_t columns_;
  u32 block_rows_;
  u32 least_rows_;
  u64 epoch_ = 0;
  u64 rows_ = 0;
  std::vector<leaf_place> leaves_;
  std::vector<u32> free_leaves_;
  router<T> route_;
  std::vector<range_of_values<T>> extent_;
  std::vector<std::shared_ptr<chunk_type>> chunks_;
  std::vector<row_place> places_;  ///< by id
  std::shared_ptr<const snapshot_storage<T>> last_;
};

}  // namespace zenith::detail
