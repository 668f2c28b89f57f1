#pragma once

/// \file
/// Memory of an updatable table's blocks and of its pages of places.

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>

#include <core/large_pages.hpp>

namespace zenith::detail {

/// A pool of pieces of one size, cut from slabs of up to 2 MiB. Any thread may take and give back. A slab is given back
/// when all of its pieces are free. Slabs of 2 MiB ask for large pages: updates reach blocks in no order, and with
/// pages of 4 KiB each of their columns costs a walk through the page table.
class block_memory {
 public:
  /// Pieces begin at a multiple of it.
  static constexpr std::size_t alignment = 64;

  explicit block_memory(std::size_t bytes) : stride_(round_up(bytes) + front) {}
  block_memory(const block_memory&) = delete;
  block_memory& operator=(const block_memory&) = delete;
  /// All pieces have been given back.
  ~block_memory() {
    while (open_ != nullptr) release(open_);
  }

  /// Throws std::bad_alloc.
  [[nodiscard]] void* take() {
    const std::scoped_lock lock(guard_);
    if (open_ == nullptr) add_slab();
    slab& from = *open_;
    if (from.free == nullptr) {
      std::byte* const begin = from.pieces() + from.touched++ * stride_;
      from.free = ::new (begin) piece{&from, nullptr};
    }
    piece* const taken = from.free;
    from.free = taken->next;
    if (++from.taken == from.count) unlink(from);
    return reinterpret_cast<std::byte*>(taken) + front;
  }
  void give_back(void* at) noexcept {
    const std::scoped_lock lock(guard_);
    auto* const given = reinterpret_cast<piece*>(static_cast<std::byte*>(at) - front);
    slab& to = *given->of;
    given->next = to.free;
    to.free = given;
    if (to.taken-- == to.count) link(to);
    // One slab that is all free stays: the next piece may be asked for soon.
    if (to.taken == 0 && (to.next != nullptr || to.previous != nullptr)) release(&to);
  }
  /// Of all slabs.
  [[nodiscard]] std::size_t bytes() const {
    const std::scoped_lock lock(guard_);
    return pieces_ * stride_;
  }

 private:
  struct slab;
  struct piece {
    slab* of;
    piece* next;
  };
  /// What stands in front of a piece, and in front of the pieces of a slab.
  static constexpr std::size_t front = alignment;
  struct slab {
    slab* previous = nullptr;  ///< in the list of those with a free piece
    slab* next = nullptr;
    std::size_t count = 0;
    std::size_t taken = 0;
    std::size_t touched = 0;  ///< pieces that were taken at any time
    piece* free = nullptr;
    std::align_val_t aligned{};

    [[nodiscard]] std::byte* pieces() { return reinterpret_cast<std::byte*>(this) + front; }
  };
  static_assert(sizeof(piece) <= front && sizeof(slab) <= front);
  static constexpr std::size_t large = std::size_t{2} << 20;

  [[nodiscard]] static std::size_t round_up(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  }
  /// As many pieces as there are already, so that few blocks take little memory.
  void add_slab() {
    constexpr std::size_t least = 1;
    const std::size_t most = std::max<std::size_t>(1, (large - front) / stride_);
    const std::size_t count = std::min(most, std::max(least, pieces_));
    const bool is_large = count == most;
    const std::size_t bytes = is_large ? std::max(large, front + count * stride_) : front + count * stride_;
    const auto aligned = static_cast<std::align_val_t>(is_large ? large : alignment);
    void* const at = ::operator new(bytes, aligned);
    if (is_large) prefer_large_pages(at, bytes);
    auto* const made = ::new (at) slab;
    made->count = count;
    made->aligned = aligned;
    pieces_ += count;
    link(*made);
  }
  void release(slab* one) noexcept {
    unlink(*one);
    pieces_ -= one->count;
    ::operator delete(one, one->aligned);
  }
  void link(slab& one) noexcept {
    one.previous = nullptr;
    one.next = open_;
    if (open_ != nullptr) open_->previous = &one;
    open_ = &one;
  }
  void unlink(slab& one) noexcept {
    (one.previous == nullptr ? open_ : one.previous->next) = one.next;
    if (one.next != nullptr) one.next->previous = one.previous;
    one.previous = one.next = nullptr;
  }

  mutable std::mutex guard_;
  std::size_t stride_;
  std::size_t pieces_ = 0;  ///< of all slabs
  slab* open_ = nullptr;    ///< those with a free piece
};

}  // namespace zenith::detail
