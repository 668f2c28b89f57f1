#pragma once

/// \file
/// Tiles, each of a warp. A full one of a formula source is read in vectors and knows at compile time that it is full;
/// what is left over, and columns that no vector fits, are read item by item under a mask. Blocks are decoded by a lane
/// each.
///
/// What a team needs of a tile: `lane_items`, and of item i of the calling lane whether the tile `holds` it, its `key`
/// and its `index` in the source.

#include <algorithm>
#include <concepts>
#include <type_traits>

#include <backends/cuda/simt/vocabulary.hpp>
#include <backends/cuda/tuning.hpp>
#include <core/device/pack.hpp>
#include <core/device/source.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

using device::u32;
using device::u64;

/// How a source's tiles are laid out: the same for all columns, whatever their widths, so that one formula runs over
/// all of them.
template <class Source>
struct tile_layout {
  static constexpr unsigned widest = Source::widest < 4 ? 4 : Source::widest;
  static constexpr unsigned per_vector = 16 / widest;
  static constexpr unsigned lane_items = tuning::tile_vectors(Source::streams) * per_vector;
  static constexpr unsigned items = lane_items * simt::warp_size;
  static_assert(lane_items <= 32, "a lane's flags are the bits of a word");
};

template <device::formula_source Source, bool Full>
struct register_tile {
  using layout = tile_layout<Source>;
  using key_type = typename Source::key;
  static constexpr bool is_full = Full;
  static constexpr unsigned lane_items = layout::lane_items;

  device::pack<key_type, lane_items> keys;
  u64 first;
  u32 count;

  // Neighbouring lanes read neighbouring vectors, or items where there are none.
  static constexpr unsigned run = Full ? layout::per_vector : 1;
  ZENITH_DEVICE static unsigned lane_first() { return simt::lane_index() * run; }
  /// From the lane's first item on.
  ZENITH_DEVICE static constexpr unsigned distance(unsigned item) {
    return item / run * (simt::warp_size * run) + item % run;
  }
  ZENITH_DEVICE static unsigned position(unsigned item) { return lane_first() + distance(item); }
  [[nodiscard]] ZENITH_DEVICE bool holds(unsigned item) const { return Full || position(item) < count; }
  [[nodiscard]] ZENITH_DEVICE u64 index(unsigned item) const { return first + position(item); }
  [[nodiscard]] ZENITH_DEVICE key_type key(unsigned item) const { return keys.item[item]; }
};

/// load(column) of the calling lane's part of a tile; each(f) is f(i) of its items i.
template <class Tile>
struct load_tile {
  u64 first;
  u32 count;

  template <class T>
  ZENITH_DEVICE auto operator()(const T* column) const {
    return as<T>(column);
  }
  template <class S, class T>
  ZENITH_DEVICE auto as(const T* column) const {
    static_assert(sizeof(T) <= Tile::layout::widest && sizeof(S) <= Tile::layout::widest,
                  "the source's `widest` is too small");
    constexpr unsigned per_vector = Tile::layout::per_vector;
    device::pack<S, Tile::lane_items> out;
    if constexpr (Tile::is_full) {
      // one address, and distances from it that the compiler knows
      const T* const from = column + first + Tile::lane_first();
      ZENITH_UNROLL
      for (unsigned v = 0; v < Tile::lane_items / per_vector; ++v) {
        const auto got = simt::load_vector_streaming<per_vector>(from + Tile::distance(v * per_vector));
        ZENITH_UNROLL
        for (unsigned i = 0; i < per_vector; ++i) out.item[v * per_vector + i] = static_cast<S>(got.value[i]);
      }
    } else {
      ZENITH_UNROLL
      for (unsigned i = 0; i < Tile::lane_items; ++i) {
        const unsigned at = Tile::position(i);
        out.item[i] = at < count ? static_cast<S>(simt::load_streaming(column + first + at)) : S{};
      }
    }
    return out;
  }
  template <class F>
  ZENITH_DEVICE auto each(const F& f) const {
    using value = decltype(f(u64{}));
    device::pack<value, Tile::lane_items> out;
    ZENITH_UNROLL
    for (unsigned i = 0; i < Tile::lane_items; ++i) {
      const unsigned at = Tile::position(i);
      out.item[i] = Tile::is_full || at < count ? f(first + at) : value{};
    }
    return out;
  }
};

