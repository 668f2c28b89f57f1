#pragma once

/// \file
/// `bitmap_tiles` on a host: the same phases as elsewhere, but of points that lie row by row, of which no image is made
/// before they are in order. What is known of a point, its codes and masks, is known of a block at a time.

#include <algorithm>
#include <type_traits>

#include <algorithms/skyline/bitmap_rows.hpp>
#include <algorithms/skyline/family.hpp>
#include <algorithms/skyline/phases.hpp>
#include <algorithms/skyline/row_source.hpp>
#include <core/with_key_type.hpp>

namespace zenith::skyline_family::detail {

/// On a host, `bitmap_tiles` has an override of its own (row_rounds.hpp): see the numbers in perf/notes/skyline.md.
template <class Context>
[[nodiscard]] bool goes_by_rows(const value_method& /*how*/, const Context& /*on*/) {
  return false;
}
template <class Context>
[[nodiscard]] bool goes_by_rows(const bitmap_method& /*how*/, const Context& on) {
  return on.threads() > 0;
}

/// Points in the order of the grid.
template <class Image>
struct ordered_rows {
  point_set<Image> points;
  u64 count;
  const Image* cuts;
};

/// The rows that take part, ascending, and how many they are; nullptr when a NaN is rejected: then the outcome says so.
template <class T, class Context>
[[nodiscard]] u32* find_rows_left(Context& on, const skyline_input& call, const row_source<T>& from,
                                  bool is_prefiltered, u64& count) {
  using image = typename row_source<T>::image;
  const bool drops_nan = call.nans == nan_rows::drop;
  u8* const removed = on.template buffer<u8>(call.rows);
  u64* const nan_at = on.template buffer<u64>(1);
  image* const pivots = is_prefiltered ? on.template buffer<image>(u64{pivot_count} * from.columns) : nullptr;
  on.for_each(1, begin_nan_search{nan_at});
  if (is_prefiltered) {
    const u32* const rows = choose_pivots(on, from);
    on.for_each(u64{pivot_count} * from.columns, gather_row_pivots<T>{from, rows, drops_nan, pivots});
  }
  on.for_teams(tiles_of(call.rows, row_tile), test_rows<T>{from, pivots, drops_nan, nan_at, removed});
  if (std::is_floating_point_v<T> && call.nans == nan_rows::reject) {
    const u64 at = on.read(static_cast<const u64*>(nan_at));
    if (at != no_nan) {
      *call.outcome = {0, true, at / most_given_columns, static_cast<unsigned>(at % most_given_columns)};
      return nullptr;
    }
  }
  return rows_left(on, removed, call.rows, count);
}

/// Orders rows by the grid, and equal ones by their ids.
template <class T, class Context>
void order_rows(Context& on, const row_source<T>& from, u32* rows, u64 count,
                const typename row_source<T>::image* cuts) {
  using image = typename row_source<T>::image;
  u64* const keys = on.template buffer<u64>(count);
  const auto sort_by = [&](row_key which) {
    on.for_teams(tiles_of(count, row_tile),
                 write_row_keys<T>{from, rows, count, cuts, row_buckets(from.columns), which, keys});
    on.sort_pairs(keys, rows, count);
  };
  if (fits_one_key<image>(from.columns)) return sort_by(row_key::all);
  if (exact_sum<image>::low_bits > 0) sort_by(row_key::low_sum);
  sort_by(row_key::high_sum);
  sort_by(row_key::cell);
}

/// Calls use(rows) with the points in their order, unless a NaN is rejected. `use` is compiled for two widths.
template <class Context, class Use>
void with_ordered_rows(Context& on, const skyline_input& call, bool is_prefiltered, const Use& use) {
  ::zenith::detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) {
    using image = typename row_source<T>::image;
    const auto from = make_row_source<T>(on, call);
    u64 count = 0;
    u32* const rows = find_rows_left(on, call, from, is_prefiltered, count);
    if (call.outcome->has_nan) return;
    ordered_rows<image> ordered{{nullptr, 1, from.columns, rows, nullptr, nullptr, from.columns}, count, nullptr};
    if (count > 0) {
      const auto samples = static_cast<u32>(std::min<u64>(count, most_cut_samples));
      ordered.cuts =
          pick_cuts_of<image>(on, samples, from.columns, row_buckets(from.columns), [&](image* drawn, u32* unused) {
            on.for_each(u64{samples} * from.columns, draw_row_samples<T>{from, rows, count, samples, drawn, unused});
          });
      order_rows(on, from, rows, count, ordered.cuts);
      ordered.points.values = on.template buffer<image>(count * from.columns);
      on.for_teams(tiles_of(count, row_tile), place_row_values<T>{from, rows, count, ordered.points.values});
    }
    use(ordered);
  });
  on.finish();
}

