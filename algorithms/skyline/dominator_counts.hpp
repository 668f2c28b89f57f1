#pragma once

/// \file
/// Dominators counted by bitmaps: points whose codes are all below a candidate's dominate it, so that bits are counted.
/// Values are compared only with those that have a code in common with it.

#include <type_traits>

#include <algorithms/skyline/row_filter.hpp>
#include <core/device/bits.hpp>

#if defined(__AVX512F__) && !defined(ZENITH_SKYLINE_PLAIN_LANES)
#define ZENITH_SKYLINE_WIDE_REACH
#endif

namespace zenith::skyline_family {

/// Candidates whose dominators in a window are counted, up to `most`. No two points are equal, and both are in an order
/// in which no point is dominated by one behind it. A point may stand for several equal rows.
template <class Image>
struct count_request {
  using state = u32;

  point_set<Image> candidates;
  u64 count = 0;
  point_set<Image> window;
  u64 window_count = 0;
  bool is_itself = false;             ///< the candidates are the window: each is compared with those before it
  bool goes_on = false;               ///< some dominators are counted already
  const u64* window_masks = nullptr;  ///< of its tiles
  u32* states = nullptr;              ///< counts of the candidates
  u32 most = 1;                       ///< a candidate with so many is out
  const u32* weights = nullptr;       ///< how many rows a point of the window stands for; nullptr: each for one
  const u64* heavy = nullptr;         ///< a bit a point of the window: it stands for several
  test_counters counters;

  /// How much of the window candidate i is compared with.
  ZENITH_FN u64 window_of(u64 i) const { return is_itself ? i : window_count; }
  ZENITH_FN bool is_decided(u32 counted) const { return counted >= most; }
  ZENITH_FN void write(u64 i, u32 counted) const { states[i] = counted; }
  ZENITH_FN u32 weight_of(u64 point) const { return weights == nullptr ? 1 : weights[point]; }

  struct has_few {
    const u32* counts;
    u32 most;

    ZENITH_FN bool operator()(u64 i) const { return counts[i] < most; }
  };
  /// Candidates with fewer dominators.
  [[nodiscard]] has_few survivors() const { return {states, most}; }
  /// The window begins with so many fewer points: a multiple of 64.
  void skip_window(u64 points) {
    if (weights == nullptr) return;
    weights += points;
    heavy += points / 64;
  }
};

/// A candidate's values, a register of them at once: whether a point reaches it, without a branch that is hard to
/// predict.
template <class Image>
class reach_test {
 public:
  ZENITH_FN reach_test(const Image* own, u32 columns) : own_(own), columns_(columns) {
#if defined(ZENITH_SKYLINE_WIDE_REACH)
    first_mask_ = lanes_of(columns);
    first_ = load(first_mask_, own);
#endif
  }
  ZENITH_FN bool operator()(const Image* other) const {
#if defined(ZENITH_SKYLINE_WIDE_REACH)
    bool is_larger = has_larger(first_mask_, load(first_mask_, other), first_);
    for (u32 c = lanes; c < columns_ && !is_larger; c += lanes) {
      const mask some = lanes_of(columns_ - c);
      is_larger = has_larger(some, load(some, other + c), load(some, own_ + c));
    }
    return !is_larger;
#else
    return compare_rows(other, own_, columns_) != relation::none;
#endif
  }

 private:
#if defined(ZENITH_SKYLINE_WIDE_REACH)
  using mask = std::conditional_t<sizeof(Image) == 4, __mmask16, __mmask8>;
  static constexpr u32 lanes = 64 / sizeof(Image);

  ZENITH_FN static mask lanes_of(u32 columns) {
    return static_cast<mask>(columns >= lanes ? ~u32{0} : (1U << columns) - 1);
  }
  ZENITH_FN static __m512i load(mask some, const Image* from) {
    if constexpr (sizeof(Image) == 4) {
      return _mm512_maskz_loadu_epi32(some, from);
    } else {
      return _mm512_maskz_loadu_epi64(some, from);
    }
  }
  ZENITH_FN static bool has_larger(mask some, __m512i a, __m512i b) {
    if constexpr (sizeof(Image) == 4) {
      return _mm512_mask_cmpgt_epu32_mask(some, a, b) != 0;
    } else {
      return _mm512_mask_cmpgt_epu64_mask(some, a, b) != 0;
    }
  }

