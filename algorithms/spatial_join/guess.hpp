#pragma once

/// \file
/// Guesses: how many pairs there are, and the score that about so many of them reach.

#include <algorithms/spatial_join/grid.hpp>
#include <algorithms/spatial_join/pair_score.hpp>

namespace zenith::spatial_join_family {

/// Rows whose scores are looked at: of the best hundredth, which says most, there must be some. Their places are
/// compared with each other, so fewer do.
inline constexpr u32 most_score_samples = 1024;
inline constexpr u32 most_place_samples = 512;

ZENITH_FN u64 sampled_row(u64 i, u64 rows) {
  u64 x = (i + 1) * 0x9e3779b97f4a7c15ULL;
  x ^= x >> 32;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 29;
  return x % rows;
}

/// Values of rows that are drawn evenly, as images, and their coordinates.
template <class T, unsigned D>
struct draw_samples {
  static constexpr u64 item_cost = 256;

  point_columns<T, D> from;
  bool smallest;
  ordered::bits_t<T>* images;
  u32* unused;
  T* at;  ///< coordinate a of sample i at at[a * most_place_samples + i]

  ZENITH_FN void operator()(u64 i) const {
    const u64 row = sampled_row(i, from.rows);
    images[i] = ordered::key_order<T>{smallest, false}.image(from.value(row));
    unused[i] = static_cast<u32>(i);
    if (i >= most_place_samples) return;
    for (unsigned a = 0; a < D; ++a) at[a * most_place_samples + i] = from.at[a][row];
  }
};

/// How many of the right side's samples are near one of the left side's.
template <class T, unsigned D>
struct count_near_samples {
  static constexpr u64 item_cost = most_place_samples * 8;

  const T* left;
  const T* right;
  u32 right_count;
  T squared;
  u32* to;

  ZENITH_FN void operator()(u64 i) const {
    cell_grid<T, D> grid{};
    grid.squared = squared;
    T a[D];
    for (unsigned c = 0; c < D; ++c) a[c] = left[c * most_place_samples + i];
    u32 found = 0;
    for (u32 j = 0; j < right_count; ++j) {
      T b[D];
      for (unsigned c = 0; c < D; ++c) b[c] = right[c * most_place_samples + j];
      found += grid.is_near(a, b) ? 1 : 0;
    }
    to[i] = found;
  }
};

/// The highest image, or one near it, that at least `wanted` pairs of samples reach.
template <class T>
struct guess_bound {
  using image = ordered::bits_t<T>;
  static constexpr u32 together = 16;
  static constexpr u64 item_cost = u64{1} << 20;

  const image* left;  ///< rising
  const image* right;
  u32 left_count;
  u32 right_count;
  pair_scorer<T> scorer;
  u64 wanted;
  image best;  ///< of any pair
  image* to;

  /// Pairs of some consecutive left samples that reach an image. The better a left sample is, the more right ones do
  /// with it: so where these begin is searched for once, and then moves down.
  ZENITH_FN u64 reaching(u64 part, image least) const {
    const ordered::key_order<T> order{scorer.smallest, false};
    const u64 begin = part * together;
    const u64 end = begin + together < left_count ? begin + together : left_count;
    const T worst = order.key(left[begin]);
    u32 low = 0;
    u32 high = right_count;
    while (low < high) {
      const u32 middle = (low + high) / 2;
      if (scorer.image_of(worst, order.key(right[middle])) < least) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    u64 found = right_count - low;
    for (u64 i = begin + 1; i < end; ++i) {
      const T value = order.key(left[i]);
      while (low > 0 && scorer.image_of(value, order.key(right[low - 1])) >= least) --low;
      found += right_count - low;
    }
    return found;
  }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 /*t*/) const {
    image low = 0;
    image high = best;
    while (low < high) {
      const image middle = static_cast<image>(high - (high - low) / 2);  // above low
      const u64 found = team.reduce((left_count + together - 1) / together, u64{0},
                                    [&](u64 part) ZENITH_BODY { return reaching(part, middle); },
                                    [](u64 a, u64 b) ZENITH_BODY { return a + b; });
      if (found >= wanted) {
        low = middle;
        if (found <= wanted + wanted / 2) break;
      } else {
        high = static_cast<image>(middle - 1);
      }
    }
    team.once([&]() ZENITH_BODY { *to = low; });
  }
};

}  // namespace zenith::spatial_join_family
