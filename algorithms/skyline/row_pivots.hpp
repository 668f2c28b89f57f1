#pragma once

/// \file
/// The pivots: rows whose scaled values have small sums, which dominate much.

#include <type_traits>

#include <algorithms/skyline/dominance.hpp>
#include <algorithms/skyline/pivot_screen.hpp>
#include <algorithms/skyline/points.hpp>
#include <algorithms/skyline/row_source.hpp>

namespace zenith::skyline_family {

inline constexpr u32 pivot_count = 64;

/// Where no NaN is; and no pivot.
inline constexpr u64 no_nan = ~u64{0};

struct begin_nan_search {
  u64* nan_at;

  ZENITH_FN void operator()(u64 i) const { nan_at[i] = no_nan; }
};

/// What brings a column's numbers to [0, 1], better ones first: (number - origin) * factor.
struct column_scale {
  float origin;
  float factor;  ///< 0: the column says nothing
};

/// Scales of columns of the table by the range of a sample, so that in a sum of several all count.
template <class T>
struct find_scales {
  static constexpr u64 most_samples = 256;
  static constexpr u64 item_cost = most_samples * 64;
  static constexpr float most = 3e38F;

  row_source<T> from;
  column_scale* to;
  u64 samples = most_samples;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 c) const {
    const u64 n = from.rows < samples ? from.rows : samples;
    const float low = team.reduce(
        n, most,
        [&](u64 i) ZENITH_BODY {
          const float value = sample(c, i * from.rows / n);
          return value > -most ? value : most;
        },
        [](float a, float b) ZENITH_BODY { return b < a ? b : a; });
    const float high = team.reduce(
        n, -most,
        [&](u64 i) ZENITH_BODY {
          const float value = sample(c, i * from.rows / n);
          return value < most ? value : -most;
        },
        [](float a, float b) ZENITH_BODY { return a < b ? b : a; });
    const bool is_used = low < high && ((from.different >> c) & 1) == 0;
    const float factor = is_used ? 1 / (high - low) : 0;
    const bool is_maximised = ((from.maximised >> c) & 1) != 0;
    team.once([&]() ZENITH_BODY { to[c] = is_maximised ? column_scale{high, -factor} : column_scale{low, factor}; });
  }

 private:
  ZENITH_FN float sample(u64 c, u64 row) const { return static_cast<float>(from.column[c][row * from.row_stride]); }
};

/// Pivots: of each stripe of rows, that whose scaled values have the smallest sum. Sums of images, which grow with
/// logarithms of the values, or half of the pivots by the smallest maximum (SkyAlign, section 5.1), leave several times
/// as many rows of the standard points.
template <class T>
struct find_pivots {
  static constexpr u32 listed_at = row_tile * 4 + 16;
  static constexpr u32 scratch_bytes = listed_at + row_tile * 4;
  static constexpr float most = 3e38F;
  static constexpr u32 at_once = 4;  // rows of a lane whose loads are under way at once

  row_source<T> from;
  const column_scale* scales;
  u64 step;            ///< every so many-th row is looked at
  bool goes_by_tiles;  ///< for compilers to vectorise; else a lane adds up a row, without barriers
  bool is_by_fours;    ///< `row_source::is_by_fours`
  u32 parts;           ///< of a stripe, each a team's
  u64* pivots;         ///< the sum, and the row; ~0: the stripe has none. Of several parts they are lowered
  u64 most_of_stripe;  ///< rows of a stripe that are looked at, its first
  const u64* seeds;    ///< nullptr, or what was written for fewer rows of stripes
  u8* removed;         ///< nullptr, or flags, which become 1 for rows that a better one dominates
  u32 stripes = pivot_count;

