#pragma once

/// \file
/// The kernel that all queries over a packed column share: each warp takes group after group, unpacks it tile by tile,
/// and hands each tile to what the query makes of it.

#include <backends/cuda/kernels/packed_column/unpack_bytes.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Unpacks the tiles of an open group that hold some of values [begin, end), and hands them on.
template <class Source, class State>
ZENITH_DEVICE void visit_group(const Source& source, State& state, const packed_layout& column, std::uint64_t group,
                               std::uint64_t begin, std::uint64_t end) {
  using tile = typename Source::tile;
  for (unsigned number = 0; number < tile::in_group; ++number) {
    const std::uint64_t first = group * packed_group_items + number * tile::size;
    if (first >= end) break;
    if (first + tile::size <= begin) continue;
    const std::uint64_t left = column.count - first;
    const unsigned items = left < tile::size ? static_cast<unsigned>(left) : tile::size;
    tile values;
    source.unpack(number, items, values);
    state.take(values, first, items);
  }
  state.finish_group(group);
}

/// A consumer is a kernel's argument; its `state` is what a warp carries along:
///   state(consumer)
///   bias()                     what is to be added to every value
///   take(tile, first, items)   the tile's values are first, first + 1, …, of which `items` exist
///   finish_group(group)        after a group's last tile
///   finish(shared)             at the end, all threads of the block
template <class U, encoding Kind, class Consumer>
struct visit_column {
  static constexpr unsigned block_size = 256;
  /// Measured: with more, fewer registers are left for loads in flight.
  static constexpr unsigned wanted_blocks = 3;
  static constexpr unsigned warps = block_size / simt::warp_size;

  packed_layout column;
  std::uint64_t begin;  ///< values [begin, end)
  std::uint64_t end;
  Consumer consumer;

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(std::uint64_t, partials, 2 * warps);
    typename Consumer::state state(consumer);
    unpacker<U, Kind> source(column, state.bias());
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * warps;
    const std::uint64_t groups = (end + packed_group_items - 1) / packed_group_items;
    std::uint64_t group = begin / packed_group_items + std::uint64_t{simt::block_index()} * warps + simt::warp_index();
    if (group < groups) source.fetch(group);
    for (; group < groups; group += stride) {
      source.open(group);
      if (group + stride < groups) source.fetch(group + stride);
      visit_group(source, state, column, group, begin, end);
    }
    state.finish(partials);
  }
};

/// `combine` over a number of each thread of the block, in lane 0 of warp 0; the others get something else.
/// `partials` has an element for each warp.
template <class Combine>
ZENITH_DEVICE std::uint64_t block_reduce(std::uint64_t value, const simt::shared_span<std::uint64_t>& partials,
                                         const Combine& combine) {
  value = warp_reduce(value, combine);
  if (simt::lane_index() == 0) partials.write(simt::warp_index(), value);
  simt::block_barrier();
  if (simt::thread_index() == 0) {
    for (unsigned warp = 1; warp < simt::block_size() / simt::warp_size; ++warp) {
      value = combine(value, partials.read(warp));
    }
  }
  return value;
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
