#pragma once

/// \file
/// The filter by bitmaps (bitmap_rows.hpp) for devices of thousands of threads. A team keeps the bitmaps of one tile in
/// its scratch and tests many candidates against it, each by one lane.
///
/// A row of a tile of 256 points is 32 bytes. Lanes that read rows of different codes would meet in few of a scratch
/// memory's banks; with copies side by side, four of which fill the banks' 128 bytes, neighbouring lanes read
/// neighbouring banks whatever their codes are.

#include <cstdint>

#include <algorithms/skyline/dominance.hpp>
#include <algorithms/skyline/grid.hpp>

namespace zenith::skyline_family {

inline constexpr u32 chunk_tile_words = 4;
inline constexpr u32 chunk_tile = chunk_tile_words * 64;

/// Words of the bitmaps of a tile.
[[nodiscard]] ZENITH_FN u64 chunk_bitmap_words(u32 columns) {
  return u64{columns} * buckets_of(columns) * chunk_tile_words;
}

/// A word of a part of the rows of a column: an item is (tile, word, part, column). All rows of a column would not fit
/// into a thread's registers.
struct write_bitmap_parts {
  static constexpr u32 part = 8;  // rows
  static constexpr u64 item_cost = 1024;

  const u8* codes;
  u64 count;
  u32 columns;
  u64 first_tile;
  u64* bitmaps;

  ZENITH_FN void operator()(u64 i) const {
    const u64 c = i % columns;
    const u32 buckets = buckets_of(columns);
    const u32 parts = buckets / part;
    const u32 least = static_cast<u32>(i / columns % parts) * part;
    const u64 word = i / columns / parts % chunk_tile_words;
    const u64 tile = first_tile + i / columns / parts / chunk_tile_words;
    const u64 begin = tile * chunk_tile + word * 64;
    u64 rows[part] = {};
    for (u64 bit = 0; bit < 64 && begin + bit < count; ++bit) {
      const u32 code = codes[(begin + bit) * columns + c];
      ZENITH_UNROLLED
      for (u32 k = 0; k < part; ++k) rows[k] |= u64{code <= least + k ? 1U : 0U} << bit;
    }
    u64* const to = bitmaps + tile * chunk_bitmap_words(columns) + (c * buckets + least) * chunk_tile_words + word;
    ZENITH_UNROLLED
    for (u32 k = 0; k < part; ++k) to[k * chunk_tile_words] = rows[k];
  }
};

/// What 64 neighbouring candidates' masks have together, in zeroed words: an item is some of them.
struct write_group_masks {
  static constexpr u32 group = 64;
  static constexpr u32 part = 8;
  static constexpr u64 item_cost = 128;

  const u64* masks;
  u64 count;
  u64* to;

  ZENITH_FN void operator()(u64 i) const {
    u64 some = 0;
    for (u64 at = i * part; at < count && at < (i + 1) * part; ++at) some |= masks[at];
    (void)device::atomic_or(to + i * part / group, some);
  }
};

/// States that teams have found, to where the request wants them.
template <class Image>
struct write_states {
  filter_request<Image> of;
  const u32* states;

  ZENITH_FN void operator()(u64 i) const { of.write(i, static_cast<u8>(states[i])); }
};

/// Two words that are read at once.
struct alignas(16) word_pair {
  u64 first;
  u64 second;
};

/// Team t tests chunk t % chunks of the candidates against tile t / chunks of the window: early tiles first, since they
/// decide most.
template <class Image>
struct filter_chunks_by_bitmaps {
  static constexpr u32 group = write_group_masks::group;
  static constexpr u32 least_chunk = 512;
  static constexpr u32 most_chunk = 8192;
  static constexpr u64 enough_teams = 2048;  // for the largest devices
  static constexpr u32 step_groups = 64;     // whose candidates are queued at a time
  static constexpr u32 most_rows = 64 * 32;  // once, or half as many twice, or a quarter four times
  static constexpr u32 bitmap_bytes = most_rows * chunk_tile_words * 8;
  static constexpr u32 scratch_bytes = bitmap_bytes + 16 + most_chunk / group * 2 + step_groups * group * 2;
  static constexpr u64 item_cost = u64{1} << 18;

  filter_request<Image> of;
  const u64* bitmaps;
  const u64* group_masks;  ///< of the candidates
  u32* states;             ///< of the candidates
  u32 chunk;

  /// Candidates of a team: the fewer the more teams are idle otherwise.
  [[nodiscard]] static u32 chunk_of(u64 count, u64 window_count) {
    const u64 tiles = (window_count + chunk_tile - 1) / chunk_tile;
    u64 length = most_chunk;
    while (length > least_chunk && tiles * ((count + length - 1) / length) < enough_teams) length /= 2;
    return static_cast<u32>(length);
  }
  [[nodiscard]] u64 teams() const {
    return (of.window_count + chunk_tile - 1) / chunk_tile * ((of.count + chunk - 1) / chunk);
  }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 chunks = (of.count + chunk - 1) / chunk;
    const u64 tile = t / chunks;
    const u64 begin = t % chunks * chunk;
    const u64 n = of.count - begin < chunk ? of.count - begin : chunk;
    const u64 at = tile * chunk_tile;
    if (of.is_itself && begin + n <= at + 1) return;

