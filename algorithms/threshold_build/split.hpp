#pragma once

/// \file
/// A k-d tree of up to 1024 rows by one team, in its scratch: rows are coded by 10 bits a column, and all segments of a
/// level are split at once.

#include <cstdint>
#include <limits>
#include <type_traits>

#include <core/device/kernel.hpp>

namespace zenith::threshold_build_family {

using device::u32;
using device::u64;
using u16 = std::uint16_t;

/// Of a team whose codes take at most `CodeBytes`. Its methods are words of the team: all lanes say them. Codes are
/// equal steps between the least and the largest value of the team's rows; rows with equal codes stay in their order.
template <class T, u32 CodeBytes, u32 MostColumns>
class row_splitter {
  // a float's differences are as fine as they need be; the others' are exact in double
  using real = std::conditional_t<std::is_same_v<T, float>, float, double>;

  static constexpr real lowest = std::numeric_limits<real>::lowest();
  static constexpr real highest = std::numeric_limits<real>::max();
  static constexpr u32 piece_values = 16 / sizeof(T);
  static constexpr u32 most_rows_of_all = 1024;
  static constexpr u32 most_split = 64;  ///< segments at a level
  static constexpr u32 slices = 128;     ///< of the rows, whose extremes are found first
  static constexpr u32 together = 8;     ///< slices whose extremes are joined by a lane
  static constexpr u32 looked_at = 32;   ///< rows of a segment that say how wide it is
  static constexpr u32 in_flight = 4;    ///< loads of a lane at a time, where they are from the device's memory
  static constexpr u32 code_bits = 10;
  static constexpr u32 digit_bits = 5;
  static constexpr u32 digits = u32{1} << digit_bits;
  static constexpr u32 last_code = (u32{1} << code_bits) - 1;
  static constexpr u32 no_column = ~u32{0};

  static constexpr u32 orders_at = CodeBytes;
  static constexpr u32 segments_at = orders_at + 2 * most_rows_of_all * sizeof(u16);
  static constexpr u32 words_at = segments_at + 2 * most_rows_of_all * sizeof(u16);
  static constexpr u32 widths_at = words_at + most_rows_of_all * sizeof(u32);
  static constexpr u32 counts_at = widths_at + most_split * MostColumns * sizeof(float);
  static constexpr u32 begins_at = counts_at + most_split * digits * sizeof(u32);
  static constexpr u32 begins_size = 2 * most_split + 4;
  static constexpr u32 cuts_at = begins_at + 2 * begins_size * sizeof(u32);
  static constexpr u32 scales_at = cuts_at + most_split * 4 * sizeof(u32);
  static constexpr u32 extents_at = scales_at + 2 * MostColumns * sizeof(real);
  static constexpr u32 steps_at = extents_at + MostColumns * sizeof(double);
  static_assert(CodeBytes % 64 == 0 && cuts_at % 16 == 0);
  static_assert(code_bits == 2 * digit_bits);
  static_assert(scales_at % sizeof(real) == 0 && extents_at % sizeof(double) == 0);

  /// How a segment is split. A lane reads it in one go.
  struct alignas(16) cut {
    u32 column;  ///< no_column: it is not
    u32 limit;   ///< rows with a smaller code go left
    u32 needed;  ///< and so many with this one
    u32 middle;  ///< how many go left
  };

 public:
  static constexpr u32 scratch_bytes = steps_at + MostColumns * sizeof(float);
  static constexpr u32 most_levels = 7;
  /// Rows that a team can split.
  [[nodiscard]] ZENITH_FN static constexpr u32 most_rows(u32 columns) {
    const u32 fit = CodeBytes / static_cast<u32>(sizeof(u16)) / columns - 2;
    return fit < most_rows_of_all ? fit : most_rows_of_all;
  }

  template <class Team>
  ZENITH_FN row_splitter(Team& team, u32 rows, u32 columns)
      : codes_(team.template scratch<u16>()),
        order_(team.template scratch<u16>(orders_at)),
        other_order_(order_ + most_rows_of_all),
        segment_(team.template scratch<u16>(segments_at)),
        other_segment_(segment_ + most_rows_of_all),
        begins_(team.template scratch<u32>(begins_at)),
        other_begins_(begins_ + begins_size),
        rows_(rows),
        columns_(columns) {}

