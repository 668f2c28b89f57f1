#pragma once

/// \file
/// Packing, a lane a group: the plain encoder, on the device.

#include <algorithms/packed_column/encode.hpp>
#include <backends/cuda/simt/vocabulary.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class U>
struct measure_groups {
  static constexpr unsigned block_size = 64;

  packed::encoder<U> with;
  std::uint64_t groups;
  encoding asked;
  packed::group_sizes* sizes;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t group = std::uint64_t{simt::block_index()} * block_size + simt::thread_index();
    if (group < groups) simt::store(sizes + group, with.measure(group, asked));
  }
};

template <class U>
struct write_groups {
  static constexpr unsigned block_size = 64;

  packed::encoder<U> with;
  std::uint64_t groups;
  packed_layout to;
  std::byte* out;  ///< zeros
  const packed::group_place* places;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t group = std::uint64_t{simt::block_index()} * block_size + simt::thread_index();
    if (group < groups) with.write(group, to, out, simt::load(places + group));
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
