#pragma once

/// \file
/// The skyband: rows that fewer than k rows dominate. Points come in an order in which none is dominated by one behind
/// it, and a row's dominators are counted in the band found so far and among the rows of its block.
///
/// That is enough. Every dominator of a row of the band is in the band. And a row with k dominators has k in the band:
/// of its dominators, in any order in which none is dominated by one behind it, the first k have fewer than k
/// themselves.
///
/// Equal rows do not dominate each other. In the band they are one point with a weight, so that many copies of a row
/// cost no more than other rows.

#include <algorithm>
#include <type_traits>

#include <algorithms/skyline/phases.hpp>

namespace zenith::skyline_family {

inline constexpr u32 no_point = ~u32{0};
inline constexpr u64 most_band_block = 2048;

/// Counts the dominators of candidates in a window, and finds the first point of the window that equals a candidate.
/// Candidates and window are in order.
template <class Image, unsigned Columns>
struct count_dominators {
  static constexpr u32 tile = 128;   // candidates of a team
  static constexpr u64 step = 64;    // points of the window that are tested at once
  static constexpr u64 chunk = 512;  // of the window, read for all candidates of the team while it is in fast memory

  point_set<Image> candidates;
  u64 count;
  point_set<Image> window;
  u64 window_count;
  bool is_itself;      ///< a candidate is compared with those before it
  const u32* weights;  ///< of the window's points: how many rows each stands for; unused without counts
  u32 most;            ///< counting may stop there
  u32* counts;         ///< raised; nullptr: not wanted
  u32* twins;          ///< where a candidate's equal stands in the window; nullptr: not wanted
  device::event_counter tests;

  [[nodiscard]] u64 launch_cost(u64 /*n*/) const {
    return count * (64 + (is_itself ? count / 2 : window_count) * Columns);
  }
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * tile;
    const u64 n = count - first < tile ? count - first : tile;
    const u64 end = is_itself ? first + n : window_count;
    for (u64 at = 0; at < end; at += chunk) {
      team.for_each(n, [&](u64 i) ZENITH_BODY {
        const u64 all = is_itself ? first + i : window_count;
        if (all > at) test(first + i, at, all - at < chunk ? all : at + chunk);
      });
      team.barrier();
    }
  }

  /// Candidate i against points [at, end) of the window.
  ZENITH_FN void test(u64 i, u64 at, u64 end) const {
    u32 counted = counts == nullptr ? 0 : counts[i];
    u32 equal = twins == nullptr ? u32{no_point} : twins[i];
    if (counts == nullptr ? equal != no_point : counted >= most) return;
    Image point[Columns];
    ZENITH_UNROLLED
    for (u32 c = 0; c < Columns; ++c) point[c] = candidates.values[c * candidates.stride + i];
    u64 tested = 0;
    for (; at < end; at += step) {
      const u64 n = end - at < step ? end - at : step;
      tested += n;
      const Image* const points = window.values + at;
      if (!any_reaches(points, window.stride, n, point)) continue;
      for (u64 j = 0; j < n; ++j) {
        const relation found = compare_point(points + j, window.stride, point);
        if (found == relation::dominates && counts != nullptr) counted += weights[at + j];
        if (found == relation::equals && equal == no_point) equal = static_cast<u32>(at + j);
      }
      if (counts == nullptr ? equal != no_point : counted >= most) break;
    }
    if (counts != nullptr) counts[i] = counted;
    if (twins != nullptr) twins[i] = equal;
    tests.add(tested);
  }
};

/// What is known of the rows of a block.
struct band_rows {
  u32* counts;  ///< dominators so far
  u32* twins;   ///< where the row's equal stands in the band; no_point: it has none
  u32* inner;   ///< where its first equal stands in the block
};

struct begin_band_rows {
  band_rows rows;

  ZENITH_FN void operator()(u64 i) const {
    rows.counts[i] = 0;
    rows.twins[i] = no_point;
    rows.inner[i] = no_point;
  }
};

/// Rows that are not yet known to be out. Twins are, where only the first of equal rows counts.
struct may_be_in_band {
  band_rows rows;
  u32 most;
  bool keeps_twins;

  ZENITH_FN bool operator()(u64 i) const {
    return rows.counts[i] < most && (keeps_twins || (rows.twins[i] == no_point && rows.inner[i] == no_point));
  }
};

