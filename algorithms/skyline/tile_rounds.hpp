#pragma once

/// \file
/// The rounds of `bitmap_tiles` on a device: as those of `skyline_rounds`, but points are not moved, and how many are
/// left stays on the device, so that no round waits for the host.

#include <algorithm>
#include <utility>

#include <algorithms/skyline/rounds.hpp>
#include <algorithms/skyline/tile_filter.hpp>

namespace zenith::skyline_family {

template <class Context, class Image>
class tile_rounds {
 public:
  /// For up to `capacity` points like those of `like`, row by row, with masks that say they are alive.
  tile_rounds(Context& on, const point_set<Image>& like, u64 capacity, points_after after)
      : columns_(like.columns),
        most_(std::min(most_of_block, capacity)),
        masks_(after == points_after::kept ? on.template buffer<u64>(capacity) : like.masks),
        group_masks_(on.template buffer<u64>(tiles_of(most_, write_group_masks::group))),
        // the window's, and behind them the block's
        bitmaps_(on.template buffer<u32>((tiles_of(capacity, chunk_tile) + 1) * chunk_bitmap_words(columns_))),
        tile_masks_(on.template buffer<u64>(tiles_of(capacity, chunk_tile) + 1)),
        confirmed_(on.template buffer<u32>(capacity)),
        left_(on.template buffer<u32>(most_)),
        words_(on.template zeroed<u32>(words_of_block * blocks_of(capacity))) {}

  /// As that of `skyline_rounds`, but members get flags that say `marked`. With `points_after::overwritten`, masks of
  /// `points` are lost.
  u64 mark(Context& on, const point_set<Image>& points, u64 count, u8* flags, bool keeps_twins,
           const test_counters& counters) {
    if (std::exchange(is_used_, true)) on.fill_zero(words_, words_of_block * blocks_of(count));
    if (masks_ != points.masks) on.copy(masks_, static_cast<const u64*>(points.masks), count);
    filter_by_tiles<Image, 0> filter{};
    filter.points = points;
    filter.masks = masks_;
    filter.group_masks = group_masks_;
    filter.counters = counters;
    u32* of_block = words_;  // points left, points confirmed, pairs taken by the two filters
    u64 size = first_of(count);
    filter.count = std::min(size, count);
    for (u64 at = 0; at < count;) {
      filter.first = at;
      const u32* const confirmed_before = at > 0 ? of_block - words_of_block + 1 : nullptr;
      position_list block{at, nullptr, filter.count, nullptr};
      if (at > 0) {
        filter.window = {0, confirmed_, at, confirmed_before};
        filter.is_itself = false;
        filter.flags = keeps_twins ? flags : nullptr;
        run(on, filter, 0, of_block + 2);
        on.compact(filter.count, is_alive_alone{masks_ + at}, left_, of_block);
        block.positions = left_;
        block.count = of_block;
      }
      const u64 behind = tiles_of(at, chunk_tile);
      write(on, points, block, nullptr, behind, at, filter.count);
      filter.window = block;
      filter.is_itself = true;
      filter.flags = nullptr;
      run(on, filter, behind, of_block + 3);
      at += filter.count;
      size = std::min(growth * size, most_);
      filter.count = std::min(size, count - at);
      if (at < count) {
        on.compact(at, is_alive_alone{masks_}, confirmed_, of_block + 1);
        write(on, points, {0, confirmed_, at, of_block + 1}, confirmed_before, 0, at, filter.count);
      }
      of_block += words_of_block;
    }
    on.for_each(count, mark_alive{masks_, points.rows, keeps_twins, flags});
    return blocks_of(count);
  }

  /// The columns that points must have, the unused ones zero.
  [[nodiscard]] u32 padded() const { return columns_; }

 private:
  static constexpr u64 words_of_block = 4;
  static constexpr u64 growth = 8;  ///< of blocks, up to the next
  static constexpr u64 most_of_block = u64{1} << 20;

  /// Points of the first block. A block more takes about .05 ms of an H200, as much as few points take as one.
  [[nodiscard]] u64 first_of(u64 count) const {
    constexpr u64 few = device_block<Context>;
    return std::min(count <= few ? few : few / 2, most_);
  }

  [[nodiscard]] u64 blocks_of(u64 count) const {
    u64 blocks = 0;
    u64 size = first_of(count);
    for (u64 at = 0; at < count; at += size, size = std::min(growth * size, most_)) ++blocks;
    return blocks;
  }

  /// Tiles of a list, from that of its point *kept on, at tile `to`; and the masks of groups of the points that they
  /// are to be compared with.
  void write(Context& on, const point_set<Image>& points, const position_list& of, const u32* kept, u64 to, u64 first,
             u64 count) const {
    const write_tiles tiles{of,
                            kept,
                            points.codes,
                            masks_,
                            columns_,
                            bitmaps_ + to * chunk_bitmap_words(columns_),
                            tile_masks_ + to,
                            {masks_ + first, count, group_masks_}};
    on.for_teams(tiles.teams(), tiles);
  }
  void run(Context& on, filter_by_tiles<Image, 0> filter, u64 tile, u32* taken) const {
    filter.bitmaps = bitmaps_ + tile * chunk_bitmap_words(columns_);
    filter.tile_masks = tile_masks_ + tile;
    filter.taken = taken;
    switch (columns_) {
      case 4: return run_for<4>(on, filter);
      case 8: return run_for<8>(on, filter);
      case 12: return run_for<12>(on, filter);
      case 16: return run_for<16>(on, filter);
      default: return run_for<0>(on, filter);
    }
  }
  template <u32 Columns>
  static void run_for(Context& on, const filter_by_tiles<Image, 0>& of) {
    on.for_teams(of.teams(), filter_by_tiles<Image, Columns>{of.points, of.first, of.count, of.window, of.is_itself,
                                                             of.bitmaps, of.tile_masks, of.group_masks, of.masks,
                                                             of.flags, of.taken, of.counters});
  }

  u32 columns_;
  u64 most_;
  u64* masks_;
  u64* group_masks_;
  u32* bitmaps_;
  u64* tile_masks_;
  u32* confirmed_;
  u32* left_;
  u32* words_;
  bool is_used_ = false;
};

}  // namespace zenith::skyline_family
