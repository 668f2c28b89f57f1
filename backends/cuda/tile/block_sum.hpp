#pragma once

/// \file
/// The scan of a value of each thread, by a block.

#include <backends/cuda/simt/vocabulary.hpp>
#include <backends/cuda/tuning.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// The sum of the threads' values before the calling thread's; `all` becomes that of all of them. A barrier.
template <unsigned Warps = tuning::team_warps, class T>
ZENITH_DEVICE T sum_of_threads_before(T own, T& all) {
  ZENITH_STATIC_SHARED(T, of_warps, Warps);
  T up_to = own;
  ZENITH_UNROLL
  for (unsigned distance = 1; distance < simt::warp_size; distance *= 2) {
    const T below = simt::shuffle_up(simt::full_warp, up_to, distance);
    if (simt::lane_index() >= distance) up_to += below;
  }
  if (simt::lane_index() == simt::warp_size - 1) of_warps.write(simt::warp_index(), up_to);
  simt::block_barrier();
  T before = up_to - own;
  all = T{};
  ZENITH_UNROLL
  for (unsigned warp = 0; warp < Warps; ++warp) {
    const T of_warp = of_warps.read(warp);
    if (warp < simt::warp_index()) before += of_warp;
    all += of_warp;
  }
  return before;
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
