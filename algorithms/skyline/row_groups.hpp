#pragma once

/// \file
/// Rows that columns of preference `different` part into many groups. The best rows of the table dominate hardly any of
/// the others, and most pairs are of two groups. So rows are ordered by <group, sum>, and each is compared with those
/// before it in its group. Of groups up to a size that says which rows are in the skyline. Rows of larger ones are
/// compared with the first of their group alone, and a strategy goes on with what is left of them.
///
/// Skybands do the same on hosts (group_band.hpp): they count those that dominate a row instead of stopping at the
/// first.
///
/// A group's number is a hash. Two groups of one number are like one larger group: the comparisons tell them apart.

#include <cstdint>

#include <algorithms/skyline/family.hpp>
#include <algorithms/skyline/image_lanes.hpp>
#include <algorithms/skyline/points.hpp>
#include <algorithms/skyline/row_order.hpp>
#include <algorithms/skyline/row_source.hpp>

namespace zenith::skyline_family {

/// The number of a row's group: of the two images of a column of preference `different` one says all.
template <class T>
ZENITH_FN u32 group_of(const row_source<T>& from, u64 row) {
  return static_cast<u32>(hash_of_images(from, row, from.complement) >> 32);
}

template <class T>
struct write_groups {
  static constexpr u64 item_cost = 64;

  row_source<T> from;
  const u32* rows;
  u32* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = group_of(from, rows[i]); }
};

/// How many groups some rows of the table are of.
template <class T>
struct count_groups {
  static constexpr u32 samples = 256;
  static constexpr u32 scratch_bytes = samples * sizeof(u32);
  static constexpr u64 item_cost = u64{samples} * samples;

  row_source<T> from;
  u32* found;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 /*t*/) const {
    u32* const groups = team.template scratch<u32>();
    const u64 each = from.rows / samples;
    team.for_each(samples, [&](u64 i) ZENITH_BODY {
      // not evenly: rows may come in periods
      groups[i] = group_of(from, i * each + ((i * 0x9e3779b97f4a7c15) >> 40) % each);
    });
    team.barrier();
    const u64 count = team.count(samples, [&](u64 i) ZENITH_BODY {
      bool is_new = true;
      for (u64 other = 0; other < i && is_new; ++other) is_new = groups[other] != groups[i];
      return is_new;
    });
    team.once([&]() ZENITH_BODY { *found = static_cast<u32>(count); });
  }
};

/// What becomes of rows of groups: the first row that dominates one decides that it is out of the skyline.
struct skyline_in_groups {
  static constexpr bool counts = false;

  bool keeps_twins;  ///< else of equal rows the first stays

  /// Whether a row is out that one before it equals.
  [[nodiscard]] ZENITH_FN bool drops_twins() const { return !keeps_twins; }
  /// Those of some rows that one more dominates which are then out.
  template <class Lanes>
  [[nodiscard]] ZENITH_FN Lanes out_of(const Lanes& dominated, u32* /*of_lanes*/) const {
    return dominated;
  }
  /// The same of one row.
  [[nodiscard]] ZENITH_FN bool is_out(u32* /*count*/) const { return true; }
};

/// Settles rows of small groups, and compares those of large ones with the first of their group. A team takes a tile of
/// rows, and those that they are compared with in pieces.
template <class T, class Goal>
struct settle_groups {
  using image = typename row_source<T>::image;
#if defined(ZENITH_SKYLINE_PLAIN_LANES)
  static constexpr u32 lanes = 1;
#else
  static constexpr u32 lanes = image_lanes<image>::count;
#endif
  static constexpr u32 most_tile = 256;
  static constexpr u32 most_piece = 64;
  static constexpr u32 own_bytes = 24 * 1024;  // of a tile's images: of the most columns 48 rows of 8 bytes
  static constexpr u32 others_bytes = own_bytes / 3;
  static constexpr u32 raw_at = own_bytes + others_bytes;
  static constexpr u32 begins_at = raw_at + most_tile * sizeof(T);
  static constexpr u32 ends_at = begins_at + most_tile * sizeof(u32);
  static constexpr u32 states_at = ends_at + most_tile * sizeof(u32);
  static constexpr u32 counts_at = states_at + 2 * most_tile;
  static constexpr u32 scratch_bytes = counts_at + (Goal::counts ? most_tile * sizeof(u32) : 0);

  row_source<T> from;
  const u32* rows;    ///< by group, then by sum
  const u32* groups;  ///< of them
  u64 count;
  Goal goal;
  u8* flags;  ///< of rows of the table: `marked`, 1 for those that are out, 0 for those that are left
  test_counters counters;
  u32 tile = rows_in(own_bytes, most_tile);
  u32 piece = rows_in(others_bytes, most_piece);