template <class Tile, class Source>
ZENITH_DEVICE Tile read_tile(const Source& source, u64 first, u32 count) {
  return {source.lanes(load_tile<Tile>{first, count}), first, count};
}

/// Asks a formula which columns it reads, and notes from which of the first items on a vector of each is aligned.
template <unsigned PerVector>
struct alignment_probe {
  u32* heads;  ///< bit h: all columns seen so far are aligned at item h

  template <class T>
  ZENITH_DEVICE T operator()(const T* column) const {
    return as<T>(column);
  }
  template <class S, class T>
  ZENITH_DEVICE S as(const T* column) const {
    constexpr unsigned bytes = PerVector * sizeof(T);
    const auto past = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(column) % bytes);
    *heads &= 1U << (bytes - past) % bytes / sizeof(T);
    return S{1};
  }
  /// Items one by one are aligned anywhere.
  template <class F>
  ZENITH_DEVICE auto each(const F& f) const {
    return decltype(f(u64{})){};
  }
};

/// How many items to read before the first full tile, which is aligned then in every column; `none` when there is no
/// such number.
template <class Source>
struct aligned_head {
  static constexpr u32 none = ~u32{0};

  ZENITH_DEVICE static u32 of(const Source& source) {
    u32 heads = ~u32{0};
    static_cast<void>(source.lanes(alignment_probe<tile_layout<Source>::per_vector>{&heads}));
    const u32 head = simt::find_first_set(heads) - 1;
    return heads == 0 || source.size() < head ? none : head;
  }
};

/// A part of the block that the calling lane decoded.
template <class Key>
struct decoded_part {
  using key_type = Key;
  static constexpr bool is_full = false;
  static constexpr unsigned lane_items = tuning::decoded_lane_items;

  const Key* keys;
  u64 first;  ///< of the calling lane
  u64 end;    ///< of the source, or `first` where the lane has no block

  [[nodiscard]] ZENITH_DEVICE bool holds(unsigned item) const { return first + item < end; }
  [[nodiscard]] ZENITH_DEVICE u64 index(unsigned item) const { return first + item; }
  [[nodiscard]] ZENITH_DEVICE Key key(unsigned item) const { return keys[item]; }
};

/// Calls body with the tiles of the calling warp, which is number `warp` of `warps`.
template <class Source, class Body>
ZENITH_DEVICE void each_warp_tile(const Source& source, u64 warp, u64 warps, const Body& body) {
  const u64 size = source.size();
  if constexpr (device::block_source<Source>) {
    using part = decoded_part<typename Source::key>;
    constexpr unsigned block_items = Source::block_items;
    static_assert(block_items % part::lane_items == 0);
    typename Source::key keys[block_items];
    const u64 blocks = (size + block_items - 1) / block_items;
    for (u64 group = warp * simt::warp_size; group < blocks; group += warps * simt::warp_size) {
      const u64 block = group + simt::lane_index();
      const bool has_one = block < blocks;
      if (has_one) source.decode(block, keys);
      for (unsigned at = 0; at < block_items; at += part::lane_items) {
        const u64 first = block * block_items + at;
        body(part{keys + at, first, has_one ? size : first});
      }
    }
  } else {
    using full = register_tile<Source, true>;
    using part = register_tile<Source, false>;
    constexpr u32 items = full::layout::items;
    const u32 head = aligned_head<Source>::of(source);
    const bool has_vectors = head != aligned_head<Source>::none;
    const u64 front = has_vectors && head != 0 ? 1 : 0;
    const u64 tiles = has_vectors ? (size - head) / items : 0;
    const u64 rest = has_vectors ? head + tiles * items : 0;
    for (u64 i = warp; i < tiles; i += warps) body(read_tile<full>(source, head + i * items, items));
    const u64 parts = front + (size - rest + items - 1) / items;
    // from the last warp on: the first ones may have had a tile more
    for (u64 i = warps - 1 - warp; i < parts; i += warps) {
      const u64 first = i < front ? 0 : rest + (i - front) * items;
      const u64 left = (i < front ? head : size) - first;
      body(read_tile<part>(source, first, left < items ? static_cast<u32>(left) : items));
    }
  }
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
