#pragma once

/// \file
/// The tile vocabulary: what a skeleton may ask of a tile, and what every backend's tile promises.
///
/// A *tile* is a few hundred to a few thousand consecutive items that one *team* of lanes holds in its registers and
/// its fastest memory. Tile functions are bulk-synchronous: between two of them no lane has an identity, so a skeleton
/// is one straight text that runs as a CUDA block, as a SIMD loop of one CPU core or as a Kokkos team.
///
/// A tile type has
///
///     using item = …;                    // what it holds: a key, an entry
///     items load(const item* from, index_t count)      // lanes beyond count hold nothing and are never flagged
///     flags flag(const items&, predicate)              // one bit an item
///     bool  any(const flags&)                          // of the whole team, uniform
///     ranks scan(const flags&)                         // exclusive ranks and their total: .count, uniform
///     void  store_compacted(const items&, const flags&, const ranks&, slot)
///
/// and, for the ordering family, on runs of k items that the tile holds (k a power of two):
///
///     void sort_runs(k)      // local sort: runs of k, alternately descending and ascending
///     void merge_runs(k)     // the better of each pair of neighbouring runs: half as many runs, each bitonic
///     void rebuild_runs(k)   // sorts bitonic runs, alternately descending and ascending
///
/// A backend offers the functions that its strategies use; a skeleton names what it needs, and a tile that lacks it
/// does not compile. `load` is the only function that knows where plain items come from; beside it stands
///
///     items unpack(const packed_layout&, index_t block)   // the items of one block of a packed column, decoded
///
/// and a skeleton written for a plain column runs on a packed one by changing that one word.

#include <zenith/function.hpp>

namespace zenith {

/// The number of items of a tile, or a position in it.
using tile_index = unsigned;

}  // namespace zenith