struct gather_band_rows {
  band_rows from;
  const u32* picked;
  band_rows to;

  ZENITH_FN void operator()(u64 i) const {
    to.counts[i] = from.counts[picked[i]];
    to.twins[i] = from.twins[picked[i]];
    to.inner[i] = no_point;
  }
};

/// How many rows a row of the block stands for while the block is compared with itself.
struct weigh_block {
  const u32* inner;
  bool keeps_twins;
  u32* weights;

  ZENITH_FN void operator()(u64 i) const { weights[i] = keeps_twins || inner[i] == no_point ? 1 : 0; }
};

/// Rows of the block that belong to the band, with their counts.
struct mark_band {
  may_be_in_band test;
  const u32* rows;
  u8* members;
  u32* dominated_by;  ///< by row

  ZENITH_FN void operator()(u64 i) const {
    if (!test(i)) return;
    members[rows[i]] = marked;
    dominated_by[rows[i]] = test.rows.counts[i];
  }
};

/// Rows that are points of the band of their own.
struct is_new_point {
  band_rows rows;
  u32 most;

  ZENITH_FN bool operator()(u64 i) const {
    return rows.counts[i] < most && rows.twins[i] == no_point && rows.inner[i] == no_point;
  }
};

/// New points stand for one row, so far.
struct place_in_band {
  const u32* picked;
  u32 first;  ///< where they stand
  u32* slots;
  u32* weights;

  ZENITH_FN void operator()(u64 i) const {
    slots[picked[i]] = first + static_cast<u32>(i);
    weights[first + i] = 1;
  }
};

/// Twins add to the weight of their point.
struct add_twins {
  band_rows rows;
  u32 most;
  const u32* slots;
  u32* weights;

  ZENITH_FN void operator()(u64 i) const {
    if (rows.counts[i] >= most) return;
    if (rows.twins[i] != no_point) {
      (void)device::atomic_add(weights + rows.twins[i], 1U);
    } else if (rows.inner[i] != no_point) {
      (void)device::atomic_add(weights + slots[rows.inner[i]], 1U);
    }
  }
};

struct gather_counts {
  const u32* rows;
  const u32* by_row;
  u32* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = by_row[rows[i]]; }
};

/// Counts of some rows among those of the table.
struct scatter_counts {
  const u32* rows;
  const u32* by_row;
  u32* to;

  ZENITH_FN void operator()(u64 i) const { to[rows[i]] = by_row[rows[i]]; }
};

template <class Image, unsigned... Columns>
using band_kernels = device::list<count_dominators<Image, Columns>...>;
using band_kernels_of_all = device::list<begin_band_rows, gather_band_rows, weigh_block, mark_band, place_in_band,
                                         add_twins, gather_counts, scatter_counts>;

