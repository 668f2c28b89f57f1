#pragma once

/// \file
/// A grid of cells over the right side, in which the partners of a point lie in few contiguous ranges.
///
/// No pair is missed through rounding. Call two values of an axis x and y, and let fl round to T.
///
/// 1. The predicate adds squares that are not negative, and rounding never turns an order round: so it implies
///    fl(d * d) <= s with d = fl(x - y) and s = fl(distance * distance). With u = 2^-p, p the digits of T, either
///    d * d <= s / (1 - u), or the square is subnormal and d * d <= s + h with h half of the least number. So
///    |d| <= (sqrt(s) + sqrt(h)) (1 + 2 u), and |x - y| <= |d| / (1 - u). `reach` is at least as much: its terms are
///    rounded three times, and 8 epsilon = 16 u are added.
/// 2. So y <= x + reach exactly. y is a number of T, and so y = fl(y) <= fl(x + reach). In the same way
///    fl(x - reach) <= y.
/// 3. `cell_of` is a chain of operations that never turn an order round: subtraction of the origin, a product with a
///    factor that is not negative, both rounded, limits, truncation. So the cell of y lies between those of fl(x -
///    reach) and fl(x + reach), which may be infinite.
/// 4. By step 2 a point has no partner where fl(x + reach) is below the least y, or fl(x - reach) above the greatest.
/// 5. Where there are more cells than memory is for, their numbers count modulo a period. Cells that share a number
///    share their points, which the predicate tells apart. So no pair is missed; and none is found twice, as the cells
///    around a point have different numbers, or are all there are.

#include <cstdint>

#include <algorithms/spatial_join/points.hpp>
#include <core/device/kernel.hpp>

namespace zenith::spatial_join_family {

using i32 = std::int32_t;

/// Whether two points are within a distance, of which the square is given.
template <class T, unsigned D>
ZENITH_FN bool are_near(const T (&a)[D], const T (&b)[D], T squared) {
  const T x = a[0] - b[0];
  const T y = a[1] - b[1];
  T sum = x * x + y * y;
  if constexpr (D == 3) {
    const T z = a[2] - b[2];
    sum = sum + z * z;
  }
  return sum <= squared;
}

/// The cells of one axis.
template <class T>
struct cell_axis {
  T origin;
  T inverse;
  T first;
  T last;

  /// Where some cells come before the origin, the one around it is twice as wide.
  ZENITH_FN i32 cell_of(T x) const {
    const T at = (x - origin) * inverse;
    const T below = at < last ? at : last;  // of NaN too, which only an axis of one cell has
    return static_cast<i32>(below > first ? below : first);
  }
};

template <class T, unsigned D>
struct cell_grid {
  static constexpr u32 no_period = ~u32{0};

  T origin[D];
  T inverse[D];     ///< cells per length
  T first_cell[D];  ///< of an axis, counted from the origin; points beyond count for the first and last ones.
  T last_cell[D];   ///< T holds both exactly
  T least[D];       ///< of all points of the right side
  T greatest[D];
  u32 cells[D];           ///< with a period those after which numbers go on in the next row or plane
  u32 period;             ///< of cells' numbers
  double inverse_period;  ///< 1 / period
  T reach;
  T squared;  ///< distance * distance

