#pragma once

/// \file
/// The skyband by bitmaps on a device (skyband.hpp says why it is enough to count dominators in the band): the rounds
/// of `bitmap_tiles`, in which a point is left while fewer than k are known to dominate it. A window may hold points
/// that are not in the band, too: what they dominate is not in it either, with or without them.
///
/// Of equal rows only the first takes part, as a point that stands for all of them.

#include <algorithms/skyline/row_copies.hpp>
#include <algorithms/skyline/skyband.hpp>
#include <algorithms/skyline/table_rounds.hpp>
#include <algorithms/skyline/tile_rounds.hpp>
#include <core/device/bits.hpp>

namespace zenith::skyline_family {

/// Dominators counted in tiles: points whose codes are all smaller dominate a candidate, others are compared by their
/// values. No two points of a window are equal. Those that stand behind a candidate do not dominate it, so that none is
/// left out.
template <class Image, class Mask>
struct tile_count_request : tile_request<Image, Mask> {
  static constexpr bool has_gaps = true;
  static constexpr u32 few = 4;  ///< are compared by values at once

  u32* counts;         ///< by position: dominators, as far as they are counted
  u32 most;            ///< a point with so many is out
  const u32* weights;  ///< by position: how many rows a point stands for; nullptr: each for one

  template <u32 Columns, class Certain>
  ZENITH_FN void settle(u64 position, u32 tile, tile_bits left, const Certain& are_certain) const {
    const u32 columns = Columns == 0 ? this->points.columns : Columns;
    const u64 at = u64{tile} * chunk_tile;
    u64 words[4] = {left.low, left.second, left.third, left.high};
    u32 reaching = 0;
    ZENITH_UNROLLED
    for (const u64 word : words) reaching += device::bits_of(word);
    if (reaching == 0) return;
    const u32 known = device::atomic_load(counts + position);
    if (known >= most) return;
    u32 counted = 0;
    if (reaching > few) {
      const tile_bits certain = are_certain();
      const u64 sure[4] = {certain.low, certain.second, certain.third, certain.high};
      ZENITH_UNROLLED
      for (u32 w = 0; w < 4; ++w) {
        const u64 found = words[w] & sure[w];
        words[w] ^= found;
        counted += weight_of(found, at + w * 64);
      }
    }
    const Image* const own = this->points.values + position * columns;
    u64 tests = 0;
    // one place that compares, so that the code is there once
    for (u32 w = 0; w < 4 && known + counted < most;) {
      u64 word = words[0];
      if (word == 0) {
        words[0] = words[1];
        words[1] = words[2];
        words[2] = words[3];
        words[3] = 0;
        ++w;
        continue;
      }
      words[0] = word & (word - 1);
      const u64 other = this->window.at(at + w * 64 + lowest_bit(word));
      ++tests;
      const relation found = compare_rows_by_fours(this->points.values + other * columns, own, columns);
      if (found == relation::dominates) counted += weights == nullptr ? 1 : weights[other];
    }
    this->counters.dominance.add(tests);
    if (counted == 0) return;
    if (device::atomic_add(counts + position, counted) + counted >= most) {
      device::atomic_store(this->masks + position, Mask{0});
    }
  }

 private:
  ZENITH_FN u32 weight_of(u64 word, u64 at) const {
    if (weights == nullptr) return device::bits_of(word);
    u32 all = 0;
    for (; word != 0; word &= word - 1) all += weights[this->window.at(at + lowest_bit(word))];
    return all;
  }
};

/// Points that equal one before them take no part.
template <class Mask>
struct leave_out_equals {
  const u32* firsts;
  Mask* masks;

  ZENITH_FN void operator()(u64 i) const {
    if (firsts[i] != i) masks[i] = 0;
  }
};

/// Rows of points that are left, with their counts.
template <class Mask>
struct mark_counted {
  const Mask* masks;
  const u32* rows;
  const u32* counts;
  u8* members;
  u32* dominated_by;  ///< by row

  ZENITH_FN void operator()(u64 i) const {
    if ((masks[i] & alive_bit<Mask>) == 0) return;
    members[rows[i]] = marked;
    dominated_by[rows[i]] = counts[i];
  }
};

namespace detail {

/// Marks the band of ordered points, whose masks will be lost; returns the number of blocks. What it allocates is
/// released.
template <class Context, class Image, class Mask>
u64 mark_skyband_by_tiles(Context& on, const ordered_points<Context, Image>& rows, Mask* masks,
                          const skyband_call& call, u32* dominated_by, const test_counters& counters) {
  u64* const hashes = on.template buffer<u64>(rows.count);
  const auto copies = find_copies(on, rows.points, rows.count, call.duplicates == duplicate_rows::keep_all, hashes);
  on.release(hashes);
  tile_count_request<Image, Mask> count{};
  count.counters = counters;
  count.counts = on.template zeroed<u32>(rows.count);
  count.most = call.most;
  count.weights = copies.weights;
  const u64 of_point = sizeof(u32) + (copies.firsts == nullptr ? 0 : 2 * sizeof(u32));
  const u64 others = rows.count * of_point + call.rows * sizeof(u32);  // and by row `dominated_by`
  tile_rounds rounds(on, rows.points, rows.count, masks, bytes_for_bitmaps(call, rows, others));
  rounds.begin(on, rows.count);
  if (copies.firsts != nullptr) on.for_each(rows.count, leave_out_equals<Mask>{copies.firsts, masks});
  const u64 blocks = rounds.in_blocks(on, rows.points, rows.count, count, [](u64 /*first*/, u64 /*size*/) {});
  on.for_each(rows.count, mark_counted<Mask>{masks, rows.points.rows, count.counts, rows.flags, dominated_by});
  if (copies.weights != nullptr) {
    on.for_each(rows.count, confirm_copies{rows.points.rows, copies.firsts, rows.flags, dominated_by});
    on.release(copies.weights);
  }
  if (copies.firsts != nullptr) on.release(copies.firsts);
  rounds.release(on);
  on.release(count.counts);
  return blocks;
}

template <class Context>
void find_band_by_tiles(Context& on, const skyband_call& call) {
  const auto counters = make_counters(on, call);
  u32* const dominated_by = on.template buffer<u32>(call.rows);
  const band_points asked{call.most, call.duplicates == duplicate_rows::keep_first};
  with_ordered_points(on, call, asked, [&](const auto& rows) {
    u64 blocks = 0;
    if (rows.count > 0) {
      blocks = rows.short_masks != nullptr
                   ? mark_skyband_by_tiles(on, rows, rows.short_masks, call, dominated_by, counters)
                   : mark_skyband_by_tiles(on, rows, rows.points.masks, call, dominated_by, counters);
    }
    on.compact(call.rows, is_marked{rows.flags}, rows.points.rows, &rows.found->left);
    const auto told = on.read(static_cast<const table_findings*>(rows.found));
    if (told.has_ties != 0) return false;
    if (rows.count > 0) on.release(rows.points.values);  // for the ids
    report(on, call, counters, rows.count, blocks);
    deliver_band(on, call, rows.points.rows, told.left, dominated_by);
    return true;
  });
}

}  // namespace detail

}  // namespace zenith::skyline_family
