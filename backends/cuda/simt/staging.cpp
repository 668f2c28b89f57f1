#include <backends/cuda/simt/staging.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <backends/cuda/simt/check.hpp>
#include <backends/cuda/simt/vocabulary.hpp>
#include <backends/cuda/tuning.hpp>
#include <core/workers.hpp>

namespace zenith::cuda_backend {
namespace {

constexpr std::size_t most_piece_bytes = tuning::staged_piece_bytes;

/// A pinned buffer and the transfer that it last took part in.
class pinned_piece {
 public:
  pinned_piece() { check(cudaHostAlloc(&at_, most_piece_bytes, cudaHostAllocPortable), "cudaHostAlloc"); }
  ~pinned_piece() { (void)cudaFreeHost(at_); }
  pinned_piece(const pinned_piece&) = delete;
  pinned_piece& operator=(const pinned_piece&) = delete;

  [[nodiscard]] void* get() const noexcept { return at_; }
  void transfer(void* to, const void* from, std::size_t bytes, CUstream_st* stream) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
    moved_.record(stream);
  }
  void wait() const { moved_.wait(); }

 private:
  simt::event moved_;  // first: what is made before it fails is given back
  void* at_ = nullptr;
};

/// What one thread of the host copies through: two pieces, so that it fills one while the other travels.
class staging_lane {
 public:
  explicit staging_lane(int device) : device_(device) {}

  [[nodiscard]] int device() const noexcept { return device_; }
  [[nodiscard]] CUstream_st* stream() const noexcept { return stream_.get(); }

  /// fill(at) writes the bytes.
  template <class Fill>
  void to_device(std::byte* to, std::size_t bytes, const Fill& fill) {
    auto& piece = next();
    piece.wait();
    fill(static_cast<std::byte*>(piece.get()));
    piece.transfer(to, piece.get(), bytes, stream());
  }

  void to_host(std::byte* to, const std::byte* from, std::size_t bytes) {
    auto& piece = next();
    finish(arriving_[turn_]);
    piece.transfer(piece.get(), from, bytes, stream());
    arriving_[turn_] = {to, &piece, bytes};
  }
  /// Waits for what `to_host` began.
  void finish() {
    for (auto& one : arriving_) finish(one);
  }

  /// Where a copy failed: forgets what did not arrive, and waits until nothing travels.
  void abandon() noexcept {
    arriving_ = {};
    (void)cudaStreamSynchronize(stream());
  }

 private:
  struct arrival {
    std::byte* to = nullptr;
    const pinned_piece* from = nullptr;
    std::size_t bytes = 0;
  };

  pinned_piece& next() {
    turn_ = 1 - turn_;
    return pieces_[turn_];
  }

  static void finish(arrival& one) {
    if (one.from == nullptr) return;
    one.from->wait();
    std::memcpy(one.to, one.from->get(), one.bytes);
    one = {};
  }

  int device_;
  simt::own_stream stream_;
  std::array<pinned_piece, 2> pieces_;
  std::array<arrival, 2> arriving_;
  std::size_t turn_ = 0;
};

using lanes_of_call = std::vector<std::unique_ptr<staging_lane>>;

// Lanes that no call holds. To pin memory takes half a millisecond a MiB, so they go from call to call, as many as
// there ever were at once, and are kept until the process ends.
class idle_lanes {
 public:
  /// Up to `wanted` lanes of the current device: fewer, or none, when no more memory can be pinned.
  lanes_of_call take(std::size_t wanted) {
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    lanes_of_call taken;
    taken.reserve(wanted);
    {
      const std::scoped_lock lock(mutex_);
      for (auto at = idle_.size(); at-- > 0 && taken.size() < wanted;) {
        if (idle_[at]->device() != device) continue;
        taken.push_back(std::move(idle_[at]));
        idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(at));
      }
      // so that giving back never has to ask for memory
      made_ += wanted - taken.size();
      idle_.reserve(made_);
    }
    try {
      while (taken.size() < wanted) taken.push_back(std::make_unique<staging_lane>(device));
    } catch (const error& fault) {
      if (fault.code() != error_code::out_of_memory) throw;
    }
    return taken;
  }

  void give(lanes_of_call& back) noexcept {
    const std::scoped_lock lock(mutex_);
    for (auto& one : back) idle_.push_back(std::move(one));
  }

 private:
  std::mutex mutex_;
  lanes_of_call idle_;
  std::size_t made_ = 0;
};

idle_lanes& lanes() {
  // never destroyed: at the process's end the driver may be gone
  static auto* const all = new idle_lanes;
  return *all;
}

/// The lanes of one copy.
class lanes_in_use {
 public:
  explicit lanes_in_use(std::size_t wanted) : lanes_(lanes().take(wanted)) {}
  lanes_in_use(const lanes_in_use&) = delete;
  lanes_in_use& operator=(const lanes_in_use&) = delete;
  ~lanes_in_use() {
    if (!is_done_) {
      for (const auto& one : lanes_) one->abandon();
    }
    lanes().give(lanes_);
  }

  [[nodiscard]] int count() const noexcept { return static_cast<int>(lanes_.size()); }
  [[nodiscard]] staging_lane& operator[](int i) const noexcept { return *lanes_[static_cast<std::size_t>(i)]; }
  void done() noexcept { is_done_ = true; }

 private:
  lanes_of_call lanes_;
  bool is_done_ = false;
};

bool is_pageable(const void* at) {
  cudaPointerAttributes found{};
  check(cudaPointerGetAttributes(&found, at), "cudaPointerGetAttributes");
  return found.type == cudaMemoryTypeUnregistered;
}

