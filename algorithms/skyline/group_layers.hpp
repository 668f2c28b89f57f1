#pragma once

/// \file
/// Layers of a host's rows that are of many groups, none of them large (row_groups.hpp). Rows of a group come by their
/// sums, so that all that dominate a row are before it: its layer is one behind the last of theirs. A row is compared
/// with all before it in its group, however many layers there are.

#include <algorithm>
#include <type_traits>

#include <algorithms/skyline/distinct_rows.hpp>
#include <algorithms/skyline/image_lanes.hpp>
#include <algorithms/skyline/layers_by_search.hpp>
#include <algorithms/skyline/layers_of_two.hpp>
#include <algorithms/skyline/ordered_rows.hpp>
#include <algorithms/skyline/phases.hpp>
#include <algorithms/skyline/row_groups.hpp>
#include <core/device/atomics.hpp>
#include <core/device/list.hpp>

namespace zenith::skyline_family {

/// Whether a group has more rows than are compared pair by pair: an item asks whether the one so far behind it is of
/// its group.
struct find_large_group {
  const u32* groups;
  u64 count;
  u32* found;  ///< becomes 1

  ZENITH_FN void operator()(u64 i) const {
    const u64 other = i + most_settled_rows;
    if (other < count && groups[other] == groups[i]) device::atomic_store(found, 1U);
  }
};

/// Gives points their layers. A team takes whole groups, some points at a time.
template <class Image>
struct assign_in_groups {
#if defined(ZENITH_SKYLINE_PLAIN_LANES)
  static constexpr u32 lanes = 1;
#else
  static constexpr u32 lanes = image_lanes<Image>::count;
#endif
  static constexpr u32 tile = 256;  // a team's groups begin in it
  // of the longest vectors: who asks for the scratch may know shorter ones than the unit that uses it
  static constexpr u32 most_lane_bytes = 64;
  static constexpr u32 own_bytes = most_columns * most_lane_bytes;
  static constexpr u32 scratch_bytes = own_bytes + most_lane_bytes;
  static_assert(lanes * sizeof(Image) <= most_lane_bytes);

  const Image* values;  ///< row by row, by group, then by sum
  u32 columns;
  const u32* groups;
  u64 count;
  u32* layers;  ///< of points
  test_counters counters;

  [[nodiscard]] u64 teams() const { return (count + tile - 1) / tile; }
  [[nodiscard]] u64 launch_cost(u64 /*n*/) const { return count * columns * 64; }
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    Image* const own = team.template scratch<Image>();
    u8* const are_out = team.template scratch<u8>(own_bytes);
    team.once([&]() ZENITH_BODY {
      const u64 end = next_group((t + 1) * tile);
      u64 group = next_group(t * tile);
      u64 asked = group;
      u64 tests = 0;
      for (u64 first = group; first < end; first += lanes) {
        const u32 n = end - first < lanes ? static_cast<u32>(end - first) : lanes;
        for (; asked <= first; ++asked) {
          if (groups[asked] != groups[group]) group = asked;
        }
        for (u32 i = 0; i < lanes; ++i) {
          are_out[i] = i < n ? 0 : 1;
          for (u32 c = 0; c < columns; ++c) own[c * lanes + i] = i < n ? values[(first + i) * columns + c] : Image{0};
          if (i < n) layers[first + i] = 0;
        }
        tests += (first + n - group) * lanes;
        assign(own, are_out, group, first, first + n);
      }
      counters.dominance.add(tests);
    });
  }

 private:
  /// The first point of a group at `at` or behind it.
  ZENITH_FN u64 next_group(u64 at) const {
    if (at >= count) return count;
    for (; at > 0 && at < count && groups[at] == groups[at - 1]; ++at) {
    }
    return at;
  }