  /// Where a launch is of some rows of all stripes, one of all rows follows: workers wake meanwhile.
  [[nodiscard]] u64 launch_cost(u64 /*n*/) const { return from.rows / step * from.given_columns * 16; }
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 p = t / parts;
    const u64 all = u64{stripes} * parts;
    const u64 begin = from.rows * t / all;
    const u64 next = from.rows * (t + 1) / all;
    const u64 end = next - begin < most_of_stripe ? next : begin + most_of_stripe;
    float* const sums = team.template scratch<float>();
    u32* const listed = team.template scratch<u32>(listed_at);
    const auto less = [](u64 a, u64 b) ZENITH_BODY { return b < a ? b : a; };
    u64 best = ~u64{0};
    if (!goes_by_tiles) {
      const u64 looked_at = (end - begin + step - 1) / step;
      const u64 apart = (looked_at + at_once - 1) / at_once;
      best = team.reduce(
          apart, ~u64{0}, [&](u64 i) ZENITH_BODY { return best_of(begin, i, apart, looked_at); }, less);
    }
    const bool adds_fours = goes_by_tiles && step == 1 && can_add_fours();
    const bool is_screened = adds_fours && removed != nullptr && pivot_screen<T>::is_there;
    if (is_screened) team.once([&]() ZENITH_BODY { best = screen(begin, end, removed + begin, sums, listed); });
    if (removed != nullptr && !is_screened)
      team.for_each(end - begin, [&](u64 i) ZENITH_BODY { removed[begin + i] = 0; });
    for (u64 first = begin; goes_by_tiles && !is_screened && first < end; first += row_tile * step) {
      const u64 left = (end - first + step - 1) / step;
      const u64 n = left < row_tile ? left : row_tile;
      team.barrier();
      u32 here = ~u32{0};
      if (adds_fours) {
        team.once([&]() ZENITH_BODY { add_fours([&](u64 i) ZENITH_BODY { return first + i; }, n, sums); });
        team.barrier();
        here = image_of(sums[row_tile]);
      } else {
        team.for_each(n, [&](u64 i) ZENITH_BODY { sums[i] = 0; });
        for (u32 c = 0; c < from.given_columns; ++c) {
          const column_scale scale = scales[c];
          if (scale.factor == 0) continue;
          const T* const column = from.column[c] + first * from.row_stride;
          const u64 stride = step * from.row_stride;
          team.barrier();
          team.for_each(n, [&](u64 i) ZENITH_BODY { sums[i] += scaled(column[i * stride], scale); });
        }
        team.barrier();
        here = team.reduce(
            n, ~u32{0}, [&](u64 i) ZENITH_BODY { return image_of(sums[i]); },
            [](u32 a, u32 b) ZENITH_BODY { return b < a ? b : a; });
      }
      // hardly any tile has the best row so far: which one it is, is asked then
      if (here >= static_cast<u32>(best >> 32)) continue;
      best = team.reduce(
          n, ~u64{0}, [&](u64 i) ZENITH_BODY { return key(sums[i], first + i * step); }, less);
    }
    team.once([&]() ZENITH_BODY {
      if (parts == 1) {
        pivots[p] = best;
      } else {
        (void)device::atomic_min(pivots + p, best);
      }
    });
  }

 private:
  /// The least key of rows i, i + apart, … of so many that are looked at, or the last one again.
  ZENITH_FN u64 best_of(u64 begin, u64 i, u64 apart, u64 looked_at) const {
    u64 row[at_once];
    float sum[at_once];
    ZENITH_UNROLLED
    for (u32 r = 0; r < at_once; ++r) {
      const u64 number = i + r * apart;
      row[r] = begin + (number < looked_at ? number : looked_at - 1) * step;
      sum[r] = 0;
    }
    for (u32 c = 0; c < from.given_columns; c += 4) {
      T four[at_once][4];
      ZENITH_UNROLLED
      for (u32 r = 0; r < at_once; ++r) from.given_four_at(row[r], c, is_by_fours, four[r]);
      ZENITH_UNROLLED
      for (u32 k = 0; k < 4; ++k) {
        if (c + k >= from.given_columns) continue;
        const column_scale by = scales[c + k];
        ZENITH_UNROLLED
        for (u32 r = 0; r < at_once; ++r) sum[r] += scaled(four[r][k], by);
      }
    }
    u64 least = ~u64{0};
    ZENITH_UNROLLED
    for (u32 r = 0; r < at_once; ++r) {
      const u64 own = key(sum[r], row[r]);
      least = own < least ? own : least;
    }
    return least;
  }
  /// Whether `add_fours` does what loops over columns would do, and faster.
  ZENITH_FN bool can_add_fours() const {
    if (!row_source<T>::takes_fours || !is_by_fours) return false;
    bool are_used = true;
    for (u32 c = 0; c < from.given_columns; ++c) are_used = are_used && scales[c].factor != 0;
    return are_used;
  }
  /// The best row of [begin, end) but for those that the best one known dominates, whose sums are no smaller: they are
  /// marked, and not added up. Rows that are left are read again, each from elsewhere, which takes as long as some 30
  /// side by side: where it leaves more, that is not asked until there is a better one.
  ZENITH_FN u64 screen(u64 begin, u64 end, u8* marks, float* sums, u32* listed) const {
    pivot_screen<T> by(from);
    u64 best = ~u64{0};
    u64 of_screen = ~u64{0};
    for (u32 p = 0; p < stripes && seeds != nullptr; ++p) of_screen = seeds[p] < of_screen ? seeds[p] : of_screen;
    u64 looked_at = 0;
    u64 left = 0;
    bool goes_on = of_screen != ~u64{0};
    if (goes_on) by.take_row(of_screen & ~u32{0});
    for (u64 first = begin; first < end; first += row_tile) {
      const auto n = static_cast<u32>(end - first < row_tile ? end - first : row_tile);
      const auto at = static_cast<u32>(first - begin);
      const bool is_listed = goes_on;
      u32 count = n;
      if (is_listed) {
        const bool hardly_any = left * 256 <= looked_at;
        count = hardly_any ? by.template list<true>(begin, at, n, marks, listed)
                           : by.template list<false>(begin, at, n, marks, listed);
        looked_at += n;
        left += count;
        goes_on = left <= looked_at / 32 + 8;
        add_fours([&](u64 i) ZENITH_BODY { return begin + listed[i]; }, count, sums);
      } else {
        __builtin_memset(marks + at, 0, n);
        add_fours([&](u64 i) ZENITH_BODY { return first + i; }, n, sums);
      }
      if (image_of(sums[row_tile]) >= static_cast<u32>(best >> 32)) continue;
      for (u32 i = 0; i < count; ++i) {
        const u64 own = key(sums[i], is_listed ? begin + listed[i] : first + i);
        best = own < best ? own : best;
      }
      if (best >= of_screen) continue;
      of_screen = best;
      looked_at = left = 0;
      by.take_row(best & ~u32{0});
      goes_on = true;
    }
    return best;
  }
  /// The sums of the rows row(0) … row(n - 1), and behind a tile's the least of them. Four rows at a time: their values
  /// are added up beside each other, and then those of a row, so that no column is put together.
  template <class Row>
  ZENITH_FN void add_fours([[maybe_unused]] const Row& row, [[maybe_unused]] u64 n,
                           [[maybe_unused]] float* sums) const {
#if !defined(ZENITH_SKYLINE_PLAIN_LANES) && !defined(__CUDACC__)
    if constexpr (row_source<T>::takes_fours) {
      typedef T four_values __attribute__((vector_size(16)));
      typedef float four __attribute__((vector_size(16)));
      four origin[most_given_columns / 4];
      four factor[most_given_columns / 4];
      for (u32 c = 0; c < from.given_columns; ++c) {
        origin[c / 4][c % 4] = scales[c].origin;
        factor[c / 4][c % 4] = scales[c].factor;
      }
      const u32 fours = from.given_columns / 4;
      const four none = four{} + most;
      four least = none;
      for (u64 i = 0; i < n; i += 4) {
        four sum[4] = {};
        const T* at[4];
        // the last again where there are no more
        for (u32 r = 0; r < 4; ++r) at[r] = from.column[0] + row(i + r < n ? i + r : n - 1) * from.row_stride;
        for (u32 k = 0; k < fours; ++k) {
          for (u32 r = 0; r < 4; ++r) {
            four_values values;
            __builtin_memcpy(&values, at[r] + 4 * k, sizeof(values));
            sum[r] += (__builtin_convertvector(values, four) - origin[k]) * factor[k];
          }
        }
        const four low =
            __builtin_shufflevector(sum[0], sum[1], 0, 4, 1, 5) + __builtin_shufflevector(sum[0], sum[1], 2, 6, 3, 7);
        const four high =
            __builtin_shufflevector(sum[2], sum[3], 0, 4, 1, 5) + __builtin_shufflevector(sum[2], sum[3], 2, 6, 3, 7);
        const four all =
            __builtin_shufflevector(low, high, 0, 1, 4, 5) + __builtin_shufflevector(low, high, 2, 3, 6, 7);
        __builtin_memcpy(sums + i, &all, sizeof(all));
        least = all < least ? all : least;
      }
      float lowest = most;
      for (u32 k = 0; k < 4; ++k) lowest = least[k] < lowest ? least[k] : lowest;
      sums[row_tile] = lowest;
    }
#endif
  }
  ZENITH_FN static float scaled(T value, const column_scale& by) {
    return (static_cast<float>(value) - by.origin) * by.factor;
  }
  ZENITH_FN static u32 image_of(float sum) {
    const ordered::key_order<float> order{true, false};
    return sum < 1e30F ? static_cast<u32>(~order.image(sum)) : ~u32{0};  // nor NaN
  }
  ZENITH_FN static u64 key(float sum, u64 row) {
    const u32 image = image_of(sum);
    return image == ~u32{0} ? ~u64{0} : u64{image} << 32 | row;
  }
};

