#pragma once

/// \file
/// Where the rows of an updatable table are, by id.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include <algorithms/threshold_table/src/block_memory.hpp>
#include <algorithms/threshold_table/src/router.hpp>

namespace zenith::detail {

struct row_place {
  std::uint32_t leaf = ~std::uint32_t{0};  ///< that many: of no row
  std::uint32_t row = 0;
};

/// Ids are given in rising order, for ever, and most of them may be gone: 4096 consecutive ids have a page, which is an
/// array of places while more than an eighth of the ids have rows, then a sorted list of those that have, and nothing
/// when none has. So 4096 ids that are gone take 32 bytes, and a row at most 64, beside free places in slabs of 2 MiB,
/// which are given back when they are empty.
class row_places {
 public:
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  static constexpr u32 none = ~u32{0};
  static constexpr u64 page_ids = 4096;

  /// Ids that were given.
  [[nodiscard]] u64 size() const { return size_; }
  /// Of no row for an id that was not given.
  [[nodiscard]] row_place at(u64 id) const {
    const auto* const found = id < size_ ? find(id) : nullptr;
    return found == nullptr ? row_place{} : *found;
  }
  [[nodiscard]] bool contains(u64 id) const { return at(id).leaf != none; }
  /// Prefetches the place of an id that was given.
  void prefetch(u64 id) const {
    const auto& of = pages_[id / page_ids];
    if (of.all != nullptr) __builtin_prefetch(&of.all[id % page_ids]);
  }

  /// Gives one more id, which has no row until `set`. Throws std::bad_alloc, and then gives none.
  void add_one() {
    if (size_ % page_ids == 0) {
      reserve_one(pages_);
      auto all = make_places();
      if (!pages_.empty()) shrink(pages_.size() - 1);  // the last page had ids to come
      pages_.emplace_back().all = std::move(all);
    }
    ++size_;
  }
  /// Takes the last id back, which has no row.
  void take_back() noexcept {
    if (--size_ % page_ids == 0) pages_.pop_back();
  }
  /// Gives `more` ids, of which those in `ids` may have rows. Throws std::bad_alloc, and then gives none.
  void add(u64 more, std::span<const u32> ids) {
    const u64 first = size_;
    try {
      pages_.resize((size_ + more + page_ids - 1) / page_ids);
      size_ += more;
      if (more > 0) make_page(size_ - 1);  // which has ids to come
      for (const u32 id : ids) make_page(id);
    } catch (...) {
      take_back(first);
      throw;
    }
  }
  /// Leaves `ids` ids, and their rows.
  void take_back(u64 ids) noexcept {
    size_ = ids;
    pages_.resize((ids + page_ids - 1) / page_ids);
    if (ids % page_ids == 0) return;
    auto& last = pages_.back();
    for (u64 i = ids % page_ids; i < page_ids; ++i) {
      last.rows -= last.all[i].leaf == none ? 0 : 1;
      last.all[i] = {};
    }
  }
  /// Gives memory back after `add` to `first` ids, and `set`.
  void shrink_from(u64 first) noexcept {
    for (std::size_t p = first == 0 ? 0 : (first - 1) / page_ids; p < pages_.size(); ++p) shrink(p);
  }

  /// Of an id that was given by `add_one`, was in `ids` of `add`, or has a row.
  void set(u32 id, const row_place& to) noexcept {
    auto& place = *find(id);
    pages_[id / page_ids].rows += place.leaf == none ? 1 : 0;
    place = to;
  }
  /// Of an id that has a row.
  void set_row(u32 id, u32 row) noexcept { find(id)->row = row; }
  /// Of an id that has a row: it has none any more.
  void erase(u64 id) noexcept {
    find(id)->leaf = none;
    --pages_[id / page_ids].rows;
    shrink(id / page_ids);
  }

  /// Bytes of the pages, of the slabs that they are cut from, and of their list.
  [[nodiscard]] u64 bytes() const {
    u64 all = pages_.capacity() * sizeof(page) + memory_.bytes();
    for (const auto& one : pages_) all += one.listed * sizeof(listed_place);
    return all;
  }

 private:
  struct listed_place {
    u32 id;
    row_place place;
  };
  struct give_back {
    block_memory* to;
    void operator()(row_place* all) const noexcept { to->give_back(all); }
  };
  struct page {
    std::unique_ptr<row_place[], give_back> all{nullptr, {}};
    std::unique_ptr<listed_place[]> some;  ///< by rising id, where `all` is nullptr
    u32 rows = 0;                          ///< ids with a row
    u32 listed = 0;
  };
  static constexpr u64 most_listed = page_ids / 8;

  [[nodiscard]] const row_place* find(u64 id) const {
    const auto& of = pages_[id / page_ids];
    if (of.all != nullptr) return &of.all[id % page_ids];
    const listed_place* const begin = of.some.get();
    const listed_place* const end = begin + of.listed;
    const auto* const at = std::partition_point(begin, end, [id](const listed_place& one) { return one.id < id; });
    return at != end && at->id == id ? &at->place : nullptr;
  }
  [[nodiscard]] row_place* find(u64 id) { return const_cast<row_place*>(std::as_const(*this).find(id)); }
  [[nodiscard]] std::unique_ptr<row_place[], give_back> make_places() {
    auto* const all = static_cast<row_place*>(memory_.take());
    std::uninitialized_fill_n(all, page_ids, row_place{});
    return {all, {&memory_}};
  }
  void make_page(u64 id) {
    auto& of = pages_[id / page_ids];
    if (of.all == nullptr) of.all = make_places();
  }
  /// Lists the places of a page where few have rows, or fewer than half of the list. A page that has ids to come stays
  /// as it is, and so does any where there is no memory for the list.
  void shrink(std::size_t p) noexcept {
    auto& of = pages_[p];
    if ((p + 1) * page_ids > size_) return;
    if (of.rows == 0) {
      of = {};
    } else if (of.all != nullptr ? of.rows <= most_listed : of.rows <= of.listed / 2) {
      std::unique_ptr<listed_place[]> some(new (std::nothrow) listed_place[of.rows]);
      if (some == nullptr) return;
      u32 listed = 0;
      if (of.all != nullptr) {
        for (u32 i = 0; i < page_ids; ++i) {
          if (of.all[i].leaf != none) some[listed++] = {static_cast<u32>(p * page_ids) + i, of.all[i]};
        }
      } else {
        for (u32 i = 0; i < of.listed; ++i) {
          if (of.some[i].place.leaf != none) some[listed++] = of.some[i];
        }
      }
      of.all = nullptr;
      of.some = std::move(some);
      of.listed = listed;
    }
  }

  block_memory memory_{page_ids * sizeof(row_place)};
  u64 size_ = 0;
  std::vector<page> pages_;
};

}  // namespace zenith::detail
