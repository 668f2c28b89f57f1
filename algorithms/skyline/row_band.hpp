#pragma once

/// \file
/// The skyband by bitmaps on a host (skyband.hpp says why it is enough to count dominators in the band): the rounds of
/// `bitmap_tiles`, in which a point is left while fewer than k are known to dominate it. Of equal rows only the first
/// takes part, as a point that stands for all of them.

#include <algorithms/skyline/band_prefilter.hpp>
#include <algorithms/skyline/dominator_counts.hpp>
#include <algorithms/skyline/group_band.hpp>
#include <algorithms/skyline/ordered_rows.hpp>
#include <algorithms/skyline/row_copies.hpp>
#include <algorithms/skyline/row_rounds.hpp>
#include <algorithms/skyline/skyband.hpp>

namespace zenith::skyline_family {

template <class Image>
using row_band_kernels = device::concat<device::list<filter_rows<Image, count_request<Image>>>, copy_kernels<Image>,
                                        band_pivot_kernels<Image>>;
using row_band_kernels_of_all = device::concat<device::list<mark_heavy, gather_counted, confirm_band>,
                                               copy_kernels_of_all, band_pivot_kernels_of_all>;

namespace detail {

/// What rounds keep of points that are left: their counts, and what they stand for.
template <class Context, class Image>
class band_goal {
 public:
  using request = count_request<Image>;

  /// For `count` points, up to `block` at a time.
  band_goal(Context& on, const point_copies& copies, u64 count, u64 block, u8* members, u32* dominated_by)
      : copies_(copies),
        members_(members),
        dominated_by_(dominated_by),
        counts_(on.template buffer<u32>(block)),
        left_counts_(on.template buffer<u32>(block)) {
    if (copies.weights == nullptr) return;
    heavy_ = on.template buffer<u64>(tiles_of(count, bitmap_tile) * bitmap_words);
    left_heavy_ = on.template buffer<u64>(tiles_of(block, bitmap_tile) * bitmap_words);
    left_weights_ = on.template buffer<u32>(block);
  }

  [[nodiscard]] request make_request(u32 most, const test_counters& counters) const {
    request made;
    made.goes_on = copies_.firsts != nullptr;
    made.states = counts_;
    made.most = most;
    made.weights = copies_.weights;  // those of the window come to lie in front
    made.heavy = heavy_;
    made.counters = counters;
    return made;
  }
  void begin(Context& on, const request& of, u64 at) {
    at_ = at;
    if (copies_.firsts != nullptr) on.for_each(of.count, leave_copies_out{copies_.firsts, at, of.most, counts_});
  }
  request inside(Context& on, const request& of, const u32* picked, u64 left) {
    auto inner = of;
    inner.goes_on = true;
    inner.states = left_counts_;
    inner.weights = left_weights_;
    inner.heavy = left_heavy_;
    const bool has_weights = copies_.weights != nullptr;
    on.for_each(left, gather_counted{picked, counts_, has_weights ? copies_.weights + at_ : nullptr, left_counts_,
                                     left_weights_});
    if (has_weights) on.for_each(tiles_of(left, 64), mark_heavy{left_weights_, left, 0, left_heavy_});
    return inner;
  }
  void confirm(Context& on, const request& /*inner*/, const u32* picked, const u32* rows, u64 window, u64 more) {
    on.for_each(more, confirm_band{picked, rows, left_counts_, left_weights_, members_, dominated_by_,
                                   copies_.weights + (left_weights_ == nullptr ? 0 : window)});
    if (left_weights_ == nullptr || more == 0) return;
    const u64 end = window + more;
    on.for_each(tiles_of(end, 64) - window / 64, mark_heavy{copies_.weights, end, window / 64, heavy_});
  }
  void end(Context& /*on*/, u64 /*count*/) const {}

 private:
  point_copies copies_;
  u8* members_;
  u32* dominated_by_;
  u32* counts_;       ///< of a block's points
  u32* left_counts_;  ///< of those that the window leaves
  u64* heavy_ = nullptr;
  u64* left_heavy_ = nullptr;
  u32* left_weights_ = nullptr;
  u64 at_ = 0;
};

/// The band of points in order, marked in their flags.
struct marked_band {
  u32* dominated_by = nullptr;  ///< by row of the table, as far as it is in the band
  u64 blocks = 0;
};

template <class Context, class Image>
[[nodiscard]] marked_band mark_skyband_by_bitmaps(Context& on, const ordered_rows<Context, Image>& rows,
                                                  const skyband_call& call, const settled_band& settled,
                                                  const test_counters& counters) {
  const bool keeps_all = call.duplicates == duplicate_rows::keep_all;
  const auto copies = find_copies(on, rows.points, rows.count, keeps_all, rows.spare);
  on.release(rows.spare);
  auto window = rows;
  window.spare = nullptr;
  // the window's points overwrite those that are done, but copies ask which row was their first
  if (copies.weights != nullptr) window.points.rows = on.template buffer<u32>(rows.count);
  marked_band found{settled.dominated_by == nullptr ? on.template buffer<u32>(call.rows) : settled.dominated_by, 0};
  const u64 of_copies = copies.firsts == nullptr ? 0 : copies.weights == nullptr ? sizeof(u32) : 3 * sizeof(u32) + 1;
  row_rounds rounds(on, window, call.rows * sizeof(u32) + rows.count * of_copies);
  band_goal<Context, Image> goal(on, copies, rows.count, rounds.most(), rows.flags, found.dominated_by);
  found.blocks = rounds.in_blocks(on, rows.points, rows.count, goal.make_request(call.most, counters), goal);
  if (copies.weights != nullptr) {
    on.for_each(rows.count, confirm_copies{rows.points.rows, copies.firsts, rows.flags, found.dominated_by});
  }
  on.release(rows.points.values);  // for the ids
  return found;
}

template <class Context>
void find_band_by_rows(Context& on, const skyband_call& call) {
  const auto counters = make_counters(on, call);
  settled_band settled;
  const band_prefilter by_pivots{call.most, call.duplicates == duplicate_rows::keep_first};
  const grouped_band_prefilter<band_prefilter> prefilter{call, by_pivots, counters, settled};
  with_ordered_rows(on, call, always(row_layout::rows_by_grid), prefilter, [&](const auto& rows) {
    marked_band found{settled.dominated_by, 0};
    if (rows.count > 0) found = mark_skyband_by_bitmaps(on, rows, call, settled, counters);
    report(on, call, counters, settled.rows + rows.count, found.blocks);
    const u32* const asked = settled.dominated_by == nullptr ? rows.ascending : nullptr;
    const u64 size = list_marked(on, rows.flags, call.rows, asked, rows.count, rows.points.rows);
    deliver_band(on, call, rows.points.rows, size, found.dominated_by);
  });
}

}  // namespace detail

}  // namespace zenith::skyline_family
