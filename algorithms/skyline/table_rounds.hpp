#pragma once

/// \file
/// `bitmap_tiles` on a device: the same phases as elsewhere, but of rows that are read from the table. Before the
/// rounds the host waits once; where few rows are left, it then knows their skyline, too.

#include <algorithm>
#include <type_traits>

#include <algorithms/skyline/distinct_rows.hpp>
#include <algorithms/skyline/few_rows.hpp>
#include <algorithms/skyline/phases.hpp>
#include <algorithms/skyline/row_groups.hpp>
#include <algorithms/skyline/table_buckets.hpp>
#include <algorithms/skyline/table_rows.hpp>
#include <algorithms/skyline/tile_rounds.hpp>
#include <core/with_key_type.hpp>

namespace zenith::skyline_family::detail {

/// Writes points of rows of the caller's table, whatever their type.
template <class Context, class Image>
class table_images {
 public:
  table_images() = default;
  template <class T>
  table_images(const row_source<T>& from, const Image* cuts) : from_(&from), cuts_(cuts), place_(place_from<T>) {}

  /// `count` points whose rows are known, with their masks to `short_masks`, or to their own if that is nullptr.
  void place(Context& on, const point_set<Image>& points, u32* short_masks, u64 count) const {
    place_(on, from_, cuts_, points, short_masks, count);
  }

 private:
  template <class T>
  static void place_from(Context& on, const void* from, const Image* cuts, const point_set<Image>& to, u32* short_masks,
                         u64 count) {
    const auto& table = *static_cast<const row_source<T>*>(from);
    on.for_each(count, place_table_rows<T>{table, cuts, buckets_of(table.columns), to, short_masks});
  }

  const void* from_ = nullptr;
  const Image* cuts_ = nullptr;
  void (*place_)(Context& on, const void* from, const Image* cuts, const point_set<Image>& to, u32* short_masks,
                 u64 count) = nullptr;
};

/// Points of a device in their order.
template <class Context, class Image>
struct ordered_points {
  point_set<Image> points;
  u32* short_masks;  ///< `has_short_masks`: of the points, which then have no others; else nullptr
  u64 count;
  u8* flags;  ///< one for each row of the table; 0 for those that are left
  table_findings* found;
  const u32* kept;                      ///< rows of the skyline, if few rows are left; else nullptr
  u64 members;                          ///< how many they are
  bool has_members;                     ///< whether there are flags that say `marked`
  u64 settled;                          ///< rows that have their flags
  table_images<Context, Image> images;  ///< where there is an order
};

/// Bytes that bitmaps may take: what a call takes beside its table is to be no more than two such tables. `others` are
/// bytes that it takes for something else.
template <class Context, class Image>
[[nodiscard]] u64 bytes_for_bitmaps(const skyline_input& call, const ordered_points<Context, Image>& of,
                                    u64 others = 0) {
  constexpr u64 little = u64{1} << 21;  // of samples, lists of teams and the like
  const u64 most = 2 * call.rows * call.column_count * sizeof(Image);
  const u64 mask = of.short_masks == nullptr ? sizeof(u64) : sizeof(u32);
  const u64 point = of.points.columns * sizeof(Image) + code_words(of.points.columns) * sizeof(u32) + mask;
  const u64 group = tiles_of(of.count, candidate_group) * mask;
  const u64 taken = call.rows * (sizeof(u32) + sizeof(u8)) + of.count * point + group + little + others;
  return most < taken ? 0 : most - taken;
}

/// Of so many pivots that dominate a row it is out; 0: there are none.
[[nodiscard]] inline u32 pivots_enough(const few_request& /*skyline*/) { return 1; }
[[nodiscard]] inline u32 pivots_enough(const layer_points& /*layers*/) { return 1; }
[[nodiscard]] inline u32 pivots_enough(const band_points& band) {
  return band.most <= most_dominators_among_pivots ? band.most : 0;
}

/// Forgets what was found by an order that was none.
struct begin_again {
  table_findings* found;
  u8* flags;

