#pragma once

/// \file
/// The scan of strategy "filter" (filter.hpp) as a skeleton over a tile, for backends that write the phases around it
/// by hand.

#include <cstdint>

#include <algorithms/top_k/filter_plan.hpp>
#include <core/tile.hpp>

namespace zenith::top_k_detail {

/// Appends those of a tile's items that `keep` flags; they are loaded from whatever the tile takes.
/// `Sink::reserve(count)` returns where count entries go.
template <class Tile, class From, class Keep, class Sink>
ZENITH_FN void filter_tile(Tile& tile, const From& from, tile_index count, const Keep& keep, Sink& sink) {
  const auto items = tile.load(from, count);
  const auto flags = tile.flag(items, keep);
  if (!tile.any(flags)) return;
  const auto ranks = tile.scan(flags);
  tile.store_compacted(items, flags, ranks, sink.reserve(ranks.count));
}

}  // namespace zenith::top_k_detail