  /// Points [first, end), by those from `group` on. Layers of points before them are known; one of them is known when
  /// its turn as the other point comes.
  ZENITH_FN void assign([[maybe_unused]] const Image* own, [[maybe_unused]] const u8* are_out, u64 group, u64 first,
                        u64 end) const {
    const Image* other = values + group * columns;
#if defined(ZENITH_SKYLINE_PLAIN_LANES)
    for (u64 p = group; p + 1 < end; ++p, other += columns) {
      if (compare_rows(other, values + first * columns, columns) != relation::dominates) continue;
      if (layers[first] <= layers[p]) layers[first] = layers[p] + 1;
    }
#else
    const lane_set<Image> all(are_out);
    for (u64 p = group; p + 1 < end; ++p, other += columns) {
      lane_set<Image> reached = all;
      if (p >= first) reached.keep_behind(static_cast<u32>(p - first));
      u32 c = 0;
      for (; c + 4 <= columns && !reached.is_empty(); c += 4) reached.keep_from_four(own + c * lanes, lanes, other + c);
      for (; c < columns; ++c) reached.keep_from(own + c * lanes, other[c]);
      if (reached.is_empty()) continue;
      const u32 behind = layers[p] + 1;
      for (c = 0; c < columns && !reached.is_empty(); ++c) {
        reached.take_different(own + c * lanes, other[c]).for_each_lane([&](u32 lane) {
          if (layers[first + lane] < behind) layers[first + lane] = behind;
        });
      }
    }
#endif
  }
};

/// How many layers are wanted: one item.
struct count_layers {
  const u32* layers;
  u64 count;
  u64 most;
  u64 enough;  ///< points in layers
  u32* sizes;  ///< of layers: zeros, one more than there can be layers
  u32* found;

  ZENITH_FN void operator()(u64 /*i*/) const {
    for (u64 i = 0; i < count; ++i) ++sizes[layers[i]];
    u32 wanted = 0;
    for (u64 taken = 0; wanted < most && sizes[wanted] > 0 && taken < enough; ++wanted) taken += sizes[wanted];
    *found = wanted;
  }
};

using group_layer_kernels =
    device::list<find_large_group, assign_in_groups<std::uint32_t>, assign_in_groups<std::uint64_t>, count_layers>;

namespace detail {

/// Rows by <group, sum>, if there are many groups of which none is large. nullptr: there are not, or a NaN is rejected.
template <class T, class Context>
[[nodiscard]] u32* order_small_groups(Context& on, const skyline_layers_call& call, const row_source<T>& from,
                                      u64& count, u32*& groups) {
  if (!has_many_groups(on, from)) return nullptr;
  u8* const flags = on.template buffer<u8>(call.rows);
  u32* const rows = list_rows_left<T>(on, call, from, {}, flags, count);
  if (rows == nullptr) return nullptr;
  if (call.duplicates == duplicate_rows::keep_first) count = take_copies_out(on, from, rows, count, flags);
  on.release(flags);
  groups = order_by_groups(on, from, rows, count);
  u32* const found = on.template zeroed<u32>(1);
  on.for_each(count, find_large_group{groups, count, found});
  if (on.read(static_cast<const u32*>(found)) == 0) return rows;
  on.release(groups);
  on.release(rows);
  return nullptr;
}

/// Whether the layers are found here.
template <class Context>
[[nodiscard]] bool find_layers_of_groups(Context& on, const skyline_layers_call& call) {
  bool is_done = false;
  ::zenith::detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) {
    using image = typename row_source<T>::image;
    const auto from = make_row_source<T>(on, call);
    u64 count = 0;
    u32* groups = nullptr;
    u32* const rows = order_small_groups<T>(on, call, from, count, groups);
    is_done = rows != nullptr || call.outcome->has_nan;
    if (rows == nullptr) return;
    const auto counters = make_counters(on, call);
    image* const values = on.template buffer<image>(count * from.columns);
    const point_set<image> points{values, 1, from.columns, rows, nullptr, nullptr, from.columns};
    on.for_teams(tiles_of(count, row_tile), place_row_values<T>{from, count, points});
    u32* const layers = on.template buffer<u32>(count);
    const assign_in_groups<image> assign{values, from.columns, groups, count, layers, counters};
    on.for_teams(assign.teams(), assign);
    on.release(values);
    on.release(groups);
    u32* const sizes = on.template zeroed<u32>(most_settled_rows + 1);
    u32* const found = on.template buffer<u32>(1);
    on.for_each(1, count_layers{layers, count, call.most_layers, call.enough_rows, sizes, found});
    const u32 wanted = on.read(static_cast<const u32*>(found));
    call.outcome->count = wanted;
    report(on, call, counters, count, 1);
    u32* const by_row = on.template buffer<u32>(call.rows);
    on.for_each(call.rows, write_no_layer{by_row});
    on.for_each(count, write_searched_layers{rows, layers, wanted, 0, by_row});
    // last of all: the caller's memory stays untouched when anything fails
    on.copy(on.output(call.out_layers, call.rows, call.out_space), static_cast<const u32*>(by_row), call.rows);
  });
  on.finish();
  return is_done;
}

}  // namespace detail

}  // namespace zenith::skyline_family