  ZENITH_FN void operator()(u64 i) const {
    if (flags[i] == marked) flags[i] = 0;
    if (i == 0) found->has_ties = 0;
  }
};

/// How the order comes about.
enum class order_keys : u8 {
  rounded,  ///< by short keys; what they do not tell apart is put right, unless that is too much
  exact,
};

/// Orders rows by the grid, and equal ones by their ids. `has_ties` is set to 1 where rounded keys tell too little
/// apart: then there is no order.
template <class T, class Context>
void order_table_rows(Context& on, const row_source<T>& from, u32* rows, u64 count,
                      const typename row_source<T>::image* cuts, const u64* of_sums, u32 buckets, order_keys by,
                      u32* has_ties) {
  using image = typename row_source<T>::image;
  if (by == order_keys::rounded && short_sum_bits(from.columns) > 0) {
    u32* const keys = on.template buffer<u32>(count);
    on.for_each(count, write_short_keys<T>{from, rows, cuts, buckets, of_sums, keys});
    on.sort_pairs(keys, rows, count);
    on.for_each(count, order_ties<T>{from, keys, count, rows, has_ties});
    return on.release(keys);
  }
  u64* const keys = on.template buffer<u64>(count);
  const auto sort_by = [&](row_key which) {
    on.for_each(count, write_table_keys<T>{from, rows, cuts, buckets, which, keys});
    on.sort_pairs(keys, rows, count);
  };
  if (fits_one_key<image>(from.columns)) {
    sort_by(row_key::all);
  } else {
    if (exact_sum<image>::low_bits > 0) sort_by(row_key::low_sum);
    sort_by(row_key::high_sum);
    sort_by(row_key::cell);
  }
  on.release(keys);
}

/// Orders rows that are left, and makes the points that they become.
template <class T, class Context>
void place_in_order(Context& on, const row_source<T>& from, order_keys by, bool has_short,
                    ordered_points<Context, typename row_source<T>::image>& made) {
  using image = typename row_source<T>::image;
  const u64 count = made.count;
  auto& points = made.points;
  const u32 buckets = buckets_of(from.columns);
  image* const cuts = on.template buffer<image>(u64{from.columns} * buckets);
  made.images = {from, cuts};
  const bool is_by_buckets = by == order_keys::rounded && fits_one_key<image>(from.columns) && count > most_few_rows &&
                             count <= most_rows_in_buckets;
  u64* const of_sums = is_by_buckets ? nullptr : on.template buffer<u64>(sum_cuts + 1);
  const find_cuts_of_columns<T> find{from, points.rows, count, buckets, cuts, of_sums};
  on.for_teams(find.teams(), find);
  // first, because a sort needs memory that points may have afterwards
  if (!is_by_buckets) {
    order_table_rows(on, from, points.rows, count, cuts, of_sums, buckets, by, &made.found->has_ties);
  }
  made.short_masks = has_short ? on.template buffer<u32>(count) : nullptr;
  points.masks = has_short ? nullptr : on.template buffer<u64>(count);
  points.values = on.template buffer<image>(count * from.columns);
  points.codes = on.template buffer<u32>(count * code_words(from.columns));
  if constexpr (sizeof(image) == 4) {
    if (is_by_buckets) {
      const place_table_rows<T> place{from, cuts, buckets, points, made.short_masks};
      return place_by_buckets(on, place, count, &made.found->has_ties);
    }
  }
  made.images.place(on, points, made.short_masks, count);
}

/// Forgets an order that was none, and the points in it.
template <class Context, class Image>
void take_apart(Context& on, u64 rows, ordered_points<Context, Image>& made) {
  on.for_each(rows, begin_again{made.found, made.flags});
  on.compact(rows, is_left{made.flags}, made.points.rows, &made.found->left);
  on.release(made.points.values);
  on.release(made.points.codes);
  if (made.short_masks != nullptr) on.release(made.short_masks);
  if (made.points.masks != nullptr) on.release(made.points.masks);
}

/// Calls use(points) with the points in their order, unless a NaN is rejected. The order of a skyline's or a band's may
/// turn out to be none: then use(points) returns false, with nothing allocated, and gets them in an exact one. Few rows
/// of a skyline have no order. `use` is compiled for two widths.
template <class Context, class Asked, class Use>
void with_ordered_points(Context& on, const skyline_input& call, const Asked& asked, const Use& use) {
  constexpr bool is_skyline = std::is_same_v<Asked, few_request>;
  ::zenith::detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) {
    using image = typename row_source<T>::image;
    const auto from = make_row_source<T>(on, call);
    u8* const flags = on.template buffer<u8>(call.rows);
    auto* const found = on.template buffer<table_findings>(1);
    bool has_members = false;
    if constexpr (is_skyline) has_members = has_many_groups(on, from);
    const u32 enough = has_members ? 0 : pivots_enough(asked);
    // of all rows of a large table, too many short keys are equal; and flags of members are to stay
    constexpr bool is_exact = std::is_same_v<Asked, layer_points>;
    const auto keys = is_exact || enough == 0 ? order_keys::exact : order_keys::rounded;
    u32* const rows = find_table_rows(on, call, from, asked, enough, flags, found);
    const u32* kept = nullptr;
    u64 in_groups = 0;
    if constexpr (is_skyline) {
      if (has_members) {
        const u64 count = on.read(static_cast<const table_findings*>(found)).left;
        settle_small_groups(on, from, rows, count, asked.keeps_twins, flags, asked.counters);
        in_groups = count;
        on.compact(call.rows, is_left{flags}, rows, &found->left);
      } else {
        kept = compare_few_rows(on, from, rows, found, asked);
      }
    }
    auto told = on.read(static_cast<const table_findings*>(found));
    if (rejects_nan(call, told.nan_at)) return;
    if constexpr (is_exact) {
      if (!asked.keeps_twins) told.left = static_cast<u32>(take_copies_out(on, from, rows, told.left, flags));
    }
    const bool is_done = kept != nullptr && told.left <= most_few_rows;
    ordered_points<Context, image> made{{nullptr, 1, from.columns, rows, nullptr, nullptr, from.columns},
                                        nullptr,
                                        told.left,
                                        flags,
                                        found,
                                        is_done ? kept : nullptr,
                                        told.members,
                                        has_members,
                                        has_members ? in_groups - told.left : 0,
                                        {}};
    const bool is_ordered = made.count > 0 && !is_done;
    const bool has_short = has_short_masks(from.columns);
    if (is_ordered) place_in_order(on, from, keys, has_short, made);
    while (!use(made)) {
      take_apart(on, call.rows, made);
      place_in_order(on, from, order_keys::exact, has_short, made);
    }
  });
  on.finish();
}

}  // namespace zenith::skyline_family::detail
