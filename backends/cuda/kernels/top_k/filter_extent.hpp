#pragma once

/// \file
/// How the keys are cut for 16-byte loads: a head up to the first boundary, the body in block tiles, a tail.

#include <algorithm>
#include <cstdint>

#include <backends/cuda/kernels/top_k/filter_tile.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class T>
struct filter_extent {
  static constexpr unsigned block_size = 256;
  static constexpr unsigned per_vector = filter_tile<T>::per_vector;
  static constexpr unsigned block_items = filter_tile<T>::size * (block_size / simt::warp_size);

  std::uint32_t head;      ///< keys before the body
  std::uint32_t body_end;  ///< where the tail begins
  std::uint32_t tiles;     ///< of block_items keys

  /// Slots are numbered by rising index: the head is slot 0, tile i slot i + 1, the tail the last.
  [[nodiscard]] std::uint32_t slots() const { return tiles + 2; }

  /// A warp's share of a slot.
  struct part_type {
    std::uint32_t slot;
    std::uint32_t first;  ///< key
    std::uint32_t count;
  };

  /// A warp's part of tile i.
  [[nodiscard]] ZENITH_DEVICE part_type part(std::uint64_t i, unsigned warp) const {
    const std::uint64_t first = head + i * block_items + warp * filter_tile<T>::size;
    if (first >= body_end) return {0, 0, 0};
    const std::uint64_t left = body_end - first;
    return {static_cast<std::uint32_t>(i) + 1, static_cast<std::uint32_t>(first),
            left < filter_tile<T>::size ? static_cast<std::uint32_t>(left) : filter_tile<T>::size};
  }

  /// The head (0) or the tail (1) of so many keys, all of it the first warp's.
  [[nodiscard]] ZENITH_DEVICE part_type edge(std::uint64_t which, std::uint32_t keys) const {
    if (simt::warp_index() != 0) return {0, 0, 0};
    if (which == 0) return {0, 0, head};
    return {tiles + 1, body_end, keys - body_end};
  }

  static filter_extent of(const T* keys, std::uint32_t count) {
    const auto over = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(keys) % 16 / sizeof(T));
    const std::uint32_t head = std::min(over == 0 ? 0 : per_vector - over, count);
    const std::uint32_t body = (count - head) / per_vector * per_vector;
    return {head, head + body, static_cast<std::uint32_t>((std::uint64_t{body} + block_items - 1) / block_items)};
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
