#pragma once

/// \file
/// The caller's table becomes images. Then the prefilter: a few rows that dominate much are compared with all.

#include <type_traits>

#include <algorithms/skyline/dominance.hpp>
#include <algorithms/skyline/points.hpp>
#include <algorithms/skyline/row_source.hpp>
#include <core/key_order.hpp>

namespace zenith::skyline_family {

inline constexpr u64 no_nan = ~u64{0};

/// A tile of rows to images: column by column, so that loops run along columns and rows stay in the fastest memory.
///
/// A column whose values must be equal becomes two, an image and its complement: not worse in both is equal. So no
/// strategy knows of such columns.
template <class T>
struct write_images {
  using image = ordered::bits_t<T>;
  static constexpr u32 tile = 1024;

  const T* column[most_given_columns];
  u64 row_stride;
  u64 rows;
  u32 columns;
  u32 maximised;  ///< a bit a column
  u32 different;  ///< a bit a column
  bool drops_nan;
  image* to;
  u64* nan_at;  ///< the lowest row * 32 + column with a NaN
  u8* removed;

  [[nodiscard]] u64 launch_cost(u64 /*n*/) const { return rows * columns * 16; }
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * tile;
    const u64 n = rows - first < tile ? rows - first : tile;
    image* out = to + first;
    for (u32 c = 0; c < columns; ++c) {
      // the best image of an order is its largest, here the smallest
      const ordered::key_order<T> order{((maximised >> c) & 1) == 0, false};
      const T* const in = column[c] + first * row_stride;
      image* const images = out;
      if (row_stride == 1) {
        team.for_each(n, [&](u64 i) ZENITH_BODY { images[i] = static_cast<image>(~order.image(in[i])); });
      } else {
        const u64 stride = row_stride;
        team.for_each(n, [&](u64 i) ZENITH_BODY { images[i] = static_cast<image>(~order.image(in[i * stride])); });
      }
      if constexpr (std::is_floating_point_v<T>) {
        team.barrier();
        constexpr image of_nan = static_cast<image>(~image{0});
        if (team.any(n, [&](u64 i) ZENITH_BODY { return images[i] == of_nan; })) {
          team.for_each(n, [&](u64 i) ZENITH_BODY {
            if (images[i] != of_nan) return;
            (void)device::atomic_min(nan_at, (first + i) * most_given_columns + c);
            if (drops_nan) removed[first + i] = 1;
          });
          team.barrier();
        }
      }
      out += rows;
      if (((different >> c) & 1) != 0) {
        team.barrier();
        image* const complements = out;
        team.for_each(n, [&](u64 i) ZENITH_BODY { complements[i] = static_cast<image>(~images[i]); });
        out += rows;
      }
    }
  }
};

struct begin_nan_search {
  u64* nan_at;

  ZENITH_FN void operator()(u64 i) const { nan_at[i] = no_nan; }
};

inline constexpr u32 pivot_count = 64;

/// Values of the pivots in columns of `pivot_count`. Where there is none, the worst point, which dominates nothing.
template <class Image>
struct gather_pivots {
  const Image* images;
  u64 rows;
  u32 columns;
  const u8* removed;
  const u32* pivots;
  Image* to;

  ZENITH_FN void operator()(u64 i) const {
    const u64 row = pivots[i % pivot_count];
    const u64 c = i / pivot_count;
    to[i] = row == u32(~u32{0}) || removed[row] != 0 ? static_cast<Image>(~Image{0})
            : c < columns                            ? images[c * rows + row]
                                                     : Image{0};
  }
};

/// Removes the rows that a pivot dominates.
template <class Image, unsigned Columns>
struct test_pivots {
  static constexpr u64 item_cost = Columns * 32;
  static constexpr u32 at_once = 16;

  const Image* images;
  u64 rows;
  u32 columns;
  const Image* pivots;
  u8* removed;

  ZENITH_FN void operator()(u64 i) const {
    if (removed[i] != 0) return;
    Image point[Columns];
    ZENITH_UNROLLED
    for (u32 c = 0; c < Columns; ++c) point[c] = c < columns ? images[c * rows + i] : Image{0};
    // what is dominated is mostly so by one of the first; hardly any row equals a pivot
    for (u32 first = 0; first < pivot_count; first += at_once) {
      if (any_of_reaches<at_once>(pivots + first, pivot_count, point) &&
          any_dominates<at_once>(pivots + first, pivot_count, point)) {
        removed[i] = 1;
        return;
      }
    }
  }
};

/// What `salsa` orders points by, and stops at: the least value of each, and the smallest of their largest values.
template <class Image>
struct write_least_values {
  static constexpr u64 item_cost = 64;

  const Image* images;
  u64 row_stride;
  u32 columns;
  const u32* left;
  u64* least;
  u64* stop;  ///< lowered

  ZENITH_FN void operator()(u64 i) const {
    Image low = images[left[i]];
    Image high = low;
    for (u32 c = 1; c < columns; ++c) {
      const Image value = images[c * row_stride + left[i]];
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
    least[i] = low;
    if (u64{high} < device::atomic_load(stop)) (void)device::atomic_min(stop, u64{high});
  }
};

/// How many of rising least values are not above the stop: the point of this largest value dominates the others.
struct find_stop {
  const u64* least;
  u64 count;
  const u64* stop;
  u32* to;

  ZENITH_FN void operator()(u64 /*i*/) const {
    u64 low = 0;
    u64 high = count;
    while (low < high) {
      const u64 middle = low + (high - low) / 2;
      if (least[middle] <= *stop) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    *to = static_cast<u32>(low);
  }
};

struct is_left {
  static constexpr bool is_flag = true;

  const u8* removed;

  ZENITH_FN bool operator()(u64 i) const { return removed[i] == 0; }
};

}  // namespace zenith::skyline_family
