#pragma once

/// \file
/// What one instruction set offers: plain functions behind pointers, filled in by the unit that is compiled for it.

#include <cstddef>
#include <cstdint>

#include <zenith/types.hpp>

namespace zenith::cpu_backend {

/// A scan of keys[0, count) against a threshold in the key's own type: keep what is at least as good. Survivors' keys
/// and indices are appended; the buffers can hold `capacity` of them.
struct scan_request {
  const void* keys = nullptr;
  std::uint64_t count = 0;
  const void* threshold = nullptr;
  const void* worst = nullptr;    ///< a key that does not reach the threshold
  std::uint32_t first_index = 0;  ///< of keys[0]
  void* out_keys = nullptr;
  std::uint32_t* out_indices = nullptr;
  std::uint64_t capacity = 0;
};

/// The scan stops early when a whole tile might not fit any more.
struct scan_result {
  std::uint64_t consumed = 0;
  std::uint64_t appended = 0;
};

using scan_function = scan_result (*)(const scan_request&);

/// Of four variants, by what is better and by where NaN stands.
struct scan_variants {
  scan_function largest;
  scan_function largest_nan_first;
  scan_function smallest;
  scan_function smallest_nan_first;
};

/// The bitonic top-k of keys[0, count), `k` a power of two. Every SIMD lane keeps a list of its own: `best` ends with k
/// rows of one entry a lane, and the k best keys are among them. Scratch is in 64-bit words: an entry of a 32-bit image
/// is one, packed; entries of 64-bit images are split into a half with the images and a half with the rest.
struct bitonic_request {
  const void* keys = nullptr;
  std::uint64_t count = 0;
  std::uint32_t first_index = 0;  ///< of keys[0]
  bool smallest = false;
  bool nan_first = false;
  std::uint64_t k = 0;
  std::uint64_t rows = 0;         ///< of a tile: a power of two, at least k
  std::uint64_t* tile = nullptr;  ///< rows * lanes entries
  std::uint64_t* best = nullptr;  ///< k * lanes entries
};

using bitonic_function = void (*)(const bitonic_request&);

/// Moves those of words' `count` entries that are better than the pivot to the front, the others behind them, and
/// returns how many are better. Keeps no order. `spare` can hold `count` entries and one register more.
using partition_function = std::uint64_t (*)(std::uint64_t* words, std::uint64_t count, const std::uint64_t* pivot,
                                             std::uint64_t* spare);

/// Sorts at most `most_few` entries, the best first.
using few_function = void (*)(std::uint64_t* words, std::uint64_t count);
inline constexpr std::uint64_t most_few = 64;

struct isa_table {
  const char* name;
  int simd_bytes;
  int entry_lanes;                      ///< entries in a row of a bitonic tile
  scan_variants scan[6];                ///< by key_type
  bitonic_function bitonic[6];          ///< by key_type
  partition_function partition_packed;  ///< entries of one word
  partition_function partition_split;   ///< entries of two words
  few_function sort_few_packed;         ///< nullptr where the set has no fast way
  few_function sort_few_split;
  /// The largest of count 32-bit integers: the one-read floor.
  std::int32_t (*maximum)(const std::int32_t* values, std::uint64_t count);
};

/// A tile never holds more items, so buffers with so much capacity beyond take one more tile.
inline constexpr std::uint64_t most_tile_items = 128;

}  // namespace zenith::cpu_backend
