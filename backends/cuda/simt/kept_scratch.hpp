#pragma once

/// \file
/// Scratch that stays with a stream from call to call: to get memory from a pool and to give it back takes 4 us of a
/// short call, 3 of them in the wait behind it. Here is only who has which block; the blocks are host.cpp's.

#include <array>
#include <cstddef>
#include <mutex>

namespace zenith::cuda_backend {

/// Blocks of one size. What a call on a stream left in a block is over when the stream's next call begins, so a block
/// goes from call to call of its stream alone, without a wait. A stream's number, unlike its handle, is never
/// another's.
class kept_scratch {
 public:
  static constexpr std::size_t block_bytes = std::size_t{1} << 20;
  static constexpr std::size_t most_blocks = 64;

  struct owner {
    int device = 0;
    unsigned long long stream = 0;
    friend bool operator==(const owner&, const owner&) = default;
  };

  /// An idle block of this owner's, in use from here on. nullptr: there is none.
  [[nodiscard]] void* take(const owner& by) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < count_; ++i) {
      auto& one = blocks_[i];
      if (one.is_used || one.by != by) continue;
      one.is_used = true;
      return one.at;
    }
    return nullptr;
  }

  [[nodiscard]] bool is_full() const {
    const std::scoped_lock lock(mutex_);
    return count_ == blocks_.size();
  }

  /// Keeps a block, which is in use; where there is no place left for it nothing happens.
  void add(void* at, const owner& by) {
    const std::scoped_lock lock(mutex_);
    if (count_ < blocks_.size()) blocks_[count_++] = {at, by, true};
  }

  /// The block is idle from here on. False: it is not kept.
  [[nodiscard]] bool give(const void* at) noexcept {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < count_; ++i) {
      if (blocks_[i].at != at) continue;
      blocks_[i].is_used = false;
      return true;
    }
    return false;
  }

 private:
  struct block {
    void* at = nullptr;
    owner by;
    bool is_used = false;
  };

  mutable std::mutex mutex_;
  std::array<block, most_blocks> blocks_{};
  std::size_t count_ = 0;
};

}  // namespace zenith::cuda_backend
