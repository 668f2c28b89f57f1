#pragma once

/// \file
/// The strategies of the skyline: images, prefilter, an order, rounds. They differ in the order and in what a round
/// compares.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <algorithms/skyline/family.hpp>
#include <algorithms/skyline/group_band.hpp>
#include <algorithms/skyline/incomparable_rows.hpp>
#include <algorithms/skyline/layers.hpp>
#include <algorithms/skyline/phases.hpp>
#include <algorithms/skyline/round_log.hpp>
#include <algorithms/skyline/row_band.hpp>
#include <algorithms/skyline/row_rounds.hpp>
#include <algorithms/skyline/skyband.hpp>
#include <algorithms/skyline/table_rounds.hpp>
#include <algorithms/skyline/tile_band.hpp>
#include <algorithms/skyline/tree_rounds.hpp>
#include <algorithms/skyline/value_points.hpp>
#include <core/device/list.hpp>

namespace zenith::skyline_family {

/// Numbers of columns that the filter by values is compiled for. A point with fewer is padded.
template <class Image, unsigned... Columns>
using padded_kernels = device::list<filter_by_points<Image, Columns>...>;

template <class Image>
using kernels_of_width =
    device::concat<padded_kernels<Image, 4, 8, 12, 16, 24, 32, 64>, band_kernels<Image, 4, 8, 12, 16, 24, 32, 64>,
                   device::list<gather_points<Image>, pick_cuts<Image>, place_points<Image>, write_pivot_masks<Image>,
                                filter_by_partitions<Image>, find_by_region_tree<Image>>,
                   bitmap_row_kernels<Image>, row_band_kernels<Image>>;

/// Kernels that read the caller's table.
template <class... T>
using row_kernels =
    device::concat<device::list<find_scales<T>, find_pivots<T>, gather_row_pivots<T>, test_rows<T>, draw_row_samples<T>,
                                write_row_keys<T>, write_least_values<T>, place_row_values<T>, count_pivots<T>>...,
                   group_kernels<T>...>;

using kernels = device::concat<
    kernels_of_width<std::uint32_t>, kernels_of_width<std::uint64_t>,
    device::list<begin_nan_search, rank_pivots, name_pivots, write_offsets, write_tile_masks, extend_bitmaps,
                 mark_members, mark_open, write_mask_of_marks, join_lists, name_rows, find_stop, round_partitions,
                 pick_padded, write_ids<std::uint32_t>, write_ids<std::uint64_t>>,
    row_kernels<float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>,
    group_band_kernels<float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>, band_kernels_of_all,
    row_band_kernels_of_all, layer_kernels,
    group_number_kernels<float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>,
    distinct_row_kernels<float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>>;

namespace detail {

/// Ids and mask to the caller (`list_marked`).
template <class Context>
void deliver(Context& on, const skyline_call& call, const u8* flags, u32* rows, const u32* asked = nullptr,
             u64 asked_count = 0) {
  const u64 count = list_marked(on, flags, call.rows, asked, asked_count, rows);
  deliver_marks(on, call, flags);
  deliver_ids(on, call, rows, count, false);
}

/// The caller's memory for ids, where kernels may write them before the host knows how many they are.
[[nodiscard]] inline ids_target target_of(const skyline_call& call) {
  if (call.out_space != memory_space::device || call.provide_ids == nullptr || call.known_ids == nullptr) return {};
  return {call.known_ids, call.known_count, static_cast<u32>(call.index_bytes)};
}

/// in_rounds(rows, use) calls use(points, count, rounds).
template <class Context, class LayoutFor, class InRounds>
void find_skyline_by_rows(Context& on, const skyline_call& call, bool has_prefilter, const LayoutFor& layout_for,
                          const InRounds& in_rounds) {
  round_log<Context> log(on, call);
  const auto counters = make_counters(on, call);
  const bool keeps_twins = call.duplicates == duplicate_rows::keep_all;
  settled_groups settled;
  with_ordered_rows(on, call, layout_for, skyline_prefilter{has_prefilter, keeps_twins, counters, settled},
                    [&](const auto& rows) {
                      u8* const members = rows.flags;
                      u64 blocks = 0;
                      if (rows.count > 0) {
                        in_rounds(rows, [&](const auto& points, u64 count, auto& rounds) {
                          log.begin(on, members, std::min(rows.left, count));  // padded, there are more
                          blocks = rounds.mark(on, points, count, members, keeps_twins, counters, log);
                        });
                      } else {
                        log.begin(on, members, 0);
                      }
                      const u32* const asked = settled.are_there ? nullptr : rows.ascending;
                      deliver(on, call, members, rows.points.rows, asked, rows.left);
                      report(on, call, counters, settled.rows + rows.left, blocks);
                    });
}

/// On a host, of one column or two that say which row is better (layers_of_two.hpp).
template <class Context>
void find_skyline_of_two(Context& on, const skyline_call& call) {
  round_log<Context> log(on, call);
  const auto counters = make_counters(on, call);
  ::zenith::detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) {
    const auto from = make_row_source<T>(on, call);
    u64 count = 0;
    u8* const flags = on.template buffer<u8>(call.rows);
    u32* const rows = has_many_groups(on, from) ? list_rows_left<T>(on, call, from, {}, flags, count)
                                                : pivot_prefilter{}.find_rows_left(on, call, from, flags, count);
    if (rows == nullptr) return;
    const u32* asked = nullptr;
    if (count < call.rows / 32) {
      u32* const ascending = on.template buffer<u32>(count);
      on.copy(ascending, static_cast<const u32*>(rows), count);
      asked = ascending;
    }
    log.begin(on, flags, count);
    mark_skyline_of_two(on, from, rows, count, call.duplicates == duplicate_rows::keep_all, flags);
    log.add(on, count);
    deliver(on, call, flags, rows, asked, count);
    report(on, call, counters, count, 1);
  });
  on.finish();
}