  /// Codes the rows: piece(r, j) has the values of row r < rows in column j, a multiple of what it holds, and the next;
  /// first_piece(r, j) is the same, and is asked first and once for each. `extents`: of the columns among all rows, by
  /// which they are compared; nullptr: among these. A barrier behind.
  template <class Team, class FirstPiece, class Piece>
  ZENITH_FN void code(Team& team, const double* extents, const FirstPiece& first_piece, const Piece& piece) {
    auto* const least = team.template scratch<real>();
    // as many slices as there is scratch for
    const u32 fit = CodeBytes / (2 * static_cast<u32>(sizeof(real)) * columns_);
    const u32 sliced = fit < slices ? fit / together * together : slices;
    auto* const most = least + sliced * columns_;
    auto* const scales = team.template scratch<real>(scales_at);
    auto* const steps = team.template scratch<float>(steps_at);
    auto* const own_extents = team.template scratch<double>(extents_at);
    const u32 columns = columns_;
    const u32 rows = rows_;
    const u32 stride = rows + 2;
    const u32 pieces = (columns + piece_values - 1) / piece_values;
    team.for_each(sliced * pieces, [&](u64 i) ZENITH_BODY {
      const u32 s = static_cast<u32>(i) / pieces;
      const u32 first = static_cast<u32>(i) % pieces * piece_values;
      real low[piece_values];
      real high[piece_values];
      ZENITH_UNROLLED
      for (u32 v = 0; v < piece_values; ++v) {
        low[v] = highest;
        high[v] = lowest;
      }
      ZENITH_UNROLLED_BY_4
      for (u32 r = s; r < rows; r += sliced) {
        const auto some = first_piece(r, first);
        ZENITH_UNROLLED
        for (u32 v = 0; v < piece_values; ++v) {
          const real one = finite(some.values[v]);
          low[v] = one < low[v] ? one : low[v];
          high[v] = one > high[v] ? one : high[v];
        }
      }
      ZENITH_UNROLLED
      for (u32 v = 0; v < piece_values; ++v) {
        if (first + v >= columns) continue;
        least[s * columns + first + v] = low[v];
        most[s * columns + first + v] = high[v];
      }
    });
    team.barrier();
    team.for_each(sliced / together * columns, [&](u64 i) ZENITH_BODY {
      const u32 j = static_cast<u32>(i) % columns;
      const u32 s = static_cast<u32>(i) / columns * together;
      real low = least[s * columns + j];
      real high = most[s * columns + j];
      ZENITH_UNROLLED
      for (u32 t = 1; t < together; ++t) {
        const real lower = least[(s + t) * columns + j];
        const real higher = most[(s + t) * columns + j];
        low = lower < low ? lower : low;
        high = higher > high ? higher : high;
      }
      least[s * columns + j] = low;
      most[s * columns + j] = high;
    });
    team.barrier();
    team.for_each(columns, [&](u64 j) ZENITH_BODY {
      real low = least[j];
      real high = most[j];
      // a few values far away must not leave all others one code: those beyond thrice the extent of some rows have the
      // first or the last one
      const real half = high / 2 - low / 2;
      const real some_low = low - 2 * half;
      const real some_high = high + 2 * half;
      ZENITH_UNROLLED_BY_4
      for (u32 s = together; s < sliced; s += together) {
        low = least[s * columns + j] < low ? least[s * columns + j] : low;
        high = most[s * columns + j] > high ? most[s * columns + j] : high;
      }
      const real extent = high / 2 - low / 2;
      own_extents[j] = extent > 0 ? static_cast<double>(extent) : 0;
      if (half > 0) {
        low = some_low > low ? some_low : low;
        high = some_high < high ? some_high : high;
      }
      const real width = high / 2 - low / 2;
      scales[2 * j] = low / 2;
      scales[2 * j + 1] = width > 0 ? static_cast<real>(last_code) / width : 0;
      const double of_all = extents == nullptr ? own_extents[j] : extents[j];
      constexpr double most_step = 1e30;
      const double step = width > 0 && of_all > 0 ? static_cast<double>(width) / of_all : 0;
      steps[j] = static_cast<float>(step < most_step ? step : most_step);
    });
    team.barrier();
    u16* const codes = codes_;
    u16* const order = order_;
    u16* const segment = segment_;
    const u32 all = rows * pieces;
    const u32 step = (all + in_flight - 1) / in_flight;
    team.for_each(step, [&](u64 i) ZENITH_BODY {
      decltype(piece(u32{0}, u32{0})) some[in_flight];
      ZENITH_UNROLLED
      for (u32 f = 0; f < in_flight; ++f) {
        const u32 at = static_cast<u32>(i) + f * step;
        const u32 known = at < all ? at : 0;
        some[f] = piece(known / pieces, known % pieces * piece_values);
      }
      ZENITH_UNROLLED
      for (u32 f = 0; f < in_flight; ++f) {
        const u32 at = static_cast<u32>(i) + f * step;
        if (at >= all) continue;
        const u32 r = at / pieces;
        const u32 first = at % pieces * piece_values;
        ZENITH_UNROLLED
        for (u32 v = 0; v < piece_values; ++v) {
          const u32 j = first + v;
          if (j >= columns) continue;
          const real code = (static_cast<real>(some[f].values[v]) / 2 - scales[2 * j]) * scales[2 * j + 1];
          // NaN are the least
          const u32 whole = !(code > 0) ? 0 : code < static_cast<real>(last_code) ? static_cast<u32>(code) : last_code;
          codes[j * stride + r] = static_cast<u16>(whole);
        }
        if (first == 0) {
          order[r] = static_cast<u16>(r);
          segment[r] = 0;
        }
      }
    });
    u32* const begins = begins_;
    team.once([&]() ZENITH_BODY {
      begins[0] = 0;
      begins[1] = rows;
    });
    team.barrier();
  }

