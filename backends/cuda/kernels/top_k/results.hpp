#pragma once

/// \file
/// The last kernel of every strategy: entries to the caller's keys and indices.

#include <backends/cuda/simt/vocabulary.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// What an item's position among the keys is called in the result.
struct index_naming {
  std::uint64_t first;         ///< the index of keys[0]
  const std::uint64_t* names;  ///< when not nullptr: the index of keys[i] is names[i]

  [[nodiscard]] ZENITH_DEVICE std::uint64_t name(std::uint32_t position) const {
    return names == nullptr ? first + position : simt::load(names + position);
  }
};

/// Keys are fetched from the input, so that -0 and a NaN's bits are the input's own.
template <class T, class Index, class Entry>
struct write_results {
  static constexpr unsigned block_size = 256;

  const Entry* best;
  const T* keys;
  std::uint32_t k;
  T* out_keys;
  Index* out_indices;
  index_naming naming;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * block_size;
    for (std::uint64_t i = std::uint64_t{simt::block_index()} * block_size + simt::thread_index(); i < k; i += stride) {
      const std::uint32_t position = simt::load(best + i).index();
      simt::store(out_keys + i, simt::load(keys + position));
      simt::store(out_indices + i, static_cast<Index>(naming.name(position)));
    }
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
