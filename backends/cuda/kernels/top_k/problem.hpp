#pragma once

/// \file
/// A top-k call once all of its data lies on the device: what its kernels are given, as it is.

#include <cstdint>

#include <algorithms/top_k/entry.hpp>
#include <algorithms/top_k/order.hpp>
#include <backends/cuda/simt/vocabulary.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// What the device counts of a run, for top_k_statistics.
struct run_report {
  std::uint32_t reads;      ///< whole reads of the keys, the most of any chunk
  std::uint32_t survivors;  ///< of all chunks together
};

/// What an item's position among the keys is called in the result.
struct index_naming {
  std::uint64_t first;         ///< the index of keys[0]
  const std::uint64_t* names;  ///< when not nullptr: the index of keys[i] is names[i]

  [[nodiscard]] ZENITH_DEVICE std::uint64_t name(std::uint32_t position) const {
    return names == nullptr ? first + position : simt::load(names + position);
  }
};

template <class T>
struct device_problem {
  using image_t = typename top_k_detail::key_order<T>::image_t;
  using entry = top_k_detail::entry_t<image_t>;

  const T* keys;
  std::uint32_t count;
  std::uint32_t k;
  top_k_detail::key_order<T> order;
  T* out_keys;
  void* out_indices;
  int index_bytes;
  index_naming naming;
  run_report* report = nullptr;  ///< on the device; nullptr: not asked for

  /// The key at `position` becomes the result's number `place`. It is fetched from the input, so that -0 and a NaN's
  /// bits are the input's own.
  ZENITH_DEVICE void write(std::uint64_t place, std::uint32_t position) const {
    simt::store(out_keys + place, simt::load(keys + position));
    const std::uint64_t name = naming.name(position);
    if (index_bytes == 4) {
      simt::store(static_cast<std::uint32_t*>(out_indices) + place, static_cast<std::uint32_t>(name));
    } else {
      simt::store(static_cast<std::uint64_t*>(out_indices) + place, name);
    }
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