  /// Half of the extent of a column among these rows, once they are coded.
  template <class Team>
  [[nodiscard]] ZENITH_FN double extent(Team& team, u32 column) const {
    return team.template scratch<double>(extents_at)[column];
  }
  /// The row in a place; segments follow each other.
  [[nodiscard]] ZENITH_FN u32 row_at(u64 place) const { return order_[place]; }

  /// Splits every segment at a median of its widest column; the segments become twice as many, at most 2^most_levels.
  /// Of `count` rows middle(count) go left, and none goes right where these are all. pivot(segment, column, row) is
  /// called for each that is split, by one lane: the first row that goes right.
  template <class Team, class Middle, class Pivot>
  ZENITH_FN void split(Team& team, const Middle& middle, const Pivot& pivot) {
    auto* const cuts = team.template scratch<cut>(cuts_at);
    choose_columns(team, cuts, middle);
    find_first_digit(team, cuts);
    find_last_digit(team, cuts);
    move_rows(team, cuts, pivot);
  }

 private:
  /// NaN stays.
  ZENITH_FN static real finite(T value) {
    const real one = static_cast<real>(value);
    return one < lowest ? lowest : one > highest ? highest : one;
  }
  [[nodiscard]] ZENITH_FN u32 code_in(u32 column, u32 place) const {
    return codes_[column * (rows_ + 2) + order_[place]];
  }

  template <class Team, class Middle>
  ZENITH_FN void choose_columns(Team& team, cut* cuts, const Middle& middle) {
    auto* const widths = team.template scratch<float>(widths_at);
    auto* const counts = team.template scratch<u32>(counts_at);
    const auto* const steps = team.template scratch<float>(steps_at);
    const u32 columns = columns_;
    // codes of all rows span all codes
    const bool are_all = segments_ == 1;
    team.for_each(segments_ * columns, [&](u64 i) ZENITH_BODY {
      const u32 s = static_cast<u32>(i) / columns;
      const u32 j = static_cast<u32>(i) % columns;
      if (are_all) {
        widths[i] = steps[j];
        return;
      }
      const u32 begin = begins_[s];
      const u32 end = begins_[s + 1];
      const u32 every = (end - begin + looked_at - 1) / looked_at;
      u32 low = last_code;
      u32 high = 0;
      constexpr u32 group = 8;  // whose loads overlap
      for (u32 first = 0; begin < end && first < looked_at; first += group) {
        ZENITH_UNROLLED
        for (u32 g = 0; g < group; ++g) {
          const u32 place = begin + (first + g) * every;
          const u32 code = code_in(j, place < end ? place : end - 1);
          low = code < low ? code : low;
          high = code > high ? code : high;
        }
      }
      widths[i] = high > low ? static_cast<float>(high - low) * steps[j] : 0;
    });
    team.for_each(segments_ * digits, [&](u64 i) ZENITH_BODY { counts[i] = 0; });
    team.barrier();
    team.for_each(segments_, [&](u64 s) ZENITH_BODY {
      const u32 count = begins_[s + 1] - begins_[s];
      const u32 left = middle(count);
      if (left == count) {
        cuts[s] = {no_column, 1, 0, left};
        return;
      }
      u32 widest = 0;
      float width = widths[s * columns];
      ZENITH_UNROLLED_BY_4
      for (u32 j = 1; j < columns; ++j) {
        const float other = widths[s * columns + j];
        widest = other > width ? j : widest;
        width = other > width ? other : width;
      }
      cuts[s] = {widest, 0, left, left};
    });
    team.barrier();
  }

