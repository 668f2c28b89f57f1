#pragma once

/// \file
/// The filter by bitmaps (bitmap_rows.hpp) for devices of thousands of threads. Points lie row by row in their order
/// and stay there; what is compared is a list of positions. A team keeps the bitmaps of a tile of 256 points in its
/// scratch and tests many candidates against it, each by one lane.
///
/// A row of a tile is 32 bytes. Lanes that read rows of different codes would meet in few of a scratch memory's banks;
/// with copies side by side, four of which fill the banks' 128 bytes, neighbouring lanes read neighbouring banks
/// whatever their codes are.

#include <cstdint>

#include <algorithms/skyline/dominance.hpp>
#include <algorithms/skyline/grid.hpp>
#include <core/device/list.hpp>

namespace zenith::skyline_family {

inline constexpr u32 chunk_tile_words = 8;
inline constexpr u32 chunk_tile = chunk_tile_words * 32;
inline constexpr u32 most_chunk_rows = 48 * 32;  ///< of a tile's bitmaps: columns and their buckets

/// Words of the bitmaps of a tile.
[[nodiscard]] ZENITH_FN u32 chunk_bitmap_words(u32 columns) { return columns * buckets_of(columns) * chunk_tile_words; }

/// Copies of them that lie side by side.
[[nodiscard]] ZENITH_FN constexpr u32 copies_of(u32 columns) {
  const u32 rows = columns * buckets_of(columns);
  return rows <= most_chunk_rows / 4 ? 4 : rows <= most_chunk_rows / 2 ? 2 : 1;
}

/// What is known of a point beside its cells, in its mask: whether it may be in the skyline, and whether it equals a
/// point before it. Bits of the tiles' masks that candidates must have are those of cells and the first of these.
template <class Mask>
inline constexpr Mask alive_bit = Mask{1} << (8 * sizeof(Mask) - 1);
template <class Mask>
inline constexpr Mask twin_bit = alive_bit<Mask> >> 1;
template <class Mask>
inline constexpr Mask cell_bits = twin_bit<Mask> - 1;
inline constexpr u32 most_cell_bits = 62;

/// Whether masks have 32 bits: those of three cuts of each column fit.
[[nodiscard]] ZENITH_FN constexpr bool has_short_masks(u32 columns) { return columns >= 2 && columns <= 10; }

template <class Mask>
struct is_alive_alone {
  const Mask* masks;

  ZENITH_FN bool operator()(u64 i) const { return (masks[i] & (alive_bit<Mask> | twin_bit<Mask>)) == alive_bit<Mask>; }
};

/// Marks the rows of points that are left.
template <class Mask>
struct mark_alive {
  const Mask* masks;
  const u32* rows;
  bool keeps_twins;
  u8* flags;

  ZENITH_FN void operator()(u64 i) const {
    const Mask mask = masks[i];
    if ((mask & alive_bit<Mask>) != 0 && (keeps_twins || (mask & twin_bit<Mask>) == 0)) flags[rows[i]] = marked;
  }
};

/// Points by rising positions.
struct position_list {
  u64 first = 0;
  const u32* positions = nullptr;  ///< from `first` on; nullptr: all
  u64 most = 0;
  const u32* count = nullptr;  ///< how many, at most `most`; nullptr: so many

  ZENITH_FN u64 size() const { return count == nullptr ? most : u64{*count}; }
  ZENITH_FN u64 at(u64 i) const { return first + (positions == nullptr ? i : u64{positions[i]}); }
};

inline constexpr u32 candidate_group = 32;  ///< neighbours

/// What neighbouring candidates' masks have together.
template <class Mask>
struct write_group_masks {
  static constexpr u32 group = candidate_group;

  const Mask* masks;
  u64 count;
  Mask* to;

