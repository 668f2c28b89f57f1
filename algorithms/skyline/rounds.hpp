#pragma once

/// \file
/// The rounds. Points come in an order in which none is dominated by one behind it; so a block of them is compared with
/// the skyline found so far, what is left with itself, and what is then left is skyline. Or the first points are
/// compared with all that are left.

#include <algorithm>
#include <type_traits>

#include <algorithms/skyline/dominance.hpp>
#include <algorithms/skyline/grid.hpp>
#include <algorithms/skyline/partitions.hpp>
#include <algorithms/skyline/points.hpp>
#include <algorithms/skyline/round_log.hpp>
#include <algorithms/skyline/widths.hpp>

namespace zenith::skyline_family {

/// Blocks grow: the first points dominate most of those that are dominated at all, and should be known early. A device
/// of thousands of threads needs larger ones to be busy, and fewer of them, because each waits twice.
struct block_sizes {
  u64 first;
  u64 growth;
  u64 most;
};

/// Points of a device's first block. Another context may say otherwise.
template <class Context>
inline constexpr u64 device_block = 32768;

template <class Context>
[[nodiscard]] constexpr block_sizes block_sizes_on(const Context& /*on*/) {
  return Context::runs_on_host ? block_sizes{1024, 2, 8192} : block_sizes{device_block<Context>, 4, u64{1} << 20};
}

[[nodiscard]] constexpr u64 tiles_of(u64 count, u64 tile) { return (count + tile - 1) / tile; }

/// Windows for the filter by values, with or without masks. The filter is compiled for some numbers of columns, all
/// else once.
template <class Context, class Image>
class point_windows {
 public:
  static constexpr u32 tile = value_tile;

  point_windows(Context& on, u64 capacity, u32 columns, bool has_masks)
      : columns_(columns), masks_(has_masks ? on.template buffer<u64>(tiles_of(capacity, tile)) : nullptr) {}

  /// Points [from, count) of the window are new.
  void extend(Context& on, const point_set<Image>& window, u64 from, u64 count) const {
    if (masks_ == nullptr) return;
    on.for_teams(tiles_of(count, tile) - from / tile, write_tile_masks{window.masks, count, from / tile, tile, masks_});
  }
  void filter(Context& on, filter_request<Image> of) const {
    of.window_masks = masks_;
    detail::with_padded(columns_, [&]<unsigned Columns>(std::integral_constant<unsigned, Columns>) {
      on.for_teams(tiles_of(of.count, of.tile), filter_by_points<Image, Columns>{of});
    });
  }

 private:
  u32 columns_;
  u64* masks_;
};

/// Windows for the filter by two levels of masks.
template <class Context, class Image>
class partition_windows {
 public:
  partition_windows(Context& on, u64 capacity, u32 columns, bool /*has_masks*/)
      : partitions_{on.template buffer<u32>(capacity), on.template buffer<u32>(1), nullptr,
                    columns <= shift ? shift : 0, median_bits(columns)} {
    if (partitions_.shift == 0) own_masks_ = on.template buffer<u64>(capacity);
  }

  void extend(Context& on, const point_set<Image>& window, u64 from, u64 count) const {
    on.compact(count, begins_partition{window.masks, partitions_.median}, partitions_.begins, partitions_.count);
    on.for_each(count - from, write_pivot_masks<Image>{window, partitions_of(window), from});
  }
  void filter(Context& on, const filter_request<Image>& of) const {
    if (of.window_count == 0) on.fill_zero(partitions_.count, 1);
    on.for_teams(tiles_of(of.count, of.tile), filter_by_partitions<Image>{of, partitions_of(of.window)});
  }

 private:
  static constexpr u32 shift = 32;  ///< of up to so many columns, both masks are in one word

  [[nodiscard]] window_partitions partitions_of(const point_set<Image>& window) const {
    auto of_window = partitions_;
    of_window.masks = partitions_.shift == 0 ? own_masks_ : window.masks;
    return of_window;
  }

