#pragma once

/// \file
/// Layers, and the skyline, of one column or two, on a host. Rows are ordered by <first value, second value>: of two
/// that differ only the first can dominate the other, and it does if its second value is no larger. So all that matters
/// of a layer is the least second value of its rows so far. These rise from layer to layer, and a row belongs to the
/// first layer whose least value is larger than its own: patience sorting. n rows take n log n steps of one worker,
/// however many layers there are. Columns of preference `different` come first in the order: groups are one behind the
/// other.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <algorithms/skyline/ordered_rows.hpp>
#include <algorithms/skyline/phases.hpp>
#include <core/device/bisect.hpp>

namespace zenith::skyline_family {

/// The images of rows in a column.
template <class T>
struct write_column {
  static constexpr u64 item_cost = 32;

  row_source<T> from;
  const u32* rows;
  u32 column;
  typename row_source<T>::image* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = from.at(rows[i], column); }
};

/// What a row is to the one in front of it, in the order of <group, first value, second value>.
enum row_place : u8 {
  in_group = 0,
  begins_group = 1,
  is_twin = 2,  ///< equals it
};

/// Rows in that order.
template <class Image>
struct rows_of_two {
  const Image* first;   ///< nullptr where there are places
  const Image* second;  ///< nullptr: there is one column
  const u8* places;     ///< `row_place`; nullptr: there is one column and one group

  /// What is left to tell rows apart behind one another.
  [[nodiscard]] ZENITH_FN Image value(u64 i) const { return second == nullptr ? Image{0} : second[i]; }
  [[nodiscard]] ZENITH_FN u8 place(u64 i) const {
    if (places != nullptr) return places[i];
    return i == 0 ? begins_group : first[i] == first[i - 1] ? is_twin : in_group;
  }
};

/// Gives all rows their layers: one item.
template <class Image>
struct assign_by_least {
  rows_of_two<Image> in;
  const u32* rows;
  u64 count;
  u32 most;    ///< layers
  u64 enough;  ///< rows in layers
  bool keeps_twins;
  Image* least;  ///< of a group's layers, of which there are up to as many as rows; then the layers' sizes
  u32* layers;   ///< of rows of the table
  u32* found;    ///< how many layers there are

  ZENITH_FN void operator()(u64 /*i*/) const {
    u32 known = 0;  // of all groups
    u32 of_group = 0;
    u32 layer = 0;
    for (u64 i = 0; i < count; ++i) {
      const u8 place = in.place(i);
      if (place == begins_group) of_group = 0;
      const Image value = in.value(i);
      const bool is_copy = place == is_twin;
      if (!is_copy) {
        layer = layers_up_to(value, of_group);
        if (layer < most) {
          if (layer == of_group) ++of_group;
          if (layer == known) ++known;
          least[layer] = value;
        }
      }
      layers[rows[i]] = layer < most && (keeps_twins || !is_copy) ? layer : no_layer;
    }
    *found = enough < count ? leave_out_rest(known) : known;
  }

 private:
  /// Keeps as many of the layers as have enough rows; returns how many.
  ZENITH_FN u32 leave_out_rest(u32 known) const {
    Image* const sizes = least;
    for (u32 layer = 0; layer < known; ++layer) sizes[layer] = 0;
    for (u64 i = 0; i < count; ++i) {
      if (layers[rows[i]] != no_layer) ++sizes[layers[rows[i]]];
    }
    u32 wanted = 0;
    for (u64 taken = 0; wanted < known && taken < enough; ++wanted) taken += sizes[wanted];
    for (u64 i = 0; i < count && wanted < known; ++i) {
      if (layers[rows[i]] >= wanted) layers[rows[i]] = no_layer;
    }
    return wanted;
  }
  ZENITH_FN u32 layers_up_to(Image value, u32 known) const {
    return device::first_failing(known, [&](u32 layer) ZENITH_BODY { return least[layer] <= value; });
  }
};

/// Marks the rows of the skyline: one item.
template <class Image>
struct mark_by_least {
  rows_of_two<Image> in;
  const u32* rows;
  u64 count;
  bool keeps_twins;
  u8* flags;  ///< of rows of the table

  ZENITH_FN void operator()(u64 /*i*/) const {
    Image least{};
    bool is_member = false;
    for (u64 i = 0; i < count; ++i) {
      const Image value = in.value(i);
      const u8 place = in.place(i);
      const bool is_copy = place == is_twin;
      if (!is_copy) is_member = place == begins_group || value < least;
      if (!is_copy && is_member) least = value;
      if (is_member && (keeps_twins || !is_copy)) flags[rows[i]] = marked;
    }
  }
};

/// Rows whose value differs from that before it begin a group.
template <class Image>
struct mark_changes {
  const Image* values;
  u8* places;

