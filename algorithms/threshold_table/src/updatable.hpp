#pragma once

/// \file
/// The rows of an updatable table: which block each goes to, and where it is. Not guarded: see updatable.cpp.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <vector>

#include <algorithms/threshold_table/src/router.hpp>
#include <algorithms/threshold_table/src/row_places.hpp>
#include <algorithms/threshold_table/src/writable_blocks.hpp>
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
  static constexpr u32 none = ~u32{0};

  mutable std::mutex guard;

  updatable_storage(std::size_t column_count, u32 most, u32 least)
      : columns_(column_count), block_rows_(most), least_rows_(least), blocks_(column_count, most), route_(0) {
    (void)blocks_.reserve_leaf();
    blocks_.add_first();
  }

  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] u64 rows() const { return rows_; }
  [[nodiscard]] u64 id_limit() const { return places_.size(); }
  [[nodiscard]] bool contains(u64 id) const { return places_.contains(id); }
  void copy_row(u64 id, T* to) const {
    const auto at = places_.at(id);
    const auto& rows = blocks_.rows_of(at.leaf);
    for (std::size_t j = 0; j < columns_; ++j) to[j] = rows.column(j)[at.row];
  }

  // What throws leaves the rows as they were.

  /// Adds a row under the next id.
  void insert(const T* row) {
    places_.add_one();
    try {
      add(row, static_cast<u32>(places_.size() - 1));
    } catch (...) {
      places_.take_back();
      throw;
    }
  }
  /// Adds rows whose ids are not below id_limit(). Those of one block are added together.
  void insert_all(const loose_rows<T>& from, u64 ids) {
    const u64 first = places_.size();
    places_.add(ids, from.ids);
    try {
      add_all(from);
    } catch (...) {
      // their blocks were written since the last snapshot: nothing is copied
      for (const u32 id : from.ids) {
        if (const auto at = places_.at(id); at.leaf != none) remove(at);
      }
      places_.take_back(first);
      throw;
    }
    places_.shrink_from(first);
  }

  void erase(u64 id) {
    const auto at = places_.at(id);
    blocks_.prefetch(at.leaf, at.row);
    (void)blocks_.writable_rows(at.leaf);
    remove(at);
    places_.erase(id);
    tidy(at.leaf);
  }
  /// These must not be there twice.
  void erase(std::span<const u64> ids) {
    std::vector<u32> leaves;
    for (const u64 id : ids) leaves.push_back(leaf_of(id));
    std::ranges::sort(leaves);
    leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
    for (const u32 leaf : leaves) (void)blocks_.writable_rows(leaf);
    for (const u64 id : ids) {
      remove(places_.at(id));
      places_.erase(id);
    }
    for (const u32 leaf : leaves) tidy(leaf);
  }

  void update(u64 id, const T* row) {
    places_.prefetch(id);
    blocks_.widen(row);
    const u32 to = route_.find(row);
    blocks_.prefetch_next(to);
    const auto [leaf, at] = places_.at(id);
    blocks_.prefetch(leaf, at);
    (void)blocks_.writable_rows(leaf);
    // a row that keeps its block's bounds may stay wherever the planes would send it
    if (blocks_.covers(leaf, row)) return blocks_.replace(leaf, at, row);
    if (to == leaf) return blocks_.replace(leaf, at, row);
    add_to(to, row, static_cast<u32>(id));
    remove({leaf, at});
    tidy(leaf);
  }

  [[nodiscard]] const router<T>& route() const { return route_; }
  /// Of a row that is there.
  [[nodiscard]] u32 leaf_of(u64 id) const { return places_.at(id).leaf; }

  [[nodiscard]] std::shared_ptr<const snapshot_storage<T>> snapshot() {
    if (last_ != nullptr) return last_;
    auto made = std::make_shared<snapshot_storage<T>>();
    made->chunks = blocks_.share();
    made->columns = columns_;
    made->rows = rows_;
    made->id_limit = places_.size();
    made->block_rows = block_rows_;
    last_ = made;
    return made;
  }
  /// To be called before any change.
  void forget_snapshot() { last_ = nullptr; }

 private:
  // ---- rows

  /// To a block that is not full.
  void append(u32 leaf, const T* row, u32 id) {
    places_.set(id, {leaf, blocks_.append(leaf, row, id)});
    ++rows_;
  }
  void add(const T* row, u32 id) {
    blocks_.widen(row);
    add_to(route_.find(row), row, id);
  }
  void add_to(u32 leaf, const T* row, u32 id) {
    if (blocks_.rows_of(leaf).count < block_rows_) {
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
      blocks_.widen(row);
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
  /// Takes a row out of its block, which is writable. An update has given it another place already.
  void remove(const row_place& at) noexcept {
    const u32 moved = blocks_.remove(at.leaf, at.row);
    if (moved != none) places_.set_row(moved, at.row);
    --rows_;
  }
  /// Keeps the route to a leaf short, as far as there is memory for that.
  void balance(u32 leaf) noexcept {
    try {
      route_.balance(leaf, [&](std::span<u32> leaves) { return blocks_.plane_between(leaves); });
    } catch (const std::bad_alloc&) {  // the route is right, if long
    }
  }
  /// Merges what has too few rows, as far as there is memory for that: the rows stay right where there is none.
  void tidy(u32 leaf) noexcept {
    if (!blocks_.has(leaf) || blocks_.rows_of(leaf).count >= least_rows_ || route_.is_only(leaf)) return;
    try {
      dissolve(leaf);
    } catch (const std::bad_alloc&) {
      blocks_.renew_extremes(leaf);
    }
  }
  /// A block with too few rows gives them away, one by one. Where that ends early, no rows are sent to it any more.
  void dissolve(u32 leaf) {
    std::vector<T> row(columns_);
    auto& rows = blocks_.writable_rows(leaf);
    if (route_.has(leaf)) {
      route_.remove(leaf);
      route_.balance_after_removal([&](std::span<u32> leaves) { return blocks_.plane_between(leaves); });
    }
    u32 neighbour = none;
    while (rows.count > 0) {
      const u32 last = rows.count - 1;
      const u32 id = rows.ids()[last];
      for (std::size_t j = 0; j < columns_; ++j) row[j] = rows.column(j)[last];
      add(row.data(), id);
      neighbour = leaf_of(id);
      --rows.count;
      --rows_;
    }
    blocks_.drop(leaf, neighbour);
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
    const std::size_t all = blocks_.rows_of(leaf).count + numbers.size();
    if (all > block_rows_) order.resize(all);
    spread(leaf, from, numbers, order);
    // what was split is balanced in itself
    if (all > block_rows_) balance(leaf);
  }
  void spread(u32 leaf, const loose_rows<T>& from, std::span<u32> numbers, std::span<cut_row> order) {
    const u32 held = blocks_.rows_of(leaf).count;
    if (held + numbers.size() <= block_rows_) {
      for (const u32 i : numbers) append(leaf, from.values.data() + i * columns_, from.ids[i]);
      return;
    }
    for (u32 i = 0; i < order.size(); ++i) order[i].row = i < held ? i : held + numbers[i - held];
    const auto value = [&](u32 row, std::size_t j) {
      return row < held ? blocks_.rows_of(leaf).column(j)[row] : from.values[(row - held) * columns_ + j];
    };
    const u32 column = blocks_.widest_column([&](u32 j) { return sampled_range(order, value, j); });
    for (auto& one : order) one.image = ordered::key_order<T>{}.image(value(one.row, column));
    const std::size_t middle = order.size() / 2;
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(middle), order.end());
    const T cut = value(order[middle].row, column);
    (void)blocks_.writable_rows(leaf);
    const u32 other = blocks_.reserve_leaf();
    route_.reserve_one_for(other);
    blocks_.add_beside(leaf);

    // nothing from here to the recursion allocates
    route_.split(leaf, column, cut, other);
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
    blocks_.part(leaf, goes, other, [&](u32 id, u32 in, u32 at) { places_.set(id, {in, at}); });
    spread(leaf, from, numbers.first(low), order.first(middle));
    spread(other, from, numbers.subspan(low), order.subspan(middle));
  }
  /// Of some rows, what is seen of a column.
  template <class Value>
  [[nodiscard]] static range_of_values<T> sampled_range(std::span<const cut_row> order, const Value& value,
                                                        std::size_t j) {
    constexpr std::size_t most_looked_at = 64;
    const std::size_t looked_at = std::min(order.size(), most_looked_at);
    range_of_values<T> seen;
    for (std::size_t s = 0; s < looked_at; ++s) seen.add(value(order[s * order.size() / looked_at].row, j));
    return seen;
  }

  std::size_t columns_;
  u32 block_rows_;
  u32 least_rows_;
  u64 rows_ = 0;
  writable_blocks<T> blocks_;
  router<T> route_;
  row_places places_;
  std::shared_ptr<const snapshot_storage<T>> last_;
};

}  // namespace zenith::detail
