#pragma once

/// \file
/// A k-d tree of some hundred rows, or a few such trees, by one team in its scratch: all segments of a level are split
/// at once.

#include <cstdint>
#include <limits>
#include <type_traits>

#include <core/device/kernel.hpp>
#include <core/key_order.hpp>
#include <zenith/threshold_table_call.hpp>

namespace zenith::threshold_build_family {

using device::u32;
using device::u64;
using u16 = std::uint16_t;

/// The most rows of a tree.
inline constexpr u32 most_split_rows = 1024;

/// Its methods are words of the team: all lanes say them. Rows are r < rows, and value(r, j) is that of row r in column
/// j; what it is of does not change. `MostRows`: of all trees together.
template <class T, u32 MostColumns, u32 MostRows = most_split_rows>
class row_splitter {
  // a float's differences are as fine as they need be; the others' are exact in double
  using real = std::conditional_t<std::is_same_v<T, float>, float, double>;
  using image = ordered::bits_t<T>;

  static constexpr real lowest = std::numeric_limits<real>::lowest();
  static constexpr real highest = std::numeric_limits<real>::max();
  static constexpr u32 most_split = 64;  ///< segments at a level
  static constexpr u32 looked_at = 32;   ///< rows of a segment that say how wide it is
  static constexpr u32 most_lanes = 8;   ///< that share out the rows of a segment that are looked at

  // a level's keys are written when ranges have been read
  static constexpr u32 keys_size = MostRows * sizeof(image);
  static constexpr u32 most_ranges = keys_size / (2 * sizeof(real));
  static constexpr u32 widths_at = keys_size;
  static constexpr u32 begins_at = widths_at + most_split * MostColumns * sizeof(float);
  static constexpr u32 begins_size = 2 * most_split + 4;
  static constexpr u32 orders_at = begins_at + 2 * begins_size * sizeof(u32);
  static_assert(begins_at % sizeof(u32) == 0 && most_ranges >= most_table_columns);

  struct range {
    real low = highest;
    real high = lowest;

    // NaN does not count
    ZENITH_FN void add(T value) {
      const auto one = static_cast<real>(value);
      low = one < low ? one : low;
      high = one > high ? one : high;
    }
    ZENITH_FN void join(real lower, real higher) {
      low = lower < low ? lower : low;
      high = higher > high ? higher : high;
    }
    // infinities count as the largest numbers
    [[nodiscard]] ZENITH_FN real half_extent() const {
      const real most = high > highest ? highest : high;
      const real least = low < lowest ? lowest : low;
      return most > least ? most / 2 - least / 2 : 0;
    }
  };

 public:
  static constexpr u32 scratch_bytes = orders_at + 2 * MostRows * sizeof(u16);
  /// Of the team's scratch, from its beginning: what is of no use after the last split.
  static constexpr u32 bytes_for_splits = orders_at;
  static constexpr u32 most_levels = 7;
  static constexpr u32 most_rows = MostRows;
  static constexpr u32 most_segments = most_split;

  template <class Team>
  ZENITH_FN row_splitter(Team& team, u32 rows, u32 columns)
      : order_(team.template scratch<u16>(orders_at)),
        other_order_(order_ + MostRows),
        begins_(team.template scratch<u32>(begins_at)),
        other_begins_(begins_ + begins_size),
        rows_(rows),
        columns_(columns) {}

  /// One segment of all rows in their order, or two: the rows from `second` on are another tree's. A barrier behind.
  template <class Team>
  ZENITH_FN void begin(Team& team, u32 second) {
    u16* const order = order_;
    u32* const begins = begins_;
    const u32 rows = rows_;
    team.for_each(rows, [&](u64 r) ZENITH_BODY { order[r] = static_cast<u16>(r); });
    team.once([&]() ZENITH_BODY {
      begins[0] = 0;
      begins[1] = second;
      begins[2] = rows;
    });
    segments_ = second < rows ? 2 : 1;
    team.barrier();
  }
  /// Writes half of the extent of each column among these rows. A barrier behind.
  template <class Team, class Value>
  ZENITH_FN void measure(Team& team, const Value& value, double* extents) {
    const u32 columns = columns_;
    const u32 rows = rows_;
    const u32 lanes = most_ranges / columns < rows ? most_ranges / columns : rows;
    real* const low = team.template scratch<real>();
    real* const high = low + most_ranges;
    team.for_each(lanes * columns, [&](u64 i) ZENITH_BODY {
      const u32 j = static_cast<u32>(i) % columns;
      range found;
      ZENITH_UNROLLED_BY_4
      for (u32 r = static_cast<u32>(i) / columns; r < rows; r += lanes) found.add(value(r, j));
      low[i] = found.low;
      high[i] = found.high;
    });
    team.barrier();
    team.for_each(columns, [&](u64 j) ZENITH_BODY {
      range found;
      ZENITH_UNROLLED_BY_4
      for (u32 lane = 0; lane < lanes; ++lane) found.join(low[lane * columns + j], high[lane * columns + j]);
      extents[j] = static_cast<double>(found.half_extent());
    });
    team.barrier();
  }
  /// The row in a place; segments follow each other.
  [[nodiscard]] ZENITH_FN u32 row_at(u64 place) const { return order_[place]; }

