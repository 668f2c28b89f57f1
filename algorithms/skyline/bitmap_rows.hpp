#pragma once

/// \file
/// The filter by bitmaps for hosts: 512 points of a window as bits. Row k of a column says which of them have a code of
/// at most k there. A candidate with code k can be reached only by those, and so only by those in the AND of one row of
/// each column. Points lie row by row; a candidate's codes are the places of its rows in a tile's bitmaps.

#include <cstdint>

#include <algorithms/skyline/dominance.hpp>
#include <algorithms/skyline/grid.hpp>
#include <algorithms/skyline/image_lanes.hpp>
#include <algorithms/skyline/row_source.hpp>
#include <core/device/list.hpp>

namespace zenith::skyline_family {

using u16 = std::uint16_t;

inline constexpr u32 bitmap_words = 8;
inline constexpr u32 bitmap_tile = bitmap_words * 64;
inline constexpr u32 bitmap_bytes = bitmap_words * 8;

/// Buckets of a column on a host: a tile's bitmaps stay in the first cache, and places in them fit into 16 bits.
[[nodiscard]] ZENITH_FN u32 row_buckets(u32 columns) { return columns <= 32 ? 32 : 16; }
[[nodiscard]] ZENITH_FN u64 row_bitmap_words(u32 columns) { return u64{columns} * row_buckets(columns) * bitmap_words; }

/// The bitmaps of a window's tiles, in pieces of a power of two: there is memory for those that have points.
struct tile_bitmaps {
  static constexpr u32 most_pieces = 8;

  u64* pieces[most_pieces];
  u32 shift;
  u64 words;  ///< of a tile

  ZENITH_FN u64* of(u64 tile) const { return pieces[tile >> shift] + (tile & ((u64{1} << shift) - 1)) * words; }
};

/// Places of candidates' rows, and their masks (`assign_cells`).
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

 private:
  /// Codes of as many values as a register holds: all cuts are counted, which takes less than gathers do.
  ZENITH_FN static void find_codes(const Image* values, const Image* cuts, u32 buckets, Image* codes) {
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
};

/// Masks (`assign_cells`) of points that lie in columns, by a host's cuts.
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

/// The AND of rows of bitmaps, in registers.
class row_bits {
 public:
  ZENITH_FN row_bits() {
    ZENITH_UNROLLED
    for (u32 k = 0; k < parts; ++k) bits_[k] = ~bits_[k];
  }
  ZENITH_FN void and_with(const void* row) {
    ZENITH_UNROLLED
    for (u32 k = 0; k < parts; ++k) {
      part other;
      __builtin_memcpy(&other, static_cast<const char*>(row) + k * sizeof(part), sizeof(part));
      bits_[k] &= other;
    }
  }
  ZENITH_FN bool is_zero() const {
    part some = bits_[0];
    ZENITH_UNROLLED
    for (u32 k = 1; k < parts; ++k) some |= bits_[k];
#if defined(ZENITH_SKYLINE_PLAIN_LANES)
    return some == 0;
#else
    return !has_bits(some);
#endif
  }
  ZENITH_FN void store(u64* to) const {
    ZENITH_UNROLLED
    for (u32 k = 0; k < parts; ++k) {
      __builtin_memcpy(reinterpret_cast<char*>(to) + k * sizeof(part), &bits_[k], sizeof(part));
    }
  }

 private:
#if defined(ZENITH_SKYLINE_PLAIN_LANES)
  using part = u64;
#else
  using part = image_lanes<u64>::vector;
#endif
  static constexpr u32 parts = bitmap_bytes / sizeof(part);

