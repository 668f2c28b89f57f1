#pragma once

/// \file
/// The sides of a join as kernels see them, and what is known of their columns before anything else: least and greatest
/// values, which are the extent, the best score and whether there is a NaN or an infinity, all in one read.

#include <cstdint>
#include <limits>
#include <type_traits>

#include <core/device/kernel.hpp>
#include <core/device/shared_state.hpp>
#include <core/key_order.hpp>

namespace zenith::spatial_join_family {

using device::u32;
using device::u64;

inline constexpr u64 no_row = ~u64{0};

/// As a variable: kernels may read one, but not call the function on every device.
template <class T>
inline constexpr T greatest_number = std::numeric_limits<T>::max();

/// Columns where kernels can read them. A score counts by its product with the weight, which is 1 unless the caller
/// gave another: then that is exact.
template <class T, unsigned D>
struct point_columns {
  const T* at[D];
  const T* scores;
  T weight;
  u64 rows;

  ZENITH_FN T value(u64 row) const { return scores[row] * weight; }
};

/// Memory that is read soon.
ZENITH_FN void read_soon([[maybe_unused]] const void* at) {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  __builtin_prefetch(at);
#endif
}

/// Memory that is written soon.
ZENITH_FN void write_soon([[maybe_unused]] void* at) {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  __builtin_prefetch(at, 1);
#endif
}

/// All bit patterns of T in the order of their numbers, -0 before +0, NaN outside of the infinities.
template <class T>
ZENITH_FN ordered::bits_t<T> total_order_of(ordered::bits_t<T> raw) {
  using image = ordered::bits_t<T>;
  const auto negative = static_cast<image>(image{0} - (raw >> (sizeof(T) * 8 - 1)));
  return raw ^ (negative | ordered::key_order<T>::sign_bit);
}
template <class T>
ZENITH_FN ordered::bits_t<T> total_order(T x) {
  return total_order_of<T>(ordered::key_order<T>::bits(x));
}
template <class T>
ZENITH_FN T from_total_order(ordered::bits_t<T> image) {
  constexpr auto sign = ordered::key_order<T>::sign_bit;
  return ordered::key_order<T>::from_bits((image & sign) != 0 ? image ^ sign : ~image);
}

/// Images of the least and the greatest of some numbers; of none, as here.
template <class T>
struct number_extremes {
  ordered::bits_t<T> least = static_cast<ordered::bits_t<T>>(~ordered::bits_t<T>{0});
  ordered::bits_t<T> greatest = 0;
};
/// The same of products with a factor, by one lane. No number is mapped: bits without their meaning are in the order of
/// the numbers that are not negative, and in the opposite order of those that are. A product is in a register, where a
/// value would be loaded once for each of its comparisons.
template <class T>
class value_extremes {
 public:
  ZENITH_FN void take(const T* values, T by, u64 n) {
    bits low = low_;
    bits high = high_;
    signed_bits top = top_;
    for (u64 i = 0; i < n; ++i) {
      const bits here = ordered::key_order<T>::bits(values[i] * by);
      const auto turned = static_cast<signed_bits>(here);
      low = here < low ? here : low;
      high = here > high ? here : high;
      top = turned > top ? turned : top;
    }
    low_ = low;
    high_ = high;
    top_ = top;
  }
  /// Of n products, of which the memory behind them is asked for as well: so many values follow that are read next.
  ZENITH_FN void take(const T* values, T by, u64 n, u64 next) {
    constexpr u64 together = 2048 / sizeof(T);
    constexpr u64 ahead = 2 * together;
    constexpr u64 line = 64 / sizeof(T);
    u64 i = 0;
    for (; i + together <= n; i += together) {
      if (i + ahead + together <= n + next) {
        for (u64 j = 0; j < together; j += line) read_soon(values + i + ahead + j);
      }
      // by itself: the next values need not wait until these are one number
      value_extremes these;
      these.take(values + i, by, together);
      add(these);
    }
    take(values + i, by, n - i);
  }
  ZENITH_FN void add(const value_extremes& other) {
    low_ = other.low_ < low_ ? other.low_ : low_;
    high_ = other.high_ > high_ ? other.high_ : high_;
    top_ = other.top_ > top_ ? other.top_ : top_;
  }
  [[nodiscard]] ZENITH_FN number_extremes<T> found() const {
    if (low_ > high_) return {};
    const bool has_negative = (high_ & ordered::key_order<T>::sign_bit) != 0;
    return {total_order_of<T>(has_negative ? high_ : low_),
            total_order_of<T>(top_ >= 0 ? static_cast<bits>(top_) : low_)};
  }

 private:
  using bits = ordered::bits_t<T>;
  using signed_bits = std::make_signed_t<bits>;
  static constexpr signed_bits lowest = std::numeric_limits<signed_bits>::min();