  [[nodiscard]] u64 teams() const { return (count + tile - 1) / tile; }
  [[nodiscard]] u64 launch_cost(u64 /*n*/) const { return count * from.columns * 64; }
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * tile;
    const u32 n = count - first < tile ? static_cast<u32>(count - first) : tile;
    image* const own = team.template scratch<image>();
    u32* const begins = team.template scratch<u32>(begins_at);
    u32* const ends = team.template scratch<u32>(ends_at);
    u8* const states = team.template scratch<u8>(states_at);
    u8* const are_large = states + most_tile;
    for (u32 c = 0; c < from.columns; ++c) {
      from.convert(
          team, c, n, [&](u64 i) ZENITH_BODY { return rows[first + i]; }, team.template scratch<T>(raw_at),
          own + c * tile);
    }
    team.for_each(tile, [&](u64 i) ZENITH_BODY {
      states[i] = i < n ? 0 : 1;
      begins[i] = ends[i] = 0;
      are_large[i] = 0;
      if constexpr (Goal::counts) team.template scratch<u32>(counts_at)[i] = 0;
      if (i >= n) return;
      const auto at = static_cast<u32>(first + i);
      begins[i] = group_begin(at);
      are_large[i] = group_end(at) - begins[i] > most_settled_rows ? 1 : 0;
      ends[i] = are_large[i] != 0 && at - begins[i] > piece ? begins[i] + piece : at;
    });
    team.barrier();
    const auto lower = [](u32 a, u32 b) ZENITH_BODY { return b < a ? b : a; };
    const auto higher = [](u32 a, u32 b) ZENITH_BODY { return a < b ? b : a; };
    const u32 low = team.reduce(
        n, ~u32{0}, [&](u64 i) ZENITH_BODY { return are_large[i] != 0 ? ~u32{0} : begins[i]; }, lower);
    const u32 high = team.reduce(
        n, 0U, [&](u64 i) ZENITH_BODY { return are_large[i] != 0 ? 0 : ends[i]; }, higher);
    for (u64 at = low; at < high; at += piece) {
      compare(team, first, n, at, high - at < piece ? static_cast<u32>(high - at) : piece);
      if (!team.any(n, [&](u64 i) ZENITH_BODY { return states[i] == 0; })) break;
    }
    // a tile has rows of two large groups at most
    const u32 before = team.reduce(
        n, ~u32{0}, [&](u64 i) ZENITH_BODY { return are_large[i] != 0 ? begins[i] : ~u32{0}; }, lower);
    const u32 behind = team.reduce(
        n, 0U, [&](u64 i) ZENITH_BODY { return are_large[i] != 0 ? begins[i] : 0; }, higher);
    if (before != ~u32{0}) compare(team, first, n, before, piece);
    if (before != ~u32{0} && before != behind) compare(team, first, n, behind, piece);
    team.for_each(n, [&](u64 i) ZENITH_BODY {
      flags[rows[first + i]] = states[i] != 0 ? u8{1} : are_large[i] != 0 ? u8{0} : marked;
      if constexpr (Goal::counts) goal.dominated_by[rows[first + i]] = team.template scratch<u32>(counts_at)[i];
    });
  }

 private:
  /// So many bytes, in whole registers.
  [[nodiscard]] u32 rows_in(u32 bytes, u32 most) const {
    constexpr u32 register_rows = 16;
    const u32 rows_there = bytes / (from.columns * static_cast<u32>(sizeof(image))) / register_rows * register_rows;
    return rows_there < most ? rows_there : most;
  }
  /// Where a row's group begins and ends, by steps that double and then halve.
  ZENITH_FN u32 group_begin(u32 at) const {
    const u32 group = groups[at];
    u32 step = 1;
    for (; at >= step && groups[at - step] == group; step *= 2) at -= step;
    for (; step > 0; step /= 2) at -= at >= step && groups[at - step] == group ? step : 0;
    return at;
  }
  ZENITH_FN u64 group_end(u64 at) const {
    const u32 group = groups[at];
    u64 step = 1;
    for (; at + step < count && groups[at + step] == group; step *= 2) at += step;
    for (; step > 0; step /= 2) at += at + step < count && groups[at + step] == group ? step : 0;
    return at + 1;
  }

  /// The rows of a tile with `some` of all from `at` on, as far as these are before them in their group.
  template <class Team>
  ZENITH_FN void compare(Team& team, u64 first, u32 n, u64 at, u32 some) const {
    const image* const own = team.template scratch<image>();
    image* const others = team.template scratch<image>(own_bytes);
    const u32* const begins = team.template scratch<u32>(begins_at);
    const u32* const ends = team.template scratch<u32>(ends_at);
    u8* const states = team.template scratch<u8>(states_at);
    const u32 columns = from.columns;
    team.barrier();
    team.for_each(u64{some} * columns, [&](u64 j) ZENITH_BODY {
      const u64 other = at + j / columns;
      const u32 c = static_cast<u32>(j % columns);
      others[j] = other - first < n ? own[c * tile + (other - first)] : from.at(rows[other], c);
    });
    team.barrier();
    team.for_each((n + lanes - 1) / lanes, [&](u64 b) ZENITH_BODY {
      u64 begin = at + some;
      u64 end = at;
      for (u64 i = b * lanes; i < (b + 1) * lanes; ++i) {
        if (states[i] != 0 || begins[i] >= at + some || ends[i] <= at) continue;
        begin = begins[i] < begin ? begins[i] : begin;
        end = ends[i] > end ? ends[i] : end;
      }
      begin = begin < at ? at : begin;
      end = end < at + some ? end : at + some;
      if (begin >= end) return;
      counters.dominance.add((end - begin) * lanes);
      const image* const before = others + (begin - at) * columns;
      const auto place = static_cast<std::int64_t>(begin) - static_cast<std::int64_t>(first + b * lanes);
      u32* counts = nullptr;
      if constexpr (Goal::counts) counts = team.template scratch<u32>(counts_at) + b * lanes;
      test(own + b * lanes, before, end - begin, place, states + b * lanes, counts);
    });
    team.barrier();
  }

  /// Some rows side by side with others, the first of which lies `place` behind the first of them. `counts` are of the
  /// rows, where the goal has any.
  ZENITH_FN void test(const image* own, const image* others, u64 some, [[maybe_unused]] std::int64_t place, u8* states,
                      u32* counts) const {
    const u32 columns = from.columns;
#if defined(ZENITH_SKYLINE_PLAIN_LANES)
    for (u64 p = 0; p < some; ++p, others += columns) {
      bool reaches = true;
      bool differs = false;
      for (u32 c = 0; c < columns && reaches; ++c) {
        reaches = others[c] <= own[c * tile];
        differs = differs || others[c] != own[c * tile];
      }
      if (!reaches || (!differs && !goal.drops_twins()) || !goal.is_out(counts)) continue;
      states[0] = 1;
      return;
    }
#else
    lane_set<image> open(states);
    for (u64 p = 0; p < some && !open.is_empty(); ++p, ++place, others += columns) {
      lane_set<image> reached = open;
      if (place >= 0) reached.keep_behind(static_cast<u32>(place));
      u32 c = 0;
      for (; c + 4 <= columns && !reached.is_empty(); c += 4) reached.keep_from_four(own + c * tile, tile, others + c);
      for (; c < columns; ++c) reached.keep_from(own + c * tile, others[c]);
      if (goal.drops_twins()) {
        open.remove(reached);
        continue;
      }
      for (c = 0; c < columns && !reached.is_empty(); ++c) {
        const auto dominated = reached.take_different(own + c * tile, others[c]);
        if (!dominated.is_empty()) open.remove(goal.out_of(dominated, counts));
      }
    }
    open.mark_others(states);
#endif
  }
};

