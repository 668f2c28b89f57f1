#pragma once

/// \file
/// The prefilter of hosts: which rows a pivot dominates.

#include <type_traits>

#include <algorithms/skyline/image_lanes.hpp>
#include <algorithms/skyline/pivot_screen.hpp>
#include <algorithms/skyline/row_pivots.hpp>
#include <algorithms/skyline/row_source.hpp>

namespace zenith::skyline_family {

/// Which of some rows in columns, `stride` apart, no pivot dominates: a lane for each.
template <class Image>
struct pivot_test {
  static constexpr u32 lanes = image_lanes<Image>::count;
  static constexpr u32 few_columns = 8;

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
      // whether any is left after four columns is a branch that is hard to predict: of few columns not asked
      for (; c + 4 <= columns && (columns <= few_columns || !reached.is_empty()); c += 4)
        reached.keep_from_four(rows + c * stride, stride, pivot + c);
      for (; c < columns; ++c) reached.keep_from(rows + c * stride, pivot[c]);
      // of those that a pivot reaches nearly all differ from it in the first column
      open.remove(reached.take_different(rows, pivot[0]));
      for (c = 1; c < columns && !reached.is_empty(); ++c) {
        open.remove(reached.take_different(rows + c * stride, pivot[c]));
      }
    }
    open.mark_others(removed);
#endif
  }
};

/// Marks rows that a pivot dominates, and those with a NaN that are dropped. A team has many tiles of rows side by
/// side: what asks for memory ahead loses its track where a core goes on elsewhere.
///
/// Rows wait until they are a tile: where the best pivot dominates most of them, or most are marked when it begins,
/// they are compared with it as they lie, and what it leaves is put together.
template <class T>
struct test_rows {
  using image = typename row_source<T>::image;
  static constexpr u32 most_tiles = 64;
  static constexpr u32 images_bytes = most_columns * row_tile * sizeof(image);
  static constexpr u32 states_at = images_bytes;
  static constexpr u32 places_at = states_at + row_tile;
  static constexpr u32 counts_at = places_at + row_tile;
  static constexpr u32 waiting_at = counts_at + 16;
  static constexpr u32 most_waiting = 2 * row_tile;
  static constexpr u32 scratch_bytes = waiting_at + most_waiting * sizeof(u32) + row_tile * sizeof(T);

  row_source<T> from;
  const image* pivots;  ///< nullptr: none
  bool drops_nan;
  bool is_by_fours;  ///< `row_source::is_by_fours`
  u32 tiles;         ///< of a team, at most
  u64* nan_at;       ///< lowered to the lowest row * 32 + column with a NaN
  u8* removed;       ///< with pivots, those of rows that `find_pivots` has marked are set
  u32* left;         ///< the rows that are not removed, ascending, those of a team where its rows begin
  u32* counts;       ///< of a team, how many they are
  u32 pivots_given = pivot_count;