bool is_on_device(const void* at) {
  cudaPointerAttributes found{};
  check(cudaPointerGetAttributes(&found, at), "cudaPointerGetAttributes");
  return found.type == cudaMemoryTypeDevice;
}

/// move(lane, i) for each i < count on all lanes, in the order of `stream`.
template <class Move>
void move_by_lanes(lanes_in_use& use, std::uint64_t count, CUstream_st* stream, const Move& move) {
  simt::event ready;
  ready.record(stream);
  for (int i = 0; i < use.count(); ++i) ready.hold(use[i].stream());

  std::atomic<std::uint64_t> next{0};
  detail::run_workers(use.count(), [&](int worker) {
    auto& lane = use[worker];
    const simt::device_guard current(lane.device());
    for (auto i = next++; i < count; i = next++) move(lane, i);
    // here, by all threads: the last pieces of all lanes are many bytes for one
    lane.finish();
  });

  simt::event moved;
  for (int i = 0; i < use.count(); ++i) {
    moved.record(use[i].stream());
    moved.hold(stream);
  }
  use.done();
}

/// Of `bytes` bytes that so many threads copy.
std::size_t piece_bytes_of(std::size_t bytes, std::uint64_t threads) {
  constexpr std::size_t page = 4096;
  return std::clamp(bytes / (2 * threads) / page * page, tuning::least_staged_piece_bytes, most_piece_bytes);
}

/// Neighbouring pieces of one array.
struct gathered_part {
  const zenith::device::fetched_array* of;
  std::size_t first;
  std::size_t count;
};

/// The parts of all arrays, none of more bytes than `most` but where one piece has more.
std::vector<gathered_part> parts_of(std::span<const zenith::device::fetched_array> arrays, std::size_t pieces,
                                    std::size_t length, std::size_t most) {
  std::vector<gathered_part> parts;
  for (const auto& one : arrays) {
    const std::size_t together = std::clamp<std::size_t>(most / (length * one.item_bytes), 1, pieces);
    for (std::size_t first = 0; first < pieces; first += together) {
      parts.push_back({&one, first, std::min(together, pieces - first)});
    }
  }
  return parts;
}

}  // namespace

bool gains_from_staging(const void* to, const void* from, std::size_t bytes) {
  if (bytes < tuning::least_staged_bytes) return false;
  return is_on_device(to) ? is_pageable(from) : is_on_device(from) && is_pageable(to);
}

void copy_staged(void* to, const void* from, std::size_t bytes, CUstream_st* stream) {
  const bool to_host = is_on_device(from);
  const auto threads = static_cast<std::uint64_t>(std::min(detail::hardware_threads(), tuning::most_staging_threads));
  const std::size_t piece_bytes = piece_bytes_of(bytes, threads);
  const std::uint64_t pieces = (bytes + piece_bytes - 1) / piece_bytes;
  lanes_in_use use(std::min(threads, pieces));
  if (use.count() == 0) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
    return use.done();
  }
  move_by_lanes(use, pieces, stream, [&](staging_lane& lane, std::uint64_t i) {
    const std::size_t first = i * piece_bytes;
    const std::size_t length = std::min(piece_bytes, bytes - first);
    auto* const target = static_cast<std::byte*>(to) + first;
    const auto* const source = static_cast<const std::byte*>(from) + first;
    if (to_host) {
      lane.to_host(target, source, length);
    } else {
      lane.to_device(target, length, [&](std::byte* at) { std::memcpy(at, source, length); });
    }
  });
}

void copy_pieces_staged(std::span<const zenith::device::fetched_array> arrays, std::span<const std::uint32_t> begins,
                        std::uint64_t length, CUstream_st* stream) {
  std::size_t bytes = 0;
  std::size_t longest = 0;
  for (const auto& one : arrays) {
    bytes += begins.size() * length * one.item_bytes;
    longest = std::max<std::size_t>(longest, length * one.item_bytes);
  }
  if (bytes == 0) return;
  // a few pieces are gathered sooner than threads wake
  const auto wanted = std::clamp<std::uint64_t>(bytes / tuning::least_staged_piece_bytes, 1,
                                                std::min(detail::hardware_threads(), tuning::most_staging_threads));
  const auto parts = parts_of(arrays, begins.size(), length, piece_bytes_of(bytes, wanted));
  const auto gather = [&](const gathered_part& part, std::byte* at) {
    zenith::device::copy_pieces(at, *part.of, begins.data() + part.first, part.count, length);
  };
  const auto bytes_of = [&](const gathered_part& part) { return part.count * length * part.of->item_bytes; };
  const auto target_of = [&](const gathered_part& part) {
    return part.of->to + part.first * length * part.of->item_bytes;
  };

  lanes_in_use use(longest > most_piece_bytes ? 0 : wanted);
  if (use.count() == 0) {
    // pageable memory, which the driver has read when it returns
    std::vector<std::byte> staged;
    for (const auto& part : parts) {
      staged.resize(std::max(staged.size(), bytes_of(part)));
      gather(part, staged.data());
      check(cudaMemcpyAsync(target_of(part), staged.data(), bytes_of(part), cudaMemcpyDefault, stream),
            "cudaMemcpyAsync");
    }
    return use.done();
  }
  move_by_lanes(use, parts.size(), stream, [&](staging_lane& lane, std::uint64_t i) {
    const auto& part = parts[i];
    lane.to_device(target_of(part), bytes_of(part), [&](std::byte* at) { gather(part, at); });
  });
}

}  // namespace zenith::cuda_backend