  [[nodiscard]] ZENITH_FN bool is_periodic() const { return period != no_period; }
  [[nodiscard]] ZENITH_FN cell_axis<T> axis(unsigned a) const {
    return {origin[a], inverse[a], first_cell[a], last_cell[a]};
  }
  ZENITH_FN i32 cell_of(unsigned a, T x) const { return axis(a).cell_of(x); }
  ZENITH_FN u32 cell_at(const T (&point)[D]) const {
    i32 on_axis[D];
    find_cell(point, on_axis);
    return first_of(on_axis);
  }
  /// Of points whose cells share a number, those of one cell are told apart by it, as a rule.
  ZENITH_FN u32 unshared_number_at(const T (&point)[D]) const {
    i32 on_axis[D];
    find_cell(point, on_axis);
    return number_of<u32>(on_axis);
  }
  /// put(j, cell) for each j < n, of points get(j): loops that compilers vectorise.
  template <class Get, class Put>
  ZENITH_FN void each_cell(u32 n, const Get& get, const Put& put) const {
    if (is_periodic()) {
      for (u32 j = 0; j < n; ++j) {
        const auto one = get(j);
        i32 on_axis[D];
        find_cell(one.at, on_axis);
        put(j, periodic_number_of(on_axis));
      }
    } else {
      for (u32 j = 0; j < n; ++j) {
        const auto one = get(j);
        put(j, unshared_number_at(one.at));
      }
    }
  }
  /// use(first, end) for every range of cells with consecutive numbers around a point; none of a point beyond reach of
  /// all others, which would be near to the cells at the border.
  template <class Use>
  ZENITH_FN void each_range(const T (&point)[D], const Use& use) const {
    i32 lowest[D];
    i32 highest[D];
    if (find_cells(point, point, lowest, highest)) each_range(lowest, highest, use);
  }
  /// The cells around all points from `from` to `to` on every axis: the lowest and the highest on each. False: they
  /// are beyond reach.
  ZENITH_FN bool find_cells(const T (&from)[D], const T (&to)[D], i32 (&lowest)[D], i32 (&highest)[D]) const {
    bool is_in_reach = true;
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) {
      const T below = from[a] - reach;
      const T above = to[a] + reach;
      is_in_reach = is_in_reach && above >= least[a] && below <= greatest[a];
      lowest[a] = cell_of(a, below);
      highest[a] = cell_of(a, above);
    }
    return is_in_reach;
  }
  /// The number modulo the period. Numbers have magnitudes below 2^31 periods and 2^50, so double holds them and all
  /// products, and the quotient is right or one too near to 0.
  [[nodiscard]] ZENITH_FN u32 periodic_number_of(const i32 (&on_axis)[D]) const {
    const auto number = number_of<double>(on_axis);
    const auto whole = static_cast<double>(static_cast<i32>(number * inverse_period));
    const auto length = static_cast<double>(static_cast<i32>(period));
    double left = number - whole * length;
    left = left >= length ? left - length : left;
    return static_cast<u32>(static_cast<i32>(left < 0 ? left + length : left));
  }
  /// The number of the first one of some cells, of which the lowest on each axis are given.
  [[nodiscard]] ZENITH_FN u32 first_of(const i32 (&lowest)[D]) const {
    return is_periodic() ? periodic_number_of(lowest) : number_of<u32>(lowest);
  }
  /// The cell so many planes and rows beyond another one, of which it is less than a period away.
  [[nodiscard]] ZENITH_FN u32 beyond(u32 first, u32 planes, u32 rows) const {
    const u32 at = first + ((D == 3 ? planes * cells[1] : 0) + rows) * cells[0];
    const u32 before = at - period;  // wraps around where there is no period, or none ends
    return before < at ? before : at;
  }
  /// How many cells of an axis these are, with both.
  [[nodiscard]] ZENITH_FN static u32 cells_between(i32 lowest, i32 highest) {
    return static_cast<u32>(highest - lowest) + 1;
  }
  /// Whether the last one of so many cells comes before the first one.
  [[nodiscard]] ZENITH_FN bool wraps(u32 first, u32 count) const { return count > period - first; }
  template <class Use>
  ZENITH_FN void each_range(const i32 (&lowest)[D], const i32 (&highest)[D], const Use& use) const {
    u32 first = first_of(lowest);
    u32 count[3] = {1, 1, 1};
    bool has_one_twice = false;
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) {
      count[a] = cells_between(lowest[a], highest[a]);
      has_one_twice = has_one_twice || count[a] > cells[a];
    }
    if (has_one_twice) {
      first = 0;
      count[0] = period;
      count[1] = count[2] = 1;
    }
    for (u32 plane = 0; plane < count[2]; ++plane) {
      for (u32 row = 0; row < count[1]; ++row) {
        u32 from = beyond(first, plane, row);
        u32 left = count[0];
        do {
          const u32 some = wraps(from, left) ? period - from : left;
          use(from, from + some);
          left -= some;
          from = 0;
        } while (left > 0);
      }
    }
  }
  ZENITH_FN bool is_near(const T (&a)[D], const T (&b)[D]) const { return are_near<T, D>(a, b, squared); }

 private:
  ZENITH_FN void find_cell(const T (&point)[D], i32 (&on_axis)[D]) const {
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) on_axis[a] = cell_of(a, point[a]);
  }
  template <class Number>
  ZENITH_FN Number number_of(const i32 (&on_axis)[D]) const {
    auto number = static_cast<Number>(on_axis[D - 1]);
    ZENITH_UNROLLED
    for (unsigned a = D - 1; a > 0; --a) {
      // by way of signed numbers, which have conversions of their own
      number = number * static_cast<Number>(static_cast<i32>(cells[a - 1])) + static_cast<Number>(on_axis[a - 1]);
    }
    return number;
  }
};

