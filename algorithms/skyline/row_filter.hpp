#pragma once

/// \file
/// The filter by bitmaps for hosts: candidates against the tiles of a window. What becomes of a candidate that points
/// may reach is the request's: it is out with the first that dominates it (here), or once there are k of them
/// (dominator_counts.hpp).

#include <algorithms/skyline/bitmap_rows.hpp>
#include <algorithms/skyline/dominance.hpp>
#include <core/device/list.hpp>

namespace zenith::skyline_family {

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

/// A candidate beside a tile's bitmaps.
struct candidate_in_tile {
  const u64* tile_rows;
  const u16* places;  ///< of the candidate
  u32 columns;

  /// The points whose codes are not above the candidate's.
  ZENITH_FN row_bits reaching() const {
    const auto* const rows = reinterpret_cast<const char*>(tile_rows);
    row_bits bits;
    u32 c = 0;
    // without an exit: a branch that is hard to predict costs more than some loads
    for (; c + 4 <= columns; c += 4) {
      bits.and_with(rows + places[c]);
      bits.and_with(rows + places[c + 1]);
      bits.and_with(rows + places[c + 2]);
      bits.and_with(rows + places[c + 3]);
    }
    for (; c < columns; ++c) bits.and_with(rows + places[c]);
    return bits;
  }
  /// Sets the bits of the points whose codes are all below the candidate's: each dominates it. False: there are none.
  ZENITH_FN bool find_certain(u64* words) const {
    const auto* const rows = reinterpret_cast<const char*>(tile_rows);
    const u32 bytes_of_column = row_buckets(columns) * bitmap_bytes;
    row_bits bits;
    for (u32 c = 0; c < columns; ++c) {
      if (places[c] % bytes_of_column == 0) return false;
      bits.and_with(rows + places[c] - bitmap_bytes);
    }
    if (bits.is_zero()) return false;
    bits.store(words);
    return true;
  }
};

/// Those of a word of a tile's bits that are of its first `most` points.
ZENITH_FN u64 first_bits(u64 word, u32 number, u64 most) {
  const u64 begin = u64{number} * 64;
  if (begin >= most) return 0;
  return most - begin < 64 ? word & ((u64{1} << (most - begin)) - 1) : word;
}

/// The state of candidate i after it has met the points of the window from `at` on whose bits are set.
template <class Image>
ZENITH_FN u8 settle(const filter_request<Image>& of, u64 i, u64 at, const candidate_in_tile& in, const u64* words,
                    u8 state) {
  const Image* const own = of.candidates.values + i * in.columns;
  const u64 most = of.window_of(i) - at;  // points that count
  u64 tests = 0;
  for (u32 w = 0; w < bitmap_words; ++w) {
    const u64 begin = u64{w} * 64;
    if (begin >= most) break;
    u64 left = first_bits(words[w], w, most);
    for (; left != 0 && !of.is_decided(state); left &= left - 1) {
      const u64 other = at + begin + lowest_bit(left);
      ++tests;
      state = of.after(compare_rows(of.window.values + other * in.columns, own, in.columns), state);
    }
  }
  of.counters.dominance.add(tests);
  return state;
}

/// The filter. A team takes tile after tile, each for many candidates while it is in the first cache, and asks for
/// several neighbours at once whether their masks can reach it.
template <class Image, class Request = filter_request<Image>>
struct filter_rows {
  using request = Request;
  using state = typename request::state;
  static constexpr u32 tile = 512;  // candidates, at most
  static constexpr u32 least_tile = 64;
  static constexpr u32 neighbours = 16;
  static constexpr u32 runs = tile / neighbours;
  static constexpr u32 states_at = tile * 8 + runs * 8;
  static constexpr u32 queue_at = states_at + tile * sizeof(state);
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
    state* const states = team.template scratch<state>(states_at);
    u32* const queued = team.template scratch<u32>(queue_at);
    auto* const queue = reinterpret_cast<u16*>(queued + 4);
    team.for_each(own, [&](u64 i) ZENITH_BODY {
      states[i] = of.goes_on && i < n ? of.states[first + i] : state{open};
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
        const state now = test(first + i, at, tile_rows, states[i]);
        states[i] = now;
        if (of.is_decided(now)) masks[i] = 0;
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
  ZENITH_FN state test(u64 i, u64 at, const u64* tile_rows, state known) const {
    const u32 columns = of.candidates.columns;
    const candidate_in_tile in{tile_rows, places + i * columns, columns};
    const row_bits bits = in.reaching();
    if (bits.is_zero()) return known;
    u64 words[bitmap_words];
    bits.store(words);
    return settle(of, i, at, in, words, known);
  }
};

template <class Image>
using bitmap_row_kernels = device::list<code_rows<Image>, write_masks<Image>, gather_rows<Image>, filter_rows<Image>>;

}  // namespace zenith::skyline_family
