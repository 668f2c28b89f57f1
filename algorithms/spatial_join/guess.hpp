#pragma once

/// \file
/// Guesses: how many pairs there are, and the score that about so many of them reach.

#include <cmath>

#include <algorithms/spatial_join/grid.hpp>
#include <algorithms/spatial_join/nearest_places.hpp>
#include <algorithms/spatial_join/pair_score.hpp>

namespace zenith::spatial_join_family {

/// Rows whose scores are looked at: of the best hundredth, which says most, there must be some. Their places are
/// compared with each other, so fewer do.
inline constexpr u32 most_score_samples = 1024;

/// Of both sides: values of rows that are drawn evenly, as images, and their coordinates. The left side's images come
/// first.
template <class T, unsigned D>
struct draw_samples {
  static constexpr u64 item_cost = 1024;  // a row lies anywhere

  point_columns<T, D> left;
  point_columns<T, D> right;
  u32 left_count;
  u32 right_count;
  bool smallest;
  ordered::bits_t<T>* images;
  u32* unused;
  u32* begins;  ///< of the sides in `images`, and the end
  T* left_at;   ///< coordinate a of sample i at left_at[a * most_place_samples + i]
  T* right_at;

  ZENITH_FN void operator()(u64 i) const {
    unused[i] = 0;
    if (i == 0) {
      begins[0] = 0;
      begins[1] = left_count;
      begins[2] = left_count + right_count;
    }
    if (i < left_count) {
      images[i] = draw(left, i, left_at);
    } else {
      images[i] = draw(right, i - left_count, right_at);
    }
  }

 private:
  ZENITH_FN ordered::bits_t<T> draw(const point_columns<T, D>& from, u64 i, T* at) const {
    const u64 row = sampled_row(i, from.rows);
    if (i < most_place_samples) {
      for (unsigned a = 0; a < D; ++a) at[a * most_place_samples + i] = from.at[a][row];
    }
    return ordered::key_order<T>{smallest, false}.image(from.value(row));
  }
};

/// Counts pairs of samples that are near each other: of item i one left sample and a part of the right ones.
template <class T, unsigned D>
struct count_near_samples {
  static constexpr u32 part = 32;
  static constexpr u32 parts = most_place_samples / part;
  static constexpr u64 item_cost = part * 8;

  const T* left;
  const T* right;
  u32 right_count;
  T squared;
  u32* to;

  ZENITH_FN void operator()(u64 i) const {
    cell_grid<T, D> grid{};
    grid.squared = squared;
    T a[D];
    for (unsigned c = 0; c < D; ++c) a[c] = left[c * most_place_samples + i / parts];
    const u32 begin = static_cast<u32>(i % parts) * part;
    const u32 end = begin + part < right_count ? begin + part : right_count;
    u32 found = 0;
    for (u32 j = begin; j < end; ++j) {
      T b[D];
      for (unsigned c = 0; c < D; ++c) b[c] = right[c * most_place_samples + j];
      found += grid.is_near(a, b) ? 1 : 0;
    }
    if (found > 0) (void)device::atomic_add(to, found);
  }
};

/// The square of how far it is from a left sample to the nearest right one in another place.
template <class T, unsigned D>
struct find_nearest_samples {
  static constexpr u64 item_cost = most_place_samples;

  const T* left;
  const T* right;
  u32 right_count;
  T* to;

  ZENITH_FN void operator()(u64 i) const {
    T a[D];
    for (unsigned c = 0; c < D; ++c) a[c] = left[c * most_place_samples + i];
    to[i] = nearest_place<T, D>(a, right, right_count);
  }
};

/// Pairs of samples of which the `wanted` best are those of all pairs of samples: where both are sorted, a pair is
/// reached by as many others as its ranks' product, and so the product of no such pair's is above `wanted`. A team
/// takes the pairs of one left sample. Of many pairs wanted, every `step`-th sample stands for its neighbours.
template <class T>
struct list_best_pairs {
  using entry = ordered::entry_t<ordered::bits_t<T>>;
  static constexpr u32 most_wanted = 512;
  static constexpr u64 item_cost = 64;

  const ordered::bits_t<T>* left;  ///< rising
  const ordered::bits_t<T>* right;
  u32 left_count;
  u32 right_count;
  u32 step;
  u32 wanted;
  pair_scorer<T> scorer;
  device::appender<entry> to;

  /// How many samples of a side there are for pairs.
  [[nodiscard]] ZENITH_FN u32 ranks(u32 count) const { return (count + step - 1) / step; }
  /// Looks at so few samples that no more than `most_wanted` of their pairs stand for so many.
  ZENITH_FN void want(double pairs) {
    step = 1;
    while (std::ceil(pairs / (double{1} * step * step)) > most_wanted) ++step;
    wanted = static_cast<u32>(std::ceil(pairs / (double{1} * step * step)));
  }
  /// How many of the best left samples have pairs.
  [[nodiscard]] ZENITH_FN u32 lefts() const { return ranks(left_count) < wanted ? ranks(left_count) : wanted; }
  /// Pairs of the i-th best left sample, from 0.
  [[nodiscard]] ZENITH_FN u32 partners(u64 i) const {
    const u32 most = wanted / (static_cast<u32>(i) + 1);
    const u32 all = ranks(right_count);
    return most < all ? most : all;
  }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    const u32 count = partners(i);
    const auto pair = [&](u64 j)
                          ZENITH_BODY { return entry::make(image_of(i, j), static_cast<u32>(i * most_wanted + j)); };
    if constexpr (Team::is_one_lane) {
      // an atomic operation takes longer than a pair
      const u32 first = device::atomic_add(to.count, count);
      for (u32 j = 0; j < count && first + j < to.capacity; ++j) to.items[first + j] = pair(j);
    } else {
      team.for_each(count, [&](u64 j) ZENITH_BODY { to.append(pair(j)); });
    }
  }
  /// Of the i-th best left and the j-th best right sample.
  [[nodiscard]] ZENITH_FN ordered::bits_t<T> image_of(u64 i, u64 j) const {
    const ordered::key_order<T> order{scorer.smallest, false};
    return scorer.image_of(order.key(ranked(left, left_count, i)), order.key(ranked(right, right_count, j)));
  }

 private:
  ZENITH_FN ordered::bits_t<T> ranked(const ordered::bits_t<T>* from, u32 count, u64 rank) const {
    const u64 middle = rank * step + step / 2;
    return from[count - 1 - (middle < count ? middle : count - 1)];
  }
};

}  // namespace zenith::spatial_join_family
