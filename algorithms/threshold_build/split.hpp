#pragma once

/// \file
/// A k-d tree of some hundred rows, by one team in its scratch: all segments of a level are split at once.

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <core/device/kernel.hpp>
#include <core/device/numbers.hpp>
#include <core/key_order.hpp>
#include <zenith/threshold_table_call.hpp>

namespace zenith::threshold_build_family {

using device::u32;
using device::u64;
using u16 = std::uint16_t;

/// The most rows of a tree.
inline constexpr u32 most_split_rows = 1024;

/// An unsigned integer in the order of a value's type. NaN are before or behind all numbers, and -0 is before +0: what
/// equal values are does not matter where rows are split.
template <class T>
[[nodiscard]] ZENITH_FN ordered::bits_t<T> split_image(T value) {
  using bits = ordered::bits_t<T>;
  constexpr bits sign = ordered::key_order<T>::sign_bit;
  const bits raw = ordered::key_order<T>::bits(value);
  if constexpr (std::is_floating_point_v<T>) {
    return raw ^ (static_cast<bits>(bits{0} - (raw >> (8 * sizeof(T) - 1))) | sign);
  } else {
    return std::is_signed_v<T> ? raw ^ sign : raw;
  }
}

/// The smallest and the largest number of some values.
template <class Real>
struct number_range {
  static constexpr Real lowest = std::numeric_limits<Real>::lowest();
  static constexpr Real highest = std::numeric_limits<Real>::max();

  Real low = highest;
  Real high = lowest;

  // NaN does not count
  template <class T>
  ZENITH_FN void add(T value) {
    low = device::lesser_number(static_cast<Real>(value), low);
    high = device::greater_number(static_cast<Real>(value), high);
  }
  [[nodiscard]] ZENITH_FN static number_range join(const number_range& a, const number_range& b) {
    number_range both;
    both.low = device::lesser_number(a.low, b.low);
    both.high = device::greater_number(a.high, b.high);
    return both;
  }
  // infinities count as the largest numbers
  [[nodiscard]] ZENITH_FN Real half_extent() const {
    const Real most = high > highest ? highest : high;
    const Real least = low < lowest ? lowest : low;
    return most > least ? most / 2 - least / 2 : 0;
  }
};

/// Columns that are gone through together.
inline constexpr u32 columns_at_once = 8;

/// How many lists of columns there are of each thing.
template <u32 MostColumns>
[[nodiscard]] ZENITH_FN u32 column_lists(u32 columns) {
  return MostColumns <= columns_at_once ? 1 : (columns + columns_at_once - 1) / columns_at_once;
}

/// Some columns of a row, from one on.
template <class T, class Rows>
struct row_columns {
  using piece = typename Rows::piece;
  static constexpr u32 piece_values = sizeof(piece) / sizeof(T);
  static_assert(columns_at_once % piece_values == 0);

  piece some[columns_at_once / piece_values];

  /// Others than there are stay as they are.
  ZENITH_FN void read(const Rows& rows, u32 row, u32 column, u32 columns) {
    ZENITH_UNROLLED
    for (u32 v = 0; v < columns_at_once; v += piece_values) {
      if (column + v < columns) some[v / piece_values] = rows.piece_at(row, column + v);
    }
  }
  [[nodiscard]] ZENITH_FN T value(u32 v) const { return some[v / piece_values].values[v % piece_values]; }
};

/// Its methods are words of the team: all lanes say them. Rows are r < rows; own(r, j) is the value of row r in column
/// j, and own.piece_at(r, j) some from that on; they do not change.
template <class T, u32 MostColumns>
class row_splitter {
  // a float's differences are as fine as they need be; the others' are exact in double
  using real = std::conditional_t<std::is_same_v<T, float>, float, double>;
  using image = ordered::bits_t<T>;

  using range = number_range<real>;

  static constexpr real least_extent = std::numeric_limits<real>::min();  ///< whose inverse is finite
  static constexpr u32 most_split = 64;                                   ///< segments at a level
  static constexpr u32 looked_at = 32;                                    ///< rows of a segment that say how wide it is

  static constexpr u32 scales_at = most_split_rows * sizeof(image);
  static constexpr u32 widths_at = scales_at + MostColumns * sizeof(real);
  static constexpr u32 begins_at = widths_at + most_split * MostColumns * sizeof(float);
  static constexpr u32 begins_size = 2 * most_split + 1;
  static constexpr u32 orders_at = begins_at + 2 * begins_size * sizeof(u32);
  static_assert(begins_at % sizeof(u32) == 0);

 public:
  static constexpr u32 scratch_bytes = orders_at + 2 * most_split_rows * sizeof(u16);
  static constexpr u32 most_levels = std::bit_width(most_split);
  static constexpr u32 most_rows = most_split_rows;

