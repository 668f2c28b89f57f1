#pragma once

/// \file
/// Where sorted cells begin, and the parts of them that teams make blocks of.

#include <core/device/bisect.hpp>
#include <core/device/kernel.hpp>
#include <core/device/list.hpp>

namespace zenith::threshold_build_family {

using device::u32;
using device::u64;

/// Where cell c begins among sorted cells; behind the last one: their end.
struct find_cells {
  const u32* sorted;
  u32 count;
  u32* to;

  ZENITH_FN void operator()(u64 c) const {
    to[c] = device::first_failing(count, [&](u32 i) ZENITH_BODY { return sorted[i] < c; });
  }
};

/// Cells as parts of at most so many rows, each a team's; blocks begin with them.
struct part_sizes {
  u32 rows;        ///< of a part, a multiple of those of a block
  u32 block_rows;  ///< of a full block

  [[nodiscard]] ZENITH_FN u32 parts(u32 count) const { return count / rows + (count % rows != 0 ? 1 : 0); }
  [[nodiscard]] ZENITH_FN u32 blocks(u32 count) const { return count / block_rows + (count % block_rows != 0 ? 1 : 0); }
};

/// Of cell c.
struct count_parts {
  const u32* begins;
  part_sizes sizes;
  u32* parts;
  u32* blocks;

  ZENITH_FN void operator()(u64 c) const {
    const u32 count = begins[c + 1] - begins[c];
    parts[c] = sizes.parts(count);
    blocks[c] = sizes.blocks(count);
  }
};

/// A part's first row, and its first block.
struct table_part {
  u32 begin;
  u32 block;
};

/// Part p; behind the last one: the end.
struct find_parts {
  const u32* begins;  ///< of cells
  const u32* parts;   ///< before each cell
  const u32* blocks;  ///< before each cell
  part_sizes sizes;
  u32 cells;
  table_part* to;

  ZENITH_FN void operator()(u64 p) const {
    // the last cell that begins with this part or before it; an empty one has the parts of the next one
    const u32 begin = device::first_failing(cells, [&](u32 i) ZENITH_BODY { return parts[i + 1] <= p; });
    // behind the last one are as many
    const u32 inside = static_cast<u32>(p) - parts[begin];
    to[p] = {begins[begin] + inside * sizes.rows, blocks[begin] + inside * (sizes.rows / sizes.block_rows)};
  }
};

using part_kernels = device::list<find_cells, count_parts, find_parts>;

}  // namespace zenith::threshold_build_family
