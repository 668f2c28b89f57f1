#pragma once

/// \file
/// What a call of a shared strategy asks for, beside the source, and how its results are written.

#include <cstdint>

#include <algorithms/top_k/scan_order.hpp>
#include <core/device/context.hpp>
#include <core/device/list.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::top_k_detail {

using device::u32;
using device::u64;

template <class Source>
using source_entry = ordered::entry_t<ordered::bits_t<typename Source::key>>;
template <class Source>
using source_order = ordered::key_order<typename Source::key>;

/// Item i of a source as an entry.
template <class Source>
ZENITH_FN source_entry<Source> entry_at(const Source& source, const source_order<Source>& order, u64 i) {
  return source_entry<Source>::make(order.image(device::key_at(source, i)), static_cast<u32>(i));
}

/// Outputs are the device's.
template <class Key>
struct selection_request {
  u64 k = 0;
  bool smallest = false;
  bool nan_first = false;
  Key* out_keys = nullptr;
  void* out_indices = nullptr;
  int index_bytes = 8;
  u64 first_index = 0;
  top_k_statistics* statistics = nullptr;
  /// Where it is not 0, items of a lesser image are not wanted, and fewer than k may be found. Filters alone know it.
  ordered::bits_t<Key> least_image = 0;
  /// The host may be asked whether a phase is needed at all: one answer takes a device less time than to launch what
  /// is then left out.
  bool may_wait = false;
};

/// A source of images (core/key_order.hpp): the largest key is the best, in every call.
template <class Source>
concept image_source = requires {
  requires Source::are_images;
};

/// The k best as the caller wants them: the input's own bits, and indices of the caller's type. The worst entry, which
/// stands in for those that were not found, is not written.
template <class Source, class Index>
struct write_results {
  using entry = source_entry<Source>;

  Source source;
  const entry* best;
  typename Source::key* out_keys;
  Index* out_indices;
  u64 first_index;

  ZENITH_FN void operator()(u64 i) const {
    const u32 index = best[i].index();
    if (index == entry::worst().index()) return;
    if constexpr (image_source<Source>) {
      out_keys[i] = best[i].image();
    } else {
      out_keys[i] = device::key_at(source, index);
    }
    out_indices[i] = static_cast<Index>(first_index + index);
  }
};

template <class Source>
using result_kernels = device::list<write_results<Source, std::uint32_t>, write_results<Source, std::uint64_t>>;

template <class Context, class Source>
void write_best(Context& on, const Source& source, const selection_request<typename Source::key>& asked,
                const source_entry<Source>* best) {
  const auto as = [&]<class Index>(Index* indices) {
    on.for_each(asked.k, write_results<Source, Index>{source, best, asked.out_keys, indices, asked.first_index});
  };
  asked.index_bytes == 4 ? as(static_cast<std::uint32_t*>(asked.out_indices))
                         : as(static_cast<std::uint64_t*>(asked.out_indices));
}

}  // namespace zenith::top_k_detail
