#pragma once

/// \file
/// The caller's table, row by row: no image of it is kept. A kernel takes some rows, gathers a column's values and
/// makes their images in two loops, of which the second is one that compilers vectorise.

#include <cstdint>

#include <algorithms/skyline/image_lanes.hpp>
#include <algorithms/skyline/points.hpp>
#include <core/key_order.hpp>

namespace zenith::skyline_family {

inline constexpr u32 most_given_columns = 32;
inline constexpr u32 most_columns = 64;  ///< a column of preference `different` becomes two

/// Images of the rows, on demand.
template <class T>
struct row_source {
  using image = ordered::bits_t<T>;
  struct alignas(16) four_of_row {
    T value[4];
  };

  const T* column[most_given_columns];
  u64 row_stride;
  u64 rows;
  u32 given_columns;
  u32 columns;     ///< of images
  u32 maximised;   ///< a bit a given column
  u32 different;   ///< a bit a given column
  u64 complement;  ///< a bit an image
  u8 given[most_columns];
  /// Not nullptr: the last two images, from `numbered` on, are a number of each row of the table and its complement
  /// (group_numbers.hpp), which `convert` and `image_at` know alone.
  const u32* numbers;
  u32 numbered;

  ZENITH_FN ordered::key_order<T> order(u32 c) const { return {((maximised >> given[c]) & 1) == 0, false}; }
  ZENITH_FN image flip(u32 c) const { return ((complement >> c) & 1) != 0 ? image{0} : static_cast<image>(~image{0}); }
  ZENITH_FN image at(u64 row, u32 c) const {
    return static_cast<image>(order(c).image(column[given[c]][row * row_stride]) ^ flip(c));
  }
  ZENITH_FN image image_at(u64 row, u32 c) const {
    if (numbers == nullptr || c < numbered) return at(row, c);
    return c == numbered ? image{numbers[row]} : static_cast<image>(~image{numbers[row]});
  }
  /// Those of four columns from `c` on, the last again where there are no more: their loads are under way at once.
  ZENITH_FN void four_at(u64 row, u32 c, image (&to)[4]) const {
    T raw[4];
    ZENITH_UNROLLED
    for (u32 k = 0; k < 4; ++k) raw[k] = column[given[c + k < columns ? c + k : columns - 1]][row * row_stride];
    ZENITH_UNROLLED
    for (u32 k = 0; k < 4; ++k) {
      const u32 own = c + k < columns ? c + k : columns - 1;
      to[k] = static_cast<image>(order(own).image(raw[k]) ^ flip(own));
    }
  }
  /// Whether the values of a row lie side by side, four of them at a multiple of as many.
  [[nodiscard]] bool is_by_fours() const {
    bool is = columns == given_columns && columns % 4 == 0 && row_stride % 4 == 0 &&
              reinterpret_cast<std::uintptr_t>(column[0]) % (4 * sizeof(T)) == 0;
    for (u32 c = 1; c < given_columns && is; ++c) is = column[c] == column[0] + c;
    return is;
  }
  /// `four_at` of such a table.
  ZENITH_FN void aligned_four_at(u64 row, u32 c, image (&to)[4]) const {
    const auto raw = *reinterpret_cast<const four_of_row*>(column[0] + row * row_stride + c);
    ZENITH_UNROLLED
    for (u32 k = 0; k < 4; ++k) to[k] = static_cast<image>(order(c + k).image(raw.value[k]) ^ flip(c + k));
  }
  /// Values of four given columns from `c` on as they are, the last again where there are no more.
  ZENITH_FN void given_four_at(u64 row, u32 c, bool is_aligned, T (&to)[4]) const {
    if (is_aligned) {
      const auto raw = *reinterpret_cast<const four_of_row*>(column[0] + row * row_stride + c);
      ZENITH_UNROLLED
      for (u32 k = 0; k < 4; ++k) to[k] = raw.value[k];
      return;
    }
    ZENITH_UNROLLED
    for (u32 k = 0; k < 4; ++k) to[k] = column[c + k < given_columns ? c + k : given_columns - 1][row * row_stride];
  }
  /// Whether `take_four` does what four loops over columns would do, and faster.
  static constexpr bool takes_fours =
#if defined(ZENITH_SKYLINE_PLAIN_LANES) || defined(__CUDACC__)
      false;
#else
      sizeof(T) == 4;
#endif
  /// Values of the rows row(0) … row(n - 1) in columns c … c + 3 of a table that is by fours: that of row(i) in column
  /// c + k to to[k * apart + i]. Compilers do not find the transposition in loops.
  template <class Row>
  ZENITH_FN void take_four(const Row& row, u32 c, u64 n, T* to, u64 apart) const {
    const T* const from = column[0] + c;
    u64 i = 0;
#if !defined(ZENITH_SKYLINE_PLAIN_LANES) && !defined(__CUDACC__)
    if constexpr (takes_fours) {
      typedef T four __attribute__((vector_size(16)));
      for (; i + 4 <= n; i += 4) {
        four row_of[4];
        for (u32 r = 0; r < 4; ++r) __builtin_memcpy(row_of + r, from + row(i + r) * row_stride, sizeof(four));
        const four low_first = __builtin_shufflevector(row_of[0], row_of[1], 0, 4, 1, 5);
        const four low_last = __builtin_shufflevector(row_of[2], row_of[3], 0, 4, 1, 5);
        const four high_first = __builtin_shufflevector(row_of[0], row_of[1], 2, 6, 3, 7);
        const four high_last = __builtin_shufflevector(row_of[2], row_of[3], 2, 6, 3, 7);
        const four columns_of[4] = {__builtin_shufflevector(low_first, low_last, 0, 1, 4, 5),
                                    __builtin_shufflevector(low_first, low_last, 2, 3, 6, 7),
                                    __builtin_shufflevector(high_first, high_last, 0, 1, 4, 5),
                                    __builtin_shufflevector(high_first, high_last, 2, 3, 6, 7)};
        for (u32 k = 0; k < 4; ++k) __builtin_memcpy(to + k * apart + i, columns_of + k, sizeof(four));
      }
    }
#endif
    for (; i < n; ++i) {
      for (u32 k = 0; k < 4; ++k) to[k * apart + i] = from[row(i) * row_stride + k];
    }
  }
  /// Images of n values of column c; `to` may be where the values are.
  template <class Team>
  ZENITH_FN void to_images(Team& team, u32 c, u64 n, const T* raw, image* to) const {
    const auto by = order(c);
    const image flipped = flip(c);
    team.for_each(n, [&](u64 i) ZENITH_BODY { to[i] = static_cast<image>(by.image(raw[i]) ^ flipped); });
  }
  /// Images of the rows row(0) … row(n - 1) in column c, by way of `raw`.
  template <class Team, class Row>
  ZENITH_FN void convert(Team& team, u32 c, u64 n, const Row& row, T* raw, image* to) const {
    if (numbers != nullptr && c >= numbered) {
      team.barrier();
      team.for_each(n, [&](u64 i) ZENITH_BODY { to[i] = image_at(row(i), c); });
      return team.barrier();
    }
    const T* const from = column[given[c]];
    const u64 stride = row_stride;
    team.barrier();
    team.for_each(n, [&](u64 i) ZENITH_BODY { raw[i] = from[row(i) * stride]; });
    team.barrier();
    to_images(team, c, n, raw, to);
    team.barrier();
  }
};

/// A number that rows have in common which are equal in these images, a bit for each, and others hardly ever.
template <class T>
[[nodiscard]] ZENITH_FN u64 hash_of_images(const row_source<T>& from, u64 row, u64 images) {
  u64 hash = 0;
  for (u32 c = 0; c < from.columns; ++c) {
    if (((images >> c) & 1) != 0) hash = hash_with(hash, from.at(row, c));
  }
  return hash;
}

/// Rows that a team takes at a time.
inline constexpr u32 row_tile = 128;

}  // namespace zenith::skyline_family