  part bits_[parts] = {};
};

/// The relation of two points whose values lie side by side.
template <class Image>
ZENITH_FN relation compare_rows(const Image* other, const Image* point, u32 columns) {
  constexpr u32 step = 4;
  Image differs = 0;
  u32 c = 0;
  for (; c + step <= columns; c += step) {
    bool is_larger = false;
    ZENITH_UNROLLED
    for (u32 k = c; k < c + step; ++k) {
      is_larger |= other[k] > point[k];
      differs |= other[k] ^ point[k];
    }
    if (is_larger) return relation::none;
  }
  for (; c < columns; ++c) {
    if (other[c] > point[c]) return relation::none;
    differs |= other[c] ^ point[c];
  }
  return differs == 0 ? relation::equals : relation::dominates;
}

/// The filter. A team takes tile after tile, each for many candidates while it is in the first cache, and asks for
/// several neighbours at once whether their masks can reach it.
template <class Image>
struct filter_rows {
  using request = filter_request<Image>;
  static constexpr u32 tile = 512;  // candidates, at most
  static constexpr u32 least_tile = 64;
  static constexpr u32 neighbours = 16;
  static constexpr u32 runs = tile / neighbours;
  static constexpr u32 states_at = tile * 8 + runs * 8;
  static constexpr u32 queue_at = states_at + tile;
  static constexpr u32 scratch_bytes = queue_at + 16 + (tile + neighbours) * 2;

  request of;
  tile_bitmaps bitmaps;
  const u16* places;  ///< of the candidates
  u32 each;           ///< candidates of a team: a multiple of `neighbours`, up to `tile`
  u64 large;          ///< teams that have so many; those behind them have `least_tile`

  /// For so many threads. A tile of bitmaps is read for as many candidates as leave some teams to each thread, and the
  /// last teams are small, so that threads end together.
  [[nodiscard]] static filter_rows make(const request& of, const tile_bitmaps& bitmaps, const u16* places,
                                        u64 threads) {
    filter_rows made{of, bitmaps, places, tile, (of.count + tile - 1) / tile};
    if (threads <= 1) return made;
    while (made.each > least_tile && of.count < 4 * threads * made.each) made.each /= 2;
    made.large = (of.count - of.count / 4) / made.each;
    return made;
  }
  [[nodiscard]] u64 teams() const {
    const u64 in_large = large * each;
    return large + (in_large < of.count ? (of.count - in_large + least_tile - 1) / least_tile : 0);
  }
  /// Masks skip most tiles where there are many.
  [[nodiscard]] u64 launch_cost(u64 /*n*/) const {
    const u64 tiles = of.window_of(of.count) / bitmap_tile + 1;
    return of.count * (64 + of.candidates.columns * (16 + 48 * (tiles < 4 ? tiles : 4) + 8 * tiles));
  }
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u32 own = t < large ? each : least_tile;
    const u64 first = t < large ? t * each : large * each + (t - large) * least_tile;
    const u64 n = of.count - first < own ? of.count - first : own;
    u64* const masks = team.template scratch<u64>();  // none once a candidate is decided
    u64* const reached = masks + tile;
    u8* const states = team.template scratch<u8>(states_at);
    u32* const queued = team.template scratch<u32>(queue_at);
    auto* const queue = reinterpret_cast<u16*>(queued + 4);
    team.for_each(own, [&](u64 i) ZENITH_BODY {
      states[i] = of.goes_on && i < n ? of.states[first + i] : u8{open};
      masks[i] = i < n && !of.is_decided(states[i]) ? of.candidates.masks[first + i] : 0;
    });
    team.barrier();
    const u32 runs_here = own / neighbours;
    team.for_each(runs_here, [&](u64 r) ZENITH_BODY {
      u64 mask = 0;
      for (u32 i = 0; i < neighbours; ++i) mask |= masks[r * neighbours + i];
      reached[r] = mask;
    });
    team.barrier();
    // neighbours in the order have similar masks: many tiles are skipped for all of them at once
    const u64 some = team.reduce(
        runs_here, u64{0}, [&](u64 r) ZENITH_BODY { return reached[r]; },
        [](u64 a, u64 b) ZENITH_BODY { return a | b; });
    const u64 end = of.window_of(first + n);
    u64 mask_tests = 0;
    for (u64 at = 0; at < end; at += bitmap_tile) {
      const u64 needed = of.window_masks[at / bitmap_tile];
      if ((needed & ~some) != 0) continue;
      mask_tests += n;
      const u64* const tile_rows = bitmaps.of(at / bitmap_tile);
      team.once([&]() ZENITH_BODY {
        u32 count = 0;
        for (u64 begin = 0; begin < n; begin += neighbours) {
          if ((needed & ~reached[begin / neighbours]) == 0) count += match(masks + begin, needed, begin, queue + count);
        }
        *queued = count;
      });
      team.barrier();
      team.for_each(*queued, [&](u64 p) ZENITH_BODY {
        const u64 i = queue[p];
        if (i >= n || of.is_decided(states[i])) return;
        const u8 state = test(first + i, at, tile_rows, states[i]);
        states[i] = state;
        if (of.is_decided(state)) masks[i] = 0;
      });
      team.barrier();
    }
    team.once([&]() ZENITH_BODY { of.counters.masks.add(mask_tests); });
    team.for_each(n, [&](u64 i) ZENITH_BODY { of.write(first + i, states[i]); });
  }

