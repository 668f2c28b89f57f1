#pragma once

/// \file
/// The rounds that all strategies share. Points come in an order in which none is dominated by one behind it; so a
/// block of them is compared with the skyline found so far, what is left with itself, and what is then left is skyline.

#include <algorithm>

#include <algorithms/skyline/bitmaps.hpp>
#include <algorithms/skyline/dominance.hpp>
#include <algorithms/skyline/grid.hpp>
#include <algorithms/skyline/points.hpp>

namespace zenith::skyline_family {

/// Blocks grow: the first points dominate most of those that are dominated at all, and should be known early. A device
/// of thousands of threads needs larger ones to be busy, and fewer of them, because each waits twice.
struct block_sizes {
  u64 first;
  u64 growth;
  u64 most;
};

template <class Context>
[[nodiscard]] block_sizes block_sizes_on(const Context& on) {
  return on.threads() == 0 ? block_sizes{4096, 4, 65536} : block_sizes{1024, 2, 8192};
}

[[nodiscard]] constexpr u64 tiles_of(u64 count, u64 tile) { return (count + tile - 1) / tile; }

/// Windows for the filter by values, with or without masks.
template <class Context, class Image, unsigned Columns>
class point_windows {
 public:
  static constexpr u32 tile = filter_by_points<Image, Columns>::step;

  point_windows(Context& on, u64 capacity, u32 /*columns*/, bool has_masks)
      : masks_(has_masks ? on.template buffer<u64>(tiles_of(capacity, tile)) : nullptr) {}

  /// Points [from, count) of the window are new.
  void extend(Context& on, const point_set<Image>& window, u64 from, u64 count) const {
    if (masks_ == nullptr) return;
    on.for_each(tiles_of(count, tile) - from / tile, write_tile_masks{window.masks, count, from / tile, tile, masks_});
  }
  void filter(Context& on, filter_request<Image> of) const {
    of.window_masks = masks_;
    on.for_teams(tiles_of(of.count, of.tile), filter_by_points<Image, Columns>{of});
  }

 private:
  u64* masks_;
};

/// Windows for the filter by bitmaps.
template <class Context, class Image>
class bitmap_windows {
 public:
  static constexpr u32 tile = bitmap_tile;

  bitmap_windows(Context& on, u64 capacity, u32 columns, bool /*has_masks*/)
      : masks_(on.template buffer<u64>(tiles_of(capacity, tile))),
        bitmaps_(on.template buffer<u64>(tiles_of(capacity, tile) * bitmap_size(columns))) {}

  void extend(Context& on, const point_set<Image>& window, u64 from, u64 count) const {
    const u64 first = from / tile;
    const u64 tiles = tiles_of(count, tile) - first;
    on.for_each(tiles, write_tile_masks{window.masks, count, first, tile, masks_});
    on.for_each(tiles * window.columns * bitmap_words,
                write_bitmaps{window.codes, count, window.columns, first, bitmaps_});
  }
  void filter(Context& on, filter_request<Image> of) const {
    of.window_masks = masks_;
    on.for_teams(tiles_of(of.count, of.tile), filter_by_bitmaps<Image>{of, bitmaps_});
  }

 private:
  u64* masks_;
  u64* bitmaps_;
};

/// Memory for points like those of `like`, with zeros in columns up to `padded`, where every point is as good.
template <class Context, class Image>
[[nodiscard]] point_set<Image> make_points(Context& on, u64 capacity, const point_set<Image>& like, u32 padded) {
  point_set<Image> made{on.template buffer<Image>(capacity * padded),
                        capacity,
                        like.columns,
                        on.template buffer<u32>(capacity),
                        like.masks == nullptr ? nullptr : on.template buffer<u64>(capacity),
                        like.codes == nullptr ? nullptr : on.template buffer<u8>(capacity * like.columns)};
  if (padded > like.columns) on.fill_zero(made.values + capacity * like.columns, capacity * (padded - like.columns));
  return made;
}

/// Finds the skyline of ordered points, block by block. It allocates once for all calls.
template <class Windows, class Context, class Image>
class skyline_rounds {
 public:
  /// For up to `capacity` points like those of `like`, with zeros in columns up to `padded`.
  skyline_rounds(Context& on, const point_set<Image>& like, u64 capacity, u32 padded)
      : padded_(padded),
        sizes_(block_sizes_on(on)),
        most_(std::min(sizes_.most, capacity)),
        confirmed_(make_points(on, capacity, like, padded)),
        block_(make_points(on, most_, like, padded)),
        of_confirmed_(on, capacity, like.columns, like.masks != nullptr),
        of_block_(on, most_, like.columns, like.masks != nullptr),
        states_(on.template buffer<u8>(most_)),
        picked_(on.template buffer<u32>(most_)),
        found_(on.template buffer<u32>(1)) {}

  /// Marks the skyline of `count` points in `members`, twins of its points too if `keeps_twins`. Returns the number of
  /// blocks.
  ///
  /// Complexity: every point is compared with at most the skyline before it and the rest of its block.
  u64 mark(Context& on, const point_set<Image>& points, u64 count, u8* members, bool keeps_twins,
           const test_counters& counters) {
    filter_request<Image> request;
    request.states = states_;
    request.members = keeps_twins ? members : nullptr;
    request.counters = counters;
    u64 blocks = 0;
    u64 skyline = 0;
    u64 size = std::min(sizes_.first, most_);
    for (u64 at = 0; at < count; at += request.count, size = std::min(sizes_.growth * size, most_)) {
      ++blocks;
      request.candidates = points.from(at);
      request.count = std::min(size, count - at);
      request.window = confirmed_;
      request.window_count = skyline;
      request.is_itself = false;
      of_confirmed_.filter(on, request);
      on.compact(request.count, is_open{states_}, picked_, found_);
      const u64 left = on.read(found_);
      if (left == 0) continue;
      on.for_each(left, gather_points<Image>{request.candidates, picked_, block_});

      auto inner = request;
      inner.candidates = inner.window = block_;
      inner.count = inner.window_count = left;
      inner.is_itself = true;
      of_block_.extend(on, block_, 0, left);
      of_block_.filter(on, inner);
      on.compact(left, is_open{states_}, picked_, found_);
      const u64 more = on.read(found_);
      const auto end = confirmed_.from(skyline);
      on.for_each(more, gather_points<Image>{block_, picked_, end});
      on.for_each(more, mark_members{end.rows, members});
      of_confirmed_.extend(on, confirmed_, skyline, skyline + more);
      skyline += more;
    }
    return blocks;
  }

  /// The columns that points must have, the unused ones zero.
  [[nodiscard]] u32 padded() const { return padded_; }

 private:
  u32 padded_;
  block_sizes sizes_;
  u64 most_;
  point_set<Image> confirmed_;
  point_set<Image> block_;
  Windows of_confirmed_;
  Windows of_block_;
  u8* states_;
  u32* picked_;
  u32* found_;
};

}  // namespace zenith::skyline_family