  [[nodiscard]] ZENITH_FN u64 groups() const { return (count + group - 1) / group; }
  ZENITH_FN void operator()(u64 g) const {
    constexpr u32 at_once = 8;
    const u64 begin = g * group;
    const u64 n = count - begin < group ? count - begin : group;
    Mask some = 0;
    for (u32 i = 0; i < group; i += at_once) {
      ZENITH_UNROLLED
      for (u32 k = 0; k < at_once; ++k) some |= masks[begin + (i + k < n ? i + k : 0)];
    }
    to[g] = some;
  }
};

/// Bitmaps and masks of a list's tiles. Teams behind those of the tiles write the masks of groups that the tiles are to
/// be compared with.
template <class Mask>
struct write_tiles {
  static constexpr u32 team_groups = 256;
  static constexpr u32 scratch_bytes = most_chunk_rows * chunk_tile_words * 4;
  static constexpr u64 item_cost = u64{1} << 16;

  position_list of;
  const u32* codes;
  const Mask* masks;
  u32 columns;
  u32* bitmaps;
  Mask* tile_masks;
  write_group_masks<Mask> compared;

  [[nodiscard]] ZENITH_FN u64 tiles() const { return (of.most + chunk_tile - 1) / chunk_tile; }
  [[nodiscard]] u64 teams() const { return tiles() + (compared.groups() + team_groups - 1) / team_groups; }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    if (t >= tiles()) {
      const u64 first = (t - tiles()) * team_groups;
      const u64 n = compared.groups() - first < team_groups ? compared.groups() - first : team_groups;
      return team.for_each(n, [&](u64 g) ZENITH_BODY { compared(first + g); });
    }
    const u64 begin = t * chunk_tile;
    const u64 count = of.size();
    if (begin >= count) return;
    const u32 n = count - begin < chunk_tile ? static_cast<u32>(count - begin) : chunk_tile;
    u32* const rows = team.template scratch<u32>();
    const u32 buckets = buckets_of(columns);
    const u32 code_count = code_words(columns);
    team.for_each(chunk_bitmap_words(columns), [&](u64 j) ZENITH_BODY { rows[j] = 0; });
    team.barrier();
    team.for_each(u64{code_count} * chunk_tile, [&](u64 j) ZENITH_BODY {
      const u32 i = static_cast<u32>(j) % chunk_tile;
      const u32 word = static_cast<u32>(j) / chunk_tile;
      if (i >= n) return;
      const u32 four = codes[of.at(begin + i) * code_count + word];
      for (u32 k = 0; k < 4 && word * 4 + k < columns; ++k) {
        const u32 row = (word * 4 + k) * buckets + (four >> (8 * k) & 255U);
        (void)team.add(rows + row * chunk_tile_words + i / 32, u32{1} << i % 32);
      }
    });
    team.barrier();
    u32* const to = bitmaps + t * chunk_bitmap_words(columns);
    team.for_each(columns * chunk_tile_words, [&](u64 j) ZENITH_BODY {
      const u32 first = static_cast<u32>(j) / chunk_tile_words * buckets * chunk_tile_words;
      u32 at = first + static_cast<u32>(j) % chunk_tile_words;
      u32 some = 0;
      for (u32 k = 0; k < buckets; ++k, at += chunk_tile_words) {
        some |= rows[at];
        to[at] = some;
      }
    });
    const Mask common = team.reduce(
        n, static_cast<Mask>(~Mask{0}), [&](u64 i) ZENITH_BODY { return masks[of.at(begin + i)]; },
        [](Mask a, Mask b) ZENITH_BODY { return a & b; });
    team.once([&]() ZENITH_BODY { tile_masks[t] = (common & cell_bits<Mask>) | alive_bit<Mask>; });
  }
};

/// What is read at once.
struct alignas(16) four_words {
  u32 word[4];
};

