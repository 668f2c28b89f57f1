#pragma once

/// \file
/// Points on their way through a skyline: images of which a smaller one is better in every column, so that all types
/// and preferences are one problem, in two widths.

#include <core/device/kernel.hpp>
#include <core/device/shared_state.hpp>

namespace zenith::skyline_family {

using device::u32;
using device::u64;
using u8 = unsigned char;

/// Words of a point's codes, four in each.
[[nodiscard]] ZENITH_FN u32 code_words(u32 columns) { return (columns + 3) / 4; }

/// Points in columns: value c of point i at values[c * stride + i]; or row by row, with another `step` than 1. Masks
/// and codes are nullptr where a strategy has no use for them.
template <class Image>
struct point_set {
  Image* values = nullptr;
  u64 stride = 0;
  u32 columns = 0;
  u32* rows = nullptr;   ///< of the caller's table
  u64* masks = nullptr;  ///< which cell of the grid (grid.hpp)
  u32* codes = nullptr;  ///< code c of point i in byte c % 4 of codes[i * code_words(columns) + c / 4]
  u64 step = 1;          ///< from a point's value to the next point's

  /// The points from `first` on.
  [[nodiscard]] point_set from(u64 first) const {
    point_set rest = *this;
    rest.values += first * step;
    rest.rows += first;
    if (masks != nullptr) rest.masks += first;
    if (codes != nullptr) rest.codes += first * code_words(columns);
    return rest;
  }
};

/// Takes one more value of a row into its hash.
[[nodiscard]] ZENITH_FN u64 hash_with(u64 hash, u64 value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

/// What is known of a point.
enum point_state : u8 {
  open = 0,
  twin = 1,  ///< equal to one before it, and not known to be dominated
  dominated = 2,
};

struct is_open {
  static constexpr bool is_flag = true;

  const u8* states;

  ZENITH_FN bool operator()(u64 i) const { return states[i] == open; }
};

/// Copies the points picked[0], picked[1], … of one set to the beginning of another.
template <class Image>
struct gather_points {
  static constexpr u64 item_cost = 128;

  point_set<Image> from;
  const u32* picked;  ///< nullptr: the first
  point_set<Image> to;

  ZENITH_FN void operator()(u64 i) const {
    const u64 source = picked == nullptr ? i : picked[i];
    for (u32 c = 0; c < from.columns; ++c) {
      to.values[c * to.stride + i * to.step] = from.values[c * from.stride + source * from.step];
    }
    to.rows[i] = from.rows[source];
    if (from.masks != nullptr) to.masks[i] = from.masks[source];
    if (from.codes != nullptr) {
      const u32 words = code_words(from.columns);
      for (u32 k = 0; k < words; ++k) to.codes[i * words + k] = from.codes[source * words + k];
    }
  }
};

/// A row's flag where it is in the skyline and others say something else: 0 or 1.
inline constexpr u8 marked = 2;

/// Marks rows as members of the skyline.
struct mark_members {
  const u32* rows;
  u8* members;

  ZENITH_FN void operator()(u64 i) const { members[rows[i]] = marked; }
};

/// The same of the open ones among points.
struct mark_open {
  const u8* states;
  const u32* rows;
  u8* members;

  ZENITH_FN void operator()(u64 i) const {
    if (states[i] == open) members[rows[i]] = marked;
  }
};

struct is_marked {
  static constexpr bool is_flag = true;

  const u8* flags;

  ZENITH_FN bool operator()(u64 i) const { return flags[i] == marked; }
};
/// The same of some rows.
struct is_marked_row {
  static constexpr bool is_flag = true;

  const u8* flags;
  const u32* rows;

  ZENITH_FN bool operator()(u64 i) const { return flags[rows[i]] == marked; }
};
/// Numbers of rows instead of places among them.
struct name_rows {
  const u32* rows;
  u32* places;

  ZENITH_FN void operator()(u64 i) const { places[i] = rows[places[i]]; }
};
struct mark_rows {
  const u32* rows;
  u8* flags;

  ZENITH_FN void operator()(u64 i) const { flags[rows[i]] = marked; }
};
struct write_mask_of_marks {
  const u8* flags;
  u8* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = flags[i] == marked ? 1 : 0; }
};

/// Rows that no prefilter removed.
struct is_left {
  static constexpr bool is_flag = true;

  const u8* removed;

  ZENITH_FN bool operator()(u64 i) const { return removed[i] == 0; }
};

template <class Index>
struct write_ids {
  const u32* rows;
  Index* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = static_cast<Index>(rows[i]); }
};

/// Counters of a call; those that nobody asked for are off.
struct test_counters {
  device::event_counter dominance;
  device::event_counter masks;
};

}  // namespace zenith::skyline_family
