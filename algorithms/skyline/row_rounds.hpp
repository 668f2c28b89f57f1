#pragma once

/// \file
/// `bitmap_tiles` on a host: the same phases as elsewhere, but of points that lie row by row. What is known of a point,
/// its codes and masks, is known of a block at a time.

#include <algorithm>
#include <utility>

#include <algorithms/skyline/bitmap_rows.hpp>
#include <algorithms/skyline/ordered_rows.hpp>
#include <algorithms/skyline/rounds.hpp>
#include <algorithms/skyline/row_filter.hpp>

namespace zenith::skyline_family::detail {

/// Memory for the bitmaps of a window, taken as the window grows, for as many of its first tiles as there is memory
/// for.
template <class Context>
class bitmap_space {
 public:
  static constexpr u64 least_tiles = 64;  ///< that are kept whatever memory they take

  /// Takes `spare` first, and then at most so many words.
  bitmap_space(Context& on, u64 points, u32 columns, u64* spare = nullptr, u64 spare_words = 0,
               u64 most_words = ~u64{0} / 2)
      : spare_(spare), spare_words_(spare_words) {
    const u64 tiles = tiles_of(points, bitmap_tile);
    bitmaps_.words = row_bitmap_words(columns);
    while ((tile_bitmaps::most_pieces << bitmaps_.shift) < tiles) ++bitmaps_.shift;
    const u64 in_spare = (spare_words / (bitmaps_.words << bitmaps_.shift)) << bitmaps_.shift;
    kept_ = std::min(tiles, std::max(least_tiles, in_spare + most_words / bitmaps_.words));
    masks_ = on.template buffer<u64>(kept_);
  }

  /// `points` are at most `kept_points`.
  void reserve(Context& on, u64 points) {
    for (; (u64{reserved_} << bitmaps_.shift) < tiles_of(points, bitmap_tile); ++reserved_) {
      const u64 first = u64{reserved_} << bitmaps_.shift;
      const u64 words = std::min(u64{1} << bitmaps_.shift, kept_ - first) * bitmaps_.words;
      if (words <= spare_words_) {
        bitmaps_.pieces[reserved_] = std::exchange(spare_, spare_ + words);
        spare_words_ -= words;
      } else {
        bitmaps_.pieces[reserved_] = on.template buffer<u64>(words);
      }
    }
  }
  /// Those of a window whose bitmaps are kept: its first.
  [[nodiscard]] u64 kept_points() const { return kept_ * bitmap_tile; }
  [[nodiscard]] const tile_bitmaps& bitmaps() const { return bitmaps_; }
  [[nodiscard]] u64* masks() const { return masks_; }

 private:
  u64* spare_;
  u64 spare_words_;
  u64 kept_ = 0;
  u64* masks_ = nullptr;
  tile_bitmaps bitmaps_{};
  u32 reserved_ = 0;
};

/// The rounds (`skyline_rounds`) by bitmaps of rows.
template <class Context, class Image>
class row_rounds {
 public:
  /// The points are lost. `others` are bytes that the call takes beside what a skyline does.
  row_rounds(Context& on, const ordered_rows<Context, Image>& rows, u64 others = 0)
      : cuts_(rows.cuts),
        sizes_(block_sizes_on(on)),
        most_(std::min(sizes_.most, rows.count)),
        confirmed_(rows.points),
        tiles_(on, rows.count, confirmed_.columns, rows.spare, rows.spare == nullptr ? 0 : rows.count,
               most_words(rows, most_, others)),
        fresh_(make_known(on, most_, confirmed_.columns)),
        left_(make_known(on, most_, confirmed_.columns)),
        block_(make_points(on, most_, rows.points, confirmed_.columns)),
        of_block_(on, most_, confirmed_.columns),
        states_(on.template buffer<u8>(most_)),
        picked_(on.template buffer<u32>(most_)),
        found_(on.template buffer<u32>(1)) {}

  /// As that of `skyline_rounds`.
  u64 mark(Context& on, const point_set<Image>& points, u64 count, u8* members, bool keeps_twins,
           const test_counters& counters, round_log<Context>& log) {
    filter_request<Image> request;
    request.states = states_;
    request.members = keeps_twins ? members : nullptr;
    request.counters = counters;
    return in_blocks(on, points, count, request, skyline_goal{members, log});
  }

  /// Block by block: what is left of it by the window so far is compared with itself, and what is then left joins the
  /// window. `request` says what a candidate is asked, `goal` what is kept of those that are left: its begin(on,
  /// request, at) prepares a block, inside(on, request, picked, left) is the request for the candidates picked[0 …
  /// left) of it, confirm(on, inner, picked, rows, window, more) is told of those that join, and end(on, count) ends a
  /// block of so many. Returns the number of blocks.
  template <class Request, class Goal>
  u64 in_blocks(Context& on, const point_set<Image>& points, u64 count, Request request, Goal&& goal) {
    u64 blocks = 0;
    u64 window = 0;
    u64 size = std::min(sizes_.first, most_);
    for (u64 at = 0; at < count; at += request.count, size = std::min(sizes_.growth * size, most_)) {
      ++blocks;
      request.candidates = points.from(at);
      request.candidates.masks = fresh_.masks;
      request.count = std::min(size, count - at);
      request.window = confirmed_;
      request.window_count = std::min(window, tiles_.kept_points());
      goal.begin(on, request, at);
      on.for_teams(tiles_of(request.count, row_tile),
                   code_rows<Image>{request.candidates.values, points.columns, request.count, cuts_, fresh_.places,
                                    fresh_.masks});
      filter(on, request, tiles_, fresh_);
      filter_by_rest(on, request, window);
      const u64 left = pick(on, request, fresh_, block_, left_);
      if (left > 0) window += confirm(on, goal.inside(on, request, picked_, left), left, window, goal);
      goal.end(on, request.count);
    }
    return blocks;
  }