  bits low_ = static_cast<bits>(~bits{0});
  bits high_ = 0;
  signed_bits top_ = lowest;
};

/// Part p of a column: parts begin where lines of the cache do, but for the first one, so that what is loaded at once
/// lies in one line. No value is in two of them.
struct column_part {
  u64 begin;
  u64 count;
};
template <class T>
[[nodiscard]] ZENITH_FN column_part part_of(const T* column, u64 rows, u64 p, u64 part) {
  constexpr std::uintptr_t line = 64;
  const u64 before = (line - reinterpret_cast<std::uintptr_t>(column) % line) % line / sizeof(T);
  const u64 begin = p == 0 ? 0 : p * part + before;
  const u64 end = (p + 1) * part + before;
  if (begin >= rows) return {rows, 0};
  return {begin, (end < rows ? end : rows) - begin};
}

inline constexpr u32 most_side_columns = 4;
inline constexpr u32 most_all_columns = 2 * most_side_columns;

/// Of each column: x, y, z and the score of the left side, and then those of the right; images in `total_order`.
template <class T>
struct column_extremes {
  ordered::bits_t<T> least[most_all_columns];
  ordered::bits_t<T> greatest[most_all_columns];
};

template <class T>
[[nodiscard]] ZENITH_FN bool are_finite(const column_extremes<T>& known) {
  constexpr T most = greatest_number<T>;
  bool all = true;
  for (u32 c = 0; c < most_all_columns; ++c) {
    // of a column that is not there the least is above the greatest
    const bool is_there = known.least[c] <= known.greatest[c];
    all = all && (!is_there || (known.least[c] >= total_order(-most) && known.greatest[c] <= total_order(most)));
  }
  return all;
}

/// So many rows say where most of a side's points are.
inline constexpr u32 most_place_samples = 512;

/// The row of sample i, of fewer than 2^32 rows.
ZENITH_FN u64 sampled_row(u64 i, u64 rows) {
  u64 x = (i + 1) * 0x9e3779b97f4a7c15ULL;
  x ^= x >> 32;
  x *= 0xbf58476d1ce4e5b9ULL;
  return (x >> 32) * rows >> 32;
}

/// Least and greatest of a part of a column.
template <class T>
struct find_extremes {
  using image = ordered::bits_t<T>;
  static constexpr u64 part = 4096;
  static constexpr u64 item_cost = part * sizeof(T);

  const T* column[most_all_columns];
  T weight[most_all_columns];
  u64 rows[most_all_columns];
  u64 parts;  ///< of every column
  image* least;
  image* greatest;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 c = t / parts;
    const T by = weight[c];
    if constexpr (Team::is_one_lane) {
      const auto of = part_of(column[c], rows[c], t % parts, part);
      value_extremes<T> all;
      all.take(column[c] + of.begin, by, of.count, 0);
      least[t] = all.found().least;
      greatest[t] = all.found().greatest;
      return;
    }
    const u64 begin = t % parts * part;
    const u64 n = begin >= rows[c] ? 0 : rows[c] - begin < part ? rows[c] - begin : part;
    const T* const from = column[c] + begin;
    const image low = team.reduce(
        n, static_cast<image>(~image{0}), [&](u64 i) ZENITH_BODY { return total_order(from[i] * by); },
        [](image a, image b) ZENITH_BODY { return b < a ? b : a; });
    const image high = team.reduce(
        n, image{0}, [&](u64 i) ZENITH_BODY { return total_order(from[i] * by); },
        [](image a, image b) ZENITH_BODY { return a < b ? b : a; });
    team.once([&]() ZENITH_BODY {
      least[t] = low;
      greatest[t] = high;
    });
  }
};

/// The same of a column's parts.
template <class T>
struct fold_extremes {
  using image = ordered::bits_t<T>;

  u64 parts;
  const image* least;
  const image* greatest;
  column_extremes<T>* to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 c) const {
    const u64 begin = c * parts;
    const image low = team.reduce(
        parts, static_cast<image>(~image{0}), [&](u64 i) ZENITH_BODY { return least[begin + i]; },
        [](image a, image b) ZENITH_BODY { return b < a ? b : a; });
    const image high = team.reduce(
        parts, image{0}, [&](u64 i) ZENITH_BODY { return greatest[begin + i]; },
        [](image a, image b) ZENITH_BODY { return a < b ? b : a; });
    team.once([&]() ZENITH_BODY {
      to->least[c] = low;
      to->greatest[c] = high;
    });
  }
};

/// The first row whose product with the weight is not in [least, greatest], in `total_order`.
template <class T>
struct find_outside {
  const T* column;
  T weight;
  ordered::bits_t<T> least;
  ordered::bits_t<T> greatest;
  u64* row;

  ZENITH_FN void operator()(u64 i) const {
    const auto image = total_order(column[i] * weight);
    if (image < least || image > greatest) (void)device::atomic_min(row, i);
  }
};

struct begin_row {
  u64* row;

  ZENITH_FN void operator()(u64 /*i*/) const { *row = no_row; }
};

/// Of both sides, how many rows take part in a round.
struct picked_counts {
  u32 left;
  u32 right;
};

/// Whether a row takes part in a round: its score, by its sign, is at least `limit`.
template <class T>
struct reaches_limit {
  const T* scores;
  T weight;  ///< with the sign of what is better
  T limit;   ///< with the same sign

  ZENITH_FN bool operator()(u64 row) const { return scores[row] * weight >= limit; }
};

}  // namespace zenith::spatial_join_family