  window_partitions partitions_;
  u64* own_masks_ = nullptr;
};

/// Memory for points like those of `like`, with zeros in columns up to `padded`, where every point is as good.
template <class Context, class Image>
[[nodiscard]] point_set<Image> make_points(Context& on, u64 capacity, const point_set<Image>& like, u32 padded) {
  point_set<Image> made{on.template buffer<Image>(capacity * padded),
                        capacity,
                        like.columns,
                        on.template buffer<u32>(capacity),
                        like.masks == nullptr ? nullptr : on.template buffer<u64>(capacity),
                        like.codes == nullptr ? nullptr : on.template buffer<u32>(capacity * code_words(like.columns))};
  if (like.step != 1) {
    made.stride = 1;
    made.step = padded;
  }
  if (padded > like.columns) on.fill_zero(made.values + capacity * like.columns, capacity * (padded - like.columns));
  return made;
}

/// Brings points whose places rise to the front of their set, `most` at a time by way of `block`.
template <class Context, class Image>
void move_to_front(Context& on, const point_set<Image>& points, const u32* picked, u64 count,
                   const point_set<Image>& block, u64 most) {
  for (u64 at = 0; at < count; at += most) {
    const u64 n = std::min(most, count - at);
    on.for_each(n, gather_points<Image>{points, picked + at, block});
    on.for_each(n, gather_points<Image>{block, nullptr, points.from(at)});
  }
}

/// Finds the skyline of ordered points, block by block. The points are lost: the skyline found so far lies in front of
/// what is to be compared. It allocates once for all calls.
template <class Windows, class Context, class Image>
class skyline_rounds {
 public:
  /// For up to `capacity` of the points, with zeros in columns up to `padded`. A device's block has no more than `most`
  /// of them, or as many as the first.
  skyline_rounds(Context& on, const point_set<Image>& points, u64 capacity, u32 padded, u64 most)
      : sizes_(block_sizes_on(on)),
        most_(std::min(Context::runs_on_host ? sizes_.most : std::clamp(most, sizes_.first, sizes_.most), capacity)),
        confirmed_(points),
        block_(make_points(on, most_, points, padded)),
        of_confirmed_(on, capacity, padded, points.masks != nullptr),
        of_block_(on, most_, padded, points.masks != nullptr),
        states_(on.template buffer<u8>(most_)),
        picked_(on.template buffer<u32>(most_)),
        found_(on.template buffer<u32>(1)) {}

  /// Marks the skyline of `count` points in `members`, twins of its points too if `keeps_twins`. Returns the number of
  /// blocks.
  ///
  /// Complexity: every point is compared with at most the skyline before it and the rest of its block.
  u64 mark(Context& on, const point_set<Image>& points, u64 count, u8* members, bool keeps_twins,
           const test_counters& counters, round_log<Context>& log) {
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
      if (left > 0) skyline += confirm(on, request, left, skyline, members);
      log.add(on, request.count);
    }
    return blocks;
  }

 private:
  /// Compares the `left` candidates picked_[0], … with each other, and puts those that are left behind the `skyline`
  /// points that are confirmed. Returns how many they are.
  u64 confirm(Context& on, const filter_request<Image>& of, u64 left, u64 skyline, u8* members) {
    on.for_each(left, gather_points<Image>{of.candidates, picked_, block_});
    auto inner = of;
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
    return more;
  }

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

/// Finds the skyline of ordered points by windows of the first of those that are left: all that are left are compared
/// with those, what is then left of the window is skyline, and what is left behind it goes on. For one call.
template <class Windows, class Context, class Image>
class first_of_left {
 public:
  /// For `capacity` points, with zeros in columns up to `padded`. They are lost.
  first_of_left(Context& on, const point_set<Image>& points, u64 capacity, u32 padded, u64 window)
      : window_(std::min(window, capacity)),
        windows_(on, window_, padded, points.masks != nullptr),
        most_moved_(std::min(capacity - window_,
                             Context::runs_on_host ? moved_on_host : std::max(moved_on_device, capacity / 16))),
        states_(on.template buffer<u8>(capacity)),
        picked_(on.template buffer<u32>(capacity)),
        found_(on.template buffer<u32>(1)) {
    if (most_moved_ > 0) block_ = make_points(on, most_moved_, points, points.columns);
  }

  /// As that of `skyline_rounds`; returns the number of windows.
  ///
  /// Complexity: every point is compared with every window up to that which it is dominated by or belongs to.
  u64 mark(Context& on, const point_set<Image>& points, u64 count, u8* members, bool keeps_twins,
           const test_counters& counters, round_log<Context>& log) {
    filter_request<Image> request;
    request.states = states_;
    request.members = keeps_twins ? members : nullptr;
    request.counters = counters;
    request.candidates = points;
    request.is_itself = true;
    u64 windows = 0;
    while (count > 0) {
      ++windows;
      request.count = count;
      request.window = request.candidates;
      request.window_count = std::min(window_, count);
      windows_.extend(on, request.window, 0, request.window_count);
      windows_.filter(on, request);
      on.for_each(request.window_count, mark_open{states_, request.candidates.rows, members});
      count -= request.window_count;
      if (count > 0) {
        on.compact(count, is_open{states_ + request.window_count}, picked_, found_);
        count = on.read(static_cast<const u32*>(found_));
        request.candidates = request.candidates.from(request.window_count);
        move_to_front(on, request.candidates, picked_, count, block_, most_moved_);
      }
      log.add(on, request.count - count);
    }
    return windows;
  }

 private:
  // a device wants few launches
  static constexpr u64 moved_on_host = 8192;
  static constexpr u64 moved_on_device = 65536;

  u64 window_;
  Windows windows_;
  u64 most_moved_;  ///< points at a time
  point_set<Image> block_;
  u8* states_;
  u32* picked_;
  u32* found_;
};

}  // namespace zenith::skyline_family