  /// Points of a block, at most.
  [[nodiscard]] u64 most() const { return most_; }

 private:
  /// The skyline: points that are left are members.
  struct skyline_goal {
    u8* members;
    round_log<Context>& log;

    void begin(Context& /*on*/, const filter_request<Image>& /*request*/, u64 /*at*/) const {}
    filter_request<Image> inside(Context& /*on*/, const filter_request<Image>& request, const u32* /*picked*/,
                                 u64 /*left*/) const {
      return request;
    }
    void confirm(Context& on, const filter_request<Image>& /*inner*/, const u32* /*picked*/, const u32* rows,
                 u64 /*window*/, u64 more) const {
      on.for_each(more, mark_members{rows, members});
    }
    void end(Context& on, u64 count) const { log.add(on, count); }
  };
  /// What is known of a block's points.
  struct known {
    u16* places;
    u64* masks;
  };

  static known make_known(Context& on, u64 count, u32 columns) {
    return {on.template buffer<u16>(count * columns), on.template buffer<u64>(count)};
  }

  /// Of bitmaps of points of the skyline, so that all memory is at most twice that of the table: beside the points
  /// there are the table's flags and rows, the sort's keys, which may be spare then, and what is known of a block.
  static u64 most_words(const ordered_rows<Context, Image>& rows, u64 most, u64 others) {
    const u64 columns = rows.points.columns;
    const u64 of_block = most * (columns * (sizeof(Image) + 2 * sizeof(u16) + 4) + 32);
    const u64 of_row = columns * sizeof(Image) + sizeof(u8) + sizeof(u32) + (rows.spare == nullptr ? 0 : sizeof(u64));
    others += rows.count * of_row + of_block;
    return rows.room > others ? (rows.room - others) / sizeof(u64) : 0;
  }

  /// Compares the `left` points of block_ with each other: those that are left join the `window` points that are
  /// confirmed. Returns how many they are.
  template <class Request, class Goal>
  u64 confirm(Context& on, Request inner, u64 left, u64 window, Goal& goal) {
    inner.candidates = inner.window = block_;
    inner.candidates.masks = left_.masks;
    inner.count = inner.window_count = left;
    inner.is_itself = true;
    extend(on, of_block_, left_, 0, left);
    filter(on, inner, of_block_, left_);
    const auto end = confirmed_.from(window);
    const u64 more = pick(on, inner, left_, end, fresh_);
    goal.confirm(on, inner, picked_, end.rows, window, more);
    extend(on, tiles_, fresh_, window, more);
    return more;
  }

  /// The candidates against those of the window whose bitmaps are not kept: they are made again, in a block's memory.
  template <class Request>
  void filter_by_rest(Context& on, const Request& of, u64 window) {
    for (u64 at = tiles_.kept_points(); at < window; at += most_) {
      auto request = of;
      request.window = confirmed_.from(at);
      request.skip_window(at);
      request.window_count = std::min(most_, window - at);
      request.goes_on = true;
      on.for_teams(tiles_of(request.window_count, row_tile),
                   code_rows<Image>{request.window.values, confirmed_.columns, request.window_count, cuts_,
                                    left_.places, left_.masks});
      extend(on, of_block_, left_, 0, request.window_count);
      filter(on, request, of_block_, fresh_);
    }
  }

  /// Points that a window does not keep are left out.
  void extend(Context& on, bitmap_space<Context>& to, const known& of, u64 from, u64 count) const {
    if (count == 0 || from >= to.kept_points()) return;
    count = std::min(count, to.kept_points() - from);
    to.reserve(on, from + count);
    on.for_teams(tiles_of(from + count, bitmap_tile) - from / bitmap_tile,
                 extend_bitmaps{of.places, of.masks, confirmed_.columns, from, count, to.bitmaps(), to.masks()});
  }
  template <class Request>
  void filter(Context& on, Request of, const bitmap_space<Context>& by, const known& candidates) const {
    of.window_masks = by.masks();
    const auto run =
        filter_rows<Image, Request>::make(of, by.bitmaps(), candidates.places, static_cast<u64>(on.threads()));
    on.for_teams(run.teams(), run);
  }
  /// Copies the candidates that are left; returns how many.
  template <class Request>
  u64 pick(Context& on, const Request& from, const known& candidates, const point_set<Image>& to,
           const known& picked) const {
    on.compact(from.count, from.survivors(), picked_, found_);
    const u64 count = on.read(static_cast<const u32*>(found_));
    on.for_each(count,
                gather_rows<Image>{from.candidates.values, from.candidates.rows, candidates.places, candidates.masks,
                                   confirmed_.columns, picked_, to.values, to.rows, picked.places, picked.masks});
    return count;
  }

  const Image* cuts_;
  block_sizes sizes_;
  u64 most_;
  point_set<Image> confirmed_;
  bitmap_space<Context> tiles_;
  known fresh_;
  known left_;
  point_set<Image> block_;
  bitmap_space<Context> of_block_;
  u8* states_;
  u32* picked_;
  u32* found_;
};

}  // namespace zenith::skyline_family::detail
