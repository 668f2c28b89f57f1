#pragma once

/// \file
/// The values of delta, each a word and a step above the one before, in the lane that has their miniblock's words.

#include <backends/cuda/kernels/packed_column/miniblock.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Of a block: what it goes on from, and by what beside its words.
template <class U>
struct running_block {
  U base;
  U step;
};

/// Calls take(i, value) for the values of this lane's miniblock, i rising from 0 to 31. `of` is that of block lane % 16
/// of the group. All lanes together.
template <class U, class Words, class Take>
ZENITH_DEVICE void for_running_values(const Words& words, const running_block<U>& of, unsigned half, const Take& take) {
  U value = simt::shuffle(simt::full_warp, of.base, block_of_lane(half));
  const U step = simt::shuffle(simt::full_warp, of.step, block_of_lane(half));
  // the miniblocks of a block are those of neighbouring lanes
  const U own = static_cast<U>(words.sum()) + packed_miniblock_items * step;
  U steps = own;
  ZENITH_UNROLL
  for (unsigned distance = 1; distance < packed_miniblocks; distance *= 2) {
    const U below = simt::shuffle_up(simt::full_warp, steps, distance);
    if (simt::lane_index() % packed_miniblocks >= distance) steps += below;
  }
  value += steps - own;
  ZENITH_UNROLL
  for (unsigned i = 0; i < packed_miniblock_items; ++i) {
    value += words.value(i) + step;
    take(i, value);
  }
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