  /// Tiles of a team: some teams for each thread. 0 threads: those of a device, which wants many teams.
  [[nodiscard]] static u32 tiles_for(u64 rows, int threads) {
    if (threads == 0) return 1;
    const u64 even = rows / row_tile / (8 * static_cast<u64>(threads));
    return even < 1 ? 1 : even < most_tiles ? static_cast<u32>(even) : most_tiles;
  }
  [[nodiscard]] u64 teams() const { return tiles_of(from.rows, u64{tiles} * row_tile); }
  [[nodiscard]] u64 launch_cost(u64 /*n*/) const { return from.rows * from.columns * 32; }
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 begin = t * tiles * row_tile;
    const u64 all = from.rows - begin < u64{tiles} * row_tile ? from.rows - begin : u64{tiles} * row_tile;
    u32* const waiting = team.template scratch<u32>(waiting_at);
    u32* const more = team.template scratch<u32>(counts_at);
    u8* const out = removed + begin;
    u32* const found = counts + t;
    team.once([&]() ZENITH_BODY { *found = 0; });
    const bool has_screen = is_by_fours && pivots != nullptr && pivot_screen<T>::is_there;
    pivot_screen<T> screen(from);
    if (has_screen) screen.take_images(pivots);
    bool goes_on = has_screen;
    u32 count = 0;
    for (u64 first = 0; first < all; first += row_tile) {
      const u32 n = all - first < row_tile ? static_cast<u32>(all - first) : row_tile;
      const u32 already = has_screen ? count_marked(out + first, n) : 0;
      if (already == n) continue;
      if (already > n / 4) {
        team.once(
            [&]() ZENITH_BODY { *more = screen.list_left(begin, static_cast<u32>(first), n, out, waiting + count); });
        team.barrier();
        count += *more;
      } else if (goes_on) {
        team.once([&]() ZENITH_BODY {
          *more = screen.template list<false>(begin, static_cast<u32>(first), n, out, waiting + count);
        });
        team.barrier();
        goes_on = *more <= n / 4 * 3;
        count += *more;
      } else {
        team.for_each(n, [&](u64 i) ZENITH_BODY {
          out[first + i] = 0;
          waiting[count + i] = static_cast<u32>(first + i);
        });
        count += n;
      }
      team.barrier();
      if (count >= row_tile) {
        test(team, begin, waiting, row_tile, found);
        count -= row_tile;
        team.for_each(count, [&](u64 i) ZENITH_BODY { waiting[i] = waiting[row_tile + i]; });
        team.barrier();
      }
    }
    if (count > 0) test(team, begin, waiting, count, found);
  }

 private:
  ZENITH_FN static u32 count_marked(const u8* flags, u32 n) {
    static_assert(row_tile < 256);
    u64 found = 0;  // eight sums in its bytes, and then the sum of these in one
    u32 i = 0;
    for (; i + 8 <= n; i += 8) {
      u64 eight;
      __builtin_memcpy(&eight, flags + i, sizeof(eight));
      found += eight;
    }
    found = found * 0x0101010101010101 >> 56;
    for (; i < n; ++i) found += flags[i];
    return static_cast<u32>(found);
  }

  /// Of n rows, which are behind `begin` by the numbers of a list. They are one behind the other but for tables by
  /// fours. Lists what is left behind the `found` ones.
  template <class Team>
  ZENITH_FN void test(Team& team, u64 begin, const u32* rows, u32 n, u32* found) const {
    image* const images = team.template scratch<image>();
    T* const raw = team.template scratch<T>(waiting_at + most_waiting * sizeof(u32));
    u8* const out = removed + begin;
    const u64 first = begin + rows[0];
    for (u32 c = 0; c < from.columns; ++c) {
      image* const column = images + c * row_tile;
      if (row_source<T>::takes_fours && is_by_fours) {
        T* const here = team.template scratch<T>(c * row_tile * sizeof(image));
        if (c % 4 == 0) {
          team.once([&]() ZENITH_BODY {
            from.take_four([&](u64 i) ZENITH_BODY { return begin + rows[i]; }, c, n, here, row_tile);
          });
        }
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
            (void)device::atomic_min(nan_at, (begin + rows[i]) * most_given_columns + from.given[c]);
            if (drops_nan) out[rows[i]] = 1;
          });
        }
      }
    }
    team.barrier();
    u32* const to = left + begin;
    if (pivots == nullptr) {
      team.once([&]() ZENITH_BODY {
        for (u32 i = 0; i < n; ++i) {
          to[*found] = static_cast<u32>(begin) + rows[i];
          *found += out[rows[i]] == 0 ? 1 : 0;
        }
      });
      return;
    }
    // what is dominated is mostly so by one of the first; then the others have lanes of their own
    u8* const states = team.template scratch<u8>(states_at);
    u8* const places = team.template scratch<u8>(places_at);
    team.for_each(row_tile, [&](u64 i) ZENITH_BODY {
      states[i] = i < n ? out[rows[i]] : u8{1};
      places[i] = static_cast<u8>(i);
    });
    u32 count = n;
    u32 first_pivot = 0;
    for (u32 stage = 0; stage < 3; ++stage) {
      const u32 most = stage == 0 ? 4 : stage == 1 ? 16 : pivot_count;
      const u32 end = most < pivots_given ? most : pivots_given;
      team.barrier();
      compare(team, first_pivot, end, images, count, states);
      team.barrier();
      team.for_each(count, [&](u64 i) ZENITH_BODY { out[rows[places[i]]] |= states[i]; });
      first_pivot = end;
      if (end == pivots_given) break;
      count = keep_open(team, images, count, states, places);
    }
    team.once([&]() ZENITH_BODY {
      u32 at = *found;
      for (u32 i = 0; i < count; ++i) {
        to[at] = static_cast<u32>(begin) + rows[places[i]];
        at += states[i] == 0 ? 1 : 0;
      }
      *found = at;
    });
  }

  template <class Team>
  ZENITH_FN void compare(Team& team, u32 first_pivot, u32 end, const image* images, u64 count, u8* states) const {
    constexpr u32 lanes = pivot_test<image>::lanes;
    const pivot_test<image> by{pivots, from.columns};
    team.for_each((count + lanes - 1) / lanes, [&](u64 g) ZENITH_BODY {
      by.run(first_pivot, end, images + g * lanes, row_tile, states + g * lanes);
    });
  }

  /// Moves open rows to the front; returns how many they are.
  template <class Team>
  ZENITH_FN u32 keep_open(Team& team, image* images, u32 count, u8* states, u8* places) const {
    u32* const kept = team.template scratch<u32>(counts_at);
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
      for (u32 i = 0; i < found; ++i) places[i] = places[picked[i]];
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

/// Puts the lists of `test_rows` one behind the other: one item.
struct join_lists {
  u32* left;
  const u32* counts;
  u64 teams;
  u64 apart;  ///< where a team's list begins behind the one before
  u32* found;

  ZENITH_FN void operator()(u64 /*i*/) const {
    u64 end = 0;
    for (u64 t = 0; t < teams; ++t) {
      __builtin_memmove(left + end, left + t * apart, counts[t] * sizeof(u32));
      end += counts[t];
    }
    *found = static_cast<u32>(end);
  }
};

}  // namespace zenith::skyline_family