/// The rounds (`skyline_rounds`) by bitmaps of rows.
template <class Context, class Image>
class row_rounds {
 public:
  row_rounds(Context& on, const ordered_rows<Image>& rows, points_after after)
      : cuts_(rows.cuts),
        sizes_(block_sizes_on(on)),
        most_(std::min(sizes_.most, rows.count)),
        confirmed_(after == points_after::kept ? make_points(on, rows.count, rows.points, padded_of(rows))
                                               : rows.points),
        tiles_(make_window(on, rows.count, confirmed_.columns)),
        fresh_(make_known(on, most_, confirmed_.columns)),
        left_(make_known(on, most_, confirmed_.columns)),
        block_(make_points(on, most_, rows.points, padded_of(rows))),
        of_block_(make_window(on, most_, confirmed_.columns)),
        states_(on.template buffer<u8>(most_)),
        picked_(on.template buffer<u32>(most_)),
        found_(on.template buffer<u32>(1)) {}

  /// As that of `skyline_rounds`.
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
      request.candidates.masks = fresh_.masks;
      request.count = std::min(size, count - at);
      request.window = confirmed_;
      request.window_count = skyline;
      on.for_teams(tiles_of(request.count, row_tile),
                   code_rows<Image>{request.candidates.values, points.columns, request.count, cuts_, fresh_.places,
                                    fresh_.masks});
      filter(on, request, tiles_, fresh_);
      const u64 left = pick(on, request, fresh_, block_, left_);
      if (left == 0) continue;
      auto inner = request;
      inner.candidates = inner.window = block_;
      inner.candidates.masks = left_.masks;
      inner.count = inner.window_count = left;
      inner.is_itself = true;
      extend(on, of_block_, left_, 0, left);
      filter(on, inner, of_block_, left_);
      const auto end = confirmed_.from(skyline);
      const u64 more = pick(on, inner, left_, end, fresh_);
      on.for_each(more, mark_members{end.rows, members});
      extend(on, tiles_, fresh_, skyline, more);
      skyline += more;
    }
    return blocks;
  }

  [[nodiscard]] u32 padded() const { return confirmed_.columns; }

 private:
  /// What is known of a block's points.
  struct known {
    u16* places;
    u64* masks;
  };
  struct window {
    u64* bitmaps;
    u64* masks;  ///< of the tiles
  };

  static u32 padded_of(const ordered_rows<Image>& rows) { return rows.points.columns; }
  static known make_known(Context& on, u64 count, u32 columns) {
    return {on.template buffer<u16>(count * columns), on.template buffer<u64>(count)};
  }
  static window make_window(Context& on, u64 count, u32 columns) {
    const u64 tiles = tiles_of(count, bitmap_tile);
    return {on.template buffer<u64>(tiles * row_bitmap_words(columns)), on.template buffer<u64>(tiles)};
  }

  void extend(Context& on, const window& to, const known& of, u64 from, u64 count) const {
    if (count == 0) return;
    on.for_teams(tiles_of(from + count, bitmap_tile) - from / bitmap_tile,
                 extend_bitmaps{of.places, of.masks, confirmed_.columns, from, count, to.bitmaps, to.masks});
  }
  void filter(Context& on, filter_request<Image> of, const window& by, const known& candidates) const {
    of.window_masks = by.masks;
    on.for_teams(tiles_of(of.count, filter_rows<Image>::tile), filter_rows<Image>{of, by.bitmaps, candidates.places});
  }
  /// Copies the candidates that are open; returns how many.
  u64 pick(Context& on, const filter_request<Image>& from, const known& candidates, const point_set<Image>& to,
           const known& picked) const {
    on.compact(from.count, is_open{states_}, picked_, found_);
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
  window tiles_;
  known fresh_;
  known left_;
  point_set<Image> block_;
  window of_block_;
  u8* states_;
  u32* picked_;
  u32* found_;
};

}  // namespace zenith::skyline_family::detail