/// Candidates at positions [first, first + count) against the points of a list, which are not behind the candidates, or
/// are some of them.
template <class ImageType, class MaskType>
struct tile_request {
  using image = ImageType;
  using mask = MaskType;
  static constexpr u32 group = candidate_group;
  static constexpr u32 least_chunk = 4;    // groups
  static constexpr u32 most_teams = 1024;  // about twice what the largest devices hold at once

  point_set<image> points;  ///< row by row
  u64 first;
  u64 count;
  position_list window;
  bool is_itself;
  const u32* bitmaps;       ///< of the window's tiles
  const mask* tile_masks;   ///< of the window's tiles
  const mask* group_masks;  ///< of the candidates
  mask* masks;              ///< of all points: who is out is written there
  u32* taken;               ///< pairs; zero at first
  test_counters counters;

  [[nodiscard]] u64 teams() const {
    const u64 tiles = (window.most + chunk_tile - 1) / chunk_tile;
    const u64 items = tiles * ((count + group * least_chunk - 1) / (group * least_chunk));
    return items < most_teams ? items : most_teams;
  }
};

/// Points whose bits are set in the words of a tile.
struct tile_bits {
  u64 low;
  u64 second;
  u64 third;
  u64 high;
};

/// The filter of a skyline. In a list before the candidates no two are equal and none dominates another, so the first
/// that reaches a candidate decides: if it equals it, no other one can dominate it.
template <class Image, class Mask>
struct tile_filter_request : tile_request<Image, Mask> {
  static constexpr bool has_gaps = false;  ///< points of the first block that are not in its window

  u8* flags;  ///< of the rows, for twins of the window; nullptr: they are left out

  /// A candidate with the points of a tile that reach it by their codes.
  template <u32 Columns, class Certain>
  ZENITH_FN void settle(u64 position, u32 tile, tile_bits left, const Certain& /*are_certain*/) const {
    const u32 columns = Columns == 0 ? this->points.columns : Columns;
    const Image* const own = this->points.values + position * columns;
    bool is_twin = false;
    u64 tests = 0;
    // one place that compares, so that the code is there once
    for (u32 begin = 0; begin < chunk_tile;) {
      if (left.low == 0) {
        left = {left.second, left.third, left.high, 0};
        begin += 64;
        continue;
      }
      const u64 other = this->window.at(u64{tile} * chunk_tile + begin + lowest_bit(left.low));
      left.low &= left.low - 1;
      if (this->is_itself && other >= position) break;
      ++tests;
      const relation found = compare_rows_by_fours(this->points.values + other * columns, own, columns);
      if (found == relation::none) continue;
      if (found == relation::equals && this->is_itself) {
        // a twin may still turn out to be dominated together with its like
        if (!is_twin) (void)device::atomic_or(this->masks + position, twin_bit<Mask>);
        is_twin = true;
        continue;
      }
      if (found == relation::equals && flags != nullptr) flags[this->points.rows[position]] = marked;
      device::atomic_store(this->masks + position, Mask{0});
      break;
    }
    this->counters.dominance.add(tests);
  }
};

/// Asks what `Request` settles. Teams take pairs of a tile and a chunk of the candidates, in turn: early tiles first,
/// since they decide most.
///
/// `Columns`: how many there are, or 0 for any number, which takes more registers and instructions.
template <class Request, u32 Columns>
struct filter_by_tiles {
  using request = Request;
  using Mask = typename request::mask;
  static constexpr u32 group = request::group;
  static constexpr u32 most_chunk = 1024;  // groups
  static constexpr u32 enough_items = 4096;
  static constexpr u32 at_once = 4;  // loads of a lane
  static constexpr u32 copied_rows =
      Columns == 0 ? most_chunk_rows : copies_of(Columns) * Columns * buckets_of(Columns);
  static constexpr bool is_small = copied_rows <= 1024;
  static constexpr u32 step_groups = is_small ? 160 : 80;  // whose candidates are queued at a time
  static constexpr u32 bitmap_bytes = copied_rows * chunk_tile_words * 4;
  static constexpr u32 groups_at = bitmap_bytes + 16;
  static constexpr u32 queue_at = groups_at + most_chunk * 2;
  static constexpr u32 scratch_bytes = queue_at + step_groups * group * 2;
  static constexpr u32 wanted_teams = is_small ? 5 : 4;
  static constexpr u64 item_cost = u64{1} << 18;

