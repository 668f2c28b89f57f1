#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <zenith/spatial_join_call.hpp>
#include <zenith/top_k_call.hpp>
#include <zenith/types.hpp>

/// \file
/// How a spatial index lies in memory, and queries of it as kernels receive them.

namespace zenith {

/// The fanouts that a spatial index can have.
inline constexpr std::uint32_t least_index_fanout = 2;
inline constexpr std::uint32_t most_index_fanout = 64;
/// Levels of nodes: enough for 2^32 items at a fanout of 2.
inline constexpr std::uint32_t most_index_levels = 32;

/// Where the parts of a linearised MAX aR-tree stand: one piece of memory, aligned to 64 bytes. Nodes are numbered
/// level by level, from the root down or from the leaves up; level 1 are the leaves. Node p of level l has the entries
/// p * fanout to (p + 1) * fanout - 1 of level l - 1, or as many as there are; level 0 are the items. So no node has a
/// pointer. All offsets are in bytes from the beginning; columns hold values of `type`, one for each node or item.
struct spatial_index_layout {
  key_type type{};  ///< of coordinates and scores: float32, float64
  std::uint32_t dimensions = 2;
  std::uint32_t fanout = 16;
  bool has_boxes = false;     ///< else the items are points, and `high` is `low`
  bool leaves_first = false;  ///< else the root is node 0
  std::uint64_t items = 0;
  std::uint32_t levels = 0;                          ///< of nodes; 0 without items
  std::uint64_t begins[most_index_levels + 1] = {};  ///< the first node of each level from 1 on; [0]: how many nodes
  std::uint64_t sizes[most_index_levels + 1] = {};   ///< how many nodes each level has; [0]: items

  std::uint64_t node_low[3] = {};
  std::uint64_t node_high[3] = {};
  std::uint64_t node_most = 0;   ///< the largest score below a node
  std::uint64_t node_least = 0;  ///< the smallest
  std::uint64_t low[3] = {};     ///< of items, in the order of the tree
  std::uint64_t high[3] = {};
  std::uint64_t scores = 0;
  std::uint64_t ids = 0;           ///< 32 bits an item: its row in the input
  std::uint64_t scores_by_id = 0;  ///< the same scores in the order of the input
  std::uint64_t bytes = 0;
};

/// An index where kernels can read it.
struct spatial_index_memory {
  const spatial_index_layout* layout = nullptr;
  const std::byte* bytes = nullptr;         ///< in `space`
  memory_space space = memory_space::host;  ///< of the bytes
};

/// Builds an index by Sort-Tile-Recursive: all of its bytes but the header, the first 64, in whose place are zeros. The
/// bytes are those of a build on the host. Arguments are checked, but for the values. Of faults the first counts, in
/// the order: lowest x, highest x, boxes that are turned there, y, z, scores; with a fault nothing is written.
struct index_build_call {
  static constexpr std::string_view operation = "index_build";

  const spatial_index_layout* layout = nullptr;  ///< of 1 item and more
  memory_space space = memory_space::host;       ///< of the columns
  spatial_side low;                              ///< or points, with the scores
  spatial_side high;                             ///< of boxes; else it has no rows
  std::byte* bytes = nullptr;
  memory_space out_space = memory_space::host;
  spatial_outcome* outcome = nullptr;
  double* least = nullptr;  ///< becomes the smallest score
  double* most = nullptr;   ///< and the largest
};

/// The min(k, items in the region) best items by score, then by id. Arguments are checked: an index that is not empty,
/// k >= 1, low <= high, a distance that is not negative. With g the gap between the item and the box from `low` to
/// `high` on each axis,
///
///     max(item low - high, low - item high, 0)
///
/// an item is in the region when gx * gx + gy * gy [+ gz * gz] <= distance * distance, every operation rounded to the
/// coordinates' type, or, with `intersects`, when no gap is above 0.
struct top_k_range_call {
  static constexpr std::string_view operation = "top_k_range";

  spatial_index_memory index;
  double low[3] = {};
  double high[3] = {};
  bool intersects = true;
  double distance = 0;
  selection select = selection::largest;
  std::uint64_t k = 0;
  int index_bytes = 4;  ///< of an id: 4 or 8
  memory_space out_space = memory_space::host;
  /// Gives memory in `out_space` for so many items, ids in `left`. Called once.
  spatial_output (*provide)(void* state, std::uint64_t count) = nullptr;
  void* provide_state = nullptr;
  std::uint64_t* found = nullptr;  ///< becomes the number of items that were written
};

/// All pairs of two indexes whose left id is one of `rows` >= 1 from `first` on, by left id, which counts from `first`,
/// and then by right id. Of the columns only `rows` is looked at. Gaps between two items are as for a range, and
/// `intersects` replaces the distance.
struct index_join_call : spatial_call {
  static constexpr std::string_view operation = "index_join";

  spatial_index_memory left_index;
  spatial_index_memory right_index;
  bool intersects = false;
  std::uint64_t first = 0;
  std::uint64_t rows = 0;
};

/// The k best pairs of items of two indexes. As for `top_k_spatial_join_call`, whose columns are not looked at; gaps
/// between two items are as for a range, and `intersects` replaces the distance. Scores were checked as well.
struct top_k_index_join_call : top_k_spatial_join_call {
  static constexpr std::string_view operation = "top_k_index_join";

  spatial_index_memory left_index;
  spatial_index_memory right_index;
  bool intersects = false;
};

}  // namespace zenith
