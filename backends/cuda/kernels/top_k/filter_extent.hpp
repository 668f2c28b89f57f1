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

  static filter_extent of(const T* keys, std::uint32_t count) {
    const auto over = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(keys) % 16 / sizeof(T));
    const std::uint32_t head = std::min(over == 0 ? 0 : per_vector - over, count);
    const std::uint32_t body = (count - head) / per_vector * per_vector;
    return {head, head + body, static_cast<std::uint32_t>((std::uint64_t{body} + block_items - 1) / block_items)};
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
