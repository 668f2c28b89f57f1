#pragma once

/// \file
/// Bitmaps for hosts: 512 points of a window as bits. Row k of a column says which of them have a code of at most k
/// there. A candidate with code k can be reached only by those, and so only by those in the AND of one row of each
/// column (row_filter.hpp). Points lie row by row; a candidate's codes are the places of its rows in a tile's bitmaps.

#include <cstdint>

#include <algorithms/skyline/grid.hpp>
#include <algorithms/skyline/image_lanes.hpp>
#include <algorithms/skyline/row_source.hpp>

namespace zenith::skyline_family {

using u16 = std::uint16_t;

inline constexpr u32 bitmap_words = 8;
inline constexpr u32 bitmap_tile = bitmap_words * 64;
inline constexpr u32 bitmap_bytes = bitmap_words * 8;

/// Buckets of a column on a host: a tile's bitmaps stay in the first cache, and places in them fit into 16 bits.
[[nodiscard]] ZENITH_FN u32 row_buckets(u32 columns) { return columns <= 4 ? 64 : columns <= 32 ? 32 : 16; }
[[nodiscard]] ZENITH_FN u64 row_bitmap_words(u32 columns) { return u64{columns} * row_buckets(columns) * bitmap_words; }

/// The bitmaps of a window's tiles, in pieces of a power of two: there is memory for those that have points.
struct tile_bitmaps {
  static constexpr u32 most_pieces = 8;

  u64* pieces[most_pieces];
  u32 shift;
  u64 words;  ///< of a tile

  ZENITH_FN u64* of(u64 tile) const { return pieces[tile >> shift] + (tile & ((u64{1} << shift) - 1)) * words; }
};

/// Codes of as many values as a register holds: all cuts are counted, which takes less than gathers do.
template <class Image>
ZENITH_FN void find_codes(const Image* values, const Image* cuts, u32 buckets, Image* codes) {
#if defined(ZENITH_SKYLINE_PLAIN_LANES)
  for (u32 lane = 0; lane < image_lanes<Image>::count; ++lane) codes[lane] = code_of(cuts, buckets, values[lane]);
#else
  using vector = typename image_lanes<Image>::vector;
  vector value;
  __builtin_memcpy(&value, values, sizeof(value));
  const vector zero = value ^ value;
  vector code = zero;
  for (u32 k = 1; k < buckets; ++k) code -= (vector)(zero + cuts[k] <= value);
  __builtin_memcpy(codes, &code, sizeof(code));
#endif
}

/// Places of candidates' rows, and their masks (`write_masks`).
template <class Image>
struct code_rows {
  static constexpr u32 scratch_bytes = row_tile * 24;

  const Image* values;  ///< row by row
  u32 columns;
  u64 count;
  const Image* cuts;
  u16* places;
  u64* masks;

  [[nodiscard]] u64 launch_cost(u64 /*n*/) const { return count * columns * 64; }
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * row_tile;
    const u64 n = count - first < row_tile ? count - first : row_tile;
    Image* const column = team.template scratch<Image>();
    Image* const codes = team.template scratch<Image>(row_tile * 8);
    u64* const found = team.template scratch<u64>(row_tile * 16);
    const u32 buckets = row_buckets(columns);
    const bool has_lower = 2 * columns <= 64;
    const bool has_upper = 3 * columns <= 64;
    team.for_each(n, [&](u64 i) ZENITH_BODY { found[i] = 0; });
    for (u32 c = 0; c < columns; ++c) {
      const Image* const from = values + first * columns + c;
      const Image* const cut = cuts + c * buckets;
      team.for_each(n, [&](u64 i) ZENITH_BODY { column[i] = from[i * columns]; });
      team.barrier();
      constexpr u32 lanes = image_lanes<Image>::count;
      team.for_each((n + lanes - 1) / lanes,
                    [&](u64 g) ZENITH_BODY { find_codes(column + g * lanes, cut, buckets, codes + g * lanes); });
      team.barrier();
      u16* const to = places + first * columns + c;
      team.for_each(n, [&](u64 i) ZENITH_BODY {
        to[i * columns] = static_cast<u16>((c * buckets + static_cast<u32>(codes[i])) * bitmap_bytes);
      });
      team.for_each(n, [&](u64 i) ZENITH_BODY {
        u64 bits = u64{codes[i] >= buckets / 2 ? 1U : 0U} << c;
        if (has_lower) bits |= u64{codes[i] >= buckets / 4 ? 1U : 0U} << (columns + c);
        if (has_upper) bits |= u64{codes[i] >= buckets / 4 * 3 ? 1U : 0U} << (2 * columns + c);
        found[i] |= bits;
      });
      team.barrier();
    }
    team.for_each(n, [&](u64 i) ZENITH_BODY { masks[first + i] = found[i]; });
  }
};