  request of;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 /*t*/) const {
    const u32 tiles = static_cast<u32>((of.window.size() + chunk_tile - 1) / chunk_tile);
    const u32 groups = static_cast<u32>((of.count + group - 1) / group);
    const u32 chunk = chunk_of(u64{tiles} * groups);
    const u32 chunks = (groups + chunk - 1) / chunk;
    u32* const words = team.template scratch<u32>(bitmap_bytes);  // the pair, groups, queued candidates
    for (;;) {
      team.barrier();  // whoever still reads the last pair's is done
      team.once([&]() ZENITH_BODY {
        words[0] = device::atomic_add(of.taken, 1);
        words[1] = 0;
        words[2] = 0;
      });
      team.barrier();
      const u32 item = words[0];
      if (item / chunks >= tiles) return;
      const u32 begin = item % chunks * chunk;
      run(team, item / chunks, begin, groups - begin < chunk ? groups - begin : chunk);
    }
  }

 private:
  ZENITH_FN static u32 chunk_of(u64 all) {
    const u64 even = all / enough_items;
    return even < request::least_chunk ? request::least_chunk : even > most_chunk ? most_chunk : static_cast<u32>(even);
  }

  /// Groups [begin, begin + n) of the candidates against a tile.
  template <class Team>
  ZENITH_FN void run(Team& team, u32 tile, u32 begin, u32 n) const {
    const u32 from = begin * group;
    const u32 candidates = of.count - from < n * group ? static_cast<u32>(of.count - from) : n * group;
    const u64 behind = of.is_itself ? of.window.at(u64{tile} * chunk_tile) : 0;
    if (of.is_itself && of.first + from + candidates <= behind + 1) return;
    auto* const rows = team.template scratch<four_words>();
    u32* const words = team.template scratch<u32>(bitmap_bytes);
    auto* const found = team.template scratch<std::uint16_t>(groups_at);
    auto* const queue = team.template scratch<std::uint16_t>(queue_at);
    const Mask needed = of.tile_masks[tile];
    team.for_each(n, [&](u64 g) ZENITH_BODY {
      if ((needed & ~of.group_masks[begin + g]) == 0) found[team.add(words + 1, 1U)] = static_cast<std::uint16_t>(g);
    });
    team.barrier();
    const u32 all = words[1];
    if (all == 0) return;
    load(team, tile, rows);
    for (u32 at = 0; at < all; at += step_groups) {
      const u32 some = all - at < step_groups ? all - at : step_groups;
      // what a lane waits for is memory
      const u32 slots = some * group / at_once;
      team.for_each(slots, [&](u64 j) ZENITH_BODY {
        u32 i[at_once];
        Mask mask[at_once];
        ZENITH_UNROLLED
        for (u32 k = 0; k < at_once; ++k) {
          const u32 slot = static_cast<u32>(j) + k * slots;
          i[k] = found[at + slot / group] * group + slot % group;
          mask[k] = i[k] < candidates ? device::atomic_load(of.masks + (of.first + from + i[k])) : Mask{0};
        }
        ZENITH_UNROLLED
        for (u32 k = 0; k < at_once; ++k) {
          if ((needed & ~mask[k]) != 0 || (of.is_itself && of.first + from + i[k] <= behind)) continue;
          queue[team.add(words + 2, 1U)] = static_cast<std::uint16_t>(i[k]);
        }
      });
      team.barrier();
      team.for_each(words[2],
                    [&](u64 p) ZENITH_BODY { test(of.first + from + queue[p], tile, rows, static_cast<u32>(p)); });
      team.barrier();
      team.once([&]() ZENITH_BODY { words[2] = 0; });
      team.barrier();
    }
    team.once([&]() ZENITH_BODY { of.counters.masks.add(n + u64{all} * group); });
  }

  [[nodiscard]] ZENITH_FN u32 columns() const { return Columns == 0 ? of.points.columns : Columns; }
  [[nodiscard]] ZENITH_FN u32 copies() const { return copies_of(columns()); }

  template <class Team>
  ZENITH_FN void load(Team& team, u32 tile, four_words* rows) const {
    const u32 row_parts = 2 * copies();
    const u32 words = chunk_bitmap_words(columns());
    const auto* const from = reinterpret_cast<const four_words*>(of.bitmaps + u64{tile} * words);
    team.for_each(words / chunk_tile_words * row_parts, [&](u64 j) ZENITH_BODY {
      const u32 part = static_cast<u32>(j);
      rows[part] = from[part / row_parts * 2 + part % 2];
    });
    team.barrier();
  }

  /// A candidate against the tile. Lane `p` of the queue reads the copy, and first the half, that its neighbours do
  /// not.
  ZENITH_FN void test(u64 position, u32 tile, const four_words* rows, u32 p) const {
    const u32 columns = this->columns();
    const u32* const codes = of.points.codes + position * code_words(columns);
    const u32 buckets = buckets_of(columns);
    const u32 row_parts = 2 * copies();
    const u32 half = p / copies() % 2;
    const four_words* const here = rows + p % copies() * 2;
    u32 a[4] = {~u32{0}, ~u32{0}, ~u32{0}, ~u32{0}};
    u32 b[4] = {~u32{0}, ~u32{0}, ~u32{0}, ~u32{0}};
    const auto keep = [&](u32 c, u32 code) ZENITH_BODY {
      const four_words* const row = here + (c * buckets + code) * row_parts;
      const four_words x = row[half];
      const four_words y = row[half ^ 1];
      ZENITH_UNROLLED
      for (u32 k = 0; k < 4; ++k) {
        a[k] &= x.word[k];
        b[k] &= y.word[k];
      }
    };
    u32 c = 0;
    ZENITH_UNROLLED
    for (; c + 4 <= columns; c += 4) {
      const u32 four = codes[c / 4];
      keep(c, four & 255U);
      keep(c + 1, four >> 8 & 255U);
      keep(c + 2, four >> 16 & 255U);
      keep(c + 3, four >> 24);
    }
    if (c < columns) {
      const u32 four = codes[c / 4];
      keep(c, four & 255U);
      if (c + 1 < columns) keep(c + 1, four >> 8 & 255U);
      if (c + 2 < columns) keep(c + 2, four >> 16 & 255U);
    }
    const auto in_order = [&]() ZENITH_BODY {
      const bool is_first = half == 0;
      return tile_bits{u64{is_first ? a[1] : b[1]} << 32 | (is_first ? a[0] : b[0]),
                       u64{is_first ? a[3] : b[3]} << 32 | (is_first ? a[2] : b[2]),
                       u64{is_first ? b[1] : a[1]} << 32 | (is_first ? b[0] : a[0]),
                       u64{is_first ? b[3] : a[3]} << 32 | (is_first ? b[2] : a[2])};
    };
    if ((a[0] | a[1] | a[2] | a[3] | b[0] | b[1] | b[2] | b[3]) == 0) return;
    // those of them whose codes are all smaller
    const auto are_certain = [&]() ZENITH_BODY {
      for (c = 0; c < columns; ++c) {
        const u32 code = codes[c / 4] >> (8 * (c % 4)) & 255U;
        if (code == 0) return tile_bits{};
        keep(c, code - 1);
      }
      return in_order();
    };
    of.template settle<Columns>(position, tile, in_order(), are_certain);
  }
};

}  // namespace zenith::skyline_family