  template <class Team>
  ZENITH_FN row_splitter(Team& team, u32 rows, u32 columns)
      : order_(team.template scratch<u16>(orders_at)),
        other_order_(order_ + most_split_rows),
        begins_(team.template scratch<u32>(begins_at)),
        other_begins_(begins_ + begins_size),
        rows_(rows),
        columns_(columns) {}

  /// One segment of all rows in their order. A barrier behind.
  template <class Team>
  ZENITH_FN void begin(Team& team) {
    u16* const order = order_;
    u32* const begins = begins_;
    const u32 rows = rows_;
    team.for_each(rows, [&](u64 r) ZENITH_BODY { order[r] = static_cast<u16>(r); });
    team.once([&]() ZENITH_BODY {
      begins[0] = 0;
      begins[1] = rows;
    });
    team.barrier();
  }
  /// Writes half of how far the values of each column are apart: as far as in half of some groups of `looked_at` rows,
  /// and no less than a thousandth of as far as in any. A few values far away, which a sample may have in one column
  /// and not in another, do not decide how columns compare. A barrier behind.
  template <class Team, class Rows>
  ZENITH_FN void measure(Team& team, const Rows& own, double* extents) {
    const u32 rows = rows_;
    const u32 columns = columns_;
    const u32 groups = (rows + looked_at - 1) / looked_at;
    const u32 lists = column_lists<MostColumns>(columns);
    real* const found_in = team.template scratch<real>(widths_at);
    static_assert(most_split_rows / looked_at * sizeof(real) <= most_split * sizeof(float));
    team.each_reduced(u64{groups} * lists, [&](u64 i) ZENITH_BODY {
      const u32 group = static_cast<u32>(i) / lists;
      const auto row_at = [=](u32 r) ZENITH_BODY { return group + r * groups; };
      const auto use = [=](u32 j, const range& found)
                           ZENITH_BODY { found_in[group * columns + j] = found.half_extent(); };
      return range_list<Rows, decltype(row_at), decltype(use)>{(rows - group + groups - 1) / groups,
                                                               static_cast<u32>(i) % lists * columns_at_once,
                                                               columns,
                                                               &own,
                                                               row_at,
                                                               use};
    });
    team.barrier();
    team.for_each(columns, [&](u64 j) ZENITH_BODY {
      real median = 0;
      real most = 0;
      for (u32 g = 0; g < groups; ++g) {
        const real one = found_in[g * columns + j];
        u32 before = 0;
        for (u32 other = 0; other < groups; ++other) {
          const real its = found_in[other * columns + j];
          before += its < one || (its == one && other < g) ? 1 : 0;
        }
        median = before == groups / 2 ? one : median;
        most = one > most ? one : most;
      }
      extents[j] = static_cast<double>(median > most / 1000 ? median : most / 1000);
    });
    team.barrier();
  }
  /// Widths are shares of these half extents of columns. A barrier behind.
  template <class Team>
  ZENITH_FN void compare_by(Team& team, const double* extents) {
    real* const scales = team.template scratch<real>(scales_at);
    team.for_each(columns_, [&](u64 j) ZENITH_BODY {
      const auto extent = static_cast<real>(extents[j]);
      scales[j] = extent >= least_extent ? 1 / extent : 0;
    });
    team.barrier();
  }
  /// The row in a place; segments follow each other.
  [[nodiscard]] ZENITH_FN u32 row_at(u64 place) const { return order_[place]; }

  /// Splits every segment at a median of its widest column; the segments become twice as many, at most
  /// 2^most_levels. Of `count` rows middle(count) go left, and none goes right where
  /// these are all. pivot(segment, column, row) is called for each that is split, by one lane: the first row of the
  /// least that go right; nullptr: it is not asked for. A barrier behind.
  template <class Team, class Rows, class Middle, class Pivot>
  ZENITH_FN void split(Team& team, const Rows& own, const Middle& middle, const Pivot& pivot) {
    find_widths(team, own, middle);
    const u32* const begins = begins_;
    const u16* const order = order_;
    u16* const to = other_order_;
    u32* const to_begins = other_begins_;
    const u32 segments = segments_;
    const u32 rows = rows_;
    const u32 columns = columns_;
    const float* const widths = team.template scratch<float>(widths_at);
    image* const keys = team.template scratch<image>();
    team.each_parted(segments, [&](u64 s) ZENITH_BODY {
      const u32 begin = begins[s];
      const u32 count = begins[s + 1] - begin;
      const u32 left = middle(count);
      u32 widest = 0;
      if (left < count) {
        float width = widths[s * columns];
        ZENITH_UNROLLED_BY_4
        for (u32 j = 1; j < columns; ++j) {
          const float other = widths[s * columns + j];
          widest = other > width ? j : widest;
          width = other > width ? other : width;
        }
      }
      return segment_list<Rows, Pivot>{count, left,   keys + begin, order + begin,      to + begin,
                                       &own,  &pivot, widest,       static_cast<u32>(s)};
    });
    team.for_each(segments, [&](u64 s) ZENITH_BODY {
      to_begins[2 * s] = begins[s];
      to_begins[2 * s + 1] = begins[s] + middle(begins[s + 1] - begins[s]);
      if (s + 1 == segments) to_begins[2 * s + 2] = rows;
    });
    team.barrier();
    exchange(order_, other_order_);
    exchange(begins_, other_begins_);
    segments_ *= 2;
  }