/// Masks of points that lie in columns, by cuts of `row_buckets`: the median's bits and, as far as there are bits,
/// those of the quartiles. If q reaches p, all of q's bits are p's as well: equations 1 to 5 of the paper in one test.
template <class Image>
struct write_masks {
  static constexpr u64 item_cost = 256;

  point_set<Image> of;
  const Image* cuts;
  bool has_quartiles;

  ZENITH_FN void operator()(u64 i) const {
    const u32 buckets = row_buckets(of.columns);
    const bool has_lower = has_quartiles && 2 * of.columns <= 64;
    const bool has_upper = has_quartiles && 3 * of.columns <= 64;
    u64 mask = 0;
    for (u32 c = 0; c < of.columns; ++c) {
      const u32 code = code_of(cuts + c * buckets, buckets, of.values[c * of.stride + i]);
      mask |= u64{code >= buckets / 2 ? 1U : 0U} << c;
      if (has_lower) mask |= u64{code >= buckets / 4 ? 1U : 0U} << (of.columns + c);
      if (has_upper) mask |= u64{code >= buckets / 4 * 3 ? 1U : 0U} << (2 * of.columns + c);
    }
    of.masks[i] = mask;
  }
};

/// Copies candidates picked[0], picked[1], … with what is known of them.
template <class Image>
struct gather_rows {
  static constexpr u64 item_cost = 128;

  const Image* values;
  const u32* rows;
  const u16* places;
  const u64* masks;
  u32 columns;
  const u32* picked;
  Image* to_values;
  u32* to_rows;
  u16* to_places;
  u64* to_masks;

  ZENITH_FN void operator()(u64 i) const {
    const u64 source = picked[i];
    for (u32 c = 0; c < columns; ++c) to_values[i * columns + c] = values[source * columns + c];
    for (u32 c = 0; c < columns; ++c) to_places[i * columns + c] = places[source * columns + c];
    to_rows[i] = rows[source];
    to_masks[i] = masks[source];
  }
};

/// Adds points [from, from + count) to a window's bitmaps and its tiles' masks: an item is a tile, from that of the
/// first of them on.
struct extend_bitmaps {
  const u16* places;
  const u64* masks;
  u32 columns;
  u64 from;
  u64 count;
  tile_bitmaps bitmaps;
  u64* tile_masks;

  [[nodiscard]] u64 launch_cost(u64 n) const {
    return columns * (count * 64 + n * row_buckets(columns) * bitmap_bytes);
  }
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 tile = from / bitmap_tile + t;
    const u64 begin = tile * bitmap_tile;
    const u64 first = from > begin ? from : begin;
    const u64 end = from + count < begin + bitmap_tile ? from + count : begin + bitmap_tile;
    const u32 words = row_buckets(columns) * bitmap_words;
    u64* const all = bitmaps.of(tile);
    team.for_each(columns, [&](u64 c) ZENITH_BODY {
      u64* const rows = all + c * words;
      if (first == begin) {
        for (u32 w = 0; w < words; ++w) rows[w] = 0;
      }
      for (u64 i = first; i < end; ++i) {
        all[places[(i - from) * columns + c] / 8 + (i - begin) / 64] |= u64{1} << (i - begin) % 64;
      }
      for (u32 w = bitmap_words; w < words; ++w) rows[w] |= rows[w - bitmap_words];
    });
    const u64 common = team.reduce(
        end - first, ~u64{0}, [&](u64 i) ZENITH_BODY { return masks[first - from + i]; },
        [](u64 a, u64 b) ZENITH_BODY { return a & b; });
    team.once([&]() ZENITH_BODY { tile_masks[tile] = first == begin ? common : tile_masks[tile] & common; });
  }
};

}  // namespace zenith::skyline_family
