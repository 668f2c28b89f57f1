#pragma once

/// \file
/// `bitmap_tiles` on a host: the same phases as elsewhere, but of points that lie row by row, of which no image is made
/// before they are in order. What is known of a point, its codes and masks, is known of a block at a time.

#include <algorithm>
#include <type_traits>
#include <utility>

#include <algorithms/skyline/bitmap_rows.hpp>
#include <algorithms/skyline/family.hpp>
#include <algorithms/skyline/phases.hpp>
#include <algorithms/skyline/region_tree.hpp>
#include <algorithms/skyline/row_order.hpp>
#include <algorithms/skyline/row_prefilter.hpp>
#include <algorithms/skyline/row_source.hpp>
#include <core/with_key_type.hpp>

namespace zenith::skyline_family::detail {

/// On a host, `bitmap_tiles` has an override of its own, for speed (perf/notes/skyline.md); these share its order, for
/// memory: no image of the table is kept.
[[nodiscard]] inline bool goes_by_rows(const value_method& how) {
  return how.is_prefiltered && how.order != row_order::least_value && !how.is_padded;
}

/// Points in their order.
template <class Image>
struct ordered_rows {
  point_set<Image> points;
  u64 count;
  const Image* cuts;
  u64* spare;                ///< as many words; nullptr where there is no order
  u8* flags;                 ///< one for each row of the table
  u32* ascending = nullptr;  ///< the rows by number, if they are few of the table's
};

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

/// The rows that take part, ascending, and how many they are; nullptr when a NaN is rejected: then the outcome says so.
template <class T, class Context>
[[nodiscard]] u32* find_rows_left(Context& on, const skyline_input& call, const row_source<T>& from,
                                  bool is_prefiltered, u8* removed, u64& count) {
  using image = typename row_source<T>::image;
  const bool drops_nan = call.nans == nan_rows::drop;
  u64* const nan_at = on.template buffer<u64>(1);
  const u32 used_pivots = pivots_for(call.rows, from.columns);
  image* const pivots = is_prefiltered ? on.template buffer<image>(u64{used_pivots} * from.columns) : nullptr;
  on.for_each(1, begin_nan_search{nan_at});
  if (is_prefiltered) {
    const u32* const rows = choose_pivots(on, from, removed, used_pivots);
    on.for_each(u64{used_pivots} * from.columns, gather_row_pivots<T>{from, rows, drops_nan, pivots});
  }
  const u32 tiles = test_rows<T>::tiles_for(call.rows, on.threads());
  u32* const left = on.template buffer<u32>(call.rows);
  u32* const counts = on.template buffer<u32>(tiles_of(call.rows, u64{tiles} * row_tile));
  u32* const found = on.template buffer<u32>(1);
  const test_rows<T> test{from,    pivots, drops_nan, from.is_by_fours(), tiles, nan_at,
                          removed, left,   counts,    used_pivots};
  on.for_teams(test.teams(), test);
  if (std::is_floating_point_v<T> && call.nans == nan_rows::reject) {
    const u64 at = on.read(static_cast<const u64*>(nan_at));
    if (at != no_nan) {
      *call.outcome = {0, true, at / most_given_columns, static_cast<unsigned>(at % most_given_columns)};
      return nullptr;
    }
  }
  on.for_each(1, join_lists{left, counts, test.teams(), u64{tiles} * row_tile, found});
  count = on.read(static_cast<const u32*>(found));
  return left;
}

/// Orders rows by the grid, or by their sums without `cuts`, and equal ones by their ids.
template <class T, class Context>
void order_rows(Context& on, const row_source<T>& from, u32* rows, u64 count, const typename row_source<T>::image* cuts,
                u64* keys) {
  using image = typename row_source<T>::image;
  const auto sort_by = [&](row_key which) {
    on.for_teams(tiles_of(count, row_tile),
                 write_row_keys<T>{from, rows, count, cuts, row_buckets(from.columns), which, keys});
    on.sort_pairs(keys, rows, count);
  };
  if (cuts != nullptr && fits_one_key<image>(from.columns)) return sort_by(row_key::all);
  if (exact_sum<image>::low_bits > 0) sort_by(row_key::low_sum);
  sort_by(row_key::high_sum);
  if (cuts != nullptr) sort_by(row_key::cell);
}

/// Where the values of a host's points lie, and what orders them.
enum class row_layout : u8 {
  rows_by_grid,
  rows_as_they_are,  ///< with `row_padding` bytes behind them
  columns_by_grid,   ///< with zeros in columns up to a compiled number
  columns_by_sum,    ///< the same
};

[[nodiscard]] inline auto always(row_layout layout) {
  return [layout](u64 /*count*/) { return layout; };
}

template <class Image, class Context>
[[nodiscard]] point_set<Image> make_ordered_points(Context& on, row_layout layout, u64 count, u32 columns, u32* rows) {
  point_set<Image> made{nullptr, 1, columns, rows, nullptr, nullptr, columns};
  if (layout == row_layout::rows_by_grid || layout == row_layout::rows_as_they_are) {
    constexpr u64 padding = row_padding / sizeof(Image);
    made.values = on.template buffer<Image>(count * columns + padding);
    on.fill_zero(made.values + count * columns, padding);
    return made;
  }
  const u32 padded = padded_columns(columns);
  made.values = on.template buffer<Image>(count * padded);
  made.stride = count;
  made.step = 1;
  on.fill_zero(made.values + count * columns, count * (padded - columns));
  return made;
}

/// Calls use(rows) with the points in their order, unless a NaN is rejected. `layout_of` says which, by how many take
/// part. `use` is compiled for two widths.
template <class Context, class LayoutOf, class Use>
void with_ordered_rows(Context& on, const skyline_input& call, const LayoutOf& layout_of, bool is_prefiltered,
                       const Use& use) {
  ::zenith::detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) {
    using image = typename row_source<T>::image;
    const auto from = make_row_source<T>(on, call);
    u64 count = 0;
    u8* const flags = on.template buffer<u8>(call.rows);
    u32* const rows = find_rows_left(on, call, from, is_prefiltered, flags, count);
    if (call.outcome->has_nan) return;
    const row_layout layout = layout_of(count);
    const bool is_ordered = layout != row_layout::rows_as_they_are;
    ordered_rows<image> ordered{{}, count, nullptr, is_ordered ? on.template buffer<u64>(count) : nullptr, flags};
    ordered.points.rows = rows;
    if (count > 0 && count < call.rows / 32) {
      ordered.ascending = on.template buffer<u32>(count);
      on.copy(ordered.ascending, rows, count);
    }
    if (count > 0) {
      if (layout == row_layout::rows_by_grid || layout == row_layout::columns_by_grid) {
        // cuts for few rows need not be exact
        const auto samples = static_cast<u32>(std::min(count, std::clamp<u64>(count / 8, 256, most_cut_samples)));
        const auto draw = [&](image* drawn, u32* unused) {
          on.for_each(u64{samples} * from.columns, draw_row_samples<T>{from, rows, count, samples, drawn, unused});
        };
        ordered.cuts = pick_cuts_of<image>(on, samples, from.columns, row_buckets(from.columns), draw);
      }
      if (is_ordered) order_rows(on, from, rows, count, ordered.cuts, ordered.spare);
      ordered.points = make_ordered_points<image>(on, layout, count, from.columns, rows);
      on.for_teams(tiles_of(count, row_tile), place_row_values<T>{from, count, ordered.points});
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
        tiles_(on, rows.count, confirmed_.columns, rows.spare, rows.count, most_words(rows, most_)),
        fresh_(make_known(on, most_, confirmed_.columns)),
        left_(make_known(on, most_, confirmed_.columns)),
        block_(make_points(on, most_, rows.points, padded_of(rows))),
        of_block_(on, most_, confirmed_.columns),
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
      request.window_count = std::min(skyline, tiles_.kept_points());
      on.for_teams(tiles_of(request.count, row_tile),
                   code_rows<Image>{request.candidates.values, points.columns, request.count, cuts_, fresh_.places,
                                    fresh_.masks});
      filter(on, request, tiles_, fresh_);
      filter_by_rest(on, request, skyline);
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

  static u32 padded_of(const ordered_rows<Image>& rows) { return rows.points.columns; }
  static known make_known(Context& on, u64 count, u32 columns) {
    return {on.template buffer<u16>(count * columns), on.template buffer<u64>(count)};
  }

  /// Of bitmaps of points of the skyline, so that all memory is at most twice that of the points: beside them there are
  /// the table's flags and rows, the sort's keys, which are spare then, and what is known of a block.
  static u64 most_words(const ordered_rows<Image>& rows, u64 most) {
    const u64 columns = rows.points.columns;
    const u64 bytes = rows.count * columns * sizeof(Image);
    const u64 of_block = most * (columns * (sizeof(Image) + 2 * sizeof(u16) + 4) + 32);
    const u64 others = rows.count * 13 + of_block;
    return bytes > others ? (bytes - others) / sizeof(u64) : 0;
  }

  /// The candidates against those of the skyline whose bitmaps are not kept: they are made again, in a block's memory.
  void filter_by_rest(Context& on, filter_request<Image> request, u64 skyline) {
    for (u64 at = tiles_.kept_points(); at < skyline; at += request.window_count) {
      request.window = confirmed_.from(at);
      request.window_count = std::min(most_, skyline - at);
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
  void filter(Context& on, filter_request<Image> of, const bitmap_space<Context>& by, const known& candidates) const {
    of.window_masks = by.masks();
    const auto run = filter_rows<Image>::make(of, by.bitmaps(), candidates.places, static_cast<u64>(on.threads()));
    on.for_teams(run.teams(), run);
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