  __m512i first_;
  mask first_mask_;
#endif
  const Image* own_;
  u32 columns_;
};

/// So few bits are compared by values at once: to read a tile's rows again takes longer.
inline constexpr u32 few_reaching = 4;

/// The count of candidate i after it has met the points of the window from `at` on whose bits are set. It is not more
/// than there are rows, which are less than 2^32.
template <class Image>
ZENITH_FN u32 settle(const count_request<Image>& of, u64 i, u64 at, const candidate_in_tile& in, const u64* words,
                     u32 counted) {
  const u64 most = of.window_of(i) - at;  // points that count
  u64 left[bitmap_words];
  u32 reaching = 0;
  for (u32 w = 0; w < bitmap_words; ++w) {
    left[w] = first_bits(words[w], w, most);
    reaching += device::bits_of(left[w]);
  }
  if (reaching == 0) return counted;
  u64 certain[bitmap_words];
  if (reaching > few_reaching && in.find_certain(certain)) {
    for (u32 w = 0; w < bitmap_words; ++w) {
      u64 found = left[w] & certain[w];
      left[w] ^= found;
      if (of.heavy != nullptr) {
        const u64 many = found & of.heavy[at / 64 + w];
        found ^= many;
        for (u64 rest = many; rest != 0; rest &= rest - 1) {
          counted += of.weights[at + u64{w} * 64 + lowest_bit(rest)];
        }
      }
      counted += device::bits_of(found);
    }
  }
  const reach_test<Image> is_reached_by(of.candidates.values + i * in.columns, in.columns);
  u64 tests = 0;
  for (u32 w = 0; w < bitmap_words && !of.is_decided(counted); ++w) {
    for (u64 rest = left[w]; rest != 0; rest &= rest - 1) {
      const u64 other = at + u64{w} * 64 + lowest_bit(rest);
      ++tests;
      const bool is_reached = is_reached_by(of.window.values + other * in.columns);
      counted += is_reached ? of.weight_of(other) : 0;
    }
  }
  of.counters.dominance.add(tests);
  return counted;
}

/// Which points stand for several rows: an item is a word.
struct mark_heavy {
  static constexpr u64 item_cost = 256;

  const u32* weights;
  u64 count;  ///< of all points
  u64 first;  ///< word
  u64* heavy;

  ZENITH_FN void operator()(u64 i) const {
    const u64 begin = (first + i) * 64;
    const u64 n = count - begin < 64 ? count - begin : 64;
    u64 word = 0;
    for (u64 k = 0; k < n; ++k) word |= u64{weights[begin + k] > 1 ? 1U : 0U} << k;
    heavy[first + i] = word;
  }
};

/// Counts of points picked[0], picked[1], …, and what they stand for.
struct gather_counted {
  const u32* picked;
  const u32* counts;
  const u32* weights;  ///< nullptr: each for one row
  u32* to_counts;
  u32* to_weights;

  ZENITH_FN void operator()(u64 i) const {
    to_counts[i] = counts[picked[i]];
    if (weights != nullptr) to_weights[i] = weights[picked[i]];
  }
};

/// Points of the band picked[0], picked[1], …: their rows are marked, with their counts.
struct confirm_band {
  const u32* picked;
  const u32* rows;  ///< of the points that are picked
  const u32* counts;
  const u32* weights;  ///< nullptr: each stands for one row
  u8* members;
  u32* dominated_by;  ///< by row
  u32* to_weights;

  ZENITH_FN void operator()(u64 i) const {
    members[rows[i]] = marked;
    dominated_by[rows[i]] = counts[picked[i]];
    if (weights != nullptr) to_weights[i] = weights[picked[i]];
  }
};

}  // namespace zenith::skyline_family