/// Points in the order of their cells.
template <class T, unsigned D>
struct placed_points {
  T* at[D];
  T* values;  ///< scores times their weight; nullptr: none are wanted
  u32* rows;
  u64 count;

  ZENITH_FN void get(u64 i, T (&point)[D]) const {
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) point[a] = at[a][i];
  }
};

/// Which cell a point is in, and how many of it came before. For a device; hosts have buckets.hpp.
template <class T, unsigned D>
struct count_cells {
  static constexpr u64 item_cost = 64;

  point_columns<T, D> from;
  const u32* picked;  ///< rows; nullptr: all
  cell_grid<T, D> grid;
  u32* cells;
  u32* ranks;
  u32* counts;  ///< of every cell

  ZENITH_FN void operator()(u64 i) const {
    const u64 row = picked == nullptr ? i : picked[i];
    T point[D];
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) point[a] = from.at[a][row];
    const u32 cell = grid.cell_at(point);
    cells[i] = cell;
    ranks[i] = device::atomic_add(counts + cell, 1);
  }
};

template <class T, unsigned D>
struct place_in_cells {
  static constexpr u64 item_cost = 64;

  point_columns<T, D> from;
  const u32* picked;
  const u32* cells;
  const u32* ranks;
  const u32* starts;
  placed_points<T, D> to;

  ZENITH_FN void operator()(u64 i) const {
    const u64 row = picked == nullptr ? i : picked[i];
    const u64 place = starts[cells[i]] + ranks[i];
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) to.at[a][place] = from.at[a][row];
    if (to.values != nullptr) to.values[place] = from.value(row);
    to.rows[place] = static_cast<u32>(row);
  }
};

/// Two sides in one grid.
template <class T, unsigned D>
struct placed_sides {
  cell_grid<T, D> grid;
  placed_points<T, D> left;
  placed_points<T, D> right;
  const u32* starts;  ///< of the right side's cells; one more than there are

  /// use(r, whether it is within the distance) for every place r of the right side in cells around a point.
  template <class Use>
  ZENITH_FN void each_candidate(const T (&point)[D], const Use& use) const {
    grid.each_range(point, [&](u32 first, u32 end) ZENITH_BODY {
      const u32 last = starts[end];
      for (u32 r = starts[first]; r < last; ++r) {
        T other[D];
        right.get(r, other);
        use(r, grid.is_near(point, other));
      }
    });
  }
  /// use(r) for every place r of the right side within the distance of a point.
  template <class Use>
  ZENITH_FN void each_near(const T (&point)[D], const Use& use) const {
    each_candidate(point, [&](u32 r, bool is_near) ZENITH_BODY {
      if (is_near) use(r);
    });
  }
};

}  // namespace zenith::spatial_join_family