 private:
  /// The rows of a segment, by their values in its widest column.
  template <class Rows, class Pivot>
  struct segment_list {
    using key_type = image;
    static constexpr bool asks_pivot = !std::is_null_pointer_v<Pivot>;

    u32 count;
    u32 left;
    image* keys;
    const u16* order;
    u16* to;
    const Rows* own;
    const Pivot* on_pivot;
    u32 column;
    u32 segment;

    [[nodiscard]] ZENITH_FN image key(u32 i) const { return split_image((*own)(u32{order[i]}, column)); }
    ZENITH_FN void put(u32 i, u32 place) const { to[place] = order[i]; }
    ZENITH_FN void pivot(u32 i) const {
      if constexpr (asks_pivot) (*on_pivot)(segment, column, u32{order[i]});
    }
  };

  /// The ranges of some columns, of rows row_at(0) … row_at(count - 1): use(column, range).
  template <class Rows, class RowAt, class Use>
  struct range_list {
    using value_type = range;
    static constexpr u32 value_count = columns_at_once;
    static constexpr u32 at_once = 1;

    u32 count;
    u32 column;  ///< the first one
    u32 columns;
    const Rows* own;
    RowAt row_at;
    Use use;

    [[nodiscard]] ZENITH_FN static range none() { return {}; }
    [[nodiscard]] ZENITH_FN static range join(const range& a, const range& b) { return range::join(a, b); }
    [[nodiscard]] ZENITH_FN row_columns<T, Rows> load(u32 i) const {
      row_columns<T, Rows> row{};
      row.read(*own, row_at(i), column, columns);
      return row;
    }
    ZENITH_FN void take(u32 /*i*/, const row_columns<T, Rows>& row, range (&values)[value_count]) const {
      ZENITH_UNROLLED
      for (u32 v = 0; v < columns_at_once; ++v) values[v].add(row.value(v));
    }
    ZENITH_FN void put(u32 v, const range& found) const {
      if (column + v < columns) use(column + v, found);
    }
  };

  /// How wide every segment that is split is in every column, by some of its rows.
  template <class Team, class Rows, class Middle>
  ZENITH_FN void find_widths(Team& team, const Rows& own, const Middle& middle) {
    const u32 columns = columns_;
    const u32* const begins = begins_;
    const u16* const order = order_;
    const real* const scales = team.template scratch<real>(scales_at);
    float* const widths = team.template scratch<float>(widths_at);
    const u32 lists = column_lists<MostColumns>(columns);
    team.each_reduced(u64{segments_} * lists, [&](u64 i) ZENITH_BODY {
      const u32 s = static_cast<u32>(i) / lists;
      const u32 begin = begins[s];
      const u32 count = begins[s + 1] - begin;
      const u32 last = begin + count - 1;
      const u32 every = (count + looked_at - 1) / looked_at;
      const auto row_at = [order, begin, last, every](u32 r) ZENITH_BODY {
        const u32 place = begin + r * every;
        return u32{order[place < last ? place : last]};
      };
      const auto use = [=](u32 j, const range& found) ZENITH_BODY {
        constexpr real most = 1e30F;
        const real share = found.half_extent() * scales[j];
        widths[s * columns + j] = static_cast<float>(share < most ? share : most);
      };
      return range_list<Rows, decltype(row_at), decltype(use)>{middle(count) < count ? looked_at : 0,
                                                               static_cast<u32>(i) % lists * columns_at_once,
                                                               columns,
                                                               &own,
                                                               row_at,
                                                               use};
    });
    team.barrier();
  }
  template <class X>
  ZENITH_FN static void exchange(X*& a, X*& b) {
    X* const c = a;
    a = b;
    b = c;
  }

  u16* order_;
  u16* other_order_;
  u32* begins_;  ///< of segments, and the end
  u32* other_begins_;
  u32 rows_;
  u32 columns_;
  u32 segments_ = 1;
};

}  // namespace zenith::threshold_build_family