  ZENITH_FN void operator()(u64 i) const {
    if (i > 0 && values[i] != values[i - 1]) places[i] = begins_group;
  }
};
struct begin_first_group {
  u8* places;

  ZENITH_FN void operator()(u64 i) const { places[i] = begins_group; }
};
template <class Image>
struct mark_twins {
  const Image* first;
  const Image* second;  ///< nullptr: there is one column
  u8* places;

  ZENITH_FN void operator()(u64 i) const {
    if (places[i] == begins_group || first[i] != first[i - 1]) return;
    if (second == nullptr || second[i] == second[i - 1]) places[i] = is_twin;
  }
};

template <class... Image>
using images_of_two =
    device::list<assign_by_least<Image>..., mark_by_least<Image>..., mark_changes<Image>..., mark_twins<Image>...>;
template <class... T>
using layer_kernels_of_two =
    device::concat<device::list<begin_first_group, write_column<T>...>, images_of_two<std::uint32_t, std::uint64_t>>;

namespace detail {

/// Whether rows have no more than two columns that say which is better.
[[nodiscard]] inline bool has_two_columns(const skyline_input& call) {
  const auto groups = std::count(call.preferences, call.preferences + call.column_count, preference::different);
  return static_cast<std::ptrdiff_t>(call.column_count) - groups <= 2;
}

/// Brings rows into that order. At least one column says which is better.
template <class T, class Context>
[[nodiscard]] auto order_two_columns(Context& on, const row_source<T>& from, u32* rows, u64 count) {
  using image = typename row_source<T>::image;
  u32 better[2] = {};
  u32 betters = 0;
  for (u32 c = 0; c < from.columns; ++c) {
    if (((from.different >> from.given[c]) & 1) == 0) better[betters++] = c;
  }
  image* const values = on.template buffer<image>(count);
  const auto write = [&](u32 column, image* to) { on.for_each(count, write_column<T>{from, rows, column, to}); };
  const auto sort_by = [&](u32 column) {
    write(column, values);
    on.sort_pairs(values, rows, count);
  };
  // of the two images of such a column the first says all
  const auto each_group = [&](const auto& use) {
    for (u32 c = 0; c < from.columns; ++c) {
      const bool is_group = ((from.different >> from.given[c]) & 1) != 0;
      if (is_group && ((from.complement >> c) & 1) == 0) use(c);
    }
  };
  for (u32 c = betters; c > 0; --c) sort_by(better[c - 1]);
  each_group(sort_by);
  if (betters == 1 && from.different == 0) return rows_of_two<image>{values, nullptr, nullptr};
  u8* const places = on.template zeroed<u8>(count);
  on.for_each(std::min<u64>(count, 1), begin_first_group{places});
  each_group([&](u32 c) {
    write(c, values);
    on.for_each(count, mark_changes<image>{values, places});
  });
  if (from.different != 0) write(better[0], values);
  image* const second = betters == 2 ? on.template buffer<image>(count) : nullptr;
  if (betters == 2) write(better[1], second);
  on.for_each(count, mark_twins<image>{values, second, places});
  on.release(values);
  return rows_of_two<image>{nullptr, second, places};
}

template <class Context>
void find_layers_of_two(Context& on, const skyline_layers_call& call) {
  ::zenith::detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) {
    using image = typename row_source<T>::image;
    const auto from = make_row_source<T>(on, call);
    u64 count = 0;
    u8* const flags = on.template buffer<u8>(call.rows);
    u32* const rows = list_rows_left<T>(on, call, from, {}, flags, count);
    if (rows == nullptr) return;
    on.release(flags);
    const auto ordered = order_two_columns(on, from, rows, count);
    u32* const layers = on.template buffer<u32>(call.rows);
    u32* const found = on.template buffer<u32>(1);
    const u64 most = std::min<u64>(call.most_layers, count);
    on.for_each(call.rows, write_no_layer{layers});
    on.for_each(1, assign_by_least<image>{ordered, rows, count, call.most_layers, call.enough_rows,
                                          call.duplicates == duplicate_rows::keep_all, on.template buffer<image>(most),
                                          layers, found});
    call.outcome->count = on.read(static_cast<const u32*>(found));
    report(on, call, make_counters(on, call), count, 1);
    // last of all: the caller's memory stays untouched when anything fails
    on.copy(on.output(call.out_layers, call.rows, call.out_space), static_cast<const u32*>(layers), call.rows);
  });
  on.finish();
}

/// Marks the skyline of `count` rows of a table, which change their order.
template <class T, class Context>
void mark_skyline_of_two(Context& on, const row_source<T>& from, u32* rows, u64 count, bool keeps_twins, u8* flags) {
  using image = typename row_source<T>::image;
  const auto ordered = order_two_columns(on, from, rows, count);
  on.for_each(1, mark_by_least<image>{ordered, rows, count, keeps_twins, flags});
}

}  // namespace detail

}  // namespace zenith::skyline_family
