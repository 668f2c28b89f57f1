#pragma once

/// \file
/// Where a bitonic kernel's entries come from: the keys themselves, or what a filter let through.

#include <algorithms/top_k/entry.hpp>
#include <algorithms/top_k/order.hpp>
#include <backends/cuda/simt/vocabulary.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

using top_k_detail::entry_t;
using top_k_detail::key_order;

/// Keys in the caller's memory; entry i is key i.
template <class T>
struct key_source {
  using image_t = typename key_order<T>::image_t;
  using entry = entry_t<image_t>;
  static constexpr unsigned per_vector = 16 / sizeof(T);

  const T* keys;
  std::uint32_t count;
  key_order<T> order;

  /// Fills the registers of one thread with its share of the `Items * threads` entries from `first` on, in no
  /// particular order; entries beyond the last are `worst`.
  template <unsigned Items>
  ZENITH_DEVICE void load(entry (&items)[Items], std::uint64_t first, unsigned thread, unsigned threads) const {
    const bool is_whole = first + std::uint64_t{Items} * threads <= count;
    if (is_whole && reinterpret_cast<std::uintptr_t>(keys) % 16 == 0) {
      // Neighbouring lanes load neighbouring vectors: before the sort no item's place matters.
      ZENITH_UNROLL
      for (unsigned v = 0; v < Items / per_vector; ++v) {
        const auto at = static_cast<std::uint32_t>(first) + (v * threads + thread) * per_vector;
        const auto loaded = simt::load_vector_streaming<per_vector>(keys + at);
        ZENITH_UNROLL
        for (unsigned i = 0; i < per_vector; ++i) {
          items[v * per_vector + i] = entry::make(order.image(loaded.value[i]), at + i);
        }
      }
    } else {
      ZENITH_UNROLL
      for (unsigned i = 0; i < Items; ++i) {
        const std::uint64_t at = first + i * threads + thread;
        items[i] = at < count
                       ? entry::make(order.image(simt::load_streaming(keys + at)), static_cast<std::uint32_t>(at))
                       : entry::worst();
      }
    }
  }
};

/// Entries in two buffers of which only the device knows how full they are: those above the filter's threshold, and
/// those equal to it. The second buffer follows the first.
template <class Entry>
struct survivor_source {
  using entry = Entry;

  const Entry* entries;
  const std::uint32_t* above;  ///< how many of the first buffer
  const std::uint32_t* equal;  ///< how many of the second
  std::uint32_t above_capacity;

  template <unsigned Items>
  ZENITH_DEVICE void load(entry (&items)[Items], std::uint64_t first, unsigned thread, unsigned threads) const {
    const std::uint64_t above_end = simt::load(above);
    const std::uint64_t equal_end = std::uint64_t{above_capacity} + simt::load(equal);
    ZENITH_UNROLL
    for (unsigned i = 0; i < Items; ++i) {
      const std::uint64_t at = first + i * threads + thread;
      const bool is_held = at < above_capacity ? at < above_end : at < equal_end;
      items[i] = is_held ? simt::load(entries + at) : entry::worst();
    }
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
