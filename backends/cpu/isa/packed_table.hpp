#pragma once

/// \file
/// What one instruction set offers over packed columns: plain functions behind pointers, filled in by the unit that is
/// compiled for it. Ranges are whole blocks of 128 values; what a column has beyond them is the caller's.

#include <cstdint>

#include <backends/cpu/isa/table.hpp>
#include <zenith/packed_layout.hpp>

namespace zenith::cpu_backend {

/// Blocks [begin, end) of a column, all of them whole.
struct packed_blocks {
  const packed_layout* column = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// How a group of 2048 values is packed by frame of reference or delta.
struct packed_group_shape {
  std::uint64_t reference[packed_group_blocks];
  std::uint8_t width[packed_group_blocks][packed_miniblocks];
  std::uint8_t patched_width[packed_group_blocks][packed_miniblocks];  ///< with outliers outside the payload
  std::uint64_t words;                                                 ///< of payload
  std::uint64_t patched_words;
  std::uint64_t patches;
};

/// The payload of groups that follow each other, on its way to a column: a row of 64 bytes is stored once it is whole,
/// and added to the checksum's sums. Begins with row `row`, of which the first `skipped` bytes are another's.
struct packed_rows {
  std::byte* row = nullptr;
  std::uint32_t skipped = 0;
  std::uint32_t held = 0;          ///< bytes that wait in the buffer, the skipped ones among them; those are 0
  bool past_caches = false;        ///< whether the column will have left the caches before anybody reads it
  std::uint64_t rows = 0;          ///< that were added up
  std::uint64_t sum[8] = {};       ///< of each lane's words
  std::uint64_t weighted[8] = {};  ///< of what `sum` was after each row
  /// A group's words, what is held in front of them, and what may be written too far behind them.
  alignas(64) std::byte buffer[64 + packed_group_items * 8 + 128];
};

/// A group to be written.
struct packed_group_write {
  const packed_layout* to = nullptr;
  std::byte* out = nullptr;  ///< the column
  std::uint64_t group = 0;
  const void* values = nullptr;  ///< of the group, all 2048
  const packed_group_shape* shape = nullptr;
  packed_rows* rows = nullptr;  ///< where its payload goes
  std::uint64_t payload = 0;    ///< the group's first word
  std::uint64_t patch = 0;      ///< the group's first patch
};

/// The filter's scan: appends the values that reach the threshold, the first of them with `first_index`, and returns
/// how many. Its buffers hold all values there are.
using packed_scan_function = std::uint64_t (*)(const packed_blocks& of, const scan_request& to,
                                               std::uint32_t first_index);

/// Values to memory, and their sum: packed_read_unit.cpp.
struct packed_read_table {
  /// Writes the values to `out`; `past_caches` when they will not be read again before they left the caches.
  void (*unpack[2])(const packed_blocks& of, void* out, bool past_caches);  ///< 32 bits, 64 bits
  /// The sum modulo 2^64, 32-bit values widened by their sign.
  std::uint64_t (*sum[4])(const packed_blocks& of);  ///< by value_index
};

/// Comparisons of values with each other and with a range: packed_query_unit.cpp.
struct packed_query_table {
  /// The least and the greatest value, their own bits.
  void (*extremes[4])(const packed_blocks& of, std::uint64_t* least, std::uint64_t* greatest);  ///< by value_index
  /// Sets the bits of values in [low, high]: two words of `bitmap` a block. Returns how many there are.
  std::uint64_t (*select[2])(const packed_blocks& of, std::uint64_t low, std::uint64_t high, std::uint64_t* bitmap);
};

/// The scan of top-k's filter: packed_largest_unit.cpp, packed_smallest_unit.cpp.
struct packed_scan_table {
  packed_scan_function scan[4];  ///< by value_index
};

/// Packing: packed_write_unit.cpp.
struct packed_write_table {
  /// The shape of the 2048 values of a group, of a frame of reference or of deltas.
  void (*measure_frames[4])(const void* values, packed_group_shape* to);  ///< by value_index
  void (*measure_deltas[2])(const void* values, packed_group_shape* to);
  void (*write_group[2])(const packed_group_write& asked);
  /// Stores what is held, and begins anew with nothing held.
  void (*finish_rows)(packed_rows& of);
};

struct packed_table {
  const char* name;
  const packed_read_table& read;
  const packed_query_table& query;
  const packed_scan_table& largest;
  const packed_scan_table& smallest;
  const packed_write_table& write;
};

/// Of int32, uint32, int64, uint64.
[[nodiscard]] constexpr unsigned value_index(key_type type) {
  return static_cast<unsigned>(type) - static_cast<unsigned>(key_type::int32);
}

}  // namespace zenith::cpu_backend