/// What the strategies that compare by values do.
template <class Context>
void find_skyline_by_values(Context& on, const skyline_call& call, const value_method& how) {
  find_skyline_by_rows(on, call, how.is_prefiltered, always(layout_of(how)),
                       [&]<class Image>(const ordered_rows<Context, Image>& rows, const auto& use) {
                         u64 count = rows.count;
                         auto points = rows.points;
                         if (how.order == row_order::grid) {
                           points.masks = rows.spare;
                         } else {
                           on.release(rows.spare);
                         }
                         place_masks(how, on, points, count, rows.cuts);
                         if (how.is_padded) points = pad_partitions(how, on, call, rows, points, count);
                         const u64 most = most_of_block<Image>(how, call, points.columns, count);
                         in_rounds_by_values(how, on, points, count, most, use);
                         on.release(points.values);  // for the ids
                       });
}

/// The skyband by values: `sfs`.
template <class Context>
void find_band_by_sum(Context& on, const skyband_call& call) {
  const auto counters = make_counters(on, call);
  settled_band settled;
  const grouped_band_prefilter<no_prefilter> prefilter{call, {}, counters, settled};
  with_ordered_rows(on, call, always(row_layout::columns_by_sum), prefilter, [&](const auto& rows) {
    u32* const dominated_by =
        settled.dominated_by == nullptr ? on.template buffer<u32>(call.rows) : settled.dominated_by;
    u64 blocks = 0;
    if (rows.count > 0) {
      on.release(rows.spare);
      const u32 padded = padded_columns(rows.points.columns);
      blocks = mark_skyband(on, rows.points, rows.count, padded, call, rows.flags, dominated_by, counters);
      on.release(rows.points.values);  // for the ids
    }
    report(on, call, counters, settled.rows + rows.count, blocks);
    const u64 size = list_marked(on, rows.flags, call.rows, nullptr, 0, rows.points.rows);
    deliver_band(on, call, rows.points.rows, size, dominated_by);
  });
}

}  // namespace detail

template <class Strategy>
template <class Context>
void value_strategy<Strategy>::run(Context& on, const skyline_call& call) {
  if (detail::are_incomparable(call)) return detail::find_incomparable_skyline(on, call);
  detail::find_skyline_by_values(on, call, Strategy::how);
}

