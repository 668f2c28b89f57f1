#pragma once

/// \file
/// Rows as kernels have them: the columns of the caller, one behind the other, and in a team's scratch.

#include <cstdint>

#include <core/device/kernel.hpp>
#include <zenith/threshold_table_call.hpp>

namespace zenith::threshold_build_family {

using device::u32;
using device::u64;

/// Kernels have a variant for so many columns, and one for more.
inline constexpr u32 few_columns = 8;

/// Columns where kernels can read them.
template <class T>
struct input_columns {
  const T* column[most_table_columns];
  u32 columns;
};

/// Rows one behind the other, each at a multiple of 16 bytes.
template <class T>
struct row_list {
  struct alignas(16) piece {
    T values[16 / sizeof(T)];
  };
  static constexpr u32 piece_values = 16 / sizeof(T);

  T* values;
  u32 stride;  ///< values from a row to the next

  [[nodiscard]] static constexpr u32 padded(u32 columns) {
    return (columns + piece_values - 1) / piece_values * piece_values;
  }
  [[nodiscard]] ZENITH_FN T at(u64 row, u32 j) const { return values[row * stride + j]; }
  [[nodiscard]] ZENITH_FN const piece& piece_at(u64 row, u32 j) const {
    // rows are 32-bit numbers, so that a GPU multiplies 32 bits by 32
    return *reinterpret_cast<const piece*>(reinterpret_cast<const char*>(values + j) +
                                           row * static_cast<u32>(stride * sizeof(T)));
  }
  /// From an array that is known when it is compiled.
  template <u32 Count>
  ZENITH_FN void write_values(u64 to, u32 columns, const T (&from)[Count]) const {
    static_assert(Count % piece_values == 0);
    ZENITH_UNROLLED
    for (u32 j = 0; j < Count; j += piece_values) {
      if (j >= columns) continue;
      piece some;
      ZENITH_UNROLLED
      for (u32 v = 0; v < piece_values; ++v) some.values[v] = from[j + v];
      *reinterpret_cast<piece*>(values + to * stride + j) = some;
    }
  }
  ZENITH_FN void write(u64 to, const input_columns<T>& from, u64 row) const {
    for (u32 j = 0; j < from.columns; j += piece_values) {
      piece some;
      ZENITH_UNROLLED
      for (u32 v = 0; v < piece_values; ++v) some.values[v] = j + v < from.columns ? from.column[j + v][row] : T{};
      *reinterpret_cast<piece*>(values + to * stride + j) = some;
    }
  }
};

/// Rows that a team splits, kept in its scratch where they fit: they lie anywhere in the device's memory, and what a
/// team has read has left the caches when it asks again. `number(r)` is that of row r. `AlwaysFit`: they do.
template <class T, class Number, bool AlwaysFit = false>
struct team_rows {
  using piece = typename row_list<T>::piece;

  const row_list<T>& of;
  const Number& number;
  piece* kept;  ///< nullptr: they are not

  [[nodiscard]] ZENITH_FN bool are_kept() const { return AlwaysFit || kept != nullptr; }

  /// A barrier behind.
  template <class Team>
  ZENITH_FN void fetch(Team& team, u32 rows) const {
    if (!are_kept()) return;
    const u32 pieces = of.stride / row_list<T>::piece_values;
    const u32 all = rows * pieces;
    // some loads of a lane at a time
    constexpr u32 in_flight = 4;
    const u32 step = (all + in_flight - 1) / in_flight;
    team.for_each(step, [&](u64 i) ZENITH_BODY {
      u32 from[in_flight];
      u32 column[in_flight];
      piece some[in_flight];
      ZENITH_UNROLLED
      for (u32 f = 0; f < in_flight; ++f) {
        const u32 at = static_cast<u32>(i) + f * step;
        const u32 known = at < all ? at : 0;
        // of few columns there are one or two
        const u32 row = AlwaysFit ? known >> (pieces - 1) : known / pieces;
        from[f] = number(row);
        column[f] = (known - row * pieces) * row_list<T>::piece_values;
      }
      ZENITH_UNROLLED
      for (u32 f = 0; f < in_flight; ++f) some[f] = of.piece_at(from[f], column[f]);
      ZENITH_UNROLLED
      for (u32 f = 0; f < in_flight; ++f) {
        const u32 at = static_cast<u32>(i) + f * step;
        if (at < all) kept[at] = some[f];
      }
    });
    team.barrier();
  }
  [[nodiscard]] ZENITH_FN T operator()(u32 r, u32 j) const {
    return are_kept() ? reinterpret_cast<const T*>(kept)[r * of.stride + j] : of.at(number(r), j);
  }
  [[nodiscard]] ZENITH_FN piece piece_at(u32 r, u32 j) const {
    return are_kept() ? kept[(r * of.stride + j) / row_list<T>::piece_values] : of.piece_at(number(r), j);
  }
};

}  // namespace zenith::threshold_build_family
