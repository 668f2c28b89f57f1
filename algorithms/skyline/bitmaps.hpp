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

/// Words of the bitmaps of a tile whose rows have `words`.
[[nodiscard]] ZENITH_FN u64 bitmap_size(u32 columns, u32 words = bitmap_words) {
  return u64{columns} * buckets_of(columns) * words;
}

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
    const u32 buckets = buckets_of(columns);
    u64 rows[most_buckets];
    for (u32 k = 0; k < buckets; ++k) rows[k] = 0;
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

/// A row of a column's bitmaps, and the AND of several.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(ZENITH_SIMT_EMULATION)
class bitmap_row {
 public:
  ZENITH_FN explicit bitmap_row(const u64* row) {
    for (u32 w = 0; w < bitmap_words; ++w) words_[w] = row[w];
  }
  ZENITH_FN void and_with(const u64* row) {
    for (u32 w = 0; w < bitmap_words; ++w) words_[w] &= row[w];
  }
  ZENITH_FN bool is_zero() const {
    u64 some = 0;
    for (const u64 word : words_) some |= word;
    return some == 0;
  }
  ZENITH_FN u64 word(u32 w) const { return words_[w]; }

 private:
  u64 words_[bitmap_words];
};
#else
/// In vector registers.
class bitmap_row {
 public:
  ZENITH_FN explicit bitmap_row(const u64* row) {
    __builtin_memcpy(&low_, row, sizeof(half));
    __builtin_memcpy(&high_, row + bitmap_words / 2, sizeof(half));
  }
  ZENITH_FN void and_with(const u64* row) {
    half low;
    half high;
    __builtin_memcpy(&low, row, sizeof(half));
    __builtin_memcpy(&high, row + bitmap_words / 2, sizeof(half));
    low_ &= low;
    high_ &= high;
  }
  ZENITH_FN bool is_zero() const {
    const half some = low_ | high_;
    return ((some[0] | some[1]) | (some[2] | some[3])) == 0;
  }
  ZENITH_FN u64 word(u32 w) const { return w < bitmap_words / 2 ? low_[w] : high_[w - bitmap_words / 2]; }

 private:
  using half = u64 __attribute__((vector_size(32)));
  half low_;
  half high_;
};
#endif

/// The filter by bitmaps for hosts; values are compared with the few points that remain. A team takes tile after tile,
/// each for many candidates while it is in fast memory, and asks for several neighbours at once whether their masks can
/// reach it.
template <class Image>
struct filter_by_bitmaps {
  using request = filter_request<Image>;
  static constexpr u32 tile = 512;  // candidates
  static constexpr u32 neighbours = 16;
  static constexpr u32 runs = tile / neighbours;
  static constexpr u32 scratch_bytes = runs * 8 + 16 + tile * 4 + tile * 2;
  static constexpr u64 item_cost = u64{512} * tile;

  request of;
  const u64* bitmaps;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * tile;
    const u64 n = of.count - first < tile ? of.count - first : tile;
    u64* const reached = team.template scratch<u64>();
    u32* const queued = team.template scratch<u32>(runs * 8);
    u32* const states = queued + 4;
    auto* const queue = reinterpret_cast<std::uint16_t*>(states + tile);
    team.for_each(n, [&](u64 i) ZENITH_BODY { states[i] = open; });
    team.for_each((n + neighbours - 1) / neighbours, [&](u64 r) ZENITH_BODY {
      u64 mask = 0;
      for (u64 i = r * neighbours; i < n && i < (r + 1) * neighbours; ++i) mask |= of.candidates.masks[first + i];
      reached[r] = mask;
    });
    team.barrier();
    // neighbours in the order have similar masks: many tiles are skipped for all of them at once
    const u64 some =
        team.reduce((n + neighbours - 1) / neighbours, u64{0}, [&](u64 r) ZENITH_BODY { return reached[r]; },
                    [](u64 a, u64 b) ZENITH_BODY { return a | b; });
    const u64 end = of.window_of(first + n);
    u64 mask_tests = 0;
    for (u64 at = 0; at < end; at += bitmap_tile) {
      const u64 needed = of.window_masks[at / bitmap_tile];
      if ((needed & ~some) != 0) continue;
      team.once([&]() ZENITH_BODY { *queued = 0; });
      team.barrier();
      mask_tests += n;
      team.for_each((n + neighbours - 1) / neighbours, [&](u64 r) ZENITH_BODY {
        if ((needed & ~reached[r]) != 0) return;
        for (u64 i = r * neighbours; i < n && i < (r + 1) * neighbours; ++i) {
          if (of.is_decided(static_cast<u8>(states[i])) || at >= of.window_of(first + i)) continue;
          if ((needed & ~of.candidates.masks[first + i]) != 0) continue;
          queue[team.add(queued, 1U)] = static_cast<std::uint16_t>(i);
        }
      });
      team.barrier();
      team.for_each(*queued, [&](u64 p) ZENITH_BODY {
        const u64 i = queue[p];
        states[i] = test(first + i, at, static_cast<u8>(states[i]));
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
    bitmap_row words(rows + codes[0] * bitmap_words);
    const u32 buckets = buckets_of(columns);
    for (u32 c = 1; c < columns; ++c) words.and_with(rows + (u64{c} * buckets + codes[c]) * bitmap_words);
    if (words.is_zero()) return state;
    const u64 most = of.window_of(i) - at;  // points that count
    u64 tests = 0;
    for (u32 w = 0; w < bitmap_words; ++w) {
      const u64 begin = u64{w} * 64;
      if (begin >= most) continue;
      u64 left = words.word(w);
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
