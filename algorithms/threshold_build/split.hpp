#pragma once

/// \file
/// A k-d tree of up to 1024 rows by one team, in its scratch: rows are coded by 12 bits a column, and all segments of a
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
  static constexpr u32 slices = 64;      ///< of the rows, whose extremes are found first
  static constexpr u32 together = 8;     ///< slices whose extremes are joined by a lane
  static constexpr u32 looked_at = 32;   ///< rows of a segment that say how wide it is
  static constexpr u32 code_bits = 12;
  static constexpr u32 digit_bits = 4;
  static constexpr u32 digits = u32{1} << digit_bits;
  static constexpr u32 last_code = (u32{1} << code_bits) - 1;
  static constexpr u32 no_column = ~u32{0};

  static constexpr u32 orders_at = CodeBytes;
  static constexpr u32 segments_at = orders_at + 2 * most_rows_of_all * sizeof(u16);
  static constexpr u32 flags_at = segments_at + 2 * most_rows_of_all * sizeof(u16);
  static constexpr u32 widths_at = flags_at + most_rows_of_all * sizeof(u32);
  static constexpr u32 counts_at = widths_at + most_split * MostColumns * sizeof(float);
  static constexpr u32 begins_at = counts_at + most_split * digits * sizeof(u32);
  static constexpr u32 begins_size = 2 * most_split + 4;
  static constexpr u32 cuts_at = begins_at + 2 * begins_size * sizeof(u32);
  static constexpr u32 scales_at = cuts_at + most_split * 4 * sizeof(u32);
  static constexpr u32 extents_at = scales_at + 2 * MostColumns * sizeof(real);
  static constexpr u32 steps_at = extents_at + MostColumns * sizeof(double);
  static_assert(CodeBytes % 64 == 0);
  static_assert(scales_at % sizeof(real) == 0 && extents_at % sizeof(double) == 0);

  /// How a segment is split.
  struct cut {
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

  /// Codes the rows: piece(r, j) has the values of row r < rows in column j, a multiple of what it holds, and the next.
  /// `extents`: of the columns among all rows, by which they are compared; nullptr: among these. A barrier behind.
  template <class Team, class Piece>
  ZENITH_FN void code(Team& team, const double* extents, const Piece& piece) {
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
        const auto some = piece(r, first);
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
      for (u32 t = s + 1; t < s + together; ++t) {
        least[s * columns + j] =
            least[t * columns + j] < least[s * columns + j] ? least[t * columns + j] : least[s * columns + j];
        most[s * columns + j] =
            most[t * columns + j] > most[s * columns + j] ? most[t * columns + j] : most[s * columns + j];
      }
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
    team.for_each(rows * pieces, [&](u64 i) ZENITH_BODY {
      const u32 r = static_cast<u32>(i) / pieces;
      const u32 first = static_cast<u32>(i) % pieces * piece_values;
      const auto some = piece(r, first);
      ZENITH_UNROLLED
      for (u32 v = 0; v < piece_values; ++v) {
        const u32 j = first + v;
        if (j >= columns) continue;
        const real code = (static_cast<real>(some.values[v]) / 2 - scales[2 * j]) * scales[2 * j + 1];
        // NaN are the least
        const u32 whole = !(code > 0) ? 0 : code < static_cast<real>(last_code) ? static_cast<u32>(code) : last_code;
        codes[j * stride + r] = static_cast<u16>(whole);
      }
      if (first == 0) {
        order[r] = static_cast<u16>(r);
        segment[r] = 0;
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
    for (u32 shift = code_bits; shift > 0;) {
      shift -= digit_bits;
      find_digit(team, cuts, shift);
    }
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
    team.for_each(segments_ * columns, [&](u64 i) ZENITH_BODY {
      const u32 s = static_cast<u32>(i) / columns;
      const u32 j = static_cast<u32>(i) % columns;
      const u32 every = (begins_[s + 1] - begins_[s] + looked_at - 1) / looked_at;
      u32 low = last_code;
      u32 high = 0;
      for (u32 place = begins_[s]; place < begins_[s + 1]; place += every) {
        const u32 code = code_in(j, place);
        low = code < low ? code : low;
        high = code > high ? code : high;
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
      for (u32 j = 1; j < columns; ++j) {
        if (widths[s * columns + j] > widths[s * columns + widest]) widest = j;
      }
      cuts[s] = {widest, 0, left, left};
    });
    team.barrier();
  }

  /// The next digit of every segment's limit. Digits before it are known.
  template <class Team>
  ZENITH_FN void find_digit(Team& team, cut* cuts, u32 shift) {
    auto* const counts = team.template scratch<u32>(counts_at);
    team.for_each(rows_, [&](u64 place) ZENITH_BODY {
      const u32 s = segment_[place];
      if (cuts[s].column == no_column) return;
      const u32 code = code_in(cuts[s].column, static_cast<u32>(place));
      if (code >> (shift + digit_bits) == cuts[s].limit) {
        (void)team.add(counts + s * digits + ((code >> shift) & (digits - 1)), 1);
      }
    });
    team.barrier();
    team.for_each(segments_, [&](u64 s) ZENITH_BODY {
      if (cuts[s].column == no_column) return;
      u32* const own = counts + s * digits;
      u32 digit = 0;
      u32 needed = cuts[s].needed;
      for (; digit + 1 < digits && needed >= own[digit]; ++digit) needed -= own[digit];
      cuts[s].limit = cuts[s].limit << digit_bits | digit;
      cuts[s].needed = needed;
      for (u32 d = 0; d < digits; ++d) own[d] = 0;
    });
    team.barrier();
  }

  template <class Team, class Pivot>
  ZENITH_FN void move_rows(Team& team, const cut* cuts, const Pivot& pivot) {
    constexpr u32 half = 16;
    constexpr u32 low = (u32{1} << half) - 1;
    auto* const flags = team.template scratch<u32>(flags_at);
    // how many rows before a place have a smaller code than the limit, and how many have it
    const auto flags_of = [&](u32 place) ZENITH_BODY {
      const cut& of = cuts[segment_[place]];
      const u32 code = of.column == no_column ? 0 : code_in(of.column, place);
      return code < of.limit ? u32{1} : code == of.limit ? u32{1} << half : u32{0};
    };
    team.for_each(rows_, [&](u64 i) ZENITH_BODY { flags[i] = flags_of(static_cast<u32>(i)); });
    team.barrier();
    (void)team.scan(flags, rows_);
    team.for_each(rows_, [&](u64 i) ZENITH_BODY {
      const u32 place = static_cast<u32>(i);
      const u32 s = segment_[place];
      const cut& of = cuts[s];
      const u32 begin = begins_[s];
      const u32 own = flags_of(place);
      const u32 before = flags[place] - flags[begin];
      const u32 tied = before >> half;
      const u32 left = (before & low) + (tied < of.needed ? tied : of.needed);
      const bool is_left = own == 1 || (own != 0 && tied < of.needed);
      if (own > 1 && tied == of.needed) pivot(s, of.column, u32{order_[place]});
      const u32 to = is_left ? begin + left : begin + of.middle + (place - begin - left);
      other_order_[to] = order_[place];
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
