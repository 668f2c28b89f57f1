#pragma once

/// \file
/// Where the strategies' keys come from: memory of the space, or a packed column whose decoded values are written
/// nowhere.

#include <cstdint>
#include <type_traits>

#include <backends/kokkos/space.hpp>
#include <core/tile.hpp>
#include <zenith/packed_block.hpp>

namespace zenith::kokkos_backend {

// Keys have
//   key                                       their type
//   keys(i)                                   one of them
//   each(lanes, begin, end, use)              use(key) for each of a range, shared out to the lanes
//   each_tile(lanes, tile, begin, end, use)   use(part, count) for tiles of a range: what `tile.load` takes

template <class T>
struct plain_keys {
  using key = T;

  borrowed<const T> keys;

  [[nodiscard]] KOKKOS_FUNCTION T operator()(std::uint64_t i) const { return keys(static_cast<std::size_t>(i)); }

  template <class Use>
  KOKKOS_FUNCTION void each(const team& lanes, std::uint64_t begin, std::uint64_t end, const Use& use) const {
    const auto stride = static_cast<std::uint64_t>(lanes.team_size());
    for (auto i = begin + static_cast<std::uint64_t>(lanes.team_rank()); i < end; i += stride) use((*this)(i));
  }

  template <class Tile, class Use>
  KOKKOS_FUNCTION void each_tile(const team& /*lanes*/, Tile& tile, std::uint64_t begin, std::uint64_t end,
                                 const Use& use) const {
    for (std::uint64_t at = begin; at < end; at += tile.size()) {
      tile.place(at);
      use(keys.data() + at, end - at < tile.size() ? static_cast<tile_index>(end - at) : tile.size());
    }
  }
};

/// Neighbouring values that a lane has decoded, and which of them count.
template <class Word>
struct decoded_values {
  const Word* values;
  tile_index begin;
  tile_index end;
};

/// The values of a column from block `origin` on; their indices count from there. A lane decodes a block at a time.
template <class T>
struct packed_keys {
  using key = T;
  using word = std::make_unsigned_t<T>;

  packed_layout column;
  std::uint64_t origin;

  [[nodiscard]] KOKKOS_FUNCTION T operator()(std::uint64_t i) const {
    return static_cast<T>(packed::value_at<word>(column, origin * packed_block_items + i));
  }

  template <class Use>
  KOKKOS_FUNCTION void each(const team& lanes, std::uint64_t begin, std::uint64_t end, const Use& use) const {
    each_block(lanes, begin, end, [&](std::uint64_t, const word* values, tile_index from, tile_index to) {
      for (tile_index i = from; i < to; ++i) use(static_cast<T>(values[i]));
    });
  }

  template <class Tile, class Use>
  KOKKOS_FUNCTION void each_tile(const team& lanes, Tile& tile, std::uint64_t begin, std::uint64_t end,
                                 const Use& use) const {
    each_block(lanes, begin, end, [&](std::uint64_t at, const word* values, tile_index from, tile_index to) {
      for (tile_index part = 0; part < packed_block_items; part += Tile::lane_items) {
        const auto within = [&](tile_index i) {
          const tile_index past = i < part ? 0 : i - part;
          return past < Tile::lane_items ? past : Tile::lane_items;
        };
        tile.place_lane(at + part);
        use(decoded_values<word>{values + part, within(from), within(to)}, tile.size());
      }
    });
  }

 private:
  /// Calls use(at, values, from, to) for blocks of 128 values that begin at `at`, of which [from, to) are in the range.
  /// All lanes call equally often; the range of one without a block is empty.
  template <class Use>
  KOKKOS_FUNCTION void each_block(const team& lanes, std::uint64_t begin, std::uint64_t end, const Use& use) const {
    const std::uint64_t last = (end + packed_block_items - 1) / packed_block_items;
    const auto stride = static_cast<std::uint64_t>(lanes.team_size());
    for (std::uint64_t first = begin / packed_block_items; first < last; first += stride) {
      const std::uint64_t block = first + static_cast<std::uint64_t>(lanes.team_rank());
      const std::uint64_t at = block * packed_block_items;
      word values[packed_block_items];
      tile_index from = 0;
      tile_index to = 0;
      if (block < last) {
        packed::unpack_block(column, origin + block, values);
        from = begin > at ? static_cast<tile_index>(begin - at) : 0;
        to = end - at < packed_block_items ? static_cast<tile_index>(end - at) : packed_block_items;
      }
      use(at, values, from, to);
    }
  }
};

}  // namespace zenith::kokkos_backend