/// Kernels of a type of values.
template <class T>
using group_kernels = device::list<write_groups<T>, count_groups<T>, settle_groups<T, skyline_in_groups>>;

namespace detail {

/// Whether so many groups are among the rows that each should have a skyline of its own.
template <class T, class Context>
[[nodiscard]] bool has_many_groups(Context& on, const row_source<T>& from) {
  if (from.different == 0 || from.rows < least_grouped_rows) return false;
  u32* const found = on.template buffer<u32>(1);
  on.for_teams(1, count_groups<T>{from, found});
  return on.read(static_cast<const u32*>(found)) >= least_sampled_groups;
}

/// Puts rows into the order of <group, sum>; returns their groups.
template <class T, class Context>
[[nodiscard]] u32* order_by_groups(Context& on, const row_source<T>& from, u32* rows, u64 count) {
  u64* const sums = on.template buffer<u64>(count);
  order_rows(on, from, rows, count, nullptr, sums);
  on.release(sums);
  u32* const groups = on.template buffer<u32>(count);
  on.for_each(count, write_groups<T>{from, rows, groups});
  on.sort_pairs(groups, rows, count);
  return groups;
}

/// Flags of the given rows (`settle_groups`), which are put into another order.
template <class T, class Context>
void settle_small_groups(Context& on, const row_source<T>& from, u32* rows, u64 count, bool keeps_twins, u8* flags,
                         const test_counters& counters) {
  if (count == 0) return;
  u32* const groups = order_by_groups(on, from, rows, count);
  const settle_groups<T, skyline_in_groups> settle{from, rows, groups, count, {keeps_twins}, flags, counters};
  on.for_teams(settle.teams(), settle);
  on.release(groups);
}

}  // namespace detail

}  // namespace zenith::skyline_family