  /// Writes which of some neighbours have all bits of a tile; returns how many.
  ZENITH_FN static u32 match(const u64* masks, u64 needed, u64 begin, u16* queue) {
#if defined(__AVX512F__) && !defined(ZENITH_SKYLINE_PLAIN_LANES)
    const __m512i all = _mm512_set1_epi64(static_cast<long long>(needed));
    const auto low = _mm512_cmpeq_epi64_mask(_mm512_and_si512(_mm512_loadu_si512(masks), all), all);
    const auto high = _mm512_cmpeq_epi64_mask(_mm512_and_si512(_mm512_loadu_si512(masks + 8), all), all);
    const auto both = static_cast<__mmask16>(low | high << 8);
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i places = _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int>(begin)));
    const __m256i packed = _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(both, places));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(queue), packed);
    return static_cast<u32>(__builtin_popcount(both));
#else
    u32 count = 0;
    for (u32 i = 0; i < neighbours; ++i) {
      queue[count] = static_cast<u16>(begin + i);
      count += (needed & ~masks[i]) == 0 ? 1 : 0;
    }
    return count;
#endif
  }

  /// Candidate i against the tile of the window from point `at` on.
  ZENITH_FN u8 test(u64 i, u64 at, const u64* tile_rows, u8 state) const {
    const u32 columns = of.candidates.columns;
    const auto* const rows = reinterpret_cast<const char*>(tile_rows);
    const u16* const place = places + i * columns;
    row_bits bits;
    u32 c = 0;
    // without an exit: a branch that is hard to predict costs more than some loads
    for (; c + 4 <= columns; c += 4) {
      bits.and_with(rows + place[c]);
      bits.and_with(rows + place[c + 1]);
      bits.and_with(rows + place[c + 2]);
      bits.and_with(rows + place[c + 3]);
    }
    for (; c < columns; ++c) bits.and_with(rows + place[c]);
    if (bits.is_zero()) return state;
    u64 words[bitmap_words];
    bits.store(words);
    const u64 most = of.window_of(i) - at;  // points that count
    u64 tests = 0;
    for (u32 w = 0; w < bitmap_words; ++w) {
      const u64 begin = u64{w} * 64;
      if (begin >= most) break;
      u64 left = words[w];
      if (most - begin < 64) left &= (u64{1} << (most - begin)) - 1;
      for (; left != 0 && !of.is_decided(state); left &= left - 1) {
        const u64 other = at + begin + lowest_bit(left);
        ++tests;
        state = of.after(compare_rows(of.window.values + other * columns, of.candidates.values + i * columns, columns),
                         state);
      }
    }
    of.counters.dominance.add(tests);
    return state;
  }
};

template <class Image>
using bitmap_row_kernels = device::list<code_rows<Image>, write_masks<Image>, gather_rows<Image>, filter_rows<Image>>;

}  // namespace zenith::skyline_family
