#pragma once

/// \file
/// The rounds of `bitmap_tiles` on a device: as those of `skyline_rounds`, but points are not moved, and how many are
/// left stays on the device, so that no round waits for the host. Bitmaps are there of a part of a window at a time.

#include <algorithm>
#include <utility>

#include <algorithms/skyline/rounds.hpp>
#include <algorithms/skyline/tile_filter.hpp>

namespace zenith::skyline_family {

/// Bytes for bitmaps of so many points.
[[nodiscard]] inline u64 bitmap_bytes_of(u64 points, u32 columns) {
  return tiles_of(points, chunk_tile) *
         (chunk_bitmap_words(columns) * sizeof(u32) + sizeof(u64) + chunk_tile * sizeof(u32));
}

template <class Context, class Image, class Mask>
class tile_rounds {
 public:
  /// For up to `capacity` points like those of `like`, row by row, whose masks say they are alive and will be lost.
  /// Bitmaps take no more than `most_bytes`, or what some points need.
  tile_rounds(Context& on, const point_set<Image>& like, u64 capacity, Mask* masks, u64 most_bytes)
      : columns_(like.columns),
        most_(std::min(most_of_block, capacity)),
        part_(part_of(capacity, most_bytes)),
        masks_(masks),
        group_masks_(on.template buffer<Mask>(tiles_of(most_, candidate_group))),
        bitmaps_(on.template buffer<u32>(tiles_of(part_, chunk_tile) * chunk_bitmap_words(columns_))),
        tile_masks_(on.template buffer<Mask>(tiles_of(part_, chunk_tile))),
        listed_(on.template buffer<u32>(part_)),
        words_(on.template zeroed<u32>(words_of_part * parts_of(capacity))) {}

  /// As that of `skyline_rounds`, but members get flags that say `marked`.
  u64 mark(Context& on, const point_set<Image>& points, u64 count, u8* flags, bool keeps_twins,
           const test_counters& counters, round_log<Context>& log) {
    begin(on, count);
    tile_filter_request<Image, Mask> filter{};
    filter.flags = keeps_twins ? flags : nullptr;
    filter.counters = counters;
    const u64 blocks = in_blocks(on, points, count, filter, [&](u64 first, u64 size) {
      if (!log.is_on()) return;
      on.for_each(size, mark_alive<Mask>{masks_ + first, points.rows + first, keeps_twins, flags});
      log.add(on, size);
    });
    on.for_each(count, mark_alive<Mask>{masks_, points.rows, keeps_twins, flags});
    return blocks;
  }

  /// Before the blocks of `count` points: their masks are those that the rounds change.
  void begin(Context& on, u64 count) {
    if (std::exchange(is_used_, true)) on.fill_zero(words_, words_of_part * parts_of(count));
  }
  /// What `filter` settles, of `count` points after `begin`: who is left has a mask that says so. after(first, count)
  /// is called behind each block's launches. Returns the number of blocks.
  template <class Request, class After>
  u64 in_blocks(Context& on, const point_set<Image>& points, u64 count, Request filter, const After& after) const {
    filter.points = points;
    filter.bitmaps = bitmaps_;
    filter.tile_masks = tile_masks_;
    filter.group_masks = group_masks_;
    filter.masks = masks_;
    filter.taken = words_;
    u64 blocks = 0;
    u64 size = first_of(count);
    for (u64 at = 0; at < count; at += filter.count, size = std::min(growth * size, most_), ++blocks) {
      filter.first = at;
      filter.count = std::min(size, count - at);
      compare_with(on, filter, 0, at);
      compare_with(on, filter, at, at + filter.count);
      after(at, filter.count);
    }
    return blocks;
  }

  /// Gives the memory back: the last call of `mark` was made.
  void release(Context& on) const {
    on.release(group_masks_);
    on.release(bitmaps_);
    on.release(tile_masks_);
    on.release(listed_);
    on.release(words_);
  }

 private:
  static constexpr u32 narrow = sizeof(Mask) == sizeof(u32) ? 4 : 12;  ///< columns that the filter is compiled for
  static constexpr u32 wide = narrow + 4;
  static constexpr u64 words_of_part = 2;  ///< points of its list, pairs taken by the filter
  static constexpr u64 growth = 8;         ///< of blocks, up to the next
  static constexpr u64 most_of_block = u64{1} << 20;
  static constexpr u64 least_part = u64{1} << 16;

  /// Points of the first block. A block more takes about .05 ms of an H200, as much as few points take as one.
  [[nodiscard]] u64 first_of(u64 count) const {
    constexpr u64 few = device_block<Context>;
    return std::min(count <= few ? few : few / 4 * 3, most_);
  }

  /// Points that have bitmaps at once.
  [[nodiscard]] u64 part_of(u64 capacity, u64 most_bytes) const {
    return std::min(capacity, std::max(least_part, most_bytes / bitmap_bytes_of(chunk_tile, columns_) * chunk_tile));
  }
  /// Parts of all blocks and of their windows.
  [[nodiscard]] u64 parts_of(u64 count) const {
    u64 parts = 0;
    u64 size = first_of(count);
    for (u64 at = 0; at < count; at += size, size = std::min(growth * size, most_)) {
      parts += tiles_of(at, part_) + tiles_of(std::min(size, count - at), part_);
    }
    return parts;
  }

  /// Compares a block's points with those that are left of [begin, end), which are before them or are the block. A part
  /// of those has bitmaps at a time. What it removes of the block's own is not in the next one's.
  template <class Request>
  void compare_with(Context& on, Request& filter, u64 begin, u64 end) const {
    const u64 block = filter.first;
    const u64 behind = block + filter.count;
    filter.is_itself = begin == block;
    for (u64 at = begin; at < end; at += filter.window.most) {
      filter.window = {at, nullptr, std::min(part_, end - at), nullptr};
      if (at > 0 || !filter.is_itself || Request::has_gaps) {
        u32* const listed = filter.taken++;
        on.compact(filter.window.most, is_alive_alone<Mask>{masks_ + at}, listed_, listed);
        filter.window.positions = listed_;
        filter.window.count = listed;
      }
      if (filter.is_itself) {
        filter.first = at;
        filter.count = behind - at;
      }
      const write_tiles<Mask> tiles{filter.window,
                                    filter.points.codes,
                                    masks_,
                                    columns_,
                                    bitmaps_,
                                    tile_masks_,
                                    {masks_ + filter.first, filter.count, group_masks_}};
      on.for_teams(tiles.teams(), tiles);
      if (columns_ == narrow) {
        on.for_teams(filter.teams(), filter_by_tiles<Request, narrow>{filter});
      } else if (columns_ == wide) {
        on.for_teams(filter.teams(), filter_by_tiles<Request, wide>{filter});
      } else {
        on.for_teams(filter.teams(), filter_by_tiles<Request, 0>{filter});
      }
      ++filter.taken;
    }
    filter.first = block;
    filter.count = behind - block;
  }

  u32 columns_;
  u64 most_;
  u64 part_;
  Mask* masks_;
  Mask* group_masks_;
  u32* bitmaps_;
  Mask* tile_masks_;
  u32* listed_;
  u32* words_;
  bool is_used_ = false;
};

}  // namespace zenith::skyline_family