template <class Context>
void bskytree::run(Context& on, const skyline_call& call) {
  using namespace detail;
  if (are_incomparable(call)) return find_incomparable_skyline(on, call);
  find_skyline_by_rows(on, call, true, always(row_layout::rows_as_they_are),
                       [&]<class Image>(const ordered_rows<Context, Image>& rows, const auto& use) {
                         tree_rounds<Context, Image> rounds(on, rows.count);
                         use(rows.points, rows.count, rounds);
                       });
}

template <class Context>
void bitmap_tiles::run(Context& on, const skyline_call& call) {
  using namespace detail;
  if (are_incomparable(call)) return find_incomparable_skyline(on, call);
  if constexpr (Context::runs_on_host) {
    if (has_two_columns(call)) return find_skyline_of_two(on, call);
    const auto are_few = [most = most_rows_by_values(on.threads())](u64 count) { return count <= most; };
    const auto layout_for = [&](u64 count) {
      return are_few(count) ? row_layout::columns_by_sum : row_layout::rows_by_grid;
    };
    const auto in_rounds = [&]<class Image>(const ordered_rows<Context, Image>& rows, const auto& use) {
      if (are_few(rows.count)) {
        const u32 padded = padded_columns(rows.points.columns);
        first_of_left<point_windows<Context, Image>, Context, Image> rounds(on, rows.points, rows.count, padded,
                                                                            rows.count);
        return use(rows.points, rows.count, rounds);
      }
      row_rounds rounds(on, rows);
      use(rows.points, rows.count, rounds);
    };
    find_skyline_by_rows(on, call, true, layout_for, in_rounds);
  } else {
    round_log<Context> log(on, call);
    const auto counters = make_counters(on, call);
    const bool keeps_twins = call.duplicates == duplicate_rows::keep_all;
    const few_request few{keeps_twins, call.nans == nan_rows::reject, target_of(call), counters};
    with_ordered_points(on, call, few, [&](const auto& rows) {
      u8* const members = rows.flags;
      const bool are_written = few.ids.at != nullptr && !rows.has_members;
      if (rows.has_members && rows.count == 0) {
        log.begin(on, members, 0);
        deliver(on, call, members, rows.points.rows);
        report(on, call, counters, rows.settled, 0);
        return true;
      }
      if (rows.kept != nullptr || rows.count == 0) {
        log.end_without_rounds(rows.members);
        on.for_each(call.out_mask == nullptr ? 0 : rows.members, mark_rows{rows.kept, members});
        deliver_marks(on, call, members);
        deliver_ids(on, call, rows.kept, rows.members, are_written);
        report(on, call, counters, rows.count, rows.kept == nullptr ? 0 : 1);
        return true;
      }
      const auto find = [&](auto* masks) {
        tile_rounds rounds(on, rows.points, rows.count, masks, bytes_for_bitmaps(call, rows));
        log.begin(on, members, rows.count);
        const u64 blocks = rounds.mark(on, rows.points, rows.count, members, keeps_twins, counters, log);
        on.compact(call.rows, is_marked{members}, rows.points.rows, &rows.found->left);
        if (are_written) {
          on.for_each(std::min(rows.count, few.ids.most), write_found_ids{rows.found, rows.points.rows, few.ids});
        }
        const auto told = on.read(static_cast<const table_findings*>(rows.found));
        rounds.release(on);
        if (told.has_ties != 0) return false;
        on.release(rows.points.values);  // for the ids
        deliver_marks(on, call, members);
        deliver_ids(on, call, rows.points.rows, told.left, are_written);
        report(on, call, counters, rows.settled + rows.count, blocks);
        return true;
      };
      return rows.short_masks != nullptr ? find(rows.short_masks) : find(rows.points.masks);
    });
  }
}

template <class Context>
void band_by_sum::run(Context& on, const call_type& call) {
  if (detail::are_incomparable(call)) return detail::find_incomparable_band(on, call);
  detail::find_band_by_sum(on, call);
}

template <class Context>
void band_by_bitmaps::run(Context& on, const call_type& call) {
  if (detail::are_incomparable(call)) return detail::find_incomparable_band(on, call);
  if constexpr (Context::runs_on_host) {
    detail::find_band_by_rows(on, call);
  } else {
    detail::find_band_by_tiles(on, call);
  }
}

}  // namespace zenith::skyline_family
