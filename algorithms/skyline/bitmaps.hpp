#pragma once

/// \file
/// Bitmap tiles: 512 points of a window as bits. Row k of a column says which of them have a code of at most k there. A
/// candidate with code k can be reached only by those, and so only by those in the AND of one row of each column.

#include <cstdint>

#include <algorithms/skyline/dominance.hpp>
#include <algorithms/skyline/grid.hpp>

namespace zenith::skyline_family {

inline constexpr u32 bitmap_words = 8;
inline constexpr u32 bitmap_tile = bitmap_words * 64;

/// Words of the bitmaps of a tile.
[[nodiscard]] ZENITH_FN u64 bitmap_size(u32 columns) { return u64{columns} * buckets * bitmap_words; }

/// A word of all rows of a column: an item is (tile, column, word).
struct write_bitmaps {
  static constexpr u64 item_cost = 1024;

  const u8* codes;
  u64 count;
  u32 columns;
  u64 first_tile;
  u64* bitmaps;

  ZENITH_FN void operator()(u64 i) const {
    const u64 word = i % bitmap_words;
    const u64 c = i / bitmap_words % columns;
    const u64 tile = first_tile + i / bitmap_words / columns;
    const u64 begin = tile * bitmap_tile + word * 64;
    u64 rows[buckets];
    for (u64& row : rows) row = 0;
    for (u64 bit = 0; bit < 64 && begin + bit < count; ++bit) {
      rows[codes[(begin + bit) * columns + c]] |= u64{1} << bit;
    }
    u64* const to = bitmaps + tile * bitmap_size(columns) + c * buckets * bitmap_words + word;
    u64 reached = 0;
    for (u32 k = 0; k < buckets; ++k) {
      reached |= rows[k];
      to[k * bitmap_words] = reached;
    }
  }
};

ZENITH_FN u32 lowest_bit(u64 word) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return static_cast<u32>(__ffsll(static_cast<long long>(word)) - 1);
#else
  return static_cast<u32>(__builtin_ctzll(word));
#endif
}

/// Where a candidate begins in a row's words. Lanes of a GPU that all begin with the first word meet in few banks of
/// the cache; a CPU takes the row as a register.
ZENITH_FN u32 first_word([[maybe_unused]] u64 candidate) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return static_cast<u32>(candidate) % bitmap_words;
#else
  return 0;
#endif
}

/// The filter by bitmaps; values are compared with the few points that remain. Pairs of a candidate and a tile that
/// masks cannot decide are queued, and then all lanes have one: neighbours need different tiles.
template <class Image>
struct filter_by_bitmaps {
  using request = filter_request<Image>;
  static constexpr u32 group = 16;  // tiles
  static constexpr u32 scratch_bytes = request::tile * 4 + 16 + request::tile * group * 2;
  static constexpr u64 item_cost = u64{1} << 16;

  request of;
  const u64* bitmaps;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * request::tile;
    const u64 n = of.count - first < request::tile ? of.count - first : request::tile;
    u32* const states = team.template scratch<u32>();
    u32* const queued = states + request::tile;
    auto* const queue = reinterpret_cast<std::uint16_t*>(queued + 4);
    team.for_each(n, [&](u64 i) ZENITH_BODY { states[i] = open; });
    team.barrier();
    const u64 end = of.is_itself ? first + n : of.window_count;
    // neighbours in the order have similar masks: many tiles are skipped for all of them at once
    const u64 some = team.reduce(
        n, u64{0}, [&](u64 i) ZENITH_BODY { return of.candidates.masks[first + i]; },
        [](u64 a, u64 b) ZENITH_BODY { return a | b; });
    u64 mask_tests = 0;
    for (u64 at = 0; at < end; at += group * bitmap_tile) {
      u32 wanted = 0;
      for (u32 g = 0; g < group && at + g * bitmap_tile < end; ++g) {
        if ((of.window_masks[at / bitmap_tile + g] & ~some) == 0) wanted |= 1U << g;
      }
      if (wanted == 0) continue;
      team.once([&]() ZENITH_BODY { *queued = 0; });
      team.barrier();
      mask_tests += n * bits_in(wanted);
      team.for_each(n, [&](u64 i) ZENITH_BODY {
        if (of.is_decided(static_cast<u8>(states[i]))) return;
        const u64 mask = of.candidates.masks[first + i];
        const u64 window = of.window_of(first + i);
        for (u32 g = 0; g < group && at + g * bitmap_tile < window; ++g) {
          if (((wanted >> g) & 1) == 0 || (of.window_masks[at / bitmap_tile + g] & ~mask) != 0) continue;
          queue[team.add(queued, 1U)] = static_cast<std::uint16_t>(g << 8 | i);
        }
      });
      team.barrier();
      team.for_each(*queued, [&](u64 p) ZENITH_BODY {
        const u64 i = queue[p] & 255U;
        const u32 before = states[i];
        if (of.is_decided(static_cast<u8>(before))) return;
        const u32 after = test(first + i, at + (queue[p] >> 8) * bitmap_tile, static_cast<u8>(before));
        if (after > before) (void)device::atomic_max(states + i, after);
      });
      team.barrier();
    }
    team.once([&]() ZENITH_BODY { of.counters.masks.add(mask_tests); });
    team.for_each(n, [&](u64 i) ZENITH_BODY { of.write(first + i, static_cast<u8>(states[i])); });
  }

  /// Candidate i against the tile of the window from point `at` on.
  ZENITH_FN u8 test(u64 i, u64 at, u8 state) const {
    const u32 columns = of.candidates.columns;
    const u64* const rows = bitmaps + at / bitmap_tile * bitmap_size(columns);
    const u8* const codes = of.candidates.codes + i * columns;
    const u32 start = first_word(i);
    u64 words[bitmap_words];  // words[w] is word (w + start) % bitmap_words of the tile
    ZENITH_UNROLLED
    for (u32 w = 0; w < bitmap_words; ++w) {
      words[w] = rows[codes[0] * bitmap_words + (w + start) % bitmap_words];
    }
    for (u32 c = 1; c < columns; ++c) {
      const u64* const row = rows + (u64{c} * buckets + codes[c]) * bitmap_words;
      ZENITH_UNROLLED
      for (u32 w = 0; w < bitmap_words; ++w) words[w] &= row[(w + start) % bitmap_words];
    }
    u64 some = 0;
    ZENITH_UNROLLED
    for (const u64 word : words) some |= word;
    if (some == 0) return state;
    const u64 most = of.window_of(i) - at;  // points that count
    u64 tests = 0;
    for (u32 w = 0; w < bitmap_words; ++w) {
      const u64 begin = u64{(w + start) % bitmap_words} * 64;
      if (begin >= most) continue;
      u64 left = words[w];
      if (most - begin < 64) left &= (u64{1} << (most - begin)) - 1;
      for (; left != 0 && !of.is_decided(state); left &= left - 1) {
        const u64 other = at + begin + lowest_bit(left);
        ++tests;
        state = of.after(compare_points(of.window.values + other, of.window.stride, of.candidates.values + i,
                                        of.candidates.stride, columns),
                         state);
      }
    }
    of.counters.dominance.add(tests);
    return state;
  }
};

}  // namespace zenith::skyline_family
