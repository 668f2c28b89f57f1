#pragma once

/// \file
/// What the points of strategies that compare by values have beside their values: masks, and padded partitions.

#include <algorithm>

#include <algorithms/skyline/family.hpp>
#include <algorithms/skyline/ordered_rows.hpp>
#include <algorithms/skyline/padding.hpp>

namespace zenith::skyline_family::detail {

/// Masks of the grid to `points.masks`.
template <class Context, class Image>
void place_masks(const value_method& how, Context& on, const point_set<Image>& points, u64 count, const Image* cuts) {
  if (points.masks != nullptr) on.for_each(count, write_masks<Image>{points, cuts, how.has_quartiles});
}

/// Bytes that a point of a strategy takes: values, rows, masks, and beginnings of partitions.
template <class Image>
[[nodiscard]] u64 bytes_of_point(const value_method& how, u32 columns) {
  return padded_columns(columns) * sizeof(Image) + sizeof(u32) + (how.order == row_order::grid ? sizeof(u64) : 0) +
         (how.has_pivots ? sizeof(u32) : 0);
}

/// How many points there is memory for, so that a call takes no more than twice its input beside it: `others` are bytes
/// beside those points. Every row of the table has a flag and a place in a list.
template <class Image>
[[nodiscard]] u64 most_points(const skyline_input& call, u64 of_point, u64 others) {
  const u64 input = call.rows * call.column_count * sizeof(Image);
  others += call.rows * (sizeof(u8) + sizeof(u32));
  return 2 * input < others ? 0 : (2 * input - others) / of_point;
}

/// How many points of a device's block there is memory for: it holds them once more, with what is known of them. Of few
/// columns, an eighth of all points in any case: many small blocks leave a device idle. Blocks of a host are small.
template <class Image>
[[nodiscard]] u64 most_of_block(const value_method& how, const skyline_input& call, u32 columns, u64 count,
                                u64 others = 0) {
  const u64 of_point = bytes_of_point<Image>(how, columns);
  return std::max(count / 8, most_points<Image>(call, of_point + sizeof(u8) + sizeof(u32), count * of_point + others));
}

/// The points with their partitions padded; `count` becomes what they then are, at most twice as many: where partitions
/// are small, they begin at multiples of less than a warp. The memory of those before is released.
template <class Context, class Image>
[[nodiscard]] point_set<Image> pad_partitions(const value_method& how, Context& on, const skyline_input& call,
                                              const ordered_rows<Context, Image>& rows, const point_set<Image>& points,
                                              u64& count) {
  u32* const begins = on.template buffer<u32>(count);
  u32* const found = on.template buffer<u32>(1);
  on.compact(count, begins_partition{points.masks, median_bits(points.columns)}, begins, found);
  const u64 partitions = on.read(static_cast<const u32*>(found));
  // with some for a block
  const u64 space = std::max(count, most_points<Image>(call, bytes_of_point<Image>(how, points.columns), 0) / 9 * 8);
  const u64 most = std::min({count, u64{~u32{0}} - count, space - count});  // what may be added
  u32 multiple = 1;
  while (multiple < most_padding && partitions * (2 * multiple - 1) <= most) multiple *= 2;
  if (multiple == 1) {
    on.release(begins);
    return points;
  }
  on.release(points.values);
  u32* const sizes = on.template buffer<u32>(partitions);
  u32* const places = on.template buffer<u32>(partitions + 1);
  on.for_each(partitions, round_partitions{begins, partitions, count, multiple, sizes});
  on.exclusive_scan(sizes, partitions, places);
  const u64 all = on.read(static_cast<const u32*>(places + partitions));
  u32* const picked = on.template buffer<u32>(all);
  on.for_each(all, pick_padded{begins, places, partitions, count, picked});
  on.release(begins);
  on.release(sizes);
  on.release(places);
  auto spread = points;
  spread.rows = on.template buffer<u32>(all);
  spread.masks = on.template buffer<u64>(all);
  on.for_each(all, place_points<Image>{points.rows, picked, points.masks, spread});
  on.release(picked);
  on.release(points.masks);
  make_columns(on, all, spread);
  rows.images.place(on, spread, all);
  count = all;
  return spread;
}

}  // namespace zenith::skyline_family::detail