/// Rows of pivots: they are the low halves of words by which those are ordered (`find_pivots`).
struct name_pivots {
  const u64* pivots;
  u32* rows;

  ZENITH_FN void operator()(u64 i) const { rows[i] = static_cast<u32>(pivots[i]); }
};

/// The pivots' rows by rising sums.
struct rank_pivots {
  static constexpr u64 item_cost = pivot_count * 8;

  const u64* pivots;
  u32* to;  ///< ~0: none
  u32 count = pivot_count;

  ZENITH_FN void operator()(u64 i) const {
    u32 rank = 0;
    for (u64 other = 0; other < count; ++other) {
      rank += pivots[other] < pivots[i] || (pivots[other] == pivots[i] && other < i) ? 1U : 0U;
    }
    to[rank] = static_cast<u32>(pivots[i]);
  }
};

/// Values of the pivots, row by row. Where there is none, the worst point, which dominates nothing.
template <class T>
struct gather_row_pivots {
  row_source<T> from;
  const u32* pivots;
  bool drops_nan;
  typename row_source<T>::image* to;

  ZENITH_FN void operator()(u64 i) const {
    using image = typename row_source<T>::image;
    const u32 row = pivots[i / from.columns];
    bool is_used = row != u32(~u32{0});
    for (u32 c = 0; c < from.given_columns && is_used && drops_nan; ++c) {
      const T value = from.column[c][row * from.row_stride];
      is_used = value == value;
    }
    to[i] = is_used ? from.at(row, static_cast<u32>(i % from.columns)) : static_cast<image>(~image{0});
  }
};

}  // namespace zenith::skyline_family
