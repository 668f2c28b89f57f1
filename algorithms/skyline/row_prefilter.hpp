#pragma once

/// \file
/// The prefilter of hosts: which rows a pivot dominates.

#include <type_traits>

#include <algorithms/skyline/image_lanes.hpp>
#include <algorithms/skyline/images.hpp>
#include <algorithms/skyline/row_source.hpp>

namespace zenith::skyline_family {

/// Which of some rows in columns, `stride` apart, no pivot dominates: a lane for each.
template <class Image>
struct pivot_test {
  static constexpr u32 lanes = image_lanes<Image>::count;

  const Image* pivots;
  u32 columns;

  /// By pivots [first, end).
  ZENITH_FN void run(u32 first, u32 end, const Image* rows, u64 stride, u8* removed) const {
#if defined(ZENITH_SKYLINE_PLAIN_LANES)
    for (u32 lane = 0; lane < lanes; ++lane) {
      for (u32 p = first; p < end && removed[lane] == 0; ++p) {
        bool reaches = true;
        bool is_equal = true;
        for (u32 c = 0; c < columns && reaches; ++c) {
          const Image value = rows[c * stride + lane];
          reaches = pivots[p * columns + c] <= value;
          is_equal = is_equal && pivots[p * columns + c] == value;
        }
        if (reaches && !is_equal) removed[lane] = 1;
      }
    }
#else
    lane_set<Image> open(removed);
    for (u32 p = first; p < end && !open.is_empty(); ++p) {
      const Image* const pivot = pivots + p * columns;
      lane_set<Image> reached = open;
      u32 c = 0;
      for (; c + 4 <= columns && !reached.is_empty(); c += 4)
        reached.keep_from_four(rows + c * stride, stride, pivot + c);
      for (; c < columns; ++c) reached.keep_from(rows + c * stride, pivot[c]);
      // of those that a pivot reaches nearly all differ from it in the first column
      for (c = 0; c < columns && !reached.is_empty(); ++c) {
        open.remove(reached.take_different(rows + c * stride, pivot[c]));
      }
    }
    open.mark_others(removed);
#endif
  }
};

/// Marks rows that a pivot dominates, and those with a NaN that are dropped.
template <class T>
struct test_rows {
  using image = typename row_source<T>::image;
  static constexpr u32 images_bytes = most_columns * row_tile * sizeof(image);
  static constexpr u32 scratch_bytes = images_bytes + row_tile * 8;

  row_source<T> from;
  const image* pivots;  ///< nullptr: none
  bool drops_nan;
  bool is_by_fours;  ///< `row_source::is_by_fours`
  u64* nan_at;       ///< lowered to the lowest row * 32 + column with a NaN
  u8* removed;

  [[nodiscard]] u64 launch_cost(u64 /*n*/) const { return from.rows * from.columns * 32; }
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * row_tile;
    const u64 n = from.rows - first < row_tile ? from.rows - first : row_tile;
    image* const images = team.template scratch<image>();
    T* const raw = team.template scratch<T>(images_bytes);
    u8* const out = removed + first;
    team.for_each(n, [&](u64 i) ZENITH_BODY { out[i] = 0; });
    for (u32 c = 0; c < from.columns; ++c) {
      image* const column = images + c * row_tile;
      if (row_source<T>::takes_fours && is_by_fours) {
        T* const here = team.template scratch<T>(c * row_tile * sizeof(image));
        if (c % 4 == 0) team.once([&]() ZENITH_BODY { from.take_four(first, c, n, here, row_tile); });
        team.barrier();
        from.to_images(team, c, n, here, column);
        team.barrier();
      } else {
        from.convert(
            team, c, n, [&](u64 i) ZENITH_BODY { return first + i; }, raw, column);
      }
      if constexpr (std::is_floating_point_v<T>) {
        constexpr image of_nan = static_cast<image>(~image{0});
        if (((from.complement >> c) & 1) == 0 && team.any(n, [&](u64 i) ZENITH_BODY { return column[i] == of_nan; })) {
          team.for_each(n, [&](u64 i) ZENITH_BODY {
            if (column[i] != of_nan) return;
            (void)device::atomic_min(nan_at, (first + i) * most_given_columns + from.given[c]);
            if (drops_nan) out[i] = 1;
          });
        }
      }
    }
    if (pivots == nullptr) return;
    team.barrier();
    // what is dominated is mostly so by one of the first; then the others have lanes of their own
    u8* const states = team.template scratch<u8>(images_bytes);
    u8* const places = states + row_tile;
    team.for_each(row_tile, [&](u64 i) ZENITH_BODY { states[i] = i < n ? out[i] : u8{1}; });
    u32 count = static_cast<u32>(n);
    u32 first_pivot = 0;
    for (u32 stage = 0; stage < 3; ++stage) {
      const u32 end = stage == 0 ? 4 : stage == 1 ? 16 : pivot_count;
      team.barrier();
      test(team, first_pivot, end, images, count, states);
      team.barrier();
      if (stage == 0) {
        team.for_each(n, [&](u64 i) ZENITH_BODY { out[i] = states[i]; });
      } else {
        team.for_each(count, [&](u64 i) ZENITH_BODY { out[places[i]] |= states[i]; });
      }
      first_pivot = end;
      if (end < pivot_count) count = keep_open(team, images, count, states, places, stage == 0);
    }
  }

 private:
  template <class Team>
  ZENITH_FN void test(Team& team, u32 first_pivot, u32 end, const image* images, u64 count, u8* states) const {
    constexpr u32 lanes = pivot_test<image>::lanes;
    const pivot_test<image> by{pivots, from.columns};
    team.for_each((count + lanes - 1) / lanes, [&](u64 g) ZENITH_BODY {
      by.run(first_pivot, end, images + g * lanes, row_tile, states + g * lanes);
    });
  }

  /// Moves open rows to the front; returns how many they are. `are_in_place`: none has been moved yet.
  template <class Team>
  ZENITH_FN u32 keep_open(Team& team, image* images, u32 count, u8* states, u8* places, bool are_in_place) const {
    u32* const kept = team.template scratch<u32>(images_bytes + 2 * row_tile);
    team.barrier();
    team.once([&]() ZENITH_BODY {
      u32 found = 0;
      u32 picked[row_tile];
      // behind the last states are of rows that are out, and often many are side by side
      for (u32 i = 0; i < count; i += 8) {
        u64 eight = 0;
        __builtin_memcpy(&eight, states + i, sizeof(eight));
        if (eight == 0x0101010101010101) continue;
        for (u32 k = 0; k < 8; ++k) {
          picked[found] = i + k;
          found += states[i + k] == 0 ? 1 : 0;
        }
      }
      for (u32 i = 0; i < found; ++i) {
        places[i] = are_in_place ? static_cast<u8>(picked[i]) : places[picked[i]];
      }
      for (u32 c = 0; c < from.columns; ++c) {
        image* const column = images + c * row_tile;
        for (u32 i = 0; i < found; ++i) column[i] = column[picked[i]];
      }
      for (u32 i = 0; i < count; ++i) states[i] = i < found ? u8{0} : u8{1};
      *kept = found;
    });
    team.barrier();
    return *kept;
  }
};

}  // namespace zenith::skyline_family
