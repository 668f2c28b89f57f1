#pragma once

/// \file
/// What a warp holds of a packed column once it is decoded, and how it reads the packed bytes.

#include <backends/cuda/simt/vocabulary.hpp>
#include <zenith/packed_block.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// A tile of a column in a warp's registers. A lane holds `vectors` times `per_vector` neighbouring values, and
/// neighbouring lanes hold neighbouring vectors, so that a tile is stored in 16-byte accesses.
template <class U>
struct packed_tile {
  static constexpr unsigned per_vector = 16 / sizeof(U);
  static constexpr unsigned vectors = 4;
  static constexpr unsigned lane_items = per_vector * vectors;
  /// Values of one vector of all lanes: a block of 32-bit values, half a block of 64-bit values.
  static constexpr unsigned vector_items = per_vector * simt::warp_size;
  static constexpr unsigned size = lane_items * simt::warp_size;
  static constexpr unsigned in_group = packed_group_items / size;
  static constexpr unsigned vectors_in_group = packed_group_items / vector_items;
  static constexpr unsigned vectors_in_block = packed_block_items / vector_items;

  U item[lane_items];

  /// Where in the tile this lane's `item` stands.
  [[nodiscard]] ZENITH_DEVICE static unsigned position_of(unsigned item) {
    return item / per_vector * vector_items + simt::lane_index() * per_vector + item % per_vector;
  }
};

namespace packed_bytes {

/// A word of the column's bytes, aligned to its size.
template <class Word>
ZENITH_DEVICE Word word_at(const std::byte* bytes, std::uint64_t offset) {
  return simt::load(reinterpret_cast<const Word*>(bytes + offset));
}

template <unsigned N, class Word>
ZENITH_DEVICE simt::vector<Word, N> words_at(const std::byte* bytes, std::uint64_t offset) {
  return simt::load_vector<N>(reinterpret_cast<const Word*>(bytes + offset));
}

/// `width` bits from bit `at` of 32-bit words on, without 64-bit shifts. Reads up to two words behind them.
template <class U>
ZENITH_DEVICE U bits_at(const std::uint32_t* words, std::uint32_t at, unsigned width) {
  words += at / 32;
  const std::uint32_t w0 = simt::load(words);
  const std::uint32_t w1 = simt::load(words + 1);
  const std::uint32_t low = simt::funnel_shift_right(w0, w1, at);
  if constexpr (sizeof(U) == 4) {
    return low & packed::low_mask<U>(width);
  } else {
    const std::uint32_t high = simt::funnel_shift_right(w1, simt::load(words + 2), at);
    return (static_cast<U>(high) << 32 | low) & packed::low_mask<U>(width);
  }
}

}  // namespace packed_bytes

/// The block of a group in which a lane's miniblock of that half stands.
ZENITH_DEVICE unsigned block_of_lane(unsigned half) {
  return (half * simt::warp_size + simt::lane_index()) / packed_miniblocks;
}

/// The sum over the lower lanes, and over all.
template <class U>
struct warp_sums {
  U before;
  U all;
};

template <class U>
ZENITH_DEVICE U warp_scan_inclusive(U sum) {
  ZENITH_UNROLL
  for (unsigned distance = 1; distance < simt::warp_size; distance *= 2) {
    const U below = simt::shuffle_up(simt::full_warp, sum, distance);
    if (simt::lane_index() >= distance) sum += below;
  }
  return sum;
}

/// The sum over the lower lanes.
template <class U>
ZENITH_DEVICE U warp_scan_before(U own) {
  return static_cast<U>(warp_scan_inclusive(own) - own);
}

template <class U>
ZENITH_DEVICE warp_sums<U> warp_scan(U own) {
  const U sum = warp_scan_inclusive(own);
  return {static_cast<U>(sum - own), simt::shuffle(simt::full_warp, sum, simt::warp_size - 1)};
}

/// `combine` over the values of all lanes, in each of them.
template <class U, class Combine>
ZENITH_DEVICE U warp_reduce(U value, const Combine& combine) {
  ZENITH_UNROLL
  for (unsigned lanes = simt::warp_size / 2; lanes > 0; lanes /= 2) {
    value = combine(value, simt::shuffle_xor(simt::full_warp, value, lanes));
  }
  return value;
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
