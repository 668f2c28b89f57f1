#pragma once

/// \file
/// What a filter's run is to be remembered by, for those who ask. One thread each; chunks of one call add up.

#include <backends/cuda/kernels/top_k/filter_state.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

struct report_numbers {
  static constexpr unsigned block_size = simt::warp_size;

  run_report* to;
  std::uint32_t reads;
  std::uint32_t survivors;

  ZENITH_DEVICE void operator()() const {
    if (simt::thread_index() != 0) return;
    simt::atomic_max(&to->reads, reads);
    simt::atomic_add(&to->survivors, survivors);
  }
};

template <class Image>
struct report_filter {
  static constexpr unsigned block_size = simt::warp_size;

  const filter_state<Image>* state;
  run_report* to;

  ZENITH_DEVICE void operator()() const {
    if (simt::thread_index() != 0) return;
    simt::atomic_max(&to->reads, simt::load(&state->reads));
    simt::atomic_add(&to->survivors, simt::load(&state->above) + simt::load(&state->equal));
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