namespace detail {

template <class Context>
[[nodiscard]] band_rows make_band_rows(Context& on, u64 count) {
  return {on.template buffer<u32>(count), on.template buffer<u32>(count), on.template buffer<u32>(count)};
}

/// What `count_dominators` counts in: its members from `window` on.
template <class Image>
struct counted_window {
  point_set<Image> points;
  u64 count;
  bool is_itself;
  const u32* weights;
  u32 most;
  u32* counts;
  u32* twins;
};

/// The kernel is compiled for some numbers of columns, all else once.
template <class Context, class Image>
void count_in_window(Context& on, u32 padded, const point_set<Image>& candidates, u64 n,
                     const counted_window<Image>& in, const device::event_counter& tests) {
  with_padded(padded, [&]<unsigned Columns>(std::integral_constant<unsigned, Columns>) {
    using kernel = count_dominators<Image, Columns>;
    on.for_teams(tiles_of(n, kernel::tile), kernel{candidates, n, in.points, in.count, in.is_itself, in.weights,
                                                   in.most, in.counts, in.twins, tests});
  });
}

/// Marks the band of `count` ordered points with zeros in columns up to `padded`; returns the number of blocks. The
/// points are lost: the band so far lies in front of what is to be compared.
template <class Context, class Image>
u64 mark_skyband(Context& on, const point_set<Image>& points, u64 count, u32 padded, const skyband_call& call,
                 u8* members, u32* dominated_by, const test_counters& counters) {
  const bool keeps_twins = call.duplicates == duplicate_rows::keep_all;
  const u64 most = std::min(most_band_block, count);
  const auto& band = points;
  u32* const weights = on.template buffer<u32>(count);
  const auto block = make_points(on, most, points, padded);
  u32* const block_weights = on.template buffer<u32>(most);
  const band_rows all = make_band_rows(on, most);
  const band_rows rows = make_band_rows(on, most);
  u32* const picked = on.template buffer<u32>(most);
  u32* const slots = on.template buffer<u32>(most);
  u32* const found = on.template buffer<u32>(1);

  const auto count_in = [&](const point_set<Image>& candidates, u64 n, const counted_window<Image>& window) {
    count_in_window(on, padded, candidates, n, window, counters.dominance);
  };
  u64 blocks = 0;
  u64 size = 0;  // of the band, in points
  for (u64 at = 0; at < count; at += most) {
    ++blocks;
    const u64 n = std::min(most, count - at);
    const auto candidates = points.from(at);
    on.for_each(n, begin_band_rows{all});
    count_in(candidates, n, {band, size, false, weights, call.most, all.counts, all.twins});
    on.compact(n, may_be_in_band{all, call.most, keeps_twins}, picked, found);
    const u64 left = on.read(static_cast<const u32*>(found));
    if (left == 0) continue;
    on.for_each(left, gather_points<Image>{candidates, picked, block});
    on.for_each(left, gather_band_rows{all, picked, rows});

    // first the twins, since some do not count
    count_in(block, left, {block, left, true, nullptr, call.most, nullptr, rows.inner});
    on.for_each(left, weigh_block{rows.inner, keeps_twins, block_weights});
    count_in(block, left, {block, left, true, block_weights, call.most, rows.counts, nullptr});
    on.for_each(left, mark_band{{rows, call.most, keeps_twins}, block.rows, members, dominated_by});

    on.compact(left, is_new_point{rows, call.most}, picked, found);
    const u64 more = on.read(static_cast<const u32*>(found));
    on.for_each(more, gather_points<Image>{block, picked, band.from(size)});
    on.for_each(more, place_in_band{picked, static_cast<u32>(size), slots, weights});
    if (keeps_twins) on.for_each(left, add_twins{rows, call.most, slots, weights});
    size += more;
  }
  return blocks;
}

/// Ids of 4 or 8 bytes in memory of the device.
template <class Index, class Context>
[[nodiscard]] const Index* write_band_ids(Context& on, const u32* rows, u64 count) {
  auto* const ids = on.template buffer<Index>(count);
  on.for_each(count, write_ids<Index>{rows, ids});
  return ids;
}

/// `count` ids, and counts of these rows, to the caller, last of all: its memory stays untouched when anything fails.
template <class Context>
void deliver_band(Context& on, const skyband_call& call, const u32* rows, u64 count, const u32* dominated_by) {
  call.outcome->count = count;
  if (call.out_by_row != nullptr) {
    // the library's own memory, which may be written before all has succeeded
    u32* const counts = on.output(call.out_by_row, call.rows, memory_space::host);
    on.for_each(call.rows, write_no_layer{counts});
    on.for_each(count, scatter_counts{rows, dominated_by, counts});
    return;
  }
  const bool is_short = call.index_bytes == 4;
  const auto* const short_ids = is_short ? write_band_ids<std::uint32_t>(on, rows, count) : nullptr;
  const auto* const long_ids = is_short ? nullptr : write_band_ids<std::uint64_t>(on, rows, count);
  u32* const counts = on.template buffer<u32>(count);
  on.for_each(count, gather_counts{rows, dominated_by, counts});
  const skyband_output to = call.provide(call.provide_state, count);
  if (to.ids != nullptr && is_short) {
    on.copy(on.output(static_cast<std::uint32_t*>(to.ids), count, memory_space::host), short_ids, count);
  } else if (to.ids != nullptr) {
    on.copy(on.output(static_cast<std::uint64_t*>(to.ids), count, memory_space::host), long_ids, count);
  }
  if (to.dominated_by != nullptr) {
    on.copy(on.output(to.dominated_by, count, memory_space::host), static_cast<const u32*>(counts), count);
  }
}

}  // namespace detail

}  // namespace zenith::skyline_family