    word_pair* const rows = team.template scratch<word_pair>();
    u32* const counts = team.template scratch<u32>(bitmap_bytes);  // of groups, and of candidates in turns of two
    auto* const groups = team.template scratch<std::uint16_t>(bitmap_bytes + 16);
    auto* const queue = groups + most_chunk / group;
    team.barrier();  // whoever still reads the last item's is done
    team.once([&]() ZENITH_BODY {
      counts[0] = 0;
      counts[1] = 0;
    });
    team.barrier();
    const u64 needed = of.window_masks[tile];
    team.for_each((n + group - 1) / group, [&](u64 g) ZENITH_BODY {
      if ((needed & ~group_masks[begin / group + g]) == 0) groups[team.add(counts, 1U)] = static_cast<std::uint16_t>(g);
    });
    team.barrier();
    const u32 found = counts[0];
    if (found == 0) return;
    load(team, tile, rows);

    for (u32 first = 0; first < found; first += step_groups) {
      const u32 some = found - first < step_groups ? found - first : step_groups;
      team.for_each(some * group, [&](u64 j) ZENITH_BODY {
        const u64 i = u64{groups[first + j / group]} * group + j % group;
        if (i >= n || (needed & ~of.candidates.masks[begin + i]) != 0 || of.window_of(begin + i) <= at) return;
        if (of.is_decided(static_cast<u8>(device::atomic_load(states + begin + i)))) return;
        queue[team.add(counts + 1, 1U)] = static_cast<std::uint16_t>(i);
      });
      team.barrier();
      const u32 queued = counts[1];
      team.for_each(queued, [&](u64 p) ZENITH_BODY {
        const u64 i = begin + queue[p];
        const u32 after = test(i, at, rows, static_cast<u32>(p));
        if (after != open) (void)device::atomic_max(states + i, after);
      });
      team.barrier();
      team.once([&]() ZENITH_BODY { counts[1] = 0; });
      team.barrier();
    }
    team.once([&]() ZENITH_BODY { of.counters.masks.add((n + group - 1) / group + u64{found} * group); });
  }

 private:
  [[nodiscard]] ZENITH_FN u32 copies() const {
    const u32 rows = of.candidates.columns * buckets_of(of.candidates.columns);
    return rows <= most_rows / 4 ? 4 : rows <= most_rows / 2 ? 2 : 1;
  }

  template <class Team>
  ZENITH_FN void load(Team& team, u64 tile, word_pair* rows) const {
    const u32 row_pairs = chunk_tile_words / 2 * copies();
    const u64 all = u64{of.candidates.columns} * buckets_of(of.candidates.columns) * row_pairs;
    const u64* const from = bitmaps + tile * chunk_bitmap_words(of.candidates.columns);
    team.for_each(all, [&](u64 j) ZENITH_BODY {
      const u64* const pair = from + (j / row_pairs * 2 + j % 2) * 2;
      rows[j] = {pair[0], pair[1]};
    });
    team.barrier();
  }

  /// Candidate i against the tile. Lane `p` of the queue reads the copy, and first the half, that its neighbours do
  /// not.
  ZENITH_FN u8 test(u64 i, u64 at, const word_pair* rows, u32 p) const {
    const u32 columns = of.candidates.columns;
    const u8* const codes = of.candidates.codes + i * columns;
    const u32 buckets = buckets_of(columns);
    const u32 row_pairs = chunk_tile_words / 2 * copies();
    const u32 copy = p % copies() * 2;
    const u32 half = p / copies() % 2;
    const word_pair* const here = rows + copy;
    word_pair a{~u64{0}, ~u64{0}};
    word_pair b = a;
    const auto keep = [&](u32 c, u32 code) ZENITH_BODY {
      const word_pair* const row = here + (c * buckets + code) * row_pairs;
      const word_pair x = row[half];
      const word_pair y = row[half ^ 1];
      a = {a.first & x.first, a.second & x.second};
      b = {b.first & y.first, b.second & y.second};
    };
    if (columns % 4 == 0) {
      // four codes by one load
      for (u32 c = 0; c < columns; c += 4) {
        const u32 four = *reinterpret_cast<const u32*>(codes + c);
        keep(c, four & 255U);
        keep(c + 1, four >> 8 & 255U);
        keep(c + 2, four >> 16 & 255U);
        keep(c + 3, four >> 24);
      }
    } else {
      for (u32 c = 0; c < columns; ++c) keep(c, codes[c]);
    }
    if ((a.first | a.second | b.first | b.second) == 0) return open;
    const u64 words[chunk_tile_words] = {a.first, a.second, b.first, b.second};
    const u64 most = of.window_of(i) - at;  // points that count
    u64 tests = 0;
    u8 state = open;
    ZENITH_UNROLLED
    for (u32 w = 0; w < chunk_tile_words; ++w) {
      const u64 begin = u64{w ^ (half * 2)} * 64;
      if (begin >= most) continue;
      u64 left = words[w];
      if (most - begin < 64) left &= (u64{1} << (most - begin)) - 1;
      for (; left != 0 && !of.is_decided(state); left &= left - 1) {
        ++tests;
        state = of.after(compare_points_by_fours(of.window.values + at + begin + lowest_bit(left), of.window.stride,
                                                 of.candidates.values + i, of.candidates.stride, columns),
                         state);
      }
    }
    of.counters.dominance.add(tests);
    return state;
  }
};

template <class Image>
using chunk_kernels = device::list<filter_chunks_by_bitmaps<Image>, write_states<Image>>;

}  // namespace zenith::skyline_family
