#pragma once

/// \file
/// The rows of a block of an updatable table.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include <algorithms/threshold_table/src/block_memory.hpp>

namespace zenith::detail {

/// The rows of a block, in one piece of memory: this, the ids, and column by column the values. Where a row lies
/// follows from the block's address and its capacity, which all blocks of a table share: so a row can be prefetched
/// before the block's own header is in a cache.
template <class T>
struct leaf_rows {
  std::uint64_t epoch;  ///< of its making: since the next one a snapshot may hold it
  std::uint32_t count = 0;
  std::uint32_t capacity;

  [[nodiscard]] static std::size_t bytes(std::uint32_t most, std::size_t columns) {
    return values_at(most) + columns * most * sizeof(T);
  }
  /// Without rows. Throws std::bad_alloc.
  [[nodiscard]] static std::shared_ptr<leaf_rows> make(const std::shared_ptr<block_memory>& in, std::uint64_t made_in,
                                                       std::uint32_t most) {
    auto* const made = ::new (in->take()) leaf_rows(made_in, most);
    return {made, [in](leaf_rows* one) { in->give_back(one); }};
  }
  [[nodiscard]] static std::shared_ptr<leaf_rows> copy(const std::shared_ptr<block_memory>& in, std::uint64_t made_in,
                                                       const leaf_rows& from, std::size_t columns) {
    auto made = make(in, made_in, from.capacity);
    made->count = from.count;
    std::copy_n(from.ids(), from.count, made->ids());
    for (std::size_t j = 0; j < columns; ++j) std::copy_n(from.column(j), from.count, made->column(j));
    return made;
  }

  [[nodiscard]] T* column(std::size_t j) { return column(j, capacity); }
  [[nodiscard]] const T* column(std::size_t j) const { return const_cast<leaf_rows*>(this)->column(j, capacity); }
  [[nodiscard]] std::uint32_t* ids() { return reinterpret_cast<std::uint32_t*>(begin() + front); }
  [[nodiscard]] const std::uint32_t* ids() const { return const_cast<leaf_rows*>(this)->ids(); }
  /// The same without a read of `capacity`, whose line of the cache may not be there yet.
  [[nodiscard]] T* column(std::size_t j, std::uint32_t most) {
    return reinterpret_cast<T*>(begin() + values_at(most)) + j * most;
  }

 private:
  static constexpr std::size_t front = block_memory::alignment;

  leaf_rows(std::uint64_t made_in, std::uint32_t most) : epoch(made_in), capacity(most) {}
  [[nodiscard]] std::byte* begin() { return reinterpret_cast<std::byte*>(this); }
  [[nodiscard]] static std::size_t values_at(std::uint32_t most) {
    return front + (most * sizeof(std::uint32_t) + front - 1) / front * front;
  }
};

}  // namespace zenith::detail