  /// Splits every segment at a median of its widest column, compared by `extents`, those of all rows; the segments
  /// become twice as many, at most 2 most_segments. Of `count` rows middle(count) go left, and none goes right where
  /// these are all. pivot(segment, column, row) is called for each that is split, by one lane: the first row of the
  /// least that go right. A barrier behind.
  template <class Team, class Value, class Middle, class Pivot>
  ZENITH_FN void split(Team& team, const double* extents, const Value& value, const Middle& middle,
                       const Pivot& pivot) {
    find_widths(team, extents, value);
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
      u32 widest = 0;
      float width = widths[s * columns];
      ZENITH_UNROLLED_BY_4
      for (u32 j = 1; j < columns; ++j) {
        const float other = widths[s * columns + j];
        widest = other > width ? j : widest;
        width = other > width ? other : width;
      }
      return segment_list<Value, Pivot>{count,  middle(count), keys + begin, order + begin,      to + begin,
                                        &value, &pivot,        widest,       static_cast<u32>(s)};
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
  template <class Value, class Pivot>
  struct segment_list {
    using key_type = image;

    u32 count;
    u32 left;
    image* keys;
    const u16* order;
    u16* to;
    const Value* value;
    const Pivot* on_pivot;
    u32 column;
    u32 segment;

    [[nodiscard]] ZENITH_FN image key(u32 i) const {
      return ordered::key_order<T>{}.image((*value)(u32{order[i]}, column));
    }
    ZENITH_FN void put(u32 i, u32 place) const { to[place] = order[i]; }
    ZENITH_FN void pivot(u32 i) const { (*on_pivot)(segment, column, u32{order[i]}); }
  };

  /// How wide every segment is in every column.
  template <class Team, class Value>
  ZENITH_FN void find_widths(Team& team, const double* extents, const Value& value) {
    const u32 columns = columns_;
    const u32 ranges = segments_ * columns;
    const u32* const begins = begins_;
    const u16* const order = order_;
    float* const widths = team.template scratch<float>(widths_at);
    // as many lanes for each as there is scratch for
    u32 lanes = most_lanes;
    while (lanes > 1 && ranges * lanes > most_ranges) lanes /= 2;
    real* const low = team.template scratch<real>();
    real* const high = low + most_ranges;
    const u32 rows_of_a_lane = looked_at / lanes;
    team.for_each(ranges * lanes, [&](u64 i) ZENITH_BODY {
      // lanes that are neighbours read neighbours
      const u32 j = static_cast<u32>(i) % columns;
      const u32 part = static_cast<u32>(i) / columns;
      const u32 s = part / lanes;
      const u32 begin = begins[s];
      const u32 end = begins[s + 1];
      const u32 every = (end - begin + looked_at - 1) / looked_at;
      range found;
      constexpr u32 group = looked_at / most_lanes;  // whose loads overlap
      for (u32 first = 0; begin < end && first < rows_of_a_lane; first += group) {
        ZENITH_UNROLLED
        for (u32 g = 0; g < group; ++g) {
          const u32 place = begin + ((first + g) * lanes + part % lanes) * every;
          found.add(value(u32{order[place < end ? place : end - 1]}, j));
        }
      }
      if (lanes > 1) {
        low[i] = found.low;
        high[i] = found.high;
      } else {
        widths[i] = width(found, extents[j]);
      }
    });
    team.barrier();
    if (lanes == 1) return;
    team.for_each(ranges, [&](u64 i) ZENITH_BODY {
      const u32 j = static_cast<u32>(i) % columns;
      const u32 first = static_cast<u32>(i) / columns * lanes * columns + j;
      range found;
      ZENITH_UNROLLED_BY_4
      for (u32 lane = 0; lane < lanes; ++lane) found.join(low[first + lane * columns], high[first + lane * columns]);
      widths[i] = width(found, extents[j]);
    });
    team.barrier();
  }
  /// Of a range, as a share of the column's extent.
  [[nodiscard]] ZENITH_FN static float width(const range& of, double extent) {
    constexpr real most = 1e30F;
    const real share = extent > 0 ? of.half_extent() / static_cast<real>(extent) : 0;
    return static_cast<float>(share < most ? share : most);
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