  /// The upper digit of every segment's limit. What the later steps of the level look at is kept in a word a place: the
  /// segment, and the code in the column of its cut.
  template <class Team>
  ZENITH_FN void find_first_digit(Team& team, cut* cuts) {
    auto* const counts = team.template scratch<u32>(counts_at);
    auto* const words = team.template scratch<u32>(words_at);
    team.for_each(rows_, [&](u64 place) ZENITH_BODY {
      const u32 s = segment_[place];
      const u32 column = cuts[s].column;
      const u32 code = column == no_column ? 0 : code_in(column, static_cast<u32>(place));
      words[place] = s << code_bits | code;
      if (column != no_column) (void)team.add(counts + s * digits + (code >> digit_bits), 1);
    });
    team.barrier();
    take_digits(team, cuts);
  }
  template <class Team>
  ZENITH_FN void find_last_digit(Team& team, cut* cuts) {
    auto* const counts = team.template scratch<u32>(counts_at);
    const auto* const words = team.template scratch<u32>(words_at);
    team.for_each(rows_, [&](u64 place) ZENITH_BODY {
      const u32 word = words[place];
      const u32 s = word >> code_bits;
      const cut of = cuts[s];
      if (of.column != no_column && (word & last_code) >> digit_bits == of.limit) {
        (void)team.add(counts + s * digits + (word & (digits - 1)), 1);
      }
    });
    team.barrier();
    take_digits(team, cuts);
  }
  /// Appends the digit that was counted to every limit.
  template <class Team>
  ZENITH_FN void take_digits(Team& team, cut* cuts) {
    auto* const counts = team.template scratch<u32>(counts_at);
    team.for_each(segments_, [&](u64 s) ZENITH_BODY {
      cut of = cuts[s];
      if (of.column == no_column) return;
      u32* const own = counts + s * digits;
      u32 digit = 0;
      u32 before = 0;  // rows of lower digits
      u32 sum = 0;
      ZENITH_UNROLLED
      for (u32 d = 0; d + 1 < digits; ++d) {
        sum += own[d];
        own[d] = 0;
        const bool is_below = sum <= of.needed;
        digit += is_below ? 1 : 0;
        before = is_below ? sum : before;
      }
      own[digits - 1] = 0;
      of.limit = of.limit << digit_bits | digit;
      of.needed -= before;
      cuts[s] = of;
    });
    team.barrier();
  }

  template <class Team, class Pivot>
  ZENITH_FN void move_rows(Team& team, const cut* cuts, const Pivot& pivot) {
    constexpr u32 half = 16;
    constexpr u32 low = (u32{1} << half) - 1;
    auto* const words = team.template scratch<u32>(words_at);
    // how many rows before a place have a smaller code than the limit, and how many have it
    team.for_each(rows_, [&](u64 place) ZENITH_BODY {
      const u32 word = words[place];
      const u32 code = word & last_code;
      const u32 limit = cuts[word >> code_bits].limit;
      words[place] = code < limit ? u32{1} : code == limit ? u32{1} << half : u32{0};
    });
    team.barrier();
    const u32 all = team.scan(words, rows_);
    team.for_each(rows_, [&](u64 i) ZENITH_BODY {
      const u32 place = static_cast<u32>(i);
      const u32 s = segment_[place];
      const u16 row = order_[place];
      const cut of = cuts[s];
      const u32 begin = begins_[s];
      const u32 here = words[place];
      const u32 own = (place + 1 < rows_ ? words[place + 1] : all) - here;
      const u32 before = here - words[begin];
      const u32 tied = before >> half;
      const u32 left = (before & low) + (tied < of.needed ? tied : of.needed);
      const bool is_left = own == 1 || (own != 0 && tied < of.needed);
      if (own > 1 && tied == of.needed) pivot(s, of.column, u32{row});
      const u32 to = is_left ? begin + left : begin + of.middle + (place - begin - left);
      other_order_[to] = row;
      other_segment_[to] = static_cast<u16>(2 * s + (is_left ? 0 : 1));
    });
    team.for_each(segments_, [&](u64 s) ZENITH_BODY {
      other_begins_[2 * s] = begins_[s];
      other_begins_[2 * s + 1] = begins_[s] + cuts[s].middle;
      if (s + 1 == segments_) other_begins_[2 * s + 2] = rows_;
    });
    team.barrier();
    exchange(order_, other_order_);
    exchange(segment_, other_segment_);
    exchange(begins_, other_begins_);
    segments_ *= 2;
  }

  template <class X>
  ZENITH_FN static void exchange(X*& a, X*& b) {
    X* const c = a;
    a = b;
    b = c;
  }

  u16* codes_;  ///< column by column
  u16* order_;
  u16* other_order_;
  u16* segment_;  ///< of each place
  u16* other_segment_;
  u32* begins_;  ///< of segments, and the end
  u32* other_begins_;
  u32 rows_;
  u32 columns_;
  u32 segments_ = 1;
};

}  // namespace zenith::threshold_build_family
