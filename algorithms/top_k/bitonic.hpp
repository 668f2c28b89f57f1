#pragma once

/// \file
/// Strategy "bitonic": local sort, merge, rebuild (Shanbhag et al. 2018, section 3.2), as skeletons over the tile.
///
/// `sort_reduce_tile` is the paper's SortReducer and `bitonic_reduce_tile` its BitonicReducer (section 4.3, merging
/// operators): each takes a tile of items down to fewer runs of k without leaving the tile's memory. Kernels repeat the
/// second until one run is left. The network never looks at the data: its time does not depend on the distribution.

#include <cstdint>

#include <core/tile.hpp>

namespace zenith::top_k_detail {

/// The lower of the two positions that step `distance` of a bitonic network compares as its pair number t (Algorithm 2,
/// lines 5 and 6); the other is `distance` further.
[[nodiscard]] ZENITH_FN std::uint64_t pair_position(std::uint64_t t, std::uint64_t distance) {
  const std::uint64_t low = t & (distance - 1);
  return (t << 1) - low;
}

/// Whether the run of length `run` that holds position i is to be descending (best first): runs alternate, so that two
/// neighbours form a bitonic sequence (Algorithm 2, line 7).
[[nodiscard]] ZENITH_FN bool is_descending(std::uint64_t i, std::uint64_t run) { return (i & run) == 0; }

/// Position in L of the first of the two items that merge compares for its output t (Algorithm 3); the second is k
/// further.
[[nodiscard]] ZENITH_FN std::uint64_t merge_position(std::uint64_t t, std::uint64_t k) {
  const std::uint64_t low = t & (k - 1);
  return (t << 1) - low;
}

/// SortReducer: unsorted items to bitonic-reduced runs. The tile holds `tile.size()` entries, a power of two; it is
/// left with `tile.size() / reduction` of them, as sorted runs of k that alternate in direction. `Length` is
/// `tile_index`, or wider where the whole device is one tile.
template <class Tile, class Length>
ZENITH_FN void sort_reduce_tile(Tile& tile, Length k, Length reduction) {
  tile.sort_runs(k);
  for (Length left = reduction; left > 1; left /= 2) {
    tile.merge_runs(k);
    tile.rebuild_runs(k);
  }
}

/// BitonicReducer: sorted runs of k that alternate in direction, to `reduction` times fewer of the same kind.
template <class Tile, class Length>
ZENITH_FN void bitonic_reduce_tile(Tile& tile, Length k, Length reduction) {
  for (Length left = reduction; left > 1; left /= 2) {
    tile.merge_runs(k);
    tile.rebuild_runs(k);
  }
}

}  // namespace zenith::top_k_detail
