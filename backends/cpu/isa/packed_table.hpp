#pragma once

/// \file
/// What one instruction set offers over packed columns: plain functions behind pointers, filled in by the unit that is
/// compiled for it. Ranges are whole blocks of 128 values; what a column has beyond them is the caller's.

#include <cstdint>

#include <zenith/packed_layout.hpp>

namespace zenith::cpu_backend {

/// Blocks [begin, end) of a column, all of them whole.
struct packed_blocks {
  const packed_layout* column = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct packed_table {
  const char* name;

  /// Writes the values to `out`; `past_caches` when they will not be read again before they left the caches.
  void (*unpack[2])(const packed_blocks& of, void* out, bool past_caches);  ///< 32 bits, 64 bits
  /// The sum modulo 2^64, 32-bit values widened by their sign.
  std::uint64_t (*sum[4])(const packed_blocks& of);  ///< by value_index
  /// The least and the greatest value, their own bits.
  void (*extremes[4])(const packed_blocks& of, std::uint64_t* least, std::uint64_t* greatest);  ///< by value_index
  /// Sets the bits of values in [low, high]: two words of `bitmap` a block. Returns how many there are.
  std::uint64_t (*select[2])(const packed_blocks& of, std::uint64_t low, std::uint64_t high, std::uint64_t* bitmap);
};

/// Of int32, uint32, int64, uint64.
[[nodiscard]] constexpr unsigned value_index(key_type type) {
  return static_cast<unsigned>(type) - static_cast<unsigned>(key_type::int32);
}

}  // namespace zenith::cpu_backend
